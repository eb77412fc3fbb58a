"""CreateTopics, DeleteTopics, CreatePartitions: in every version, and what they leave behind."""

from __future__ import annotations

import asyncio
import threading

import pytest
from tests.unit.handlers.asking import produce
from tests.unit.handlers.world import DIRECTORIES, World

from ottla.base.ids import TopicPartition
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from ottla.protocol.messages.metadata_request import MetadataRequest


def grow(world: World, topic: str, partitions: int, version: int = 3) -> int:
    wanted = CreatePartitionsTopic(topic, partitions, None)
    (result,) = world.ask(CreatePartitionsRequest([wanted], 1000), version).results
    code: int = result.error_code
    return code


def logs(world: World) -> set[TopicPartition]:
    return {each.partition for each in world.broker.logs.logs}


@pytest.mark.parametrize("version", range(2, 8))
def test_topics_are_created_in_every_version(world: World, version: int) -> None:
    wanted = [CreatableTopic("a", 2, 1), CreatableTopic("a", 2, 1), CreatableTopic("b", 3, 1)]
    answer = world.ask(CreateTopicsRequest(wanted, 1000), version)
    codes = {topic.name: topic.error_code for topic in answer.topics}
    assert codes == {"a": ErrorCode.INVALID_REQUEST, "b": 0}  # a name twice is no request
    (created,) = (topic for topic in answer.topics if topic.name == "b")
    assert version < 7 or any(created.topic_id)
    assert version < 5 or (created.num_partitions, created.replication_factor) == (3, 1)
    assert logs(world) == {TopicPartition("b", each) for each in range(3)}


def test_a_topic_is_answered_when_all_its_partitions_can_be_used(world: World) -> None:
    world.create_topic("t", 50)
    assert len(logs(world)) == 50
    assert grow(world, "t", 80) == 0
    assert len(logs(world)) == 80


def test_others_are_served_while_the_partitions_of_a_large_topic_are_made(world: World) -> None:
    async def story() -> int:
        request = CreateTopicsRequest([CreatableTopic("t", 200, 1)], 30000)
        creating = asyncio.create_task(world._answer(request, 7, world.me, None))
        served = 0
        while not creating.done():
            await world._answer(MetadataRequest([]), 12, world.me, None)
            served += 0 < len(world.broker.replicas) < 200
            await asyncio.sleep(0)
        return served

    assert world.run(story()) > 50


def test_partitions_are_spread_over_the_directories(world: World) -> None:
    world.create_topic("t", 10)
    counts = [len(each.logs) for each in world.broker.logs.directories]
    assert counts == [5, 5]


@pytest.mark.parametrize("version", range(1, 7))
def test_topics_are_deleted_in_every_version(world: World, version: int) -> None:
    topic_id = world.create_topic("t", 2)
    world.create_topic("kept")
    if version < 6:
        request = DeleteTopicsRequest(topic_names=["t", "missing"], timeout_ms=1000)
    else:
        named = [DeleteTopicState(None, topic_id), DeleteTopicState("missing")]
        request = DeleteTopicsRequest(named, timeout_ms=1000)
    codes = [each.error_code for each in world.ask(request, version).responses]
    assert sorted(codes) == [0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    assert logs(world) == {TopicPartition("kept", 0)}


def test_a_deleted_topics_files_go_after_a_while(world: World) -> None:
    world.create_topic("t")
    produce(world, "t", 10)
    world.ask(DeleteTopicsRequest(topic_names=["t"], timeout_ms=1000), 5)
    names = [name for path in DIRECTORIES for name in world.disk.list_directory(path)]
    assert [name for name in names if name.startswith("t-0.") and name.endswith("-delete")]
    world.clock.advance_ms(61_000)
    world.run(world.broker.housekeeping.remove())
    names = [name for path in DIRECTORIES for name in world.disk.list_directory(path)]
    assert not [name for name in names if name.startswith("t-0")]


def test_a_topic_created_again_is_another_one(world: World) -> None:
    first = world.create_topic("t")
    produce(world, "t", 5)
    world.ask(DeleteTopicsRequest(topic_names=["t"], timeout_ms=1000), 5)
    second = world.create_topic("t")
    assert first != second
    assert produce(world, "t").base_offset == 0


def test_deleting_can_be_forbidden() -> None:
    with World({"delete.topic.enable": "false"}) as world:
        world.create_topic("t")
        request = DeleteTopicsRequest(topic_names=["t"], timeout_ms=1000)
        for version, code in (
            (1, ErrorCode.INVALID_REQUEST),
            (5, ErrorCode.TOPIC_DELETION_DISABLED),
        ):
            (result,) = world.ask(request, version).responses
            assert result.error_code == code
        assert logs(world) == {TopicPartition("t", 0)}


@pytest.mark.parametrize("version", range(4))
def test_a_topic_grows_and_never_shrinks(world: World, version: int) -> None:
    world.create_topic("t", 2)
    assert grow(world, "t", 4, version) == 0
    assert produce(world, "t", partition=3).error_code == 0
    assert grow(world, "t", 3, version) == ErrorCode.INVALID_PARTITIONS
    assert grow(world, "missing", 3, version) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_legal_user_cannot_create_topics_without_end() -> None:
    """Bounded by configuration, whatever the names."""
    with World({"ottla.partitions.max": "20"}) as world:
        world.create_topic("many", 15)
        request = CreateTopicsRequest([CreatableTopic("more", 6, 1)], 1000)
        assert world.ask(request, 7).topics[0].error_code == ErrorCode.POLICY_VIOLATION
        assert grow(world, "many", 21) == ErrorCode.POLICY_VIOLATION
        assert len(logs(world)) == 15


def test_files_of_a_topic_deleted_just_before_the_stop_do_not_stay(world: World) -> None:
    world.create_topic("t", 40)
    request = DeleteTopicsRequest(topic_names=["t"], timeout_ms=1000)

    async def story() -> None:
        deleting = asyncio.ensure_future(world._answer(request, 5, world.me, None))
        while world.broker.replicas.is_settled:
            await asyncio.sleep(0)
        deleting.cancel()
        await world.broker.close()

    world.run(story())
    left = {name for path in DIRECTORIES for name in world.disk.list_directory(path)}
    assert not left & {f"t-{index}" for index in range(40)}


def test_new_partitions_are_closed_several_at_a_time(world: World) -> None:
    """Each waits for syncs of its own: one after the other, a stop would take minutes."""
    world.create_topic("t", 40)
    threads = set()
    sync_directory = world.disk.sync_directory

    def noting(path: str) -> None:
        if path.endswith(tuple(f"/t-{index}" for index in range(40))):
            threads.add(threading.get_ident())
        sync_directory(path)

    world.disk.sync_directory = noting  # type: ignore[method-assign]
    world.run(world.broker.close())
    assert threads
    assert threading.get_ident() not in threads
