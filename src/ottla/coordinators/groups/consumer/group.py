"""A consumer group: the state that results from its records.

Owns      epochs of the group and of its target assignment, the members, their target and current
          assignments, and the topics that match patterns.
Promises  it changes only in `apply`; a partition never has two holders, because a partition with a
          holder (`holder_of`) is not assigned.
Leaves    decisions to the other modules of this package.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import replace
from typing import Any, NamedTuple

from ottla.base.scheduling.steps import Steps
from ottla.coordinators.groups.assignors.division import NO_PARTITIONS, Partitions
from ottla.coordinators.groups.consumer import records
from ottla.coordinators.groups.consumer.kinds import (
    ConsumerKey,
    CurrentKey,
    CurrentValue,
    GroupKey,
    MemberKey,
    MemberValue,
    PartitionMetadataKey,
    RegexKey,
    RegexValue,
    TargetEpochKey,
    TargetKey,
)
from ottla.coordinators.groups.consumer.member import (
    LEAVING_EPOCH,
    NOTHING,
    Assigned,
    ConsumerMember,
)
from ottla.coordinators.groups.group import CONSUMER, CommitBy, ExpiryStart, PartitionCheck
from ottla.coordinators.groups.shard_context import MEMBER_BYTES
from ottla.coordinators.records import CoordinatorRecord
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

TOPIC_BYTES = 100  # overhead of a name in a set
FIRST_EPOCH = 1  # of a group without a record
NO_TARGET_EPOCH = 0
NO_EPOCH = -1  # of clients that commit without being members
MEMBER_EPOCHS_FROM = 9  # version of OffsetCommit


class ResolvedRegex(NamedTuple):
    """The topics that matched a pattern at the last comparison."""

    topics: frozenset[str]
    version: int  # of the topic metadata
    resolved_ms: int


class ConsumerGroup:
    group_type = CONSUMER
    protocol_type = CONSUMER

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.epoch = FIRST_EPOCH
        self.metadata_hash = 0
        self.target_epoch = NO_TARGET_EPOCH
        self.assigned_ms = 0  # when the target was computed; 0 if unknown
        self.members: dict[str, ConsumerMember] = {}
        self.instances: dict[str, str] = {}  # member ids of static members
        self.target: dict[str, Partitions] = {}
        self.regexes: dict[str, ResolvedRegex] = {}
        self.has_partition_metadata = False  # a record written by an older broker, to be removed
        self.holders: dict[tuple[bytes, int], str] = {}
        # The distinct sets of topics of members and patterns, with their reference counts; and the
        # number of sets that contain each topic. A copy shares both until it modifies them.
        self._sets: dict[frozenset[str], tuple[frozenset[str], int]] = {}
        self.subscriptions: Counter[str] = Counter()
        self._owns_sets = True
        self.patterns: Counter[str] = Counter()  # with the number of members that use each
        self.classic_count = 0  # members that use the classic protocol
        self.held_bytes = 0  # estimated memory of the members

    def copy(self) -> ConsumerGroup:
        """A copy for uncommitted records. Members and assignments are immutable and shared."""
        copied = ConsumerGroup(self.group_id)
        copied.__dict__.update(self.__dict__)
        for name in ("members", "instances", "target", "regexes", "holders"):
            setattr(copied, name, dict(getattr(self, name)))
        copied.patterns = Counter(self.patterns)
        self._owns_sets = copied._owns_sets = False
        return copied

    # Properties

    @property
    def is_empty(self) -> bool:
        return not self.members

    @property
    def is_abandoned(self) -> bool:
        return not self.members

    @property
    def state_name(self) -> str:
        if not self.members:
            return "Empty"
        if self.epoch > self.target_epoch:
            return "Assigning"
        if all(each.is_at(self.target_epoch) for each in self.members.values()):
            return "Stable"
        return "Reconciling"

    def static_member(self, instance_id: str | None) -> ConsumerMember | None:
        if instance_id is None or instance_id not in self.instances:
            return None
        return self.members[self.instances[instance_id]]

    def member(self, member_id: str) -> ConsumerMember:
        found = self.members.get(member_id)
        if found is None:
            message = f"Member {member_id} is not a member of group {self.group_id}."
            raise BrokerError(ErrorCode.UNKNOWN_MEMBER_ID, message)
        return found

    def target_of(self, member_id: str) -> Partitions:
        return self.target.get(member_id, NO_PARTITIONS)

    def holder_of(self, topic_id: bytes, partition: int) -> str | None:
        """The member that has the partition, or has yet to revoke it."""
        return self.holders.get((topic_id, partition))

    def topics_of(self, member: ConsumerMember) -> frozenset[str]:
        """Topics by name and by pattern; an unresolved pattern matches nothing."""
        resolved = self.regexes.get(member.regex)
        return member.topics if resolved is None else member.topics | resolved.topics

    def subscribed_topics(self) -> Set[str]:
        return self.subscriptions.keys()

    def subscribed_regexes(self) -> Set[str]:
        return self.patterns.keys()

    def learn_subscriptions(self) -> Steps[None]:
        """Does nothing: subscriptions are always known."""
        yield from ()

    def is_subscribed(self, topic: str) -> bool:
        return topic in self.subscriptions

    # Applying records

    def apply(self, key: ConsumerKey, value: Any) -> None:
        """Apply a record, except the group's tombstone, which the shard handles."""
        match key:
            case CurrentKey():
                self._apply_current(key.member_id, value)
            case TargetKey():
                if value is None:
                    self.target.pop(key.member_id, None)
                else:
                    self.target[key.member_id] = records.target_from(value)
            case MemberKey():
                self._apply_member(key.member_id, value)
            case GroupKey():
                if value is not None:
                    self.epoch, self.metadata_hash = value.epoch, value.metadata_hash
            case TargetEpochKey():
                self.target_epoch = -1 if value is None else value.assignment_epoch
                self.assigned_ms = 0 if value is None else value.assignment_timestamp
            case RegexKey():
                self._apply_regex(key.regular_expression, value)
            case PartitionMetadataKey():
                self.has_partition_metadata = value is not None

    def _apply_current(self, member_id: str, value: CurrentValue | None) -> None:
        member = self.members.get(member_id)
        if value is not None:
            self._put(records.with_assignment(member or ConsumerMember(member_id), value))
        elif member is not None:
            without_assignment = replace(
                member,
                epoch=LEAVING_EPOCH,
                previous_epoch=LEAVING_EPOCH,
                assigned=NOTHING,
                revoking=NOTHING,
            )
            self._put(without_assignment)

    def _apply_member(self, member_id: str, value: MemberValue | None) -> None:
        member = self.members.get(member_id)
        if value is not None:
            self._put(records.with_metadata(member or ConsumerMember(member_id), value))
        elif member is not None:
            self._release(member)
            self._leave_set(member.topics)
            self._count(member, -1)
            del self.members[member_id]
            if self.instances.get(member.instance_id or "") == member_id:
                del self.instances[member.instance_id or ""]

    def _apply_regex(self, regex: str, value: RegexValue | None) -> None:
        known = self.regexes.pop(regex, None)
        if value is not None:
            topics = self._enter_set(frozenset(value.topics))
            self.regexes[regex] = ResolvedRegex(topics, value.version, value.timestamp)
        if known is not None:
            self._leave_set(known.topics)

    def _put(self, member: ConsumerMember) -> None:
        old = self.members.get(member.member_id)
        if old is None or old.topics is not member.topics:
            topics = self._enter_set(member.topics)
            if topics is not member.topics:
                member = replace(member, topics=topics)
            if old is not None:
                self._leave_set(old.topics)
        self._count(member, 1)
        if old is not None:
            self._count(old, -1)
            self._release(old)
        self.members[member.member_id] = member
        for held in held_by(member):
            self.holders[held] = member.member_id
        if member.instance_id is not None:
            self.instances[member.instance_id] = member.member_id

    def _release(self, member: ConsumerMember) -> None:
        for held in held_by(member):
            if self.holders.get(held) == member.member_id:
                del self.holders[held]

    def _count(self, member: ConsumerMember, change: int) -> None:
        self.held_bytes += change * member_bytes(member)
        self.classic_count += change * member.speaks_classic
        if member.regex:
            self.patterns[member.regex] += change
            if not self.patterns[member.regex]:
                del self.patterns[member.regex]

    # Subscriptions

    def _enter_set(self, topics: frozenset[str]) -> frozenset[str]:
        """Add a user of a set of topics; returns the shared set."""
        self._copy_shared_sets()
        known, users = self._sets.get(topics, (topics, 0))
        self._sets[topics] = known, users + 1
        if not users:
            self.subscriptions.update(topics)
            self.held_bytes += set_bytes(topics)
        return known

    def _leave_set(self, topics: frozenset[str]) -> None:
        self._copy_shared_sets()
        known, users = self._sets[topics]
        if users > 1:
            self._sets[topics] = known, users - 1
            return
        del self._sets[topics]
        self.held_bytes -= set_bytes(topics)
        counts = self.subscriptions
        for each in topics:
            if counts[each] == 1:
                del counts[each]
            else:
                counts[each] -= 1

    def _copy_shared_sets(self) -> None:
        if not self._owns_sets:
            self._sets, self.subscriptions = dict(self._sets), Counter(self.subscriptions)
            self._owns_sets = True

    # The interface of every group type

    def check_commit(self, by: CommitBy) -> PartitionCheck | None:
        """A member may commit in its epoch, and in an older one for partitions it has had since
        then."""
        if by.epoch < 0 and not self.members:
            return None
        if by.is_transactional and by.is_anonymous and by.epoch == NO_EPOCH:
            return None
        member = self.member(by.member_id)
        if (
            not by.is_transactional
            and not member.speaks_classic
            and by.version < MEMBER_EPOCHS_FROM
        ):
            raise BrokerError(ErrorCode.UNSUPPORTED_VERSION)
        if by.epoch == member.epoch:
            return None
        stale = stale_code(member)
        if by.epoch > member.epoch:
            raise BrokerError(stale)

        def check(topic_id: bytes, partition: int) -> None:
            since = member.holds(topic_id, partition)
            if since is None or by.epoch < since:
                raise BrokerError(stale)

        return check

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        if member_id is None and member_epoch < 0:
            return  # a tool, or a client without a member id
        member = self.member(member_id or "")
        if member_epoch != member.epoch:
            raise BrokerError(stale_code(member))

    def check_offset_delete(self) -> None:
        """Always allowed: subscribed topics are checked individually."""

    def check_delete(self) -> None:
        if self.members:
            raise BrokerError(ErrorCode.NON_EMPTY_GROUP)

    def expiry_start(self) -> ExpiryStart | None:
        return lambda committed: committed.commit_ms

    def tombstones(self) -> list[CoordinatorRecord]:
        return records.group_tombstones(self.group_id, list(self.members), self.regexes)


def set_bytes(topics: Set[str]) -> int:
    return sum(map(len, topics)) + TOPIC_BYTES * len(topics)


def member_bytes(member: ConsumerMember) -> int:
    """The estimated memory of a member without its set of topics."""
    text_bytes = len(member.member_id) + len(member.regex) + len(member.client_id)
    if member.classic is not None:
        text_bytes += sum(len(each.metadata) for each in member.classic.protocols)
    return MEMBER_BYTES + text_bytes


def held_by(member: ConsumerMember) -> Iterator[tuple[bytes, int]]:
    for assigned in (member.assigned, member.revoking):
        yield from each_partition(assigned)


def each_partition(assigned: Assigned) -> Iterator[tuple[bytes, int]]:
    for topic_id, partitions in assigned.items():
        for partition in partitions:
            yield topic_id, partition


def stale_code(member: ConsumerMember) -> ErrorCode:
    """Classic clients use generations instead of epochs."""
    if member.speaks_classic:
        return ErrorCode.ILLEGAL_GENERATION
    return ErrorCode.STALE_MEMBER_EPOCH
