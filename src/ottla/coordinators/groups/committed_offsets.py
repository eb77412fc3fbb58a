"""The committed offsets of a shard, and the pending ones of open transactions.

Owns      offsets by group, topic and partition; and for each producer the offsets that its open
          transaction would commit.
Promises  the state results from applying the records in log order, both live and after a restart.
          Between a plain commit and a transactional one, the one whose record is later in the log
          wins, however late the transaction ends; compaction keeps that record too. Ending a
          transaction costs time per topic, and for each partition only a copy in C code.
Leaves    permission to commit to the groups, and expiration to `offset_expiry.py`.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Container, Iterable, Iterator, Mapping, Set
from functools import partial
from operator import attrgetter
from typing import NamedTuple, TypeVar

from ottla.base.ids import NO_TOPIC_ID
from ottla.coordinators.groups.shard_context import Usage
from ottla.protocol.messages.legacy_offset_commit_key import LegacyOffsetCommitKey
from ottla.protocol.messages.legacy_offset_commit_value import LegacyOffsetCommitValue
from ottla.protocol.messages.offset_commit_key import OffsetCommitKey
from ottla.protocol.messages.offset_commit_value import OffsetCommitValue
from ottla.protocol.records.batch import NO_PRODUCER_ID

V = TypeVar("V")
NEVER = -1

Offsets = dict[int, "CommittedOffset"]  # by partition
OffsetsByTopic = Mapping[str, Mapping[int, "CommittedOffset"]]
_NOTHING: OffsetsByTopic = {}
_NO_OFFSETS: Mapping[int, CommittedOffset] = {}
_NO_UNSTABLE: Mapping[str, Container[int]] = {}
_RECORD_OFFSET = attrgetter("record_offset")


class CommittedOffset(NamedTuple):
    offset: int
    leader_epoch: int
    metadata: str
    commit_ms: int
    expire_ms: int  # NEVER if the broker's retention applies
    topic_id: bytes  # zero if unknown
    record_offset: int  # offset of the record in the log


class OffsetName(NamedTuple):
    group_id: str
    topic: str
    partition: int


class GroupOffsets(NamedTuple):
    """A consistent snapshot of the offsets of one group: a commit may change several together."""

    by_topic: OffsetsByTopic
    unstable: Mapping[str, Container[int]]  # partitions with pending offsets

    def is_unstable(self, topic: str, partition: int) -> bool:
        return bool(self.unstable) and partition in self.unstable.get(topic, ())


class CommittedOffsets:
    def __init__(self, usage: Usage | None = None) -> None:
        self._usage = usage or Usage()
        self.committed: dict[str, dict[str, Offsets]] = {}
        # by producer, then by group and topic
        self.pending: dict[int, dict[tuple[str, str], Offsets]] = {}
        # the same by group, then by topic
        self._open: dict[str, dict[str, dict[int, Offsets]]] = {}
        self._groups: set[str] = set()  # groups with an offset since they were last deleted
        # groups with committed offsets, and with pending ones, by topic
        self._of_topic: dict[str, dict[str, None]] = {}
        self._open_of_topic: dict[str, dict[str, None]] = {}
        self.count = 0  # of all groups, including pending offsets

    # Reading

    def get(self, name: OffsetName) -> CommittedOffset | None:
        return self.committed.get(name.group_id, _NOTHING).get(name.topic, {}).get(name.partition)

    def of_group(self, group_id: str) -> OffsetsByTopic:
        return self.committed.get(group_id, _NOTHING)

    def snapshot(self, group_id: str, topics: Set[str] | None = None) -> GroupOffsets:
        """A snapshot of the offsets of a group, or of some of its topics."""
        known = self.committed.get(group_id, _NOTHING)
        names = known if topics is None else known.keys() & topics
        open_of = self._open.get(group_id, {})
        return GroupOffsets(
            {topic: dict(known[topic]) for topic in names},
            {topic: set().union(*leaves.values()) for topic, leaves in open_of.items()},
        )

    def current(self, group_id: str) -> GroupOffsets:
        """The offsets of a group, not copied: valid until the next await."""
        known = self.committed.get(group_id, _NOTHING)
        if group_id not in self._open:
            return GroupOffsets(known, _NO_UNSTABLE)
        open_of = self._open[group_id].items()
        return GroupOffsets(known, {topic: ChainMap(*each.values()) for topic, each in open_of})

    def count_of(self, group_id: str) -> int:
        """The number of offsets, including pending ones."""
        leaves = (
            each for topic in self._open.get(group_id, {}).values() for each in topic.values()
        )
        return sum(map(len, self.of_group(group_id).values())) + sum(map(len, leaves))

    def count_pending(self, producer_id: int) -> int:
        return sum(map(len, self.pending.get(producer_id, {}).values()))

    def count_unpending(
        self, producer_id: int, group_id: str, names: Iterable[tuple[str, int]]
    ) -> int:
        """How many of these topics and partitions the producer's open transaction does not have."""
        pending = self.pending.get(producer_id, {})
        return len(
            {
                (topic, partition)
                for topic, partition in names
                if partition not in pending.get((group_id, topic), ())
            }
        )

    def count_pending_topics(self, producer_id: int, group_id: str, more: Iterable[str]) -> int:
        """The number of topics in a producer's open transaction with these added, counted per
        group."""
        pending = self.pending.get(producer_id, {})
        return len(pending) + len({each for each in more if (group_id, each) not in pending})

    def has_group(self, group_id: str) -> bool:
        """Whether the group has had offsets, committed or pending, since it was last deleted:
        after an aborted transaction or OffsetDelete, a group without offsets remains."""
        return group_id in self._groups

    def group_ids(self) -> list[str]:
        return list(self._groups)

    def is_unstable(self, name: OffsetName) -> bool:
        """Whether the offset has a pending change."""
        if name.group_id not in self._open:
            return False
        leaves = self._open[name.group_id].get(name.topic, {})
        return any(name.partition in each for each in leaves.values())

    def count_transactions(self, group_id: str, topic: str) -> int:
        """The number of open transactions with offsets of the topic."""
        return len(self._open.get(group_id, {}).get(topic, ()))

    def has_open_transaction(self, group_id: str) -> bool:
        return group_id in self._open

    def partitions_of(self, group_id: str) -> Iterator[tuple[str, list[int]]]:
        """The partitions of each topic, committed and then pending ones; not affected by later
        changes."""
        for topic, offsets in list(self.of_group(group_id).items()):
            yield topic, list(offsets)
        for topic, leaves in list(self._open.get(group_id, {}).items()):
            for leaf in list(leaves.values()):
                yield topic, list(leaf)

    def has_topic(self, topic: str) -> bool:
        """Whether a group has offsets of the topic, committed or pending."""
        return topic in self._of_topic or topic in self._open_of_topic

    def names_of_topic(self, topic: str) -> Iterator[Iterable[OffsetName]]:
        """Every offset of a topic, committed or pending, by group."""
        for group_id in list(self._of_topic.get(topic, ())):
            partitions = list(self.of_group(group_id).get(topic, _NO_OFFSETS))
            yield map(partial(OffsetName, group_id, topic), partitions)
        for group_id in list(self._open_of_topic.get(topic, ())):
            for leaf in list(self._open.get(group_id, {}).get(topic, {}).values()):
                yield map(partial(OffsetName, group_id, topic), list(leaf))

    def newest(self, name: OffsetName) -> list[CommittedOffset]:
        """The committed offset of a partition, and its pending ones."""
        leaves = self._open.get(name.group_id, {}).get(name.topic, {}).values()
        found = [self.get(name), *(leaf.get(name.partition) for leaf in leaves)]
        return [each for each in found if each is not None]

    # Applying records

    def apply(
        self,
        key: OffsetCommitKey | LegacyOffsetCommitKey,
        value: OffsetCommitValue | LegacyOffsetCommitValue | None,
        producer_id: int,
        record_offset: int,
    ) -> None:
        if value is None:
            self._forget(OffsetName(key.group, key.topic, key.partition))
            return
        offsets = {key.partition: from_record(value, record_offset)}
        self.put(key.group, key.topic, offsets, producer_id)

    def put(self, group_id: str, topic: str, offsets: Offsets, producer_id: int) -> None:
        """Apply records of one topic: plain ones, or those of a producer's open transaction."""
        self._groups.add(group_id)
        if producer_id == NO_PRODUCER_ID:
            self._put(group_id, topic, offsets)
            return
        of_topic = self._open.setdefault(group_id, {}).setdefault(topic, {})
        if not of_topic:
            self._open_of_topic.setdefault(topic, {})[group_id] = None
        leaf = of_topic.setdefault(producer_id, {})
        before = len(leaf)
        leaf.update(offsets)
        self._counted(len(leaf) - before)
        self.pending.setdefault(producer_id, {})[group_id, topic] = leaf

    def group_deleted(self, group_id: str) -> None:
        """Apply the tombstone of a group; remaining offsets keep the group."""
        if group_id not in self.committed and group_id not in self._open:
            self._groups.discard(group_id)

    def apply_marker(self, producer_id: int, is_commit: bool) -> None:
        """A transaction ended: its pending offsets are committed or discarded."""
        for (group_id, topic), offsets in self.pending.pop(producer_id, {}).items():
            self._close(group_id, topic, producer_id)
            self._counted(-len(offsets))
            if is_commit:
                current = self.of_group(group_id).get(topic, _NO_OFFSETS)
                self._put(group_id, topic, later_than(offsets, current))

    def _put(self, group_id: str, topic: str, offsets: Offsets) -> None:
        topics = self.committed.setdefault(group_id, {})
        known = topics.get(topic)
        if known is None:
            known = topics[topic] = {}
            self._of_topic.setdefault(topic, {})[group_id] = None
        before = len(known)
        known.update(offsets)
        self._counted(len(known) - before)

    def _counted(self, change: int) -> None:
        self.count += change
        self._usage.offsets += change

    def dropped(self) -> None:
        """Another broker is the leader: release the count of these offsets."""
        self._usage.offsets -= self.count
        self.count = 0

    def _forget(self, name: OffsetName) -> None:
        """Includes pending offsets: a deleted group stays deleted."""
        group_id, topic, partition = name
        topics = self.committed.get(group_id, {})
        known = topics.get(topic, {})
        if known.pop(partition, None) is not None:
            self._counted(-1)
            if not known:
                self._forget_topic(group_id, topic)
        for producer_id, leaf in list(self._open.get(group_id, {}).get(topic, {}).items()):
            if leaf.pop(partition, None) is not None:
                self._counted(-1)
            if not leaf:
                del self.pending[producer_id][group_id, topic]
                self._close(group_id, topic, producer_id)

    def _forget_topic(self, group_id: str, topic: str) -> None:
        _remove(self.committed, group_id, topic)
        _remove(self._of_topic, topic, group_id)

    def _close(self, group_id: str, topic: str, producer_id: int) -> None:
        leaves = self._open[group_id][topic]
        del leaves[producer_id]
        if not leaves:
            _remove(self._open, group_id, topic)
            _remove(self._open_of_topic, topic, group_id)


def _remove(nested: dict[str, dict[str, V]], outer: str, inner: str) -> None:
    """Remove an item, and its mapping if that is empty then."""
    del nested[outer][inner]
    if not nested[outer]:
        del nested[outer]


def later_than(offsets: Offsets, current: Mapping[int, CommittedOffset]) -> Offsets:
    """The ones of `offsets` whose records are later in the log than the current ones."""
    latest = max(map(_RECORD_OFFSET, current.values()), default=NEVER)
    if latest < min(map(_RECORD_OFFSET, offsets.values()), default=0):
        return offsets
    return {
        partition: offset
        for partition, offset in offsets.items()
        if partition not in current or current[partition].record_offset < offset.record_offset
    }


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
