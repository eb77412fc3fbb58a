"""The topics and partitions that `ottla consume` was asked to read, in a cluster that changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ottla.base.ids import TopicPartition
from ottla.cli.cluster.topics import chosen_topics, matching_topics
from ottla.cli.errors import CommandFailed


class Selection(NamedTuple):
    """Names and patterns of topics, and numbers of partitions; without numbers all of them."""

    names: Sequence[str]
    numbers: Sequence[int] | None = None

    def topics(self, existing: dict[str, Any]) -> list[str]:
        """CommandFailed if a name or pattern fits no topic."""
        return chosen_topics(self.names, existing)

    def partitions(self, existing: dict[str, Any]) -> list[TopicPartition]:
        """CommandFailed also if a topic lacks one of the numbers."""
        partitions = []
        for topic in self.topics(existing):
            numbers = sorted(existing[topic].partitions)
            for number in self.numbers or numbers:
                if number not in numbers:
                    raise CommandFailed(f"{topic} has no partition {number}: it has {len(numbers)}")
                partitions.append(TopicPartition(topic, number))
        return partitions

    def current_topics(self, existing: Mapping[str, Any]) -> list[str]:
        """The topics that exist now. No error if there are none."""
        return list(
            dict.fromkeys(t for name in self.names for t in matching_topics(name, existing))
        )

    def current_partitions(self, existing: Mapping[str, Any]) -> list[TopicPartition]:
        return [
            TopicPartition(topic, number)
            for topic in self.current_topics(existing)
            for number in sorted(existing[topic].partitions)
            if self.numbers is None or number in self.numbers
        ]
