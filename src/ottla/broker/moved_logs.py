"""Moves of partitions between log directories: their limit, and notifications after a move."""

from __future__ import annotations

from ottla.base.clock import Clock
from ottla.base.rates import windows_of
from ottla.base.scheduling.steps import Driver
from ottla.broker.housekeeping import Housekeeping
from ottla.metadata.current_config import CurrentConfig
from ottla.replication.directory_moves import DirectoryMoves
from ottla.replication.directory_reports import DirectoryReports
from ottla.replication.partition import Partition
from ottla.replication.replica_manager import ReplicaManager
from ottla.storage.directories.log_directory import LogDirectory


def directory_moves(
    replicas: ReplicaManager,
    current: CurrentConfig,
    clock: Clock,
    driver: Driver,
    moved_logs: MovedLogs,
) -> DirectoryMoves:
    """The moves of this broker, with the dynamic limit of bytes per second."""
    windows = windows_of(
        current.broker.alter_log_dirs_replication_quota_window_num,
        current.broker.alter_log_dirs_replication_quota_window_size_seconds,
    )

    def bytes_per_second() -> int:
        return current.broker.replica_alter_log_dirs_io_max_bytes_per_second

    return DirectoryMoves(replicas, driver, clock, windows, bytes_per_second, moved_logs.moved)


class MovedLogs:
    """Notifies compaction, which has state per directory, and the controller, which stores
    locations.

    Moves start after registration, when the broker epoch is known.
    """

    def __init__(self, housekeeping: Housekeeping, reports: DirectoryReports) -> None:
        self._housekeeping = housekeeping
        self._reports = reports

    def moved(self, partition: Partition, _directory: LogDirectory) -> None:
        self._housekeeping.removed(partition.name)
        self._reports.report(partition)
