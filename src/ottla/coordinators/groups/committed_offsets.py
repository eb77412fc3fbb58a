"""How far groups have read: the committed offsets of a shard, and those of open transactions.

Owns      offsets by group, topic and partition; and for each producer the offsets that its open
          transaction would commit.
Promises  this is the fold of the records in log order, live and after a restart alike. Between a
          plain commit and a transaction's, the one whose record is later in the log counts, however
          late the transaction ends; compaction keeps that record too.
Leaves    who may commit to the groups, and when offsets expire to `offset_expiry.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ottla.base.ids import NO_TOPIC_ID
from ottla.protocol.messages.legacy_offset_commit_key import LegacyOffsetCommitKey
from ottla.protocol.messages.legacy_offset_commit_value import LegacyOffsetCommitValue
from ottla.protocol.messages.offset_commit_key import OffsetCommitKey
from ottla.protocol.messages.offset_commit_value import OffsetCommitValue
from ottla.protocol.records.batch import NO_PRODUCER_ID

NEVER = -1

OffsetsByTopic = Mapping[str, Mapping[int, "CommittedOffset"]]
_NOTHING: OffsetsByTopic = {}


class CommittedOffset(NamedTuple):
    offset: int
    leader_epoch: int
    metadata: str
    commit_ms: int
    expire_ms: int  # NEVER: the broker's retention decides
    topic_id: bytes  # zero: not known
    record_offset: int  # of the record in the log


class OffsetName(NamedTuple):
    group_id: str
    topic: str
    partition: int


class CommittedOffsets:
    def __init__(self) -> None:
        self.committed: dict[str, dict[str, dict[int, CommittedOffset]]] = {}
        self.pending: dict[int, dict[OffsetName, CommittedOffset]] = {}  # by producer id
        self._open: dict[str, dict[tuple[str, int], set[int]]] = {}  # producers, by group
        self._groups: set[str] = set()  # that had an offset since they were deleted last

    # What it knows.

    def get(self, name: OffsetName) -> CommittedOffset | None:
        return self.committed.get(name.group_id, _NOTHING).get(name.topic, {}).get(name.partition)

    def of_group(self, group_id: str) -> OffsetsByTopic:
        return self.committed.get(group_id, _NOTHING)

    def has_group(self, group_id: str) -> bool:
        """Whether the group has had offsets, committed or about to be, and was not deleted since:
        what an aborted transaction or OffsetDelete leaves is a group without offsets."""
        return group_id in self._groups

    def group_ids(self) -> set[str]:
        return set(self._groups)

    def is_unstable(self, name: OffsetName) -> bool:
        """Whether an open transaction would change this offset."""
        return (name.topic, name.partition) in self._open.get(name.group_id, ())

    def has_open_transaction(self, group_id: str) -> bool:
        return group_id in self._open

    def unstable_of(self, group_id: str) -> Iterator[OffsetName]:
        return (OffsetName(group_id, *where) for where in self._open.get(group_id, ()))

    def of_topics(
        self, wanted: Mapping[str, object]
    ) -> Iterator[tuple[OffsetName, CommittedOffset]]:
        """Every offset of these topics, committed or pending; others cost nothing."""
        for group_id, topics in self.committed.items():
            for topic in topics.keys() & wanted.keys():
                for partition, offset in topics[topic].items():
                    yield OffsetName(group_id, topic, partition), offset
        for pending in self.pending.values():
            yield from (item for item in pending.items() if item[0].topic in wanted)

    # How it changes.

    def apply(
        self,
        key: OffsetCommitKey | LegacyOffsetCommitKey,
        value: OffsetCommitValue | LegacyOffsetCommitValue | None,
        producer_id: int,
        record_offset: int,
    ) -> None:
        name = OffsetName(key.group, key.topic, key.partition)
        if value is not None:
            self._groups.add(name.group_id)
        if value is None:
            self._forget(name)
        elif producer_id == NO_PRODUCER_ID:
            self._put(name, from_record(value, record_offset))
        else:
            self.pending.setdefault(producer_id, {})[name] = from_record(value, record_offset)
            by_partition = self._open.setdefault(name.group_id, {})
            by_partition.setdefault((name.topic, name.partition), set()).add(producer_id)

    def group_deleted(self, group_id: str) -> None:
        """Its record says so; offsets that it still has keep it."""
        if group_id not in self.committed and group_id not in self._open:
            self._groups.discard(group_id)

    def apply_marker(self, producer_id: int, is_commit: bool) -> None:
        """A transaction ended: its offsets count now, or never will."""
        for name, offset in self.pending.pop(producer_id, {}).items():
            self._close(name, producer_id)
            current = self.get(name)
            if is_commit and (current is None or current.record_offset < offset.record_offset):
                self._put(name, offset)

    def _put(self, name: OffsetName, offset: CommittedOffset) -> None:
        topics = self.committed.setdefault(name.group_id, {})
        topics.setdefault(name.topic, {})[name.partition] = offset

    def _forget(self, name: OffsetName) -> None:
        """Offsets of open transactions go too: a group that was deleted stays deleted."""
        topics = self.committed.get(name.group_id, {})
        partitions = topics.get(name.topic, {})
        partitions.pop(name.partition, None)
        if not partitions:
            topics.pop(name.topic, None)
        if not topics:
            self.committed.pop(name.group_id, None)
        for producer_id in list(self._producers(name)):
            self.pending[producer_id].pop(name, None)
            self._close(name, producer_id)

    def _producers(self, name: OffsetName) -> set[int]:
        return self._open.get(name.group_id, {}).get((name.topic, name.partition), set())

    def _close(self, name: OffsetName, producer_id: int) -> None:
        by_partition = self._open[name.group_id]
        producers = by_partition[name.topic, name.partition]
        producers.discard(producer_id)
        if not producers:
            del by_partition[name.topic, name.partition]
        if not by_partition:
            del self._open[name.group_id]


def from_record(
    value: OffsetCommitValue | LegacyOffsetCommitValue, record_offset: int
) -> CommittedOffset:
    if isinstance(value, LegacyOffsetCommitValue):
        return CommittedOffset(
            value.offset,
            -1,
            value.metadata,
            value.commit_timestamp,
            NEVER,
            NO_TOPIC_ID,
            record_offset,
        )
    return CommittedOffset(
        value.offset,
        value.leader_epoch,
        value.metadata,
        value.commit_timestamp,
        value.expire_timestamp,
        value.topic_id,
        record_offset,
    )
