"""One member of a consumer group. Immutable: a change creates a new one, and a record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import NamedTuple

from ottla.coordinators.groups.assignors.division import Partitions
from ottla.coordinators.groups.classic.member import OfferedProtocol

JOINING_EPOCH = 0
LEAVING_EPOCH = -1
STATIC_LEAVING_EPOCH = -2  # leaves temporarily

# By topic id and partition, the epoch in which it was assigned.
Assigned = Mapping[bytes, Mapping[int, int]]
NOTHING: Assigned = {}


class MemberState(IntEnum):
    """The reconciliation state of a member, with Kafka's numbers."""

    STABLE = 0  # it has its target assignment
    UNREVOKED_PARTITIONS = 1  # it has to revoke partitions first
    UNRELEASED_PARTITIONS = 2  # other members have to release partitions first
    UNKNOWN = 127  # written by a later version


class ClassicSide(NamedTuple):
    """The state of a member that uses the classic protocol."""

    session_timeout_ms: int
    protocols: tuple[OfferedProtocol, ...]


@dataclass(frozen=True, slots=True)
class ConsumerMember:
    member_id: str
    epoch: int = JOINING_EPOCH
    previous_epoch: int = -1
    state: MemberState = MemberState.STABLE
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    client_id: str = ""
    client_host: str = ""
    topics: frozenset[str] = frozenset()
    regex: str = ""
    assignor: str | None = None
    assigned: Assigned = field(default_factory=dict)
    revoking: Assigned = field(default_factory=dict)  # to be revoked, still in use
    classic: ClassicSide | None = None

    @property
    def speaks_classic(self) -> bool:
        return self.classic is not None

    def is_at(self, assignment_epoch: int) -> bool:
        """Whether it has the complete target assignment."""
        return self.state is MemberState.STABLE and self.epoch == assignment_epoch

    def holds(self, topic_id: bytes, partition: int) -> int | None:
        """The epoch since which it has the partition; None if it does not have it."""
        epoch = self.assigned.get(topic_id, {}).get(partition)
        return self.revoking.get(topic_id, {}).get(partition) if epoch is None else epoch

    def moved_to(
        self, epoch: int, state: MemberState, assigned: Assigned, revoking: Assigned = NOTHING
    ) -> ConsumerMember:
        """The previous epoch is stored for a member that missed the response with its new one.

        Until its next step, as in Kafka: a member that uses the new epoch has received it.
        """
        return replace(
            self,
            epoch=epoch,
            previous_epoch=self.epoch,
            state=state,
            assigned=assigned,
            revoking=revoking,
        )


def without_epochs(assigned: Assigned) -> Partitions:
    return {topic_id: frozenset(each) for topic_id, each in assigned.items()}


def with_epoch(partitions: Mapping[bytes, Iterable[int]], epoch: int) -> Assigned:
    return {topic_id: dict.fromkeys(each, epoch) for topic_id, each in partitions.items()}
