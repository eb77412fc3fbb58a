"""What a log directory and its logs report, and what they need from their owner.

Both are arguments when a directory is created: a log without a listener would lose syncs, and
compaction would trust records that were truncated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ottla.base.ids import TopicPartition
from ottla.base.scheduling.steps import Job, Steps

if TYPE_CHECKING:
    from ottla.storage.log.log import Log


class LogListener(Protocol):
    """Called on the event loop, with the change already made. Nothing here may block for long."""

    def log_needs_sync(self, log: Log) -> None:
        """A log was created, or a segment closed: sync it soon. Otherwise recovery has more to
        read, and after a power failure a new log may have lost its topic id."""

    def log_truncated(self, log: Log) -> None:
        """Records were removed from the end of the log."""

    def log_removed(self, directory: str, partition: TopicPartition) -> None:
        """The log does not have its name any more. What is stored about it elsewhere must not
        apply to a later log of the same name."""

    def removal_job(self, directory: str) -> Job:
        """Makes every `log_removed` so far durable. For any thread."""

    def storage_failed(self) -> None:
        """The last log directory has failed."""


class CheckpointWriter(Protocol):
    """Writes recovery points and log starts of a directory, durably.

    Before a log is truncated below them: otherwise recovery would trust records that were never
    synced, and drop a log that ends before its start. And before compaction leaves gaps between
    segments: otherwise recovery would take them for lost records.
    """

    def write_with(self, log: Log) -> None:
        """Write the offsets of all logs of the directory and of this one, which may not be one of
        them yet."""

    def writing_with(self, log: Log) -> Steps[None]:
        """The same in steps. What is synced when this begins is included."""
