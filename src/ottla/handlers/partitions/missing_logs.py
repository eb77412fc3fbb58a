"""New partitions whose log could not be created, because a disk is full or has failed.

Kafka's controller responds before any broker has created a log: its clients get a success, and
partitions that are offline. Here the response waits for the logs, and names those that are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from ottla.base.scheduling.steps import Steps
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.create_partitions_response import CreatePartitionsTopicResult
from ottla.protocol.messages.create_topics_response import CreatableTopicResult

NUMBERS_MAX = 10


def report_missing(
    results: Iterable[CreatableTopicResult | CreatePartitionsTopicResult],
    missing_of: Callable[[str], Collection[int]],
) -> Steps[None]:
    """Turn the success of a topic with such partitions into KAFKA_STORAGE_ERROR."""
    for result in results:
        if not result.error_code and (missing := missing_of(result.name)):
            result.error_code = ErrorCode.KAFKA_STORAGE_ERROR
            result.error_message = what_is_missing(missing)
        yield 0


def finding_missing(
    topics: Iterable[str], missing_of: Callable[[str], set[int]]
) -> Steps[dict[str, set[int]]]:
    """The partitions without a log, before more are created."""
    missing: dict[str, set[int]] = {}
    for topic in topics:
        if found := missing_of(topic):
            missing[topic] = found
        yield 0
    return missing


def what_is_missing(indexes: Collection[int]) -> str:
    numbers = ", ".join(map(str, sorted(indexes)[:NUMBERS_MAX]))
    more = ", ..." if len(indexes) > NUMBERS_MAX else ""
    return (
        f"The partitions were created, but {len(indexes)} of them have no log ({numbers}{more}): a "
        "log directory is full or has failed. Where it is full, they are made once there is room."
    )
