"""The interface of every group type."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from ottla.base.scheduling.steps import Steps
from ottla.coordinators.groups.committed_offsets import CommittedOffset
from ottla.coordinators.records import CoordinatorRecord

CLASSIC = "classic"
CONSUMER = "consumer"

UNKNOWN_MEMBER = ""


class CommitBy(NamedTuple):
    """The identity of a committer: a member in a generation or epoch, or an anonymous client."""

    member_id: str
    instance_id: str | None
    epoch: int
    is_transactional: bool
    version: int  # of OffsetCommit

    @property
    def is_anonymous(self) -> bool:
        return self.epoch < 0 and not self.member_id and self.instance_id is None


# Raises BrokerError if this partition of a topic may not be committed; None allows all.
PartitionCheck = Callable[[bytes, int], None]

# The time since which an offset is unused.
ExpiryStart = Callable[[CommittedOffset], int]


class Group(Protocol):
    @property
    def group_id(self) -> str: ...

    @property
    def group_type(self) -> str: ...

    @property
    def state_name(self) -> str: ...

    @property
    def protocol_type(self) -> str: ...

    @property
    def is_empty(self) -> bool: ...

    @property
    def is_abandoned(self) -> bool:
        """Whether it has no members and none that is about to join."""

    def learn_subscriptions(self) -> Steps[None]:
        """Determine the subscriptions; called before `is_subscribed`."""

    def is_subscribed(self, topic: str) -> bool:
        """Whether offsets of the topic are in use."""

    def check_commit(self, by: CommitBy) -> PartitionCheck | None:
        """BrokerError if this member may not commit; otherwise the check for each partition."""

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """BrokerError if this member may not read offsets."""

    def check_offset_delete(self) -> None:
        """BrokerError unless single offsets may be deleted."""

    def check_delete(self) -> None:
        """BrokerError unless the group may be deleted."""

    def expiry_start(self) -> ExpiryStart | None:
        """The time from which its offsets age; None while none may expire."""

    def tombstones(self) -> list[CoordinatorRecord]:
        """Records that delete the group. Its offsets have their own."""
