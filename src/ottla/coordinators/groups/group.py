"""What every kind of group can be asked, whatever its members speak."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from ottla.base.scheduling.steps import Steps
from ottla.coordinators.groups.committed_offsets import CommittedOffset
from ottla.coordinators.records import CoordinatorRecord

CLASSIC = "classic"
CONSUMER = "consumer"

UNKNOWN_EPOCH = -1
UNKNOWN_MEMBER = ""


class CommitBy(NamedTuple):
    """Who commits offsets: a member in a generation or epoch, or nobody in particular."""

    member_id: str
    instance_id: str | None
    epoch: int
    is_transactional: bool
    version: int  # of the API

    @property
    def is_anonymous(self) -> bool:
        return self.epoch < 0 and not self.member_id and self.instance_id is None


# Raises BrokerError if this partition of a topic may not be committed, where that is asked at all.
PartitionCheck = Callable[[bytes, int], None]

# From when on an offset counts as unused.
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
        """Whether nobody is in it, or about to be."""

    def learn_subscriptions(self) -> Steps[None]:
        """Find out what the members subscribe to, before `is_subscribed` is asked."""

    def is_subscribed(self, topic: str) -> bool:
        """Whether offsets of the topic are in use."""

    def check_commit(self, by: CommitBy) -> PartitionCheck | None:
        """BrokerError if this member may not commit; else what each partition must pass."""

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """BrokerError if this member may not read offsets."""

    def check_offset_delete(self) -> None:
        """BrokerError unless single offsets may be deleted."""

    def check_delete(self) -> None:
        """BrokerError unless the group may be deleted."""

    def expiry_start(self) -> ExpiryStart | None:
        """From when on its offsets grow old; None while none of them may expire."""

    def tombstones(self) -> list[CoordinatorRecord]:
        """Records after which the group does not exist. Its offsets are not the group's."""
