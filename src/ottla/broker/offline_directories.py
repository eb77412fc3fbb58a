"""Reports log directories that fail while the broker runs to its control plane."""

from __future__ import annotations

from collections.abc import Iterable

from ottla.base.ids import TopicPartition
from ottla.broker.control.control_plane import ControlPlane
from ottla.storage.directories.log_manager import LogManager


class OfflineDirectories:
    def __init__(self, logs: LogManager, control: ControlPlane) -> None:
        self._logs = logs
        self._control = control

    def directory_failed(self, _lost: Iterable[TopicPartition]) -> None:
        offline = [each for each in self._logs.directories if not each.health.is_online]
        ids = [each.directory_id for each in offline if each.directory_id is not None]
        if ids and self._logs.online:  # without any directory, the broker ends
            self._control.directories_failed(ids)

    def log_lost(self, partition: TopicPartition) -> None:
        """The directory is online: nothing to report."""
