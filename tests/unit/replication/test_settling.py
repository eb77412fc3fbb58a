"""Partitions of new and deleted topics: a few at a time, which clients cannot observe."""

from __future__ import annotations

import asyncio
import gc
import threading
from itertools import pairwise
from random import Random

import pytest
from tests.support.paused_collector import paused_collector
from tests.support.steps_by_hand import job_of
from tests.unit.coordinators.groups.broker_world import DIRECTORY, BrokerWorld
from tests.unit.handlers.steps.counting import LineCounter
from tests.unit.storage.log_deletions import deletions_of
from tests.unit.storage.log_making import append, append_many

from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.scheduling.steps import run_blocking
from ottla.config.topic_options import TopicConfig
from ottla.metadata.records import ConfigResource, PartitionChanged, ResourceType, TopicDeleted
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.deletions import DELETED_AT_ONCE
from ottla.replication.partition import Partition
from ottla.replication.replica_manager import MADE_AT_ONCE
from ottla.storage.log.flushing import flush
from ottla.storage.log.log import Log

MANY = 60
HERE = TopicPartition("here", 0)


@pytest.fixture
def world() -> BrokerWorld:
    world = BrokerWorld()
    world.replicas.load(world.image)
    return world


class Leads:
    def __init__(self) -> None:
        self.names: list[TopicPartition] = []

    def leads(self, partition: Partition) -> None:
        self.names.append(partition.name)

    def resigned(self, name: TopicPartition) -> None:
        self.names.remove(name)


def test_a_small_topic_is_there_at_once(world: BrokerWorld) -> None:
    world.create_topic("t", MADE_AT_ONCE)
    assert len(world.replicas) == MADE_AT_ONCE
    assert world.replicas.is_settled


def test_a_large_topic_is_created_in_many_iterations_of_the_loop(world: BrokerWorld) -> None:
    world.create_topic("t", MANY)
    assert len(world.replicas) == MADE_AT_ONCE
    counts = []

    async def watch() -> None:
        making = asyncio.create_task(world.replicas.settle())
        while not making.done():
            counts.append(len(world.replicas))
            await asyncio.sleep(0)
        await making

    asyncio.run(watch())
    assert len(world.replicas) == MANY
    assert max(after - before for before, after in pairwise(counts)) == 1


def lines_of(world: BrokerWorld, requests: int, times_named: int) -> int:
    """The lines of Python that run until a new topic is there for all requests."""
    world.create_topic("t", MANY)
    counter = LineCounter()

    async def wait() -> None:
        waits = (world.replicas.made(times_named * ["t"]) for _ in range(requests))
        await asyncio.gather(*waits, world.replicas.settle())

    counter.on()
    try:
        asyncio.run(wait())
    finally:
        counter.off()
    assert len(world.replicas) == MANY
    return counter.lines


def test_requests_that_name_a_new_topic_very_often_pay_nothing_for_its_partitions() -> None:
    worlds = [BrokerWorld(), BrokerWorld()]
    for world in worlds:
        world.replicas.load(world.image)
    once, often = lines_of(worlds[0], 1, 1), lines_of(worlds[1], 20, 100)
    assert often < once + 20 * 100 * 10 + 20 * MANY * 10


def test_a_topic_that_opens_batches_is_known_before_its_first_partition_is_made(
    world: BrokerWorld,
) -> None:
    world.create_topic("t", MANY)
    zipped = TopicConfig(compression_type="gzip")
    world.replicas._configs.of_topic = lambda topic: zipped if topic == "later" else TopicConfig()
    topic_id = world.create_topic("later", 1)
    assert ("later", 0) in world.replicas._new
    assert world.replicas.opening == {"later", topic_id}


def test_settings_that_change_before_a_topics_first_partition_is_made_hold_for_it(
    world: BrokerWorld,
) -> None:
    world.create_topic("t", MANY)
    topic_id = world.create_topic("later", 1)
    configs = world.replicas._configs
    assert not configs.opening
    configs.of_topic = lambda _topic: TopicConfig(cleanup_policy=("compact",))
    image = world.image
    run_blocking(configs.changing([ConfigResource(ResourceType.TOPIC, "later")], image))
    assert configs.opening == {"later", topic_id}
    configs.of_topic = lambda _topic: TopicConfig()
    run_blocking(configs.changing([ConfigResource(ResourceType.BROKER, "")], image))
    assert not configs.opening


