"""Partitions that leave a broker: lookups fail from then on, and all waiting requests are woken."""

from __future__ import annotations

import asyncio

import pytest
from tests.unit.coordinators.groups.broker_world import BrokerWorld
from tests.unit.replication.test_high_watermark import data_waiter
from tests.unit.storage.log_making import batch_of

from ottla.metadata.records import TopicDeleted
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.partition_table import CLOSED_AT_ONCE

MANY = 3 * CLOSED_AT_ONCE


@pytest.fixture
def world() -> BrokerWorld:
    world = BrokerWorld()
    world.replicas.load(world.image)
    return world


class Reader:
    def __init__(self) -> None:
        self.is_woken = False

    def wake(self) -> None:
        self.is_woken = True

    def data_arrived(self, size: int, *, is_stable: bool) -> None:
        raise AssertionError("nothing arrives")


def test_readers_of_a_deleted_topic_are_woken_at_once(world: BrokerWorld) -> None:
    topic_id = world.create_topic("t", 1)

    async def story() -> None:
        waiter = data_waiter([world.replicas.partition("t", 0).fetches], 1)
        world.publish(TopicDeleted(topic_id))
        await waiter.wait(timeout_ms=3_600_000)

    asyncio.run(story())


def test_fetches_of_many_deleted_partitions_are_woken_in_slices(
    world: BrokerWorld,
) -> None:
    topic_id = world.create_topic("t", MANY)
    asyncio.run(world.replicas.settle())
    readers = [Reader() for _ in range(MANY)]
    for partition, reader in zip(world.replicas, readers, strict=True):
        partition.fetches.watchers[reader] = None
    gone = list(world.replicas)
    world.publish(TopicDeleted(topic_id))
    assert len(world.replicas) == 0
    assert not any(each.is_leader for each in gone)
    assert sum(reader.is_woken for reader in readers) == CLOSED_AT_ONCE
    assert not world.replicas.is_settled
    asyncio.run(world.replicas.settle())
    assert all(reader.is_woken for reader in readers)
    assert world.replicas.is_settled


def test_a_broker_that_stops_wakes_the_readers_that_are_left(world: BrokerWorld) -> None:
    topic_id = world.create_topic("t", MANY)
    asyncio.run(world.replicas.settle())
    reader = Reader()
    world.replicas.partition("t", MANY - 1).fetches.watchers[reader] = None
    world.publish(TopicDeleted(topic_id))
    assert not reader.is_woken
    world.replicas.close()
    assert reader.is_woken


def test_who_wrote_to_one_of_very_many_deleted_partitions_hears_of_it_at_once(
    world: BrokerWorld,
) -> None:
    topic_id = world.create_topic("t", MANY)

    async def story() -> None:
        await world.replicas.settle()
        partition = world.replicas.partition("t", MANY - 1)
        partition.append(batch_of(b"a"), -1)
        waiting = asyncio.ensure_future(partition.wait_replicated(1000))
        await asyncio.sleep(0)
        assert partition.has_pending_acks
        world.publish(TopicDeleted(topic_id))
        with pytest.raises(BrokerError) as raised:
            await waiting
        assert raised.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert not world.replicas.is_settled

    asyncio.run(story())
