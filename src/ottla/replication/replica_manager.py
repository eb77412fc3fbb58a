"""All partitions on this broker, as the metadata log places them.

Owns      the path from metadata changes to partitions that serve requests, and to logs on disk.
Promises  a partition that cannot be served fails with Kafka's error code; a log on disk is deleted
          only if the metadata has a record of the deletion of its topic id, or has the replica on
          other brokers. A log whose topic is missing without such a record is set aside, and is
          used again once the metadata has the topic.
Leaves    decisions to the controller, files to the storage, requests to the handlers, opening and
          leading single partitions to `partition_placement.py`, partitions to be created or deleted
          to `new_partitions.py` and `deletions.py`, looking them up to `partition_table.py`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice

from ottla.base.clock import Clock
from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.scheduling.steps import Driver, Steps, run_blocking
from ottla.base.scheduling.tasks import next_iteration
from ottla.metadata import entities
from ottla.metadata.changes import Changes, PartitionChange
from ottla.metadata.image import Image
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.damaged_replicas import DamagedReplicas
from ottla.replication.deletions import Deletions
from ottla.replication.directory_reports import DirectoryReports
from ottla.replication.fetch_sessions import FetchKey, FetchSession, TopicKey
from ottla.replication.fetch_waiters import UNREGISTERED_AT_ONCE
from ottla.replication.leader_role import LeaderListener
from ottla.replication.new_partitions import NewPartitions
from ottla.replication.partition import Partition
from ottla.replication.partition_configs import ConfigOf, PartitionConfigs
from ottla.replication.partition_placement import PartitionPlacement
from ottla.replication.partition_table import PartitionFollower, PartitionTable
from ottla.storage.directories.log_manager import LogManager
from ottla.storage.directories.startup_settlement import settle_duplicates, settle_found
from ottla.storage.errors import StorageError
from ottla.storage.log.log import Log

log = logging.getLogger(__name__)

TOPICS_PER_ITERATION = 20  # that a request looks at in an iteration of the event loop
MADE_AT_ONCE = 4  # new partitions per change: creating the files of each takes about 1 ms


class ReplicaManager:
    def __init__(
        self,
        broker_id: int,
        logs: LogManager,
        config_of: ConfigOf,
        clock: Clock,
        driver: Driver,
        listener: LeaderListener,
        followers: PartitionFollower,
        reports: DirectoryReports | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.logs = logs
        self._table = PartitionTable(followers)
        self._configs = PartitionConfigs(self._table, config_of)
        self._deletions = Deletions(logs, driver)
        self._damaged: DamagedReplicas | None = None
        if reports is not None:
            self._damaged = DamagedReplicas(broker_id, reports, followers, driver)
            listener.on_damage(self._damaged.found)
        self._placement = PartitionPlacement(
            broker_id,
            logs,
            self._table,
            self._configs,
            self._deletions,
            clock,
            driver.start,
            listener,
            reports,
            self._damaged,
        )
        self._new = NewPartitions(self._placement.place)
        self._image = Image()  # replaced by `load`
        self.listeners = self._table.listeners
        self.opening = self._configs.opening
        self._partitions, self._by_id = self._table.by_name, self._table.by_id  # used most often
        logs.subscribe(self._placement)

    # Looking up

    def partition(self, topic: str, index: int) -> Partition:
        found = self._partitions.get((topic, index))
        return found or self._made((topic, index))

    def partition_by_id(self, topic_id: bytes, index: int) -> Partition:
        found = self._by_id.get((topic_id, index))
        if found is None:
            topic = self._image.topic_by_id(TopicId(topic_id))
            if topic is None:
                raise BrokerError(ErrorCode.UNKNOWN_TOPIC_ID)
            found = self._made((topic.name, index))
        return found

    def partition_by_key(self, key: FetchKey) -> Partition:
        if isinstance(key.topic, str):
            return self.partition(key.topic, key.partition)
        return self.partition_by_id(key.topic, key.partition)

    def known_log(self, topic: TopicKey, index: int) -> Log | None:
        """The log of a partition that exists here, by its topic's name or id."""
        key = (topic, index)
        found = self._partitions.get(key) or self._by_id.get(key)  # type: ignore[arg-type]
        return None if found is None else found.log

    def _made(self, name: tuple[str, int]) -> Partition:
        """A partition that is requested before it was created."""
        if name in self._new:
            self._new.make(name)
        found = self._partitions.get(name)
        if found is None:
            raise self._absent(name)
        return found

    def _absent(self, name: tuple[str, int]) -> BrokerError:
        if name in self._table.offline:
            return BrokerError(ErrorCode.KAFKA_STORAGE_ERROR)
        if self._image.partition(*name) is not None:
            return BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)  # on other brokers
        return BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

    def __iter__(self) -> Iterator[Partition]:
        return iter(self._partitions.values())

    def __len__(self) -> int:
        return len(self._partitions)

    # Fetch sessions

    def leave(self, session: FetchSession, key: FetchKey) -> None:
        """The session has removed this partition."""
        topic, index = key
        if isinstance(topic, str):
            known = self._partitions.get((topic, index))
        else:
            known = self._by_id.get((topic, index))
        if known is not None:
            known.fetches.forget_session(session)

    def drop_session(self, session: FetchSession) -> None:
        """The session was closed. Unregister it, in slices if it has many partitions."""
        for _ in range(UNREGISTERED_AT_ONCE):
            key = session.forget_any()
            if key is None:
                return
            self.leave(session, key)
        asyncio.get_running_loop().call_soon(self.drop_session, session)

    # Metadata changes

    def load(self, image: Image) -> None:
        """Place all partitions of the image, after the logs were opened.

        The image stays in use: it distinguishes partitions of other brokers from unknown ones. All
        its partitions existed before: if a log is missing that may be in a directory that cannot be
        read, the partition is offline, and is not created again.
        """
        self._image = image
        evidence = partial(image.deletion_evidence, self.broker_id)
        settle_duplicates(self.logs, evidence)
        strays = self.logs.find_strays(lambda each: self._is_placed(each, image))
        self._deletions.clear_away(strays, evidence)
        # Before logs are created: a new one must not inherit an older one with its name.
        settle_found(self.logs, evidence, self._is_here)
        for topic, index, decided in image.all_partitions():
            name = TopicPartition(topic.name, index)
            is_lost = self.logs.is_out_of_reach(name, topic.id)
            if is_lost and not self._placement.may_begin_again(topic, name, decided):
                self._placement.lost.add(name)
            self._placement.place(topic, index, decided)
        self.logs.expected.settle(self._placement.lost)
        self.logs.finish_taking_back()

    def _is_here(self, topic_id: TopicId, index: int) -> bool:
        """Whether the metadata places a partition of this topic on this broker."""
        topic = self._image.topic_by_id(topic_id)
        if topic is None or index >= len(topic.partitions):
            return False
        return self.broker_id in topic.partitions[index].replicas

    def apply(self, changes: Changes) -> None:
        """Apply the changes of a batch of metadata records."""
        run_blocking(self.applying(changes))

    def applying(self, changes: Changes) -> Steps[None]:
        """The same in slices. A deleted partition is served until it is reached."""
        vanished: list[TopicPartition] = []
        for change in changes.partitions.values():
            if change.after is None:
                name = TopicPartition(change.topic.name, change.partition)
                self._remove(name)
                deletion = changes.deletions.get(change.topic.id)
                if deletion is None:
                    vanished.append(name)
                else:
                    self._deletions.add(name, deletion)
            yield 0
        for topic in (*changes.deleted_topics.values(), *changes.vanished_topics.values()):
            self._configs.forget(topic.name, topic.id)
            yield 0
        # Before the new ones: a topic may be deleted and created again in one batch.
        self._deletions.free_few()
        if vanished:
            self._set_aside(vanished)
        # Before in-sync replicas change: with a higher min.insync.replicas, those that leave may
        # still be elected, and nothing may be committed without them.
        yield from self._configs.changing(changes.configs, self._image)
        for change in changes.partitions.values():
            if change.after is not None:
                self._place_soon(change.topic, change.partition, change.after)
                self._delete_moved(change)
            yield 0
        self._deletions.free_few()
        self._table.close_some()
        yield from self._make_some()
        self.logs.finish_taking_back()

    def _delete_moved(self, change: PartitionChange) -> None:
        """Delete the records of a replica that was moved to another broker."""
        name = TopicPartition(change.topic.name, change.partition)
        if self.logs.get(name) is not None:
            image, topic_id = self._image, change.topic.id
            evidence = image.deletion_evidence(self.broker_id, topic_id, change.partition)
            if evidence is not None:
                self._deletions.add(name, evidence)

    def _make_some(self) -> Steps[None]:
        for name in list(islice(self._new, MADE_AT_ONCE)):
            if name in self._new and not self._deletions.is_in_the_way(TopicPartition(*name)):
                self._new.make(name)
            yield 0

    def _set_aside(self, vanished: Iterable[TopicPartition]) -> None:
        """Partitions that are missing in the metadata without a deletion record."""
        try:
            found = [each for name in vanished if (each := self.logs.get(name)) is not None]
            self.logs.set_aside_strays(found)
        except StorageError as error:
            log.error("partitions missing in the metadata could not be set aside: %s", error)

    async def retry_waiting_partitions(self) -> None:
        """Try again to create partitions for which the disk was full."""
        await self._placement.retry_waiting(self._image)

    @property
    def all_have_logs(self) -> bool:
        return not self._table.offline

    def without_log(self, topic: str) -> set[int]:
        """Partitions of a topic that are placed here and have no usable log."""
        known = self._image.topic(topic)
        count = 0 if known is None else len(known.partitions)
        return {index for index in range(count) if (topic, index) in self._table.offline}

    async def settle(self) -> None:
        """Wait until the files of all new and deleted partitions are created and removed."""
        await self._table.close_leaving()
        await self._deletions.settle()
        await self._new.make_all()
        self.logs.finish_taking_back()

    async def made(self, topics: Iterable[str]) -> None:
        """Wait until the partitions of these topics exist."""
        for number, topic in enumerate(topics, 1):
            while (name := self._new.first_of(topic)) is not None:
                if self._deletions.is_in_the_way(TopicPartition(*name)):
                    await self._deletions.settle()
                await self._new.make_next(topic)
            if number % TOPICS_PER_ITERATION == 0:
                await next_iteration()

    async def deleted(self) -> None:
        """Wait until all deletions up to now are durable."""
        await self._deletions.settle()

    @property
    def is_settled(self) -> bool:
        return not self._new and not self._table.has_leaving and self._deletions.are_done

    def close(self) -> None:
        """Complete deletions. Partitions that were not created are created at the next start."""
        self.logs.unsubscribe(self._placement)  # logs are closed in threads without an event loop
        self._table.close_all_leaving()
        self._deletions.close()

    def _is_placed(self, found: Log, image: Image) -> bool:
        try:
            topic_id = found.topic_id.load(BLOCKING)
        except StorageError:
            topic_id = None  # its file is damaged: the partition will be offline
        return is_placed(image, self.broker_id, found.partition, topic_id)

    def _place_soon(
        self, topic: entities.Topic, index: int, decided: entities.PartitionRegistration
    ) -> None:
        name = (topic.name, index)
        if name in self._partitions or self.broker_id not in decided.replicas:
            self._place(topic, index, decided)
        else:
            self._configs.note(topic.name, topic.id)
            self._new.add(topic, index, decided)

    def _place(
        self, topic: entities.Topic, index: int, decided: entities.PartitionRegistration
    ) -> None:
        if self.broker_id not in decided.replicas:
            self._new.forget((topic.name, index))
        self._placement.place(topic, index, decided)

    def _remove(self, name: TopicPartition) -> None:
        self._new.forget(name)
        self._placement.remove(name)


def is_placed(
    image: Image, broker_id: int, partition: TopicPartition, topic_id: TopicId | None
) -> bool:
    """Whether the metadata places these files on this broker. Files without a topic id belong to
    the topic with their name."""
    topic = image.topic(partition.topic)
    if topic is None or partition.partition >= len(topic.partitions):
        return False
    decided = topic.partitions[partition.partition]
    return topic_id in (None, topic.id) and broker_id in decided.replicas
