"""Partitions of new topics: made a few at a time, and nobody can tell."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from tests.unit.coordinators.groups.broker_world import DIRECTORY, BrokerWorld

from ottla.base.ids import TopicPartition
from ottla.metadata.records import PartitionChanged, TopicDeleted
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.partition import Partition
from ottla.replication.replica_manager import MADE_AT_ONCE

MANY = 60


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
    assert not world.replicas.has_unmade


def test_a_large_topic_is_made_over_many_turns_of_the_loop(world: BrokerWorld) -> None:
    world.create_topic("t", MANY)
    assert len(world.replicas) == MADE_AT_ONCE
    counts = []

    async def watch() -> None:
        making = asyncio.create_task(world.replicas.make_new())
        while not making.done():
            counts.append(len(world.replicas))
            await asyncio.sleep(0)
        await making

    asyncio.run(watch())
    assert len(world.replicas) == MANY
    assert max(after - before for before, after in pairwise(counts)) == 1


def test_a_partition_that_is_asked_for_before_its_turn_is_there(world: BrokerWorld) -> None:
    topic_id = world.create_topic("t", MANY)
    assert world.replicas.partition("t", MANY - 1).is_leader
    assert world.replicas.partition_by_id(topic_id, MANY - 2).is_leader
    asyncio.run(world.replicas.make_new())
    assert len(world.replicas) == len(world.logs.logs) == MANY


def test_who_listens_hears_of_every_new_partition_once(world: BrokerWorld) -> None:
    told = Leads()
    world.replicas.listeners.append(told)
    world.create_topic("t", MANY)
    world.replicas.partition("t", MANY - 1)
    asyncio.run(world.replicas.make_new())
    assert sorted(told.names) == [TopicPartition("t", each) for each in range(MANY)]


def test_a_topic_deleted_before_it_was_made_leaves_nothing(world: BrokerWorld) -> None:
    topic_id = world.create_topic("t", MANY)
    world.publish(TopicDeleted(topic_id))
    assert not world.replicas.has_unmade
    assert not world.logs.logs
    with pytest.raises(BrokerError) as raised:
        world.replicas.partition("t", MANY - 1)
    assert raised.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_topic_deleted_and_created_again_at_once_is_the_new_one(world: BrokerWorld) -> None:
    first_id = world.create_topic("t", MANY)
    world.publish(TopicDeleted(first_id))
    second_id = world.create_topic("t", MANY, type(first_id)(b"another topic id"))
    asyncio.run(world.replicas.make_new())
    assert {each.topic_id for each in world.replicas} == {second_id}
    assert {each.topic_id for each in world.logs.logs} == {second_id}


def test_what_is_decided_before_a_partition_was_made_holds(world: BrokerWorld) -> None:
    topic_id = world.create_topic("t", MANY, replicas=(1, 2))
    last = MANY - 1
    world.publish(PartitionChanged(topic_id, last, 1, leader=2, leader_epoch=1))
    asyncio.run(world.replicas.make_new())
    partition = world.replicas.partition("t", last)
    assert (partition.is_leader, partition.leader_epoch) == (False, 1)


def test_a_partition_that_cannot_be_made_leaves_the_others(world: BrokerWorld) -> None:
    world.disk.fail("make_directory", f"{DIRECTORY}/t-9", error=28)
    world.create_topic("t", MANY)
    asyncio.run(world.replicas.make_new())
    assert len(world.replicas) == MANY - 1
    with pytest.raises(BrokerError) as raised:
        world.replicas.partition("t", 9)
    assert raised.value.code == ErrorCode.KAFKA_STORAGE_ERROR
