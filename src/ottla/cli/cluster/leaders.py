"""Partitions without a leader: they can be neither read nor written until they have one.

librdkafka waits for a leader without an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ottla.base.ids import TopicPartition
from ottla.cli.errors import CommandFailed

SHOWN_MAX = 10
SEE_STATUS = "see: ottla status"


def leaderless(
    partitions: Iterable[TopicPartition], topics: Mapping[str, Any]
) -> list[TopicPartition]:
    """The partitions without a leader; `topics` is the content of the metadata."""
    return [
        each
        for each in partitions
        if each.topic in topics
        and (found := topics[each.topic].partitions.get(each.partition)) is not None
        and found.leader < 0
    ]


def require_leaders(partitions: Iterable[TopicPartition], topics: Mapping[str, Any]) -> None:
    if found := leaderless(partitions, topics):
        raise CommandFailed(f"there is no leader of {partition_names(found)}", SEE_STATUS)


def partition_names(partitions: Sequence[TopicPartition]) -> str:
    """The first of them, as `ottla status` shows them."""
    shown = ", ".join(map(str, partitions[:SHOWN_MAX]))
    more = len(partitions) - SHOWN_MAX
    return f"{shown} and {more} more" if more > 0 else shown
