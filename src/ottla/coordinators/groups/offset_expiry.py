"""Offsets that nobody uses any more, and groups that have nothing left.

An offset of an empty group grows old from when the group became empty; one of a topic that no
member is subscribed to, and one of a group without members of its own, from its commit. An offset
that an open transaction may change stays.
"""

from __future__ import annotations

from collections.abc import Iterator

from ottla.coordinators.groups.committed_offsets import (
    NEVER,
    CommittedOffset,
    CommittedOffsets,
    OffsetName,
)
from ottla.coordinators.groups.group import ExpiryStart, Group
from ottla.coordinators.groups.offset_commits import offset_tombstone
from ottla.coordinators.records import CoordinatorRecord


def decide_expiry(
    group: Group, offsets: CommittedOffsets, now_ms: int, retention_ms: int
) -> list[CoordinatorRecord]:
    """Tombstones of what has expired; of the group too, if it is empty and nothing is left."""
    known = sum(len(each) for each in offsets.of_group(group.group_id).values())
    start = group.expiry_start()
    expired = (
        [] if start is None else list(expired_names(group, offsets, start, now_ms, retention_ms))
    )
    records = [offset_tombstone(name) for name in expired]
    is_bare = len(expired) == known and not offsets.has_open_transaction(group.group_id)
    if is_bare and group.is_abandoned:
        records += group.tombstones()
    return records


def expired_names(
    group: Group,
    offsets: CommittedOffsets,
    start: ExpiryStart,
    now_ms: int,
    retention_ms: int,
) -> Iterator[OffsetName]:
    for topic, partitions in offsets.of_group(group.group_id).items():
        if group.is_subscribed(topic):
            continue
        for partition, committed in partitions.items():
            name = OffsetName(group.group_id, topic, partition)
            if is_expired(committed, start, now_ms, retention_ms) and not offsets.is_unstable(name):
                yield name


def is_expired(
    committed: CommittedOffset, start: ExpiryStart, now_ms: int, retention_ms: int
) -> bool:
    if committed.expire_ms != NEVER:
        return now_ms >= committed.expire_ms
    return now_ms - start(committed) >= retention_ms
