"""Why a record was not acknowledged, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ottla.cli.cluster.connection import ClusterConnection, confluent_kafka
from ottla.cli.cluster.disks import disk_problem_of
from ottla.cli.cluster.topic_configs import message_bytes_max, topic_number
from ottla.cli.cluster.topics import INTERNAL
from ottla.cli.errors import CommandFailed, suggestions
from ottla.cli.output.tables import count_text

if TYPE_CHECKING:
    from ottla.cli.producing.sender import Failure

BATCH_HEADER_BYTES = 61
METADATA_S = 3.0
NAME_RULE = "a name has 1 to 249 ASCII letters, digits, '.', '_' and '-'"


def is_valid_topic_name(topic: str) -> bool:
    from ottla.metadata.topic_names import fault_of_name

    return fault_of_name(topic) is None


def invalid_topic_name(topic: str) -> CommandFailed:
    return CommandFailed(f"{topic!r} is not a valid topic name", NAME_RULE)


def explain(connection: ClusterConnection, producer: Any, failure: Failure) -> list[str]:
    """The message, and lines of advice."""
    library = confluent_kafka().KafkaError
    match failure.error.code():
        case library._MSG_TIMED_OUT:
            return not_acknowledged(connection, producer, failure)
        case library.MSG_SIZE_TOO_LARGE | library.RECORD_LIST_TOO_LARGE:
            return too_large(connection, failure)
        case library.INVALID_RECORD:
            return [
                f"topic {failure.topic} refused the record: {failure.error.str()}",
                "a compacted topic takes only records with a key; the whole batch was refused",
            ]
    if not is_valid_topic_name(failure.topic):
        return [f"{failure.topic!r} is not a valid topic name", NAME_RULE]
    if failure.error.code() in (
        library._UNKNOWN_PARTITION,
        library._UNKNOWN_TOPIC,
        library.UNKNOWN_TOPIC_OR_PART,
    ):
        topics = connection.metadata(producer).topics
        if failure.topic not in topics:
            return no_topic(failure.topic, topics)
        partitions = topics[failure.topic].partitions
        if failure.partition not in partitions:
            return [
                f"{failure.topic} has no partition {failure.partition}: it has {len(partitions)}"
            ]
    if failure.topic in INTERNAL:
        return [f"{failure.topic} is an internal topic, which only brokers write"]
    return [f"{failure.topic}: {failure.error.str()}"]


def no_topic(topic: str, topics: Any) -> list[str]:
    return [
        f"there is no topic {topic}, and the cluster does not create topics automatically",
        f"create it with: ottla topics create {topic}",
        *suggestions(topic, topics),
    ]


def not_acknowledged(connection: ClusterConnection, producer: Any, failure: Failure) -> list[str]:
    # Other brokers may have taken over from those that ended: what is missing is the better reason.
    cause = refusal(connection, producer, failure) or connection.last_error
    return [
        f"not acknowledged within {connection.timeout_s:g} s" + (f": {cause}" if cause else ""),
        "it may have been written nevertheless: check before you send it again",
        "--timeout SECONDS waits longer" + ("" if cause else "; the broker's log may say why"),
    ]


def refusal(connection: ClusterConnection, producer: Any, failure: Failure) -> str | None:
    """Why the partition takes no records; librdkafka retries without reporting the reason."""
    library = confluent_kafka()
    try:
        topics = producer.list_topics(timeout=min(METADATA_S, connection.timeout_s)).topics
        partition = topics[failure.topic].partitions[failure.partition]
        if partition.leader < 0:
            return f"partition {failure.partition} has no leader"
        if (problem := disk_problem_of(connection, partition.leader)) is not None:
            return problem
        needed = topic_number(connection, connection.admin(), failure.topic, "min.insync.replicas")
    except (library.KafkaException, CommandFailed, KeyError):
        return None
    count = len(partition.isrs)
    if needed is None or count >= min(needed, len(partition.replicas)):
        return None
    return (
        f"partition {failure.partition} has {count} of {len(partition.replicas)} replicas in sync, "
        f"and needs {needed} (setting min.insync.replicas)"
    )


def too_large(connection: ClusterConnection, failure: Failure) -> list[str]:
    limit = message_bytes_max(connection, connection.admin(), failure.topic)
    accepts = "" if limit is None else f", and topic {failure.topic} accepts {limit}"
    # Key and value may fit, but not with the headers and the batch of the record.
    fits = limit is not None and failure.size <= limit
    more = f", and more than {BATCH_HEADER_BYTES} for its batch and headers" if fits else ""
    return [
        f"the record is too large: {count_text(failure.size, 'byte')}{more}{accepts} "
        "(setting max.message.bytes)",
        f"raise it with: ottla topics alter {failure.topic} -c max.message.bytes=...",
    ]
