"""A classic group: its generation, and its state in a rebalance.

Owns      the state, the generation and the agreed protocol.
Promises  only the content of its last record (`stored`) survives a restart; the rest is soft state:
          a rebalance in progress, waiting requests, sessions.
Leaves    the members to `membership.py`, when to rebalance to `rebalance.py`, requests to
          `joining.py`, `syncing.py`, `leaving.py`.

The state of consumer groups and transactions changes only by applying records. That of a classic
group cannot: the protocol makes members wait for each other during a rebalance, and Kafka writes a
record only at its end. So requests change soft state immediately. If they also write a record, its
consequences take effect when it is written (`when_written`), and are undone if the log rejects it
(`when_refused`).

A group that only holds offsets ("simple") has no record, no members and no protocol type.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Set
from contextlib import suppress
from enum import Enum

from ottla.base.scheduling.steps import Steps
from ottla.coordinators.groups.classic.member import ClassicMember
from ottla.coordinators.groups.classic.membership import Membership
from ottla.coordinators.groups.embedded_protocol import CONSUMER_PROTOCOL, iterate_subscribed_topics
from ottla.coordinators.groups.group import CLASSIC, CommitBy, ExpiryStart, PartitionCheck
from ottla.coordinators.groups.record_types import tombstone
from ottla.coordinators.groups.shard_context import ShardContext
from ottla.coordinators.records import CoordinatorRecord
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError, MalformedMessage
from ottla.protocol.messages.group_metadata_key import GroupMetadataKey
from ottla.protocol.messages.group_metadata_value import GroupMetadataValue


class ClassicGroupState(Enum):
    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"  # waiting for members to join
    COMPLETING_REBALANCE = "CompletingRebalance"  # waiting for the leader's assignment
    STABLE = "Stable"
    DEAD = "Dead"


class ClassicGroup:
    group_type = CLASSIC

    def __init__(self, group_id: str, context: ShardContext) -> None:
        self.group_id = group_id
        self.context = context
        self.membership = Membership(group_id, context)
        self.stored: GroupMetadataValue | None = None
        self.state = ClassicGroupState.EMPTY
        self.is_first_rebalance = False  # started from an empty group: more members may follow
        self.has_new_member = False  # since the first rebalance was last delayed
        self.first_wait_ms = 0  # remaining delay of the first rebalance
        self.generation = 0
        self.protocol: str | None = None
        self.subscribed: Set[str] | None = None  # topics; None if unknown
        self._offered: list[bytes] | None = None  # member metadata that has not been parsed yet

    # Properties

    @property
    def state_name(self) -> str:
        return self.state.value

    @property
    def members(self) -> dict[str, ClassicMember]:
        return self.membership.members

    @property
    def leader(self) -> str | None:
        return self.membership.leader

    @property
    def protocol_type(self) -> str:
        return self.membership.protocol_type

    @property
    def held_bytes(self) -> int:
        return self.membership.held_bytes

    @property
    def is_empty(self) -> bool:
        return self.state is ClassicGroupState.EMPTY

    @property
    def is_abandoned(self) -> bool:
        return self.is_empty and not self.membership.pending

    @property
    def uses_consumer_protocol(self) -> bool:
        return self.protocol_type == CONSUMER_PROTOCOL

    def is_subscribed(self, topic: str) -> bool:
        if self.subscribed is None:
            return self.uses_consumer_protocol  # unknown, so assume that it is
        return topic in self.subscribed

    def supports(self, protocol_type: str, names: Collection[str]) -> bool:
        """Whether a member with these protocols could agree with all others on one."""
        if self.is_empty:
            return bool(protocol_type and names)
        return protocol_type == self.protocol_type and any(
            map(self.membership.is_supported_by_all, names)
        )

    # Changes of the state

    def prepare(self) -> None:
        """Wait until the members have joined the next generation."""
        self.is_first_rebalance = self.is_empty
        self.state = ClassicGroupState.PREPARING_REBALANCE

    def prepare_again(self) -> None:
        """The assignment was not written."""
        self.state = ClassicGroupState.PREPARING_REBALANCE

    def begin_first_wait(self, delay_ms: int) -> None:
        """The first rebalance is delayed, by the rebalance timeout of the members at most."""
        self.has_new_member = False
        self.first_wait_ms = max(0, self.membership.rebalance_timeout_ms - delay_ms)

    def extend_first_wait(self, delay_ms: int) -> int:
        """The further delay: `delay_ms`, or what is left."""
        self.has_new_member = False
        delay_ms = min(delay_ms, self.first_wait_ms)
        self.first_wait_ms -= delay_ms
        return delay_ms

    def add(self, member: ClassicMember, protocol_type: str) -> None:
        """A new member, which extends the delay of the first rebalance."""
        self.has_new_member = True
        self.membership.add(member, protocol_type)

    def begin_generation(self, protocol: str) -> None:
        """All members have joined, and must sync."""
        self.generation += 1
        self.protocol = protocol
        self.state = ClassicGroupState.COMPLETING_REBALANCE
        self.is_first_rebalance = False
        self.note_subscriptions()
        self.membership.pending_sync = set(self.members)

    def restore(self, value: GroupMetadataValue) -> None:
        """The generation of a record, whose members are in place."""
        self.stored = value
        self.generation = value.generation
        self.protocol = value.protocol
        self.membership.restore(value.protocol_type, value.leader)
        self.state = ClassicGroupState.STABLE if value.members else ClassicGroupState.EMPTY
        self.note_subscriptions()

    def end(self) -> None:
        """It was deleted, or another broker coordinates it now."""
        self.state = ClassicGroupState.DEAD

    # The interface of every group type

    def check_commit(self, by: CommitBy) -> PartitionCheck | None:
        if by.epoch < 0 and self.is_empty:
            return None
        if not by.is_anonymous:
            self.membership.check_member(by.member_id, by.instance_id)
            if by.epoch != self.generation:
                raise BrokerError(ErrorCode.ILLEGAL_GENERATION)
        elif not by.is_transactional:
            raise BrokerError(ErrorCode.UNKNOWN_MEMBER_ID)
        if not by.is_transactional and self.state is ClassicGroupState.COMPLETING_REBALANCE:
            # A new generation without an assignment.
            raise BrokerError(ErrorCode.REBALANCE_IN_PROGRESS)
        return None

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Always allowed."""

    def check_offset_delete(self) -> None:
        if not self.is_empty and not self.uses_consumer_protocol:
            raise BrokerError(ErrorCode.NON_EMPTY_GROUP)

    def check_delete(self) -> None:
        if not self.is_empty:
            raise BrokerError(ErrorCode.NON_EMPTY_GROUP)

    def expiry_start(self) -> ExpiryStart | None:
        stored = self.stored
        if self.protocol_type and self.is_empty:
            since_ms = stored.current_state_timestamp if stored is not None else -1
            return lambda committed: committed.commit_ms if since_ms < 0 else since_ms
        is_aware = self.uses_consumer_protocol and self.subscribed is not None  # once parsed
        if not self.protocol_type or (is_aware and self.state is ClassicGroupState.STABLE):
            return lambda committed: committed.commit_ms
        return None

    def tombstones(self) -> list[CoordinatorRecord]:
        """Written for a group that only held offsets, too: Kafka keeps such a group until it reads
        a tombstone."""
        return [tombstone(GroupMetadataKey(self.group_id))]

    # Subscriptions

    def note_subscriptions(self) -> None:
        """Start a new generation: the members' metadata is parsed when its topics are needed."""
        self.subscribed = self._offered = None
        if self.uses_consumer_protocol:
            with suppress(KeyError):  # a member without this protocol
                self._offered = [each.metadata(self.protocol) for each in self.members.values()]

    def learn_subscriptions(self) -> Steps[None]:
        """Parse the subscriptions, in slices; they stay unknown if they cannot be parsed."""
        while (offered := self._offered) is not None:
            topics = yield from self._read_topics(offered)
            if self._offered is offered:  # still the same generation
                self.subscribed, self._offered = topics, None

    @staticmethod
    def _read_topics(offered: Iterable[bytes]) -> Steps[set[str] | None]:
        topics: set[str] = set()
        try:
            for metadata in offered:
                for topic in iterate_subscribed_topics(metadata):
                    topics.add(topic)
                    yield 0
                yield 0
        except MalformedMessage:
            return None
        return topics
