"""Partitions in several log directories, some of which fail, or were away for a while."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from random import Random
from typing import Any

import pytest
from tests.support.steps_by_hand import Here
from tests.unit.storage.log_making import append, values_of

from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicId, TopicPartition
from ottla.config.topic_options import TopicConfig
from ottla.metadata.image import Batch, Image
from ottla.metadata.publisher import Publisher
from ottla.metadata.records import (
    PartitionChanged,
    PartitionCreated,
    Record,
    TopicCreated,
    TopicDeleted,
)
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.directory_reports import DirectoryReports
from ottla.replication.leader_role import DamageListener
from ottla.replication.partition import Partition
from ottla.replication.replica_manager import ReplicaManager, is_placed
from ottla.replication.sole_replica import SoleReplica
from ottla.storage.directories.directory_ownership import Owner
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.directories.log_manager import LogManager
from ottla.storage.errors import CorruptLogError, StorageError
from ottla.storage.log.log import Log
from ottla.storage.log.log_context import LogContext
from ottla.storage.log.recovery import open_log
from ottla.testing.clock import ManualClock
from ottla.testing.filesystem import MemoryDisk
from ottla.testing.log_listener import IgnoringListener

BROKER = 1
PATHS = ("/one", "/two")
FIRST, SECOND = TopicId(b"the first of two"), TopicId(b"second of the 2.")
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


class DamageReports(SoleReplica):
    """Damage that a partition reports is handled as in a cluster."""

    def __init__(self) -> None:
        self._listeners: list[DamageListener] = []

    def on_damage(self, listener: DamageListener) -> None:
        self._listeners.append(listener)

    def damage_found(self, partition: Partition, error: CorruptLogError) -> None:
        for listener in self._listeners:
            listener(partition, error)


class World:
    """A broker with two directories, after its start."""

    def __init__(self, disk: MemoryDisk, image: Image, directory_ids: Iterable[bytes] = ()) -> None:
        clock = ManualClock()
        self.disk, self.image = disk, image
        self.publisher = Publisher(image)
        self.logs = LogManager(disk, clock, Random(0), PATHS, IgnoringListener())
        self.logs.open(Owner("cluster", BROKER))
        self.logs.expected.expect(directory_ids)
        placed = partial(is_placed, image, BROKER)
        list(self.logs.load(lambda _topic: TopicConfig(), placed))
        self.replicas = ReplicaManager(
            BROKER,
            self.logs,
            lambda _topic: TopicConfig(),
            clock,
            Here(),
            DamageReports(),
            SoleReplica(),
            self.make_reports(),
        )
        self.replicas.load(image)
        self.publisher.subscribe(lambda _image, changes: self.replicas.apply(changes))

    def make_reports(self) -> DirectoryReports | None:
        """Of a member of a cluster."""
        return None

    def restarted(self) -> World:
        self.disk.kill()
        return World(self.disk, self.image)

    def publish(self, *records: Record) -> None:
        self.publisher.publish(self.batch(*records))

    def batch(self, *records: Record) -> Batch:
        return Batch(self.image.offset, 1, records)

    def create_topic(self, topic_id: TopicId, partitions: int = 2, name: str = "t") -> None:
        here = (BROKER,)
        created = (
            PartitionCreated(topic_id, index, here, here, BROKER) for index in range(partitions)
        )
        self.publish(TopicCreated(topic_id, name), *created)

    def append(self, name: TopicPartition, value: bytes) -> None:
        append(self.replicas.partition(*name).log, value)

    def values(self, name: TopicPartition) -> list[bytes | None]:
        return list(values_of(self.replicas.partition(*name).log))

    def place(self, name: TopicPartition) -> LogDirectory:
        place = self.logs.directory_of(name)
        assert place is not None
        return place

    def error(self, name: TopicPartition) -> ErrorCode:
        with pytest.raises(BrokerError) as raised:
            self.replicas.partition(*name)
        return raised.value.code


@pytest.fixture
def world() -> World:
    disk = MemoryDisk()
    for path in PATHS:
        disk.make_directory(path)
    disk.sync_directory("/")
    return World(disk, Image())


def test_a_directory_that_fails_to_delete_leaves_nothing_old_in_the_others(world: World) -> None:
    """What a topic of the same name acknowledges must not go with the older one's files."""
    world.create_topic(FIRST)
    world.append(T1, b"old")
    assert [world.place(name).path for name in (T0, T1)] == list(PATHS)
    world.disk.fail("rename", "/one/*", times=None)
    world.publish(TopicDeleted(FIRST))
    world.disk.heal()
    assert world.error(T0) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    world.create_topic(SECOND)
    world.append(T1, b"new")
    assert {each.log.topic_id.load(BLOCKING) for each in world.replicas} == {SECOND}
    assert world.values(T1) == [b"new"]


