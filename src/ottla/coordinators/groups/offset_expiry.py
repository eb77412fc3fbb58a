"""Expiration of unused offsets, and of groups without offsets and members.

Offsets of an empty group age from the time when the group became empty; those of topics without
subscribers, and those of groups without members, from their commit. An offset with a pending change
does not expire.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ottla.base.scheduling.steps import Steps
from ottla.coordinators.groups.committed_offsets import (
    NEVER,
    CommittedOffset,
    CommittedOffsets,
    OffsetName,
)
from ottla.coordinators.groups.group import ExpiryStart, Group
from ottla.coordinators.groups.offset_commits import (
    WriteRecords,
    batches_of,
    offset_tombstone,
)

FindGroup = Callable[[], Group | None]


def expiring(
    find: FindGroup,
    offsets: CommittedOffsets,
    now_ms: int,
    retention_ms: int,
    write: WriteRecords,
) -> Steps[None]:
    """Write tombstones of expired offsets, in slices; also of the group, if it is empty and has
    no offsets left. The group is looked up again after each pause."""
    group = find()
    if group is None:
        return
    group_id = group.group_id
    if offsets.of_group(group_id):
        yield from group.learn_subscriptions()
    for topic, partitions in offsets.partitions_of(group_id):
        for names in batches_of(map(partial(OffsetName, group_id, topic), partitions), offsets):
            write(
                [
                    offset_tombstone(each)
                    for each in expired(find(), offsets, names, now_ms, retention_ms)
                ]
            )
            yield 0
    group = find()
    is_bare = not offsets.of_group(group_id) and not offsets.has_open_transaction(group_id)
    if group is not None and is_bare and group.is_abandoned:
        write(group.tombstones())
    yield 0


def expired(
    group: Group | None,
    offsets: CommittedOffsets,
    names: list[OffsetName],
    now_ms: int,
    retention_ms: int,
) -> list[OffsetName]:
    """The expired ones of these offsets, which are all of one topic."""
    start = None if group is None else group.expiry_start()
    if group is None or start is None or group.is_subscribed(names[0].topic):
        return []
    return [
        name
        for name in names
        if (committed := offsets.get(name)) is not None
        and is_expired(committed, start, now_ms, retention_ms)
        and not offsets.is_unstable(name)
    ]


def is_expired(
    committed: CommittedOffset, start: ExpiryStart, now_ms: int, retention_ms: int
) -> bool:
    if committed.expire_ms != NEVER:
        return now_ms >= committed.expire_ms
    return now_ms - start(committed) >= retention_ms
