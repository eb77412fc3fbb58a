"""Partitions that a full disk has no room for: known as such, and made one by one later."""

from __future__ import annotations

import asyncio
import errno

import pytest
from tests.unit.coordinators.groups.broker_world import DIRECTORY, BrokerWorld

from ottla.base.ids import TopicId, TopicPartition
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError


@pytest.fixture
def world() -> BrokerWorld:
    world = BrokerWorld()
    world.replicas.load(world.image)
    return world


def fill_up(world: BrokerWorld, *names: str) -> None:
    for name in names:
        world.disk.fail("make_directory", f"{DIRECTORY}/{name}", error=errno.ENOSPC, times=None)


def is_served(world: BrokerWorld, topic: str, index: int) -> bool:
    try:
        world.replicas.partition(topic, index)
    except BrokerError as error:
        if error.code is not ErrorCode.KAFKA_STORAGE_ERROR:
            raise
        return False
    return True


def test_partitions_without_a_log_are_reported_by_topic(world: BrokerWorld) -> None:
    assert world.replicas.all_have_logs
    fill_up(world, "t-1", "u-0")
    world.create_topic("t", 3)
    world.create_topic("u", 1)
    world.create_topic("v", 1)
    asyncio.run(world.replicas.settle())
    without = {name: world.replicas.without_log(name) for name in ("t", "u", "v", "nobody")}
    assert without == {"t": {1}, "u": {0}, "v": set(), "nobody": set()}
    assert not world.replicas.all_have_logs
    assert [is_served(world, "t", index) for index in range(3)] == [True, False, True]


def test_they_are_made_once_there_is_room_and_the_others_wait_on(world: BrokerWorld) -> None:
    names = ["t-0", "t-2", "u-1"]
    fill_up(world, *names)
    world.create_topic("t", 3)
    world.create_topic("u", 2)
    asyncio.run(world.replicas.settle())
    asyncio.run(world.replicas.retry_waiting_partitions())
    assert world.replicas.without_log("t") == {0, 2}
    world.disk.heal()
    fill_up(world, "u-1")
    for _ in range(3):  # one that has none again ends the round
        asyncio.run(world.replicas.retry_waiting_partitions())
    assert world.replicas.without_log("u") == {1}
    world.disk.heal()
    asyncio.run(world.replicas.retry_waiting_partitions())
    assert world.replicas.all_have_logs
    assert all(is_served(world, "t", index) for index in range(3))
    assert is_served(world, "u", 1)
    asyncio.run(world.replicas.retry_waiting_partitions())  # nothing is left to do


@pytest.mark.parametrize("is_made_again", [False, True])
def test_topics_that_are_deleted_during_a_round_are_left_out(
    world: BrokerWorld, is_made_again: bool
) -> None:
    names = [f"{topic}-{index}" for topic in "tuv" for index in range(3)]
    fill_up(world, *names)
    for topic in "tuv":
        world.create_topic(topic, 3)
    asyncio.run(world.replicas.settle())
    world.disk.heal()

    async def story() -> None:
        making = asyncio.ensure_future(world.replicas.retry_waiting_partitions())
        await asyncio.sleep(0)
        for topic in "tuv":
            world.delete_topic(topic)
            if is_made_again:  # with fewer partitions
                world.create_topic(topic, 1, TopicId(topic.encode() * 16))
        await making
        await world.replicas.settle()

    asyncio.run(story())
    placed = {TopicPartition(topic, 0) for topic in "tuv"} if is_made_again else set()
    assert {each.name for each in world.replicas} == placed
    assert {each.partition for each in world.logs.logs} == placed
    assert world.replicas.all_have_logs


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_restart_makes_them_too(world: BrokerWorld, is_killed: bool) -> None:
    fill_up(world, "t-1")
    world.create_topic("t", 2)
    asyncio.run(world.replicas.settle())
    if is_killed:
        world.disk.kill()
    else:
        world.replicas.close()
        world.logs.close()
    world.disk.heal()
    again = BrokerWorld(disk=world.disk, image=world.image)
    again.replicas.load(again.image)
    assert again.replicas.without_log("t") == set()
    assert is_served(again, "t", 1)
