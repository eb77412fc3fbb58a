"""The input and output of an assignor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

Partitions = Mapping[bytes, frozenset[int]]  # by topic id
Division = dict[str, Partitions]  # by member id
NO_PARTITIONS: Partitions = {}


class Subscriber(NamedTuple):
    """One member: its subscription and its previous target assignment."""

    topics: frozenset[bytes]
    current: Partitions = NO_PARTITIONS
    instance_id: str | None = None

    def kept(self, partition_counts: Mapping[bytes, int]) -> Iterator[tuple[bytes, int]]:
        """The previously assigned partitions that still exist and are subscribed to, in order."""
        for topic_id in sorted(self.current):
            if topic_id in self.topics:
                count = partition_counts.get(topic_id, 0)
                yield from ((topic_id, at) for at in sorted(self.current[topic_id]) if at < count)


def as_division(owned: Mapping[str, list[tuple[bytes, int]]]) -> Division:
    division: Division = {}
    for member_id, partitions in owned.items():
        by_topic: dict[bytes, set[int]] = {}
        for topic_id, partition in partitions:
            by_topic.setdefault(topic_id, set()).add(partition)
        division[member_id] = {topic_id: frozenset(each) for topic_id, each in by_topic.items()}
    return division
