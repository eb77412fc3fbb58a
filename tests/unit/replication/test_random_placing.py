"""Random decisions of the cluster, appends and restarts: each partition is where the metadata
places it, in the role that it gives it, and keeps its records until its topic is deleted."""

from __future__ import annotations

import asyncio
import errno
from random import Random

import pytest
from tests.unit.replication.test_set_aside import remove_due
from tests.unit.replication.test_several_directories import BROKER, PATHS, World
from tests.unit.storage.log_making import append, batch_of, values_of

from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicId, TopicPartition
from ottla.metadata.entities import PartitionRegistration as Decided
from ottla.metadata.image import Image
from ottla.metadata.records import (
    PartitionChanged,
    PartitionCreated,
    Record,
    TopicCreated,
    TopicDeleted,
)
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.records.batch import stamp_offset_and_epoch
from ottla.replication.partition import Partition
from ottla.replication.replica_manager import MADE_AT_ONCE
from ottla.storage.files.file_names import PARTITION_METADATA_NAME
from ottla.testing.filesystem import MemoryDisk

OTHER, THIRD, NO_LEADERSHIP = 2, 3, -1
NAMES = ("t", "u")
Key = tuple[TopicId, int]


class Listener:
    """The partitions that a coordinator regards as led by this broker."""

    def __init__(self) -> None:
        self.leading: dict[TopicPartition, int] = {}

    def leads(self, partition: Partition) -> None:
        assert self.leading.get(partition.name) != partition.leader_epoch, "notified twice"
        self.leading[partition.name] = partition.leader_epoch

    def resigned(self, name: TopicPartition) -> None:
        del self.leading[name]


