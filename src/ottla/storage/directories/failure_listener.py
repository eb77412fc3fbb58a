"""What the log directories of a broker report when a disk, or the files of a log, fail."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from ottla.base.ids import TopicPartition


class FailureListener(Protocol):
    """Called on the event loop, once for each failure."""

    def directory_failed(self, lost: Iterable[TopicPartition]) -> None:
        """A log directory went offline, with these partitions."""

    def log_lost(self, partition: TopicPartition) -> None:
        """The files of one log were removed or replaced by another process."""
