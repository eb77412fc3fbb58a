"""The rules of a follower: what it takes from its leader, and what it serves to consumers.

Promises  the high watermark never decreases, also if a new leader tells a lower one; a partition
          does not change leadership while its log is truncated; a consumer never gets an answer
          about records that the follower cannot know to be committed.
Leaves    fetching, appending and truncating to `following/`.
"""

from __future__ import annotations

from collections.abc import Callable

from ottla.base.scheduling.steps import Steps
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.replica import Replica
from ottla.replication.waiting import Done


class FollowerReplica(Replica):
    # Set while the log is truncated: what to call afterwards.
    _after_truncation: list[Callable[[], None]] | None = None

    def follow_leader(self, high_watermark: int, log_start_offset: int, size: int) -> None:
        """Apply what the leader has told with its records, of which `size` bytes were appended.

        The high watermark of a new leader may be lower for a short time than the one that the last
        leader told: it stays, so that no consumer sees it go back.
        """
        log, offsets = self.log, self.log.offsets
        before = offsets.high_watermark
        self._untold_bytes += size
        if high_watermark > before:
            log.update_high_watermark(high_watermark)
        if offsets.start < log_start_offset <= offsets.high_watermark:
            log.advance_log_start(log_start_offset)
        if offsets.high_watermark > before:
            size, self._untold_bytes = self._untold_bytes, 0
            self.announce(size)

    def check_served_here(self, offset: int) -> None:
        """BrokerError if this broker is a follower that cannot know yet what a consumer finds at
        this offset. OFFSET_OUT_OF_RANGE makes it ask the leader."""
        offsets = self.log.offsets
        if self.leader_state is None and offset > offsets.high_watermark:
            is_copied = offset <= offsets.end
            code = ErrorCode.OFFSET_NOT_AVAILABLE if is_copied else ErrorCode.OFFSET_OUT_OF_RANGE
            raise BrokerError(code)

    def when_own_synced(self, done: Done) -> None:
        """Call `done` once all that a follower has appended is synced here, or never will be. If
        it becomes the leader before, the records are not committed without the sync."""
        self._flush_owed_to = self.log.offsets.end
        self._commits.wait(self._flush_owed_to, done)

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
