"""The existing partitions of a request: offsets are stored only for these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from ottla.base.ids import TopicId
from ottla.base.scheduling.steps import Steps
from ottla.metadata.image import Image
from ottla.protocol.error_codes import ErrorCode

PARTITIONS_AT_ONCE = 50  # more are handled in slices


class HasIndex(Protocol):
    @property
    def partition_index(self) -> int: ...


class HasPartitions(Protocol):
    @property
    def partitions(self) -> Sequence[object]: ...


P = TypeVar("P", bound=HasIndex)
A = TypeVar("A")
T = TypeVar("T")
R = TypeVar("R")
P_co = TypeVar("P_co", bound=HasIndex, covariant=True)


class RequestTopic(Protocol[P_co]):
    @property
    def name(self) -> str: ...

    @property
    def partitions(self) -> Sequence[P_co]: ...


def is_small(topics: Sequence[HasPartitions]) -> bool:
    """Whether a request is handled without slices."""
    few = len(topics) <= PARTITIONS_AT_ONCE
    return few and sum([len(each.partitions) for each in topics]) <= PARTITIONS_AT_ONCE


def split_by_existence(
    partitions: Sequence[P], count: int, refuse: Callable[[P], A]
) -> Steps[tuple[list[P], list[A]]]:
    """(the partitions below `count`, the results for the others)."""
    existing: list[P] = []
    refused: list[A] = []
    for at in range(0, len(partitions) or 1, PARTITIONS_AT_ONCE):
        for each in partitions[at : at + PARTITIONS_AT_ONCE]:
            if 0 <= each.partition_index < count:
                existing.append(each)
            else:
                refused.append(refuse(each))
        yield 0
    return existing, refused


def splitting(
    topics: Sequence[RequestTopic[P]],
    image: Image,
    keep: Callable[[str, Sequence[P]], T],
    respond: Callable[[str, list[A]], R],
    refuse: Callable[[int, ErrorCode], A],
    topic_ids: dict[str, TopicId] | None = None,
) -> Steps[tuple[list[T], list[R]]]:
    """(the topics with their existing partitions, the results for the others).

    `keep`, `respond` and `refuse` are the classes of an API: of a topic in the request, of a topic
    in the response, and of its partitions. `topic_ids` gets the ids of the existing topics.
    """
    known: list[T] = []
    unknown: list[R] = []
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    for topic in topics:
        found = image.topic(topic.name)
        if found is not None and topic_ids is not None:
            topic_ids.setdefault(topic.name, found.id)
        existing, missing = yield from split_by_existence(
            topic.partitions,
            0 if found is None else len(found.partitions),
            lambda each: refuse(each.partition_index, code),
        )
        if existing:
            known.append(keep(topic.name, existing))
        if missing or found is None:
            unknown.append(respond(topic.name, missing))
    return known, unknown
