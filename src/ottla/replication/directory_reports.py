"""Reports to the controller in which log directory each replica of this broker is.

Owns      the partitions whose directory the metadata does not have, or has wrongly.
Promises  a report is repeated until the controller has answered it. Many partitions are reported
          together.
Leaves    what a report means to the controller: a replica whose directory has failed, or was
          replaced, is not elected.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from ottla.base.ids import TopicId, TopicPartition
from ottla.base.log_messages.sparse_log import SparseLog
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.metadata.entities import PartitionRegistration
from ottla.metadata.records import LOST_DIRECTORY
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.assign_replicas_to_dirs_request import (
    DirectoryData,
    PartitionData,
    TopicData,
)
from ottla.replication.partition import Partition
from ottla.storage.directories.log_manager import LogManager

log = logging.getLogger(__name__)

RETRY_S = 0.5
AT_ONCE = 2000  # partitions, as in Kafka

Assign = Callable[[list[DirectoryData]], Awaitable[None]]


class DirectoryReports:
    def __init__(self, broker_id: int, logs: LogManager, assign: Assign, tasks: OwnedTasks) -> None:
        self._broker_id = broker_id
        self._logs = logs
        self._assign = assign
        self._tasks = tasks
        self._due: dict[TopicPartition, bytes] = {}  # with the topic ids
        self._lost: set[TopicPartition] = set()  # their records are damaged
        self._is_running = False
        self._failures = SparseLog(log, logging.WARNING)

    def may_lead(self, partition: Partition, decided: PartitionRegistration) -> bool:
        """Whether the metadata has any directory of the replica: otherwise its directory could be
        replaced, and the replica would lead without its records. Reports a wrong one."""
        known = decided.directory_of(self._broker_id)
        if known != self._directory_id(partition.name):
            self.report(partition)
        return known is not None and any(known)

    def report_lost(self, name: TopicPartition, topic_id: TopicId) -> None:
        """The replica cannot be read: others must lead, and none may count on it."""
        self._lost.add(name)
        self._report(name, topic_id)

    def report_found(self, partition: Partition) -> None:
        """The replica can be read again."""
        self._lost.discard(partition.name)
        self.report(partition)

    def forget(self, name: TopicPartition) -> None:
        """The partition is not on this broker any more."""
        self._lost.discard(name)
        self._due.pop(name, None)

    def report(self, partition: Partition) -> None:
        self._report(partition.name, partition.topic_id)

    def _report(self, name: TopicPartition, topic_id: TopicId) -> None:
        self._due[name] = topic_id
        if not self._is_running:
            self._is_running = True
            self._tasks.start(self._run(), name="directories of replicas")

    async def _run(self) -> None:
        try:
            while self._due:
                await asyncio.sleep(0)  # all that are placed in this iteration of the event loop
                await self._send()
        finally:
            self._is_running = False

    async def _send(self) -> None:
        due = dict(list(self._due.items())[:AT_ONCE])
        reports = self._reports(due)
        for name in due:
            del self._due[name]
        if not reports:
            return
        try:
            await self._assign(reports)
        except BrokerError as error:
            now_s = asyncio.get_running_loop().time()
            self._failures.write(now_s, "directories are not known to the controller: %s", error)
            await asyncio.sleep(RETRY_S)
            self._due = {**due, **self._due}

    def _reports(self, due: dict[TopicPartition, bytes]) -> list[DirectoryData]:
        found: dict[bytes, dict[bytes, list[PartitionData]]] = {}
        for name, topic_id in due.items():
            directory_id = self._directory_id(name)
            if directory_id is not None:
                topics = found.setdefault(directory_id, {})
                topics.setdefault(topic_id, []).append(PartitionData(name.partition))
        return [
            DirectoryData(directory_id, [TopicData(*each) for each in topics.items()])
            for directory_id, topics in found.items()
        ]

    def _directory_id(self, name: TopicPartition) -> bytes | None:
        if name in self._lost:
            return LOST_DIRECTORY
        directory = self._logs.directory_of(name)
        return None if directory is None else directory.directory_id