class Story:
    def __init__(self, random: Random) -> None:
        self.random = random
        disk = MemoryDisk()
        for path in PATHS:
            disk.make_directory(path)
        disk.sync_directory("/")
        self.world = World(disk, Image())
        self.topics = 0
        self.values: dict[Key, list[bytes]] = {}  # what this broker has been given
        self.latest: dict[Key, int] = {}  # the latest leader epoch of these records
        self.listen()

    def listen(self) -> None:
        self.listener = Listener()
        for each in self.world.replicas:
            if each.is_leader:
                self.listener.leads(each)
        self.world.replicas.listeners.append(self.listener)

    @property
    def decided(self) -> dict[Key, Decided]:
        found = self.world.image.all_partitions()
        return {(topic.id, index): decided for topic, index, decided in found}

    def choose(self) -> tuple[Key, Decided] | None:
        known = list(self.decided.items())
        return self.random.choice(known) if known else None

    def placement(self) -> tuple[tuple[int, ...], tuple[int, ...], int]:
        """Replicas, those in sync, and the leader."""
        replicas = tuple(self.random.sample((BROKER, OTHER, THIRD), self.random.randint(1, 3)))
        if self.random.random() < 0.7 and BROKER not in replicas:
            replicas = (*replicas, BROKER)
        in_sync = tuple(self.random.sample(replicas, self.random.randint(1, len(replicas))))
        return replicas, in_sync, self.random.choice((*in_sync, in_sync[0], NO_LEADERSHIP))

    # Steps

    def create(self) -> None:
        name = self.random.choice(NAMES)
        if self.world.image.topic(name) is None:
            self.world.publish(*self.new_topic(name))

    def new_topic(self, name: str) -> list[Record]:
        self.topics += 1
        topic_id = TopicId(b"%016d" % self.topics)
        count = self.random.choice((1, 1, 2, 2, MADE_AT_ONCE + 2))
        created = (PartitionCreated(topic_id, at, *self.placement()) for at in range(count))
        return [TopicCreated(topic_id, name), *created]

    def delete(self) -> None:
        chosen = self.choose()
        if chosen is None or self.random.random() < 0.5:
            return
        topic = self.world.image.topic_by_id(chosen[0][0])
        assert topic is not None
        again = self.new_topic(topic.name) if self.random.random() < 0.4 else []
        self.world.publish(TopicDeleted(topic.id), *again)
        if self.random.random() < 0.5:  # files are removed long after all else was done
            self.settle()
            remove_due(self.world)

    def settle(self) -> None:
        """Run all that is queued."""
        asyncio.run(self.world.replicas.settle())
        assert self.world.replicas.is_settled

    def create_without_room(self) -> None:
        if any(self.world.image.topic(name) is not None for name in NAMES):
            return
        replicas, disk = self.world.replicas, self.world.disk
        disk.fail("make_directory", "*", error=errno.ENOSPC, times=None)
        for name in NAMES:
            self.world.publish(*self.new_topic(name))
        asyncio.run(replicas.settle())
        here = {key for key, decided in self.decided.items() if BROKER in decided.replicas}
        assert self.without_room() == here
        assert replicas.all_have_logs == (not here)
        disk.heal()
        disk.fail("make_directory", "*", error=errno.ENOSPC, times=1)
        asyncio.run(replicas.retry_waiting_partitions())
        assert self.without_room() == here, "one that has no room ends the round"
        disk.heal()
        if self.random.random() < 0.5:
            self.delete()
        asyncio.run(replicas.retry_waiting_partitions())
        assert self.without_room() == set()

    def without_room(self) -> set[Key]:
        topics = self.world.image.topics.values()
        without = self.world.replicas.without_log
        return {(topic.id, index) for topic in topics for index in without(topic.name)}

    def some(self) -> dict[Key, Decided]:
        """One partition, or all of them in one batch of records."""
        decided = self.decided
        if not decided or self.random.random() < 0.3:
            return decided
        key = self.random.choice(list(decided))
        return {key: decided[key]}

    def elect(self) -> None:
        changes = [
            PartitionChanged(
                topic_id, index, decided.partition_epoch + 1,
                leader=self.random.choice((*decided.in_sync_replicas, NO_LEADERSHIP)),
                leader_epoch=decided.leader_epoch + 1,
            )
            for (topic_id, index), decided in self.some().items()
        ]  # fmt: skip
        self.world.publish(*changes)

    def place(self) -> None:
        changes = []
        for (topic_id, index), decided in self.some().items():
            replicas, in_sync, leader = self.placement()
            if BROKER not in replicas:  # its records are deleted here
                self.values.pop((topic_id, index), None)
                self.latest.pop((topic_id, index), None)
            changes.append(
                PartitionChanged(
                    topic_id, index, decided.partition_epoch + 1, replicas=replicas,
                    in_sync_replicas=in_sync, leader=leader, leader_epoch=decided.leader_epoch + 1,
                )
            )  # fmt: skip
        self.world.publish(*changes)

    def shrink_or_grow(self) -> None:
        """The in-sync replicas change, the leader stays."""
        if (chosen := self.choose()) is not None:
            (topic_id, index), decided = chosen
            others = [each for each in decided.replicas if each != decided.leader]
            some = self.random.sample(others, self.random.randint(0, len(others)))
            in_sync = (*some, decided.leader) if decided.leader != NO_LEADERSHIP else tuple(some)
            epoch = decided.partition_epoch + 1
            self.world.publish(PartitionChanged(topic_id, index, epoch, in_sync_replicas=in_sync))

    def write(self) -> None:
        """As leader, or as a follower whose leader may have epochs that are not known here yet."""
        chosen = self.choose()
        if chosen is None or BROKER not in chosen[1].replicas or self.is_offline(*chosen):
            return
        key, decided = chosen
        log = self.world.replicas.partition_by_id(*key).log
        value = b"%d" % self.random.randrange(1000)
        if decided.leader == BROKER:
            epoch = decided.leader_epoch
            append(log, value, epoch=epoch)
        else:
            epoch = max(decided.leader_epoch, self.latest.get(key, 0)) + self.random.choice((0, 2))
            batch = batch_of(value)
            stamp_offset_and_epoch(batch, 0, log.log_end_offset, epoch)
            log.append_as_follower(batch)
        self.values.setdefault(key, []).append(value)
        self.latest[key] = epoch

    def restart(self) -> None:
        if self.random.random() < 0.5:
            self.world.replicas.close()
            self.world.logs.close()
        if self.random.random() < 0.5:
            self.lose_topic_id()
        self.world = self.world.restarted()
        remove_due(self.world)
        self.listen()

    def lose_topic_id(self) -> None:
        """As in a log of an old Kafka: the file with the id is not there."""
        for directory in self.world.logs.directories:
            for name in sorted(self.world.disk.list_directory(directory.path)):
                topic, _, index = name.rpartition("-")
                path = f"{directory.path}/{name}/{PARTITION_METADATA_NAME}"
                decided = self.world.image.partition(topic, int(index)) if topic in NAMES else None
                if decided is not None and BROKER in decided.replicas:
                    self.world.disk.remove(path)
                    return

    # What must be true

    def is_offline(self, key: Key, decided: Decided) -> bool:
        """It is not led in an epoch that is older than its records."""
        return decided.leader == BROKER and self.latest.get(key, 0) > decided.leader_epoch

    def error_of(self, key: Key, decided: Decided) -> ErrorCode | None:
        if BROKER not in decided.replicas:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return ErrorCode.KAFKA_STORAGE_ERROR if self.is_offline(key, decided) else None

    def check(self) -> None:
        leading = {}
        for (topic_id, index), decided in self.decided.items():
            topic = self.world.image.topic_by_id(topic_id)
            assert topic is not None
            replicas = self.world.replicas
            error = self.error_of((topic_id, index), decided)
            if error is not None:
                assert self.world.error(TopicPartition(topic.name, index)) is error
                assert replicas.known_log(topic.name, index) is None
                assert replicas.known_log(topic_id, index) is None
                continue
            found = replicas.partition(topic.name, index)
            assert found is replicas.partition_by_id(topic_id, index)
            assert found.log.topic_id.load(BLOCKING) == topic_id
            assert found.log is replicas.known_log(topic.name, index)
            assert found.log is replicas.known_log(topic_id, index)
            known = found.leadership
            assert (known.leader, known.leader_epoch) == (decided.leader, decided.leader_epoch)
            assert (known.replicas, known.in_sync_replicas, known.partition_epoch) == (
                decided.replicas, decided.in_sync_replicas, decided.partition_epoch,
            )  # fmt: skip
            assert found.is_leader == (decided.leader == BROKER)
            if found.is_leader:
                leading[found.name] = decided.leader_epoch
            assert values_of(found.log) == self.values.get((topic_id, index), [])
        assert self.listener.leading == leading
        for name in NAMES:
            if self.world.image.topic(name) is None:
                with pytest.raises(BrokerError) as raised:
                    self.world.replicas.partition(name, 0)
                assert raised.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("seed", range(10))
def test_partitions_are_what_the_metadata_says_and_keep_their_records(seed: int) -> None:
    story = Story(Random(seed))
    steps = [story.create] * 2 + [story.write] * 4 + [
        story.elect, story.elect, story.place, story.place, story.shrink_or_grow, story.restart,
        story.delete, story.settle, story.create_without_room,
    ]  # fmt: skip
    for _ in range(80):
        story.random.choice(steps)()
        if story.random.random() < 0.6:  # it creates what is queued
            story.check()
    story.check()