def test_a_log_of_another_topic_is_not_served(world: World) -> None:
    world.logs.create(T0, TopicConfig(), FIRST)
    world.create_topic(SECOND)
    assert world.error(T0) == ErrorCode.KAFKA_STORAGE_ERROR
    assert world.values(T1) == []


def test_a_directory_that_was_away_while_its_topic_was_deleted_may_come_back(world: World) -> None:
    world.create_topic(FIRST)
    world.append(T0, b"old")
    world.place(T0).health.failed("testing", OSError("gone"))
    world.publish(TopicDeleted(FIRST))
    world.create_topic(SECOND)
    world.append(T0, b"new")
    again = world.restarted()
    assert len(again.logs.online) == 2
    assert again.values(T0) == [b"new"]
    assert {each.topic_id.load(BLOCKING) for each in again.logs.logs} == {SECOND}
    assert not any(each.strays.paths for each in again.logs.directories)


def test_two_logs_of_one_partition_whose_topic_was_not_deleted_are_refused(world: World) -> None:
    world.create_topic(FIRST)
    world.logs.directories[1].create(T0, TopicConfig(), FIRST)
    with pytest.raises(StorageError, match="both in"):
        world.restarted()


def test_a_directory_that_cannot_be_read_at_start_leaves_its_partitions_offline(
    world: World,
) -> None:
    """A producer whose record was acknowledged must not find the partition empty."""
    world.create_topic(FIRST)
    world.append(T0, b"safe")
    world.append(T1, b"here")
    world.disk.fail(["list", "open"], "/one*", times=None)
    without = world.restarted()
    assert without.error(T0) == ErrorCode.KAFKA_STORAGE_ERROR
    assert without.values(T1) == [b"here"]
    without.publish(PartitionChanged(FIRST, 0, 1, leader=BROKER, leader_epoch=1))
    assert without.error(T0) == ErrorCode.KAFKA_STORAGE_ERROR
    world.disk.heal()
    again = without.restarted()
    assert (again.values(T0), again.values(T1)) == ([b"safe"], [b"here"])


def test_a_directory_that_fails_to_set_aside_a_stray_at_start_leaves_the_others_serving(
    world: World,
) -> None:
    world.create_topic(FIRST)
    world.append(T1, b"kept")
    assert [world.place(name).path for name in (T0, T1)] == list(PATHS)
    world.logs.create(TopicPartition("stray", 0), TopicConfig(), directory=world.place(T0))
    world.disk.fail("rename", "/one/stray-0", times=None)
    world = world.restarted()
    assert world.error(T0) == ErrorCode.KAFKA_STORAGE_ERROR
    assert world.values(T1) == [b"kept"]


def test_new_topics_are_made_while_a_directory_is_away(world: World) -> None:
    world.create_topic(FIRST)
    world.append(T0, b"old")
    world.disk.fail(["list", "open"], "/one*", times=None)
    without = world.restarted()
    without.create_topic(TopicId(b"the id of others"), 3, "other")
    assert without.values(TopicPartition("other", 2)) == []
    without.publish(TopicDeleted(FIRST))
    assert without.error(T0) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    without.create_topic(SECOND)
    without.append(T0, b"new")
    world.disk.heal()
    assert without.restarted().values(T0) == [b"new"]


def damage(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def opening(context: LogContext, partition: TopicPartition, at: str, *rest: Any) -> Log:
        if at == path:
            raise StorageError("damaged")
        return open_log(context, partition, at, *rest)

    monkeypatch.setattr("ottla.storage.directories.directory_loading.open_log", opening)


def test_a_log_that_cannot_be_opened_is_not_created_in_another_directory(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = world.logs.directories[0]
    for index in range(3):  # so that new ones would go to the other one
        world.logs.create(TopicPartition("t", index), TopicConfig(), FIRST, directory=first)
    world.create_topic(FIRST, 3)
    world.append(T0, b"safe")
    damage("/one/t-0", monkeypatch)
    without = world.restarted()
    assert without.error(T0) == ErrorCode.KAFKA_STORAGE_ERROR
    monkeypatch.undo()
    assert without.restarted().values(T0) == [b"safe"]


def test_a_future_log_does_not_take_the_place_of_one_that_cannot_be_opened(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.create_topic(FIRST, 1)
    world.append(T0, b"safe")
    world.logs.moves.begin(T0, TopicConfig(), world.logs.directories[1])
    damage("/one/t-0", monkeypatch)
    assert world.restarted().error(T0) == ErrorCode.KAFKA_STORAGE_ERROR
    monkeypatch.undo()
    assert world.restarted().values(T0) == [b"safe"]
