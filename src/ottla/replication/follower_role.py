"""The role of a follower: what it takes from its leader, and what it serves to consumers.

Owns      what waits for the end of a truncation.
Promises  the high watermark never decreases, even if a new leader sends a lower one; a partition
          does not change leadership while its log is truncated; a consumer never gets an answer
          about records that the follower cannot know to be committed. What only a leader does is
          refused with NOT_LEADER_OR_FOLLOWER.
Leaves    fetching, appending and truncating to `following/`.
"""

from __future__ import annotations

from collections.abc import Callable

from ottla.base.files.filesystem import Buffer
from ottla.base.ids import NO_LEADER_EPOCH
from ottla.base.scheduling.steps import Steps
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.offset_waiters import Done, OffsetWaiter
from ottla.replication.replica import Replica
from ottla.storage.log.append import Appended, ProducedBy
from ottla.storage.log.preparation import Prepared


class FollowerRole:
    __slots__ = ("_after_truncation", "replica", "uncommitted_bytes")
    is_leader = False
    has_caught_up = False
    pending_acks = 0
    has_pending_acks = False
    state = None

    def __init__(self, replica: Replica, uncommitted_bytes: int = 0) -> None:
        self.replica = replica
        self.uncommitted_bytes = uncommitted_bytes  # appended, but above the high watermark
        # Set while the log is truncated: what to call afterwards.
        self._after_truncation: list[Callable[[], None]] | None = None

    # From the leader

    def follow_leader(self, high_watermark: int, log_start_offset: int, size: int) -> None:
        """Apply the offsets that the leader has sent with its records, of which `size` bytes were
        appended.

        The high watermark of a new leader may be lower for a short time than the one that the last
        leader sent: it is kept, so that no consumer sees it decrease.
        """
        log = self.replica.log
        offsets = log.offsets
        before = offsets.high_watermark
        self.uncommitted_bytes += size
        if high_watermark > before:
            log.update_high_watermark(high_watermark)
        if offsets.start < log_start_offset <= offsets.high_watermark:
            log.advance_log_start(log_start_offset)
        if offsets.high_watermark > before:
            size, self.uncommitted_bytes = self.uncommitted_bytes, 0
            self.replica.fetches.announce(log, size)

    def when_replica_synced(self, done: Done) -> None:
        """Call `done` once all that a follower has appended is synced here, or never will be. If
        it becomes the leader before, the records are not committed without the sync."""
        self.replica.require_sync(done)

    def flushed(self, error: Exception | None) -> None:
        """Nothing waits here for a sync."""

    def advance(self, size: int = 0) -> None:
        """The leader sends the high watermark."""

    # To consumers

    def check_served_here(self, offset: int) -> None:
        offsets = self.replica.log.offsets
        if offset > offsets.high_watermark:
            is_copied = offset <= offsets.end
            code = ErrorCode.OFFSET_NOT_AVAILABLE if is_copied else ErrorCode.OFFSET_OUT_OF_RANGE
            raise BrokerError(code)

    # Truncation

    def truncating(self, steps: Steps[None]) -> Steps[None]:
        """Run steps that truncate the log. Meanwhile the partition does not change leadership."""
        assert self._after_truncation is None, "one at a time"
        self._after_truncation = []
        try:
            yield from steps
        finally:
            waiting, self._after_truncation = self._after_truncation, None
            for each in waiting:
                each()

    @property
    def is_truncating(self) -> bool:
        return self._after_truncation is not None

    def when_truncated(self, call: Callable[[], None]) -> None:
        assert self._after_truncation is not None
        self._after_truncation.append(call)

    # What only a leader does

    def check_leader(self, current_leader_epoch: int = NO_LEADER_EPOCH) -> None:
        self.replica.leadership.check_epoch(current_leader_epoch)
        raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def append(self, data: Buffer | Prepared, acks: int, by: ProducedBy) -> Appended:  # noqa: ARG002
        raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def high_watermark_sent(self, broker_id: int, high_watermark: int) -> None:
        """Does nothing: this broker was the leader when it read the response."""

    def may_be_replaced(self, leader_epoch: int) -> bool:
        return leader_epoch != NO_LEADER_EPOCH

    async def wait_replicated(self, end_offset: int, leader_epoch: int) -> None:
        if self.may_be_replaced(leader_epoch) or not self.replica.is_replicated(end_offset):
            raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def when_replicated(
        self, end_offset: int, done: Done, leader_epoch: int
    ) -> OffsetWaiter | None:
        is_there = not self.may_be_replaced(leader_epoch) and self.replica.is_replicated(end_offset)
        done(None if is_there else BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER))
        return None

    def stop_waiting(self, waiter: OffsetWaiter) -> None:
        """Does nothing: the waiter was called when this broker stopped leading."""
