"""All partitions on this broker, as the metadata log places them.

Owns      the way from a decision of the cluster to partitions that serve, and to logs on disk.
Promises  a partition answers with Kafka's error wherever it cannot be served; a log on disk is
          deleted only if a record says that its topic, by id, was. A log whose topic is missing
          without such a record is set aside, and serves again once the metadata has the topic. A
          log that has later leader epochs than the metadata is not written to.
Leaves    deciding to the controller, files to the storage, requests to the handlers. What waits for
          its turn is in `new_partitions.py` and `deletions.py`, what is here in
          `partition_table.py`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator
from itertools import islice

from ottla.base.clock import Clock
from ottla.base.files.readers import WAIT
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.log_messages.sparse_log import SparseLog
from ottla.base.scheduling.steps import Driver, Steps, run_blocking
from ottla.base.scheduling.tasks import next_turn
from ottla.metadata import entities
from ottla.metadata.changes import Changes
from ottla.metadata.image import Image
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.deletions import Deletions
from ottla.replication.fetch_sessions import FetchKey, FetchSession, TopicKey
from ottla.replication.new_partitions import NewPartitions
from ottla.replication.partition import Leadership, Partition
from ottla.replication.partition_configs import ConfigOf, PartitionConfigs
from ottla.replication.partition_table import PartitionTable
from ottla.replication.waiting import LEFT_AT_ONCE
from ottla.storage.directories.log_manager import LogManager
from ottla.storage.errors import StorageError
from ottla.storage.files.directory_health import OutOfRoom
from ottla.storage.log.log import Log

log = logging.getLogger(__name__)

LOOKED_AT_ONCE = 20  # partitions, in a turn of the event loop
MADE_AT_ONCE = 4  # new partitions of one change: each takes about a millisecond for its files


class ReplicaManager:
    def __init__(
        self,
        broker_id: int,
        logs: LogManager,
        config_of: ConfigOf,
        clock: Clock,
        driver: Driver,
    ) -> None:
        self.broker_id = broker_id
        self.logs = logs
        self._clock = clock
        self._driver = driver
        self._table = PartitionTable()
        self._configs = PartitionConfigs(self._table, config_of)
        self._lost: set[tuple[str, int]] = set()  # since the start, when their log was not found
        self._new = NewPartitions(self._place)
        self._waiting_for_room: dict[tuple[str, int], None] = {}
        self._out_of_room = SparseLog(log, logging.ERROR)
        self._deletions = Deletions(logs, driver)
        self._image = Image()  # of the cluster, from `load` on
        self.listeners = self._table.listeners
        self.opening = self._configs.opening
        self._partitions, self._by_id = self._table.by_name, self._table.by_id  # asked most often
        logs.subscribe(self)

    # Finding

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
        """Of a partition that is here now, by its topic's name or id."""
        key = (topic, index)
        found = self._partitions.get(key) or self._by_id.get(key)  # type: ignore[arg-type]
        return None if found is None else found.log

    def _made(self, name: tuple[str, int]) -> Partition:
        """One that somebody wants before its turn has come."""
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
            return BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)  # it is on other brokers
        return BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

    def __iter__(self) -> Iterator[Partition]:
        return iter(self._partitions.values())

    def __len__(self) -> int:
        return len(self._partitions)

    # Sessions of readers

    def leave(self, session: FetchSession, key: FetchKey) -> None:
        """A reader has forgotten this partition."""
        topic, index = key
        if isinstance(topic, str):
            known = self._partitions.get((topic, index))
        else:
            known = self._by_id.get((topic, index))
        if known is not None:
            known.forget_session(session)

    def drop_session(self, session: FetchSession) -> None:
        """Nobody reads it any more. Of a large one some partitions go in each turn of the loop."""
        for _ in range(LEFT_AT_ONCE):
            key = session.forget_any()
            if key is None:
                return
            self.leave(session, key)
        asyncio.get_running_loop().call_soon(self.drop_session, session)

    # Following the metadata

    def load(self, image: Image) -> None:
        """Take over everything the cluster has placed here, after the logs were opened.

        The image stays in use: it tells partitions of other brokers from those of nobody. All that
        it has now was there before: where a log is missing that may be in a directory that cannot
        be read, the partition is offline, and is not begun anew.
        """
        self._image = image
        self.logs.settle_duplicates(image.deletion_of)
        strays = self.logs.find_strays(lambda each: self._is_placed(each, image))
        self._deletions.clear_away(strays, image.deletion_of)
        # Before logs are made: a new one inherits nothing from an older one of its name.
        self.logs.settle_found(image.deletion_of, self._is_here)
        for topic, index, decided in image.all_partitions():
            name = TopicPartition(topic.name, index)
            if self.logs.is_out_of_reach(name, topic.id):
                self._lost.add(name)
            self._place(topic, index, decided)
        self.logs.settle_missing(self._lost)
        self.logs.finish_taking_back()

    def _is_here(self, topic_id: TopicId, index: int) -> bool:
        """Whether the metadata places a partition of this topic on this broker."""
        topic = self._image.topic_by_id(topic_id)
        if topic is None or index >= len(topic.partitions):
            return False
        return self.broker_id in topic.partitions[index].replicas

    def apply(self, changes: Changes) -> None:
        """React to what a batch of metadata records has changed, all of it at once."""
        run_blocking(self.applying(changes))

    def applying(self, changes: Changes) -> Steps[None]:
        """The same in slices. Until a deleted partition has its turn, it serves as before."""
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
        for change in changes.partitions.values():
            if change.after is not None:
                self._place_soon(change.topic, change.partition, change.after)
            yield 0
        self._table.close_some()
        yield from self._make_some()
        self.logs.finish_taking_back()
        yield from self._configs.changing(changes.configs, self._image)

    def _make_some(self) -> Steps[None]:
        for name in list(islice(self._new, MADE_AT_ONCE)):
            if name in self._new and not self._deletions.is_in_the_way(TopicPartition(*name)):
                self._new.make(name)
            yield 0

    def _set_aside(self, vanished: Iterable[TopicPartition]) -> None:
        """Partitions that are missing in the metadata, which has no record of their deletion."""
        try:
            found = [each for name in vanished if (each := self.logs.get(name)) is not None]
            self.logs.set_aside_strays(found)
        except StorageError as error:
            log.error("partitions that the metadata lacks are where they were: %s", error)

    async def make_those_without_room(self) -> None:
        """Try again to make partitions for which there was no room, until one has none again."""
        waiting, self._waiting_for_room = self._waiting_for_room, {}
        while waiting:
            name, _ = waiting.popitem()
            topic = self._image.topic(name[0])
            if topic is not None and name[1] < len(topic.partitions):
                self._place(topic, name[1], topic.partitions[name[1]])
            if self._waiting_for_room:
                self._waiting_for_room.update(waiting)
                return
            await next_turn()

    @property
    def all_have_logs(self) -> bool:
        return not self._table.offline

    def without_log(self, topic: str) -> set[int]:
        """Partitions of a topic that belong here, and have no log that can be used."""
        known = self._image.topic(topic)
        count = 0 if known is None else len(known.partitions)
        return {index for index in range(count) if (topic, index) in self._table.offline}

    async def settle(self) -> None:
        """Return when the files are those of the partitions that were placed here."""
        await self._table.close_leaving()
        await self._deletions.settle()
        await self._new.make_all()
        self.logs.finish_taking_back()

    async def made(self, topics: Iterable[str]) -> None:
        """Return when the partitions of these topics can be used; others may still wait."""
        names = []
        is_in_the_way = False
        for number, name in enumerate(self._unmade_of(topics), 1):
            if name is not None:
                names.append(name)
                is_in_the_way |= self._deletions.is_in_the_way(TopicPartition(*name))
            if number % LOOKED_AT_ONCE == 0:
                await next_turn()
        if is_in_the_way:
            await self._deletions.settle()
        await self._new.make_all(names)

    def _unmade_of(self, topics: Iterable[str]) -> Iterator[tuple[str, int] | None]:
        """None for each thing that was looked at and is not among them."""
        if not self._new:
            return
        for topic in topics:
            yield None
            known = self._image.topic(topic)
            for index in range(0 if known is None else len(known.partitions)):
                yield (topic, index) if (topic, index) in self._new else None

    async def deleted(self) -> None:
        """Return when no topic that was deleted until now can come back, whatever happens."""
        await self._deletions.settle()

    @property
    def is_settled(self) -> bool:
        return not self._new and not self._table.has_leaving and self._deletions.are_done

    def close(self) -> None:
        """Nobody settles any more. What is not made is made by the next start; what should be gone
        goes now, and whoever looks at the directory finds what the metadata says."""
        self.logs.unsubscribe(self)  # logs are closed in threads, without an event loop
        self._table.close_all_leaving()
        self._deletions.close()

    def _is_placed(self, found: Log, image: Image) -> bool:
        try:
            topic_id = found.topic_id.load(WAIT)
        except StorageError:
            topic_id = None  # its file is damaged: `_place` takes the partition offline
        return is_placed(image, self.broker_id, found.partition, topic_id)

    def _place_soon(self, topic: entities.Topic, index: int, decided: entities.Partition) -> None:
        name = (topic.name, index)
        if name in self._partitions or self.broker_id not in decided.replicas:
            self._place(topic, index, decided)
        else:
            self._configs.note(topic.name, topic.id)
            self._new.add(topic, index, decided)

    def _place(self, topic: entities.Topic, index: int, decided: entities.Partition) -> None:
        """One partition that cannot be opened or led leaves all others alone."""
        name = TopicPartition(topic.name, index)
        if self.broker_id not in decided.replicas:
            self._remove(name)
            return
        try:
            self._lead_or_follow(topic, name, decided)
        except OutOfRoom as error:
            self._out_of_room.write(
                self._clock.monotonic_s(), "%s is offline until there is room: %s", name, error
            )
            self._waiting_for_room[name] = None
            self._table.take_offline(name)
        except (StorageError, OSError) as error:
            log.error("%s is offline: %s", name, error)
            self._table.take_offline(name)

    def _lead_or_follow(
        self, topic: entities.Topic, name: TopicPartition, decided: entities.Partition
    ) -> None:
        partition = self._partitions.get(name) or self._open(topic, name)
        was_leader, old_epoch = partition.is_leader, partition.leader_epoch
        if decided.leader == self.broker_id and decided.leader_epoch != old_epoch:
            check_epoch(partition.log, decided.leader_epoch)
        partition.lead_or_follow(leadership_of(decided), self._clock.now_ms())
        if partition.is_leader and (not was_leader or partition.leader_epoch != old_epoch):
            self._table.tell_leads(partition)
        elif was_leader and not partition.is_leader:
            self._table.tell_resigned(name)

    def _open(self, topic: entities.Topic, name: TopicPartition) -> Partition:
        if name in self._deletions:  # of an older topic with this name
            self._deletions.free([name])
        if name in self._lost:
            raise StorageError("its log is in no directory that can be read")
        found = self.logs.get(name)
        if found is None:
            config = self._configs.of_topic(topic.name)
            found = self.logs.take_back(name, topic.id, config)
            found = found or self.logs.create(name, config, topic.id)
        elif (topic_id := found.topic_id.load(WAIT)) is None:
            found.topic_id.write(topic.id)
        elif topic_id != topic.id:  # what it is given now would go with the other topic
            raise StorageError(f"{found.path} holds records of another topic of that name")
        found.health.begin_use()
        partition = Partition(name, topic.id, self.broker_id, found, self._driver.start)
        self._table.add(partition)
        self._configs.note(topic.name, topic.id)
        return partition

    def _remove(self, name: TopicPartition) -> None:
        self._new.forget(name)
        self._lost.discard(name)
        self._waiting_for_room.pop(name, None)
        self._table.remove(name)

    def directory_failed(self, lost: Iterable[TopicPartition]) -> None:
        for name in lost:
            if name not in self._deletions:
                self._table.take_offline(name)

    def log_lost(self, partition: TopicPartition) -> None:
        """Another process has removed its files; no new log is created before the next start."""
        self._lost.add(partition)
        self._table.take_offline(partition)


def is_placed(
    image: Image, broker_id: int, partition: TopicPartition, topic_id: TopicId | None
) -> bool:
    """Whether the metadata places these files on this broker. Those that say no topic id are of
    the topic that has their name."""
    topic = image.topic(partition.topic)
    if topic is None or partition.partition >= len(topic.partitions):
        return False
    decided = topic.partitions[partition.partition]
    return topic_id in (None, topic.id) and broker_id in decided.replicas


def check_epoch(found: Log, leader_epoch: int) -> None:
    """StorageError if the log has records of later epochs than the metadata knows.

    What is appended in an earlier epoch would be cut off by the next recovery.
    """
    latest = found.epochs.load(WAIT).latest_epoch
    if latest is not None and latest > leader_epoch:
        raise StorageError(
            f"{found.path} has leader epoch {latest}, the metadata has {leader_epoch}: the "
            "metadata is an older copy; restore the newest one and start the broker again"
        )


def leadership_of(decided: entities.Partition) -> Leadership:
    return Leadership(
        decided.leader,
        decided.leader_epoch,
        decided.partition_epoch,
        decided.replicas,
        decided.in_sync_replicas,
    )
