"""What an assignor is given, and what it returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

Partitions = Mapping[bytes, frozenset[int]]  # by topic id
Division = dict[str, Partitions]  # by member id
NO_PARTITIONS: Partitions = {}


class Subscriber(NamedTuple):
    """One member: what it wants, and what it was meant to have so far."""

    topics: frozenset[bytes]
    current: Partitions = NO_PARTITIONS
    instance_id: str | None = None

    def kept(self, partition_counts: Mapping[bytes, int]) -> Iterator[tuple[bytes, int]]:
        """Of what it has, what exists and is still wanted, in order."""
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
