"""The offsets of a log: start, end, high watermark, recovery point.

Owns      the offsets, and how often the end has moved back. Other modules read them; they change
          only through these methods.
Promises  start <= high watermark <= end, and recovery point <= end.
"""

from __future__ import annotations


class LogOffsets:
    __slots__ = (
        "checkpointed_point",
        "end",
        "high_watermark",
        "recovery_point",
        "start",
        "truncations",
    )

    def __init__(
        self, start: int, end: int, recovery_point: int, checkpointed_point: int | None = None
    ) -> None:
        if start > end or recovery_point > end:
            raise ValueError(f"start {start}, recovery point {recovery_point} and end {end}")
        self.start = start
        self.end = end
        self.high_watermark = start
        self.recovery_point = recovery_point  # every record below it is synced
        # The largest recovery point that the checkpoint file may contain.
        self.checkpointed_point = (
            recovery_point if checkpointed_point is None else checkpointed_point
        )
        self.truncations = 0  # the result of a job that began before one is not valid

    def __repr__(self) -> str:
        return (
            f"LogOffsets({self.start} to {self.end}, high watermark {self.high_watermark}, "
            f"recovery point {self.recovery_point})"
        )

    def advance_end(self, offset: int) -> None:
        """Records up to `offset` were appended."""
        self.end = offset

    def advance_start(self, offset: int) -> None:
        """Records below `offset` are deleted."""
        if not self.start <= offset <= self.high_watermark:
            raise ValueError(f"cannot start at {offset}: {self}")
        self.start = offset

    def set_high_watermark(self, offset: int) -> int:
        """Replication reports how far records are committed; limited to the log."""
        if offset < self.start:
            offset = self.start
        if offset > self.end:
            offset = self.end
        self.high_watermark = offset
        return offset

    def advance_recovery_point(self, offset: int) -> None:
        """A sync has covered every record below `offset`."""
        self.recovery_point = max(self.recovery_point, min(offset, self.end))

    def lower(self, recovery_point: int, start: int) -> bool:
        """Before records are removed: the checkpoints must not exceed these. True if that lowers an
        offset."""
        is_changed = recovery_point < self.recovery_point or start < self.start
        self.recovery_point = min(self.recovery_point, recovery_point)
        self.start = min(self.start, start)
        return is_changed

    def truncate(self, end: int) -> None:
        """Records from `end` on were removed."""
        self.restart(min(self.start, end), end, min(self.high_watermark, end))

    def restart(self, start: int, end: int, high_watermark: int) -> None:
        """The log ends at `end`, before or after its old end, with other records than before."""
        if not start <= high_watermark <= end:
            raise ValueError(f"start {start}, high watermark {high_watermark} and end {end}")
        self.start, self.high_watermark, self.end = start, high_watermark, end
        self.recovery_point = min(self.recovery_point, end)
        self.truncations += 1

    def checkpoint_begins(self, recovery_point: int) -> None:
        """A write of the checkpoint began, which may or may not succeed."""
        self.checkpointed_point = max(self.checkpointed_point, recovery_point)

    def checkpoint_written(self, recovery_point: int) -> None:
        self.checkpointed_point = recovery_point
