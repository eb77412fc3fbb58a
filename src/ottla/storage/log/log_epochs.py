"""The leader epochs of a log, read from its files when first needed.

Owns      the leader epochs while they are in memory, and the latest one that a batch has begun.
Leaves    the epochs and their file to `leader_epochs.py`, reading them to `epoch_replay.py`.
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.base.files.filesystem import FileSystem
from ottla.base.files.readers import BLOCKING, Reader
from ottla.base.ids import NO_LEADER_EPOCH
from ottla.storage.files.file_names import LEADER_EPOCHS_NAME
from ottla.storage.log.epoch_replay import open_epochs
from ottla.storage.log.leader_epochs import EpochEntry, LeaderEpochs
from ottla.storage.log.log_health import LogHealth
from ottla.storage.log.log_offsets import LogOffsets
from ottla.storage.segments.segments import Segments


class LogEpochs:
    __slots__ = (
        "_directory",
        "_epochs",
        "_files",
        "_health",
        "_offsets",
        "_segments",
        "latest_noted",
    )

    def __init__(
        self,
        files: FileSystem,
        directory: str,
        segments: Segments,
        offsets: LogOffsets,
        health: LogHealth,
        epochs: LeaderEpochs | None = None,
    ) -> None:
        self._files = files
        self._directory = directory
        self._segments = segments
        self._offsets = offsets
        self._health = health
        self._epochs = epochs
        self.latest_noted = NO_LEADER_EPOCH

    def load(self, reader: Reader) -> LeaderEpochs:
        """The leader epochs, from the files unless they are in memory."""
        if self._epochs is None:
            start, end = self._offsets.start, self._offsets.end
            try:
                epochs = open_epochs(reader, self._files, self._path, self._segments, start, end)
            except OSError as error:
                raise self._health.refused(f"reading {self._directory}", error) from error
            epochs.truncate_from_start(start)
            self._epochs = epochs
        return self._epochs

    @property
    def latest_in_memory(self) -> int | None:
        """The latest epoch; None if there is none, or none was loaded."""
        return None if self._epochs is None else self._epochs.latest_epoch

    @property
    def unwritten(self) -> LeaderEpochs | None:
        """The epochs, if their file differs from them."""
        epochs = self._epochs
        return None if epochs is None or epochs.is_written else epochs

    def announce(self, epoch: int) -> None:
        """A leader begins its epoch at the end of the log, before it appends anything."""
        self.load(BLOCKING).announce(epoch, self._offsets.end)

    def note(self, entries: Iterable[EpochEntry]) -> None:
        """Where leaders began, before anything that they wrote is in the log.

        The file is written with the next sync: until then recovery reads the records anyway, which
        contain their epoch. Thousands of partitions may get new leaders at once.
        """
        for entry in entries:
            self.load(BLOCKING).announce(*entry)
            self.latest_noted = entry.epoch

    def truncate_from_start(self, offset: int) -> None:
        self.load(BLOCKING).truncate_from_start(offset)

    def truncate_from_end(self, offset: int) -> None:
        self.load(BLOCKING).truncate_from_end(offset)
        self.latest_noted = NO_LEADER_EPOCH

    def moved(self, directory: str) -> None:
        self._directory = directory
        if self._epochs is not None:
            self._epochs.renamed(self._path)

    @property
    def _path(self) -> str:
        return f"{self._directory}/{LEADER_EPOCHS_NAME}"
