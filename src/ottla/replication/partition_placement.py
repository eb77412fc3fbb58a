"""Opens, leads, follows and closes single partitions as the metadata places them.

Owns      partitions without a usable log: lost ones, and those waiting for disk space.
Promises  a partition that cannot be opened or led is offline and does not affect others. A log
          that has later leader epochs than the metadata is not written to.
Leaves    when to place a partition to `replica_manager.py`, files to the storage.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from ottla.base.clock import Clock, monotonic_ms
from ottla.base.files.readers import BLOCKING
from ottla.base.ids import NO_LEADER, TopicId, TopicPartition
from ottla.base.log_messages.sparse_log import SparseLog
from ottla.base.scheduling.steps import Start
from ottla.base.scheduling.tasks import next_iteration
from ottla.metadata import entities
from ottla.metadata.image import Image
from ottla.metadata.records import LOST_DIRECTORY, RECOVERING
from ottla.replication.damaged_replicas import DamagedReplicas
from ottla.replication.deletions import Deletions
from ottla.replication.directory_reports import DirectoryReports
from ottla.replication.leader_role import LeaderListener
from ottla.replication.leadership import Leadership
from ottla.replication.partition import Partition
from ottla.replication.partition_configs import PartitionConfigs
from ottla.replication.partition_table import PartitionTable
from ottla.storage.directories.log_manager import LogManager
from ottla.storage.errors import StorageError
from ottla.storage.files.directory_health import OutOfResources
from ottla.storage.log.log import Log

log = logging.getLogger(__name__)


class PartitionPlacement:
    def __init__(
        self,
        broker_id: int,
        logs: LogManager,
        table: PartitionTable,
        configs: PartitionConfigs,
        deletions: Deletions,
        clock: Clock,
        start: Start,
        listener: LeaderListener,
        reports: DirectoryReports | None = None,
        damaged: DamagedReplicas | None = None,
    ) -> None:
        self._broker_id = broker_id
        self._logs = logs
        self._table = table
        self._configs = configs
        self._deletions = deletions
        self._clock = clock
        self._start = start
        self._listener = listener
        self._reports = reports  # None without a cluster
        self._damaged = damaged
        self.lost: set[tuple[str, int]] = set()  # their log was not found, or was removed
        self.removed_by_others: set[tuple[str, int]] = set()  # while this broker was running
        self._waiting_for_resources: dict[tuple[str, int], None] = {}
        self._out_of_resources = SparseLog(log, logging.ERROR)

    def place(
        self, topic: entities.Topic, index: int, decided: entities.PartitionRegistration
    ) -> None:
        """Apply the state of one partition from the metadata."""
        name = TopicPartition(topic.name, index)
        if self._broker_id not in decided.replicas:
            self.remove(name)
            return
        if (
            name in self.removed_by_others
        ):  # the controller may have refused, as no other could lead
            self._report_removed(name, topic.id, decided)
        try:
            self._lead_or_follow(topic, name, decided)
        except OutOfResources as error:
            self._out_of_resources.write(
                self._clock.monotonic_s(), "%s is offline until there is room: %s", name, error
            )
            self._waiting_for_resources[name] = None
            self._table.take_offline(name)
            self._listener.out_of_resources(topic.id, index, leadership_of(decided))
        except (StorageError, OSError) as error:
            log.error("%s is offline: %s", name, error)
            self._table.take_offline(name)

    def _lead_or_follow(
        self, topic: entities.Topic, name: TopicPartition, decided: entities.PartitionRegistration
    ) -> None:
        partition = self._table.by_name.get(name) or self._open(topic, name, decided)
        if partition.is_truncating:
            partition.when_truncated(partial(self._place_again, partition, topic, decided))
            return
        was_leader, old_epoch = partition.is_leader, partition.leader_epoch
        if decided.leader == self._broker_id and decided.leader_epoch != old_epoch:
            check_epoch(partition.log, decided.leader_epoch)
        leadership = leadership_of(decided)
        if self._reports is not None and not self._reports.may_lead(partition, decided):
            leadership = replace(leadership, leader=NO_LEADER)  # until its report has arrived
        partition.lead_or_follow(leadership, monotonic_ms(self._clock))
        self._table.followers.leadership_changed(partition)
        if partition.is_leader and (not was_leader or partition.leader_epoch != old_epoch):
            self._table.notify_leading(partition)
        elif was_leader and not partition.is_leader:
            self._table.notify_resigned(name)
        if self._damaged is not None:
            self._damaged.check(partition, decided)

    def _place_again(
        self,
        partition: Partition,
        topic: entities.Topic,
        decided: entities.PartitionRegistration,
    ) -> None:
        """After a truncation, unless the partition was removed meanwhile: a log would be created
        for a topic that is deleted, or for a replica on other brokers."""
        if self._table.by_name.get(partition.name) is partition:
            self.place(topic, partition.name.partition, decided)

    def _open(
        self, topic: entities.Topic, name: TopicPartition, decided: entities.PartitionRegistration
    ) -> Partition:
        if name in self._deletions:  # of an older topic with this name
            self._deletions.free([name])
        if name in self.lost:
            if not self.may_begin_again(topic, name, decided):
                raise StorageError("its log is in no directory that can be read")
            self.lost.discard(name)
            self.removed_by_others.discard(name)
        found = self._logs.get(name)
        if found is None:
            config = self._configs.of_topic(topic.name)
            found = self._logs.take_back(name, topic.id, config)
            found = found or self._logs.create(name, config, topic.id)
        elif (topic_id := found.topic_id.load(BLOCKING)) is None:
            found.topic_id.write(topic.id)
        elif topic_id != topic.id:  # new records would be deleted with the other topic
            raise StorageError(f"{found.path} holds records of another topic of that name")
        found.health.begin_use()
        partition = Partition(name, topic.id, self._broker_id, found, self._start, self._listener)
        self._table.add(partition)
        self._configs.note(topic.name, topic.id)
        return partition

    def may_begin_again(
        self, topic: entities.Topic, name: TopicPartition, decided: entities.PartitionRegistration
    ) -> bool:
        """Whether a replica without its log may be copied again from its leader: the directory was
        replaced by an empty one, or the controller knows that the log is lost; and no election
        counts on what this replica had."""
        me, has_everything = (
            self._broker_id,
            (*decided.in_sync_replicas, *decided.eligible_replicas),
        )
        is_led_elsewhere = decided.has_leader and decided.leader != me
        is_lost = decided.directory_of(me) == LOST_DIRECTORY and self._logs.is_missing(name)
        is_empty = is_lost or self._logs.is_replaced(name, topic.id)
        return is_empty and is_led_elsewhere and me not in has_everything

    def remove(self, name: TopicPartition) -> None:
        self.lost.discard(name)
        if name in self.removed_by_others and self._reports is not None:
            self._reports.forget(name)
        self.removed_by_others.discard(name)
        self._waiting_for_resources.pop(name, None)
        if self._damaged is not None:
            self._damaged.removed(name)
        self._table.remove(name)

    def directory_failed(self, lost: Iterable[TopicPartition]) -> None:
        for name in lost:
            if name not in self._deletions:
                self._table.take_offline(name)

    def log_lost(self, partition: TopicPartition) -> None:
        """Another process has removed its files; no new log is created before the next start.
        Others must lead, and none may count on what this replica had."""
        known = self._table.by_name.get(partition)
        self.lost.add(partition)
        self._table.take_offline(partition)
        if known is not None and self._reports is not None:
            self.removed_by_others.add(partition)
            self._reports.report_lost(partition, known.topic_id)

    def _report_removed(
        self, name: TopicPartition, topic_id: TopicId, decided: entities.PartitionRegistration
    ) -> None:
        if self._reports is not None and decided.directory_of(self._broker_id) != LOST_DIRECTORY:
            self._reports.report_lost(name, topic_id)

    async def retry_waiting(self, image: Image) -> None:
        """Place the partitions again for which the disk was full, until one fails again."""
        waiting, self._waiting_for_resources = self._waiting_for_resources, {}
        while waiting:
            name, _ = waiting.popitem()
            topic = image.topic(name[0])
            if topic is not None and name[1] < len(topic.partitions):
                self.place(topic, name[1], topic.partitions[name[1]])
            if self._waiting_for_resources:
                self._waiting_for_resources.update(waiting)
                return
            await next_iteration()


def check_epoch(found: Log, leader_epoch: int) -> None:
    """StorageError if the log has records of later epochs than the metadata.

    Records appended in an earlier epoch would be truncated by the next recovery.
    """
    latest = found.epochs.load(BLOCKING).latest_epoch
    if latest is not None and latest > leader_epoch:
        raise StorageError(
            f"{found.path} has leader epoch {latest}, the metadata has {leader_epoch}: the "
            "metadata is an older copy; restore the newest one and start the broker again"
        )


def leadership_of(decided: entities.PartitionRegistration) -> Leadership:
    return Leadership(
        decided.leader,
        decided.leader_epoch,
        decided.partition_epoch,
        decided.replicas,
        decided.in_sync_replicas,
        decided.leader_recovery == RECOVERING,
        decided.directories,
    )
