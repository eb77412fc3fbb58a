"""Which log directory has the log of a partition, and which its future log."""

from __future__ import annotations

from collections.abc import Iterable

from ottla.base.ids import TopicPartition
from ottla.storage.directories.log_directory import LogDirectory


class LogLocations:
    def __init__(self) -> None:
        self.current: dict[TopicPartition, LogDirectory] = {}
        self.future: dict[TopicPartition, LogDirectory] = {}
        self.duplicates: set[TopicPartition] = set()  # found in several directories

    def find(self, directories: Iterable[LogDirectory]) -> None:
        """Start again with what the directories have."""
        self.current.clear()
        self.future.clear()
        self.duplicates.clear()
        for directory in directories:
            self._find(self.current, directory.logs, directory)
            self._find(self.future, directory.future_logs, directory)

    def _find(
        self,
        locations: dict[TopicPartition, LogDirectory],
        partitions: Iterable[TopicPartition],
        directory: LogDirectory,
    ) -> None:
        for partition in partitions:
            if partition in locations:
                self.duplicates.add(partition)
            else:
                locations[partition] = directory

    def remove(self, partition: TopicPartition) -> None:
        self.current.pop(partition, None)
        self.future.pop(partition, None)

    def promote_future(self, partition: TopicPartition) -> None:
        self.current[partition] = self.future.pop(partition)

    def directory_failed(self, directory: LogDirectory) -> list[TopicPartition]:
        """The partitions whose log it has. Its future logs are dropped: the current ones are in
        other directories."""
        for partition in [each for each, at in self.future.items() if at is directory]:
            del self.future[partition]
        return sorted(partition for partition, at in self.current.items() if at is directory)
