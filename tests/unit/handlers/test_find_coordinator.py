"""FindCoordinator: the first request creates the topic."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from tests.unit.handlers.world import FakeConnection, World

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest

GROUP, TRANSACTION, SHARE = 0, 1, 2


@pytest.fixture
def world() -> Iterator[World]:
    with World({"offsets.topic.num.partitions": "2"}) as world:
        yield world


@pytest.mark.parametrize("version", range(4))
def test_one_coordinator_is_found_at_once_though_its_topic_had_to_be_created(
    world: World, version: int
) -> None:
    assert world.broker.publisher.image.topic("__consumer_offsets") is None
    answer = world.ask(FindCoordinatorRequest("readers"), version)
    assert (answer.error_code, answer.node_id) == (ErrorCode.NONE, world.broker.broker_id)
    assert (answer.host, answer.port) == ("127.0.0.1", 9092)
    topic = world.broker.publisher.image.topic("__consumer_offsets")
    assert topic is not None
    assert len(topic.partitions) == 2


@pytest.mark.parametrize("version", range(4, 7))
def test_several_coordinators_are_found_together(world: World, version: int) -> None:
    request = FindCoordinatorRequest(key_type=TRANSACTION, coordinator_keys=["a", "b"])
    found = world.ask(request, version).coordinators
    assert [each.key for each in found] == ["a", "b"]
    assert {(each.error_code, each.host, each.port) for each in found} == {(0, "127.0.0.1", 9092)}


def test_there_are_no_coordinators_of_other_kinds(world: World) -> None:
    request = FindCoordinatorRequest(key_type=SHARE, coordinator_keys=["a"])
    (found,) = world.ask(request, 6).coordinators
    assert (found.error_code, found.node_id) == (ErrorCode.INVALID_REQUEST, -1)
    answer = world.ask(FindCoordinatorRequest("a", key_type=SHARE), 3)
    assert (answer.error_code, answer.node_id) == (ErrorCode.INVALID_REQUEST, -1)


def test_a_listener_that_the_coordinator_does_not_have_finds_none(world: World) -> None:
    stranger = FakeConnection()
    stranger.session.listener = "INTERNAL"
    answer = world.ask(FindCoordinatorRequest("readers"), 3, by=stranger)
    assert answer.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE


def test_no_coordinator_is_returned_before_all_partitions_can_be_used() -> None:
    """Files for many partitions are made over many iterations of the event loop."""
    with World({"offsets.topic.num.partitions": "50"}) as world:
        groups = world.broker.parts.groups

        async def look_all_along() -> None:
            creating = asyncio.ensure_future(groups.topic.ensure())
            while not groups.topic.is_ready:
                await asyncio.sleep(0)
            for number in range(50):
                assert groups._runtime.shard_at(number)
            await creating

        world.run(look_all_along())