def test_a_partition_that_is_requested_early_exists(world: BrokerWorld) -> None:
    topic_id = world.create_topic("t", MANY)
    assert world.replicas.partition("t", MANY - 1).is_leader
    assert world.replicas.partition_by_id(topic_id, MANY - 2).is_leader
    asyncio.run(world.replicas.settle())
    assert len(world.replicas) == len(world.logs.logs) == MANY


def test_who_listens_hears_of_every_new_partition_once(world: BrokerWorld) -> None:
    reported = Leads()
    world.replicas.listeners.append(reported)
    world.create_topic("t", MANY)
    world.replicas.partition("t", MANY - 1)
    asyncio.run(world.replicas.settle())
    assert sorted(reported.names) == [TopicPartition("t", each) for each in range(MANY)]


def test_a_topic_deleted_before_it_was_made_leaves_nothing(world: BrokerWorld) -> None:
    topic_id = world.create_topic("t", MANY)
    world.publish(TopicDeleted(topic_id))
    asyncio.run(world.replicas.settle())
    assert not world.logs.logs
    with pytest.raises(BrokerError) as raised:
        world.replicas.partition("t", MANY - 1)
    assert raised.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_topic_deleted_and_created_again_at_once_is_the_new_one(world: BrokerWorld) -> None:
    first_id = world.create_topic("t", MANY)
    world.publish(TopicDeleted(first_id))
    second_id = world.create_topic("t", MANY, TopicId(b"another topic id"))
    asyncio.run(world.replicas.settle())
    assert {each.topic_id for each in world.replicas} == {second_id}
    assert {each.topic_id.load(BLOCKING) for each in world.logs.logs} == {second_id}


def test_what_is_decided_before_a_partition_was_made_holds(world: BrokerWorld) -> None:
    topic_id = world.create_topic("t", MANY, replicas=(1, 2))
    last = MANY - 1
    world.publish(PartitionChanged(topic_id, last, 1, leader=2, leader_epoch=1))
    asyncio.run(world.replicas.settle())
    partition = world.replicas.partition("t", last)
    assert (partition.is_leader, partition.leader_epoch) == (False, 1)


def test_a_partition_that_cannot_be_made_leaves_the_others(world: BrokerWorld) -> None:
    world.disk.fail("make_directory", f"{DIRECTORY}/t-9", error=28)
    world.create_topic("t", MANY)
    asyncio.run(world.replicas.settle())
    assert len(world.replicas) == MANY - 1
    with pytest.raises(BrokerError) as raised:
        world.replicas.partition("t", 9)
    assert raised.value.code == ErrorCode.KAFKA_STORAGE_ERROR


def test_deleted_partitions_are_gone_without_a_search_for_garbage(world: BrokerWorld) -> None:
    with paused_collector():
        topic_id = world.create_topic("passing", MANY)
        asyncio.run(world.replicas.settle())
        append(world.replicas.partition("passing", 5).log, b"record")
        world.publish(TopicDeleted(topic_id))
        asyncio.run(world.replicas.settle())
        world.manual.advance_ms(TopicConfig().file_delete_delay_ms)
        for _, removal in world.logs.due_removals():
            removal.run()
        del removal
        left = [each for each in gc.get_objects() if type(each) in (Partition, Log)]
        assert not [each for each in left if "passing-" in repr(each)]


# Deleting


def made(world: BrokerWorld, name: str = "t") -> TopicId:
    topic_id = world.create_topic(name, MANY)
    asyncio.run(world.replicas.settle())
    return topic_id


def test_a_deleted_topic_is_unknown_at_once_though_its_files_move_later(
    world: BrokerWorld,
) -> None:
    world.publish(TopicDeleted(made(world)))
    with pytest.raises(BrokerError) as raised:
        world.replicas.partition("t", MANY - 1)
    assert raised.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert len(world.logs.logs) == MANY
    asyncio.run(world.replicas.settle())
    assert not world.logs.logs


