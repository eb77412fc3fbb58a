"""The logs of one log directory, by partition, and the checkpoints that cover all of them.

Owns      which partition has a log here, a future log (a copy that is to replace the log of another
          directory), a log that cannot be opened, or one whose files were lost.
Leaves    opening, deleting and setting aside to the other modules of this folder, the checkpoint
          files to `directory_checkpoints.py`.
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.base.ids import TopicPartition
from ottla.base.scheduling.steps import Steps
from ottla.storage.directories.directory_checkpoints import CheckpointJob, DirectoryCheckpoints
from ottla.storage.errors import StorageError
from ottla.storage.log.log import Log


class DirectoryLogs:
    """A `CheckpointWriter` for its logs."""

    def __init__(self, checkpoints: DirectoryCheckpoints) -> None:
        self.current: dict[TopicPartition, Log] = {}
        self.future: dict[TopicPartition, Log] = {}
        self.unreadable: dict[TopicPartition, StorageError] = {}
        self.lost: list[Log] = []  # another process removed their files while they were in use
        self._checkpoints = checkpoints

    def every(self) -> list[Log]:
        return [*self.current.values(), *self.future.values()]

    def of(self, partitions: Iterable[TopicPartition]) -> list[Log]:
        """The logs of these partitions, including future ones."""
        return [
            known[partition]
            for partition in partitions
            for known in (self.current, self.future)
            if partition in known
        ]

    def add(self, log: Log, *, is_future: bool = False) -> None:
        (self.future if is_future else self.current)[log.partition] = log

    def remove(self, log: Log) -> None:
        for known in (self.current, self.future):
            if known.get(log.partition) is log:
                del known[log.partition]

    def lose(self, log: Log) -> None:
        """Another process removed or replaced the files of a log. Its checkpoints are kept in case
        the files are restored, and its open files until the broker stops."""
        self._checkpoints.carry(log)
        self.remove(log)
        self.lost.append(log)
        log.health.end_use()

    def promote_future(self, partition: TopicPartition) -> None:
        self.current[partition] = self.future.pop(partition)

    # Checkpoints

    def write_checkpoints(self) -> None:
        self._checkpoints.write_now(self.every())

    def writing_checkpoints(self) -> Steps[None]:
        """Write the current offsets; OSError if that fails."""
        return self._checkpoints.writing(self.every)

    def making_checkpoint_job(self) -> Steps[CheckpointJob]:
        """The regular write, for a thread."""
        return (yield from self._checkpoints.making_job(self.every()))

    def making_urgent_checkpoint_job(self) -> Steps[CheckpointJob]:
        """The same, and earlier jobs write nothing any more."""
        return (yield from self._checkpoints.making_urgent_job(self.every()))

    def write_with(self, log: Log) -> None:
        self._checkpoints.write_now(self._every_with(log))

    def writing_with(self, log: Log) -> Steps[None]:
        return self._checkpoints.writing(lambda: self._every_with(log))

    def _every_with(self, log: Log) -> list[Log]:
        # A log that is being opened is not in the tables yet. If an older log of the same name is,
        # that one is being deleted, and the later one of the list is written.
        return list({id(each): each for each in [log, *self.every()]}.values())
