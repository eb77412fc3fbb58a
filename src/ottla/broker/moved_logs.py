"""Notifications after a partition has moved to another log directory."""

from __future__ import annotations

import logging

from ottla.base.scheduling.tasks import OwnedTasks
from ottla.broker.housekeeping import Housekeeping
from ottla.controller.assign_directories import decide_assign_directories
from ottla.controller.controller import Controller
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.assign_replicas_to_dirs_request import (
    AssignReplicasToDirsRequest,
    DirectoryData,
    PartitionData,
    TopicData,
)
from ottla.replication.partition import Partition
from ottla.storage.directories.log_directory import LogDirectory

log = logging.getLogger(__name__)


class MovedLogs:
    """Notifies compaction, which has state per directory, and the controller, which stores
    locations.

    Moves start after registration, when the broker epoch is known.
    """

    def __init__(
        self, housekeeping: Housekeeping, controller: Controller, tasks: OwnedTasks
    ) -> None:
        self._housekeeping = housekeeping
        self._controller = controller
        self._tasks = tasks
        self.broker_epoch = -1

    def moved(self, partition: Partition, directory: LogDirectory) -> None:
        self._housekeeping.removed(partition.name)
        name = f"assign {partition.name}"
        self._tasks.start(self._tell_controller(partition, directory), name=name)

    async def _tell_controller(self, partition: Partition, directory: LogDirectory) -> None:
        assert directory.directory_id is not None
        index = PartitionData(partition.name.partition)
        topic = TopicData(partition.topic_id, [index])
        request = AssignReplicasToDirsRequest(
            partition.broker_id,
            self.broker_epoch,
            [DirectoryData(directory.directory_id, [topic])],
        )
        try:
            await self._controller.decide(lambda state: decide_assign_directories(state, request))
        except BrokerError as error:
            log.warning("%s: its new directory is not known to all: %s", partition.name, error)
