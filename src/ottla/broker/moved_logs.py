"""Moves of partitions between log directories: their limit, and notifications after a move."""

from __future__ import annotations

import logging

from ottla.base.clock import Clock
from ottla.base.rates import windows_of
from ottla.base.scheduling.steps import Driver
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.broker.control.control_plane import ControlPlane
from ottla.broker.housekeeping import Housekeeping
from ottla.metadata.current_config import CurrentConfig
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.assign_replicas_to_dirs_request import (
    DirectoryData,
    PartitionData,
    TopicData,
)
from ottla.replication.directory_moves import DirectoryMoves
from ottla.replication.partition import Partition
from ottla.replication.replica_manager import ReplicaManager
from ottla.storage.directories.log_directory import LogDirectory

log = logging.getLogger(__name__)


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

    def __init__(
        self, housekeeping: Housekeeping, control: ControlPlane, tasks: OwnedTasks
    ) -> None:
        self._housekeeping = housekeeping
        self._control = control
        self._tasks = tasks

    def moved(self, partition: Partition, directory: LogDirectory) -> None:
        self._housekeeping.removed(partition.name)
        name = f"assign {partition.name}"
        self._tasks.start(self._assign(partition, directory), name=name)

    async def _assign(self, partition: Partition, directory: LogDirectory) -> None:
        assert directory.directory_id is not None
        index = PartitionData(partition.name.partition)
        topic = TopicData(partition.topic_id, [index])
        try:
            await self._control.assign_directories([DirectoryData(directory.directory_id, [topic])])
        except BrokerError as error:
            log.warning("%s: its new directory is not in the metadata: %s", partition.name, error)
