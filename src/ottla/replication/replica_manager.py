"""All partitions on this broker, as the metadata log places them.

Owns      which partitions are here, and the way from a decision of the cluster to logs on disk.
Promises  a partition answers with Kafka's error wherever it cannot be served; a log on disk is
          deleted only if the metadata says that its topic was. Making files for many new
          partitions is spread over turns of the event loop, and nobody can tell: one that is
          asked for is made at once.
Leaves    deciding to the controller, files to the storage, those of deleted partitions to
          `deletions.py`, requests to the handlers.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import nullcontext
from itertools import islice
from typing import Protocol

from ottla.base.clock import Clock
from ottla.base.collector import keep_lasting, paused_collector
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.tasks import next_turn
from ottla.config.topic_options import TopicConfig
from ottla.metadata import entities
from ottla.metadata.changes import Changes
from ottla.metadata.image import Image
from ottla.metadata.records import ResourceType
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.deletions import Deletions
from ottla.replication.fetch_sessions import FetchKey, FetchSession
from ottla.replication.partition import Leadership, Partition
from ottla.storage.directories.log_manager import LogManager
from ottla.storage.errors import StorageError
from ottla.storage.log.flushing import RunElsewhere
from ottla.storage.log.log import Log

log = logging.getLogger(__name__)

MADE_AT_ONCE = 4  # new partitions of one change: each takes about a millisecond for its files
MANY = 500  # new partitions
TOO_MANY_TO_LOOK = 2_000  # new partitions: to look for garbage among them takes over 20 ms


class LeadershipListener(Protocol):
    """Somebody whose state lives in partitions that this broker may lead."""

    def leads(self, partition: Partition) -> None: ...

    def resigned(self, name: TopicPartition) -> None: ...


class ReplicaManager:
    def __init__(
        self,
        broker_id: int,
        logs: LogManager,
        config_of: Callable[[str], TopicConfig],
        clock: Clock,
        run_elsewhere: RunElsewhere,
    ) -> None:
        self.broker_id = broker_id
        self.logs = logs
        self.listeners: list[LeadershipListener] = []
        self._config_of = config_of
        self._clock = clock
        self._run_elsewhere = run_elsewhere
        self._partitions: dict[tuple[str, int], Partition] = {}
        self._by_id: dict[tuple[bytes, int], Partition] = {}
        self._offline: set[tuple[str, int]] = set()  # their directory has failed
        self._lost: set[tuple[str, int]] = set()  # since the start, when their log was not found
        self._unmade: dict[tuple[str, int], tuple[entities.Topic, entities.Partition]] = {}
        self._deletions = Deletions(logs)
        self._new_count = 0  # of partitions that the garbage collector still looks at
        self._image = Image()  # of the cluster, from `load` on
        # Names and ids of topics whose batches may have to be opened: few, and asked often.
        self.opening: set[str | bytes] = set()
        logs.on_failure = lambda _directory, lost: self._directory_failed(lost)

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

    def _made(self, name: tuple[str, int]) -> Partition:
        """One that somebody wants before its turn has come."""
        if name in self._unmade:
            self._make(name)
        found = self._partitions.get(name)
        if found is None:
            raise self._absent(name)
        return found

    def _absent(self, name: tuple[str, int]) -> BrokerError:
        if name in self._offline:
            return BrokerError(ErrorCode.KAFKA_STORAGE_ERROR)
        if self._image.partition(*name) is not None:
            return BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)  # it is on other brokers
        return BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

    def __iter__(self) -> Iterator[Partition]:
        return iter(self._partitions.values())

    def __len__(self) -> int:
        return len(self._partitions)

    # Sessions of readers

    def leave(self, session: FetchSession, keys: Iterable[FetchKey]) -> None:
        """A reader has forgotten these partitions."""
        for key in keys:
            try:
                self.partition_by_key(key).sessions.pop(session, None)
            except BrokerError:
                continue

    # Following the metadata

    def load(self, image: Image) -> None:
        """Take over everything the cluster has placed here, after the logs were opened.

        The image stays in use: it tells partitions of other brokers from those of nobody. All that
        it has now was there before: where a log is missing that may be in a directory that cannot
        be read, the partition is offline, and is not begun anew.
        """
        self._image = image
        self.logs.settle_duplicates(self._was_deleted)
        strays = self.logs.find_strays(lambda each: self._is_placed(each, image))
        self._deletions.clear_away(strays, self._was_deleted)
        for topic, index, decided in image.all_partitions():
            name = TopicPartition(topic.name, index)
            if self.logs.is_out_of_reach(name):
                self._lost.add(name)
            self._place(topic, index, decided)
        self._new_count = 0  # whoever starts a broker knows that what is there now stays

    def _was_deleted(self, stray: Log) -> bool:
        try:
            topic_id = stray.topic_id
        except StorageError:
            return False  # nobody can tell whose records these are
        return topic_id is not None and self._image.was_deleted(topic_id)

    def apply(self, changes: Changes) -> None:
        """React to what a batch of metadata records has changed."""
        doomed = [change for change in changes.partitions.values() if change.after is None]
        for change in doomed:
            self._remove(change.topic, change.partition)
            self.opening -= {change.topic.name, change.topic.id}
        # Before the new ones: a topic may be deleted and created again in one batch.
        self._deletions.add(TopicPartition(each.topic.name, each.partition) for each in doomed)
        for change in changes.partitions.values():
            if change.after is not None:
                self._place_soon(change.topic, change.partition, change.after)
        for name in list(islice(self._unmade, MADE_AT_ONCE)):
            if not self._deletions.is_in_the_way(TopicPartition(*name)):
                self._make(name)
        for resource in changes.configs:
            if resource.type == ResourceType.TOPIC:
                self.update_config(resource.name)
            elif resource.type == ResourceType.BROKER:
                self.update_all_configs()

    async def settle(self) -> None:
        """Return when the files are those of the partitions that were placed here."""
        await self._deletions.settle()
        await self._make_all(self._unmade)

    async def made(self, topics: Iterable[str]) -> None:
        """Return when the partitions of these topics can be used; others may still wait."""
        names = [
            (topic, index)
            for topic in topics
            if (known := self._image.topic(topic)) is not None
            for index in range(len(known.partitions))
            if (topic, index) in self._unmade
        ]
        if any(self._deletions.is_in_the_way(TopicPartition(*name)) for name in names):
            await self._deletions.settle()
        await self._make_all(names)

    async def deleted(self) -> None:
        """Return when no topic that was deleted until now can come back, whatever happens."""
        await self._deletions.settle()

    async def _make_all(self, names: Collection[tuple[str, int]]) -> None:
        with paused_collector() if len(names) > MANY else nullcontext():
            for name in list(names):
                if name in self._unmade:  # and not made meanwhile, because somebody wanted it
                    self._make(name)
                    await next_turn()
            if self._new_count > MANY:
                keep_lasting(looks_first=self._new_count <= TOO_MANY_TO_LOOK)
                self._new_count = 0

    @property
    def is_settled(self) -> bool:
        return not self._unmade and self._deletions.are_done

    def close(self) -> None:
        """Nobody settles any more. What is not made is made by the next start; what should be gone
        goes now, and whoever looks at the directory finds what the metadata says."""
        self._deletions.close()

    def update_config(self, topic: str) -> None:
        config = self._config_of(topic)
        for partition in self._partitions.values():
            if partition.name.topic == topic:
                self._update_config(partition, config)

    def update_all_configs(self) -> None:
        """A broker's setting is the default of its topics'."""
        configs: dict[str, TopicConfig] = {}
        for partition in self._partitions.values():
            topic = partition.name.topic
            config = configs.get(topic) or configs.setdefault(topic, self._config_of(topic))
            self._update_config(partition, config)

    def _update_config(self, partition: Partition, config: TopicConfig) -> None:
        partition.log.update_config(config)
        self._note_opening(partition)

    def _note_opening(self, partition: Partition) -> None:
        names: set[str | bytes] = {partition.name.topic, partition.topic_id}
        if partition.log.rules.may_open:
            self.opening |= names
        else:
            self.opening -= names

    def _is_placed(self, found: Log, image: Image) -> bool:
        topic = image.topic(found.partition.topic)
        if topic is None or found.partition.partition >= len(topic.partitions):
            return False
        decided = topic.partitions[found.partition.partition]
        try:
            is_same_topic = found.topic_id in (None, topic.id)
        except StorageError:
            return True  # its file is damaged: `_place` takes the partition offline
        return is_same_topic and self.broker_id in decided.replicas

    def _place_soon(self, topic: entities.Topic, index: int, decided: entities.Partition) -> None:
        name = (topic.name, index)
        if name in self._partitions or self.broker_id not in decided.replicas:
            self._place(topic, index, decided)
        else:
            self._unmade[name] = (topic, decided)

    def _make(self, name: tuple[str, int]) -> None:
        topic, decided = self._unmade.pop(name)
        self._place(topic, name[1], decided)

    def _place(self, topic: entities.Topic, index: int, decided: entities.Partition) -> None:
        """One partition that cannot be opened or led leaves all others alone."""
        name = TopicPartition(topic.name, index)
        if self.broker_id not in decided.replicas:
            self._remove(topic, index)
            return
        try:
            self._lead_or_follow(topic, name, decided)
        except (StorageError, OSError) as error:
            log.error("%s is offline: %s", name, error)
            self._take_offline(name)

    def _lead_or_follow(
        self, topic: entities.Topic, name: TopicPartition, decided: entities.Partition
    ) -> None:
        partition = self._partitions.get(name) or self._open(topic, name)
        was_leader, old_epoch = partition.is_leader, partition.leader_epoch
        partition.lead_or_follow(leadership_of(decided), self._clock.now_ms())
        if partition.is_leader and (not was_leader or partition.leader_epoch != old_epoch):
            for listener in self.listeners:
                listener.leads(partition)
        elif was_leader and not partition.is_leader:
            self._tell_resigned(name)

    def _open(self, topic: entities.Topic, name: TopicPartition) -> Partition:
        if name in self._deletions:  # of an older topic with this name
            self._deletions.free([name])
        if name in self._lost:
            raise StorageError("its log is in no directory that can be read")
        found = self.logs.get(name)
        if found is None:
            found = self.logs.create(name, self._config_of(topic.name), topic.id)
        elif found.topic_id is None:
            found.assign_topic_id(topic.id)
        elif found.topic_id != topic.id:  # what it is given now would go with the other topic
            raise StorageError(f"{found.path} holds records of another topic of that name")
        found.is_in_use = True
        partition = Partition(name, topic.id, self.broker_id, found, self._run_elsewhere)
        self._partitions[name] = partition
        self._new_count += 1
        self._by_id[topic.id, name.partition] = partition
        self._note_opening(partition)
        return partition

    def _remove(self, topic: entities.Topic, index: int) -> None:
        name = TopicPartition(topic.name, index)
        self._unmade.pop(name, None)
        self._offline.discard(name)
        self._lost.discard(name)
        self._by_id.pop((topic.id, index), None)
        partition = self._partitions.pop(name, None)
        if partition is not None:
            partition.log.is_in_use = False
            was_leader = partition.is_leader
            partition.close()
            if was_leader:
                self._tell_resigned(name)

    def _tell_resigned(self, name: TopicPartition) -> None:
        for listener in self.listeners:
            listener.resigned(name)

    def _directory_failed(self, lost: Iterable[TopicPartition]) -> None:
        for name in lost:
            if name not in self._deletions:
                self._take_offline(name)

    def _take_offline(self, name: TopicPartition) -> None:
        """The partition answers KAFKA_STORAGE_ERROR until the broker starts anew."""
        self._offline.add(name)
        partition = self._partitions.pop(name, None)
        if partition is not None:
            self._by_id.pop((partition.topic_id, name.partition), None)
            was_leader = partition.is_leader
            partition.close()
            if was_leader:
                self._tell_resigned(name)


def leadership_of(decided: entities.Partition) -> Leadership:
    return Leadership(
        decided.leader,
        decided.leader_epoch,
        decided.partition_epoch,
        decided.replicas,
        decided.in_sync_replicas,
    )