def test_many_partitions_are_deleted_in_many_iterations_of_the_loop(world: BrokerWorld) -> None:
    world.publish(TopicDeleted(made(world)))
    counts = []

    async def watch() -> None:
        settling = asyncio.create_task(world.replicas.settle())
        while not settling.done():
            counts.append(len(world.logs.logs))
            await asyncio.sleep(0)

    asyncio.run(watch())
    assert max(before - after for before, after in pairwise(counts)) == DELETED_AT_ONCE


def test_deleting_many_waits_for_the_disk_in_threads_alone(world: BrokerWorld) -> None:
    world.publish(TopicDeleted(made(world)))
    here = threading.get_ident()
    syncs_here = []
    sync_directory = world.disk.sync_directory

    def noting(path: str) -> None:
        if threading.get_ident() == here:
            syncs_here.append(path)
        sync_directory(path)

    world.disk.sync_directory = noting  # type: ignore[method-assign]
    asyncio.run(world.replicas.settle())
    assert not syncs_here


def test_a_new_topic_takes_a_name_whose_files_are_still_in_the_way(world: BrokerWorld) -> None:
    first_id = made(world)
    append(world.replicas.partition("t", 5).log, b"old")
    world.publish(TopicDeleted(first_id))
    second_id = world.create_topic("t", MANY, TopicId(b"another topic id"))
    new = world.replicas.partition("t", 5)
    assert (new.topic_id, new.log.log_end_offset) == (second_id, 0)
    asyncio.run(world.replicas.settle())
    assert {each.topic_id.load(BLOCKING) for each in world.logs.logs} == {second_id}
    assert len(world.logs.logs) == MANY


@pytest.mark.parametrize("seed", range(5))
def test_a_new_log_inherits_no_recovery_point_from_one_that_was_half_deleted(
    world: BrokerWorld, seed: int
) -> None:
    log = world.replicas.logs.create(HERE, TopicConfig(), TopicId(b"1" * 16))
    append_many(log, 50)
    flush(log)
    world.logs.directories[0].table.write_checkpoints()
    world.logs.begin_deleting(deletions_of(world.logs, HERE))
    again = world.logs.create(HERE, TopicConfig(), TopicId(b"2" * 16))
    append_many(again, 3)
    flush(again)
    world.disk.crash(Random(seed))
    found = BrokerWorld(disk=world.disk).logs.get(HERE)
    assert found is not None
    assert (found.topic_id.load(BLOCKING), found.log_end_offset, found.damage) == (b"2" * 16, 3, ())


@pytest.mark.parametrize("seed", range(10))
def test_a_log_deleted_again_while_its_older_one_becomes_durably_deleted_does_not_come_back(
    world: BrokerWorld, seed: int
) -> None:
    for number in (b"1", b"2"):
        log = world.logs.create(HERE, TopicConfig(), TopicId(number * 16))
        append_many(log, 50)
        flush(log)
        world.logs.directories[0].table.write_checkpoints()
        world.logs.begin_deleting(deletions_of(world.logs, HERE))
        if number == b"1":
            finishing = world.logs.finishing_deletion()
            job_of(next(finishing))()
    run_blocking(finishing)
    again = world.logs.create(HERE, TopicConfig(), TopicId(b"3" * 16))
    append_many(again, 3)
    flush(again)
    world.disk.crash(Random(seed))
    found = BrokerWorld(disk=world.disk).logs.get(HERE)
    assert found is not None
    assert (found.topic_id.load(BLOCKING), found.log_end_offset, found.damage) == (b"3" * 16, 3, ())


def test_a_directory_that_fails_while_topics_are_deleted_takes_nothing_else_with_it(
    world: BrokerWorld,
) -> None:
    world.publish(TopicDeleted(made(world)))
    world.disk.fail("rename", "*t-7*", error=5)
    asyncio.run(world.replicas.settle())
    with pytest.raises(BrokerError) as raised:
        world.replicas.partition("t", MANY - 1)
    assert raised.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
