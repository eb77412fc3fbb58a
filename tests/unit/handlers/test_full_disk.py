"""Partitions for which a full disk has no room: the response contains it; they are made later."""

from __future__ import annotations

import errno
from collections.abc import Iterator

import pytest
from tests.unit.broker.restarting import RestartingWorld
from tests.unit.handlers.asking import produce
from tests.unit.handlers.world import World

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest

NONE, STORAGE = ErrorCode.NONE, ErrorCode.KAFKA_STORAGE_ERROR
FULL = (("make_directory", "*"), ("create", "*.log"), ("write", "*/partition.metadata*"))


@pytest.fixture
def world() -> Iterator[World]:
    with World() as world:
        yield world


@pytest.mark.parametrize(("kind", "place"), FULL)
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE])
def test_creating_a_topic_without_room_is_no_success_and_is_done_once_there_is_room(
    world: World, kind: str, place: str, number: int
) -> None:
    world.disk.fail(kind, f"/disk/*/full-1{place}", error=number, times=None)
    request = CreateTopicsRequest([CreatableTopic("full", 3, 1), CreatableTopic("fits", 1, 1)])
    full, fits = world.ask(request, 7).topics
    assert (full.error_code, fits.error_code) == (STORAGE, NONE)
    assert "1 of them have no log (1)" in full.error_message
    assert code_of(world, "full", 0) == NONE
    assert code_of(world, "full", 1) == STORAGE
    world.run(world.broker.replicas.retry_waiting_partitions())
    assert code_of(world, "full", 1) == STORAGE
    world.disk.heal()
    world.run(world.broker.replicas.retry_waiting_partitions())
    assert code_of(world, "full", 1) == NONE


def test_partitions_that_are_added_without_room_are_reported(world: World) -> None:
    world.create_topic("t", 1)
    world.disk.fail("make_directory", "/disk/*/t-2", error=errno.ENOSPC)
    answers = [
        world.ask(
            CreatePartitionsRequest([CreatePartitionsTopic("t", count, None)], 1000), 3
        ).results[0]
        for count in (3, 4)
    ]
    assert [each.error_code for each in answers] == [STORAGE, NONE]
    assert "1 of them have no log (2)" in answers[0].error_message


def test_a_deleted_topic_waits_for_no_room(world: World) -> None:
    world.disk.fail("make_directory", "/disk/*/t-0", error=errno.ENOSPC)
    world.ask(CreateTopicsRequest([CreatableTopic("t", 1, 1)]), 7)
    world.ask(DeleteTopicsRequest(topic_names=["t"], timeout_ms=1000), 5)
    world.disk.heal()
    world.run(world.broker.replicas.retry_waiting_partitions())
    assert not world.disk.exists("/disk/a/t-0")
    assert not world.disk.exists("/disk/b/t-0")


def code_of(world: World, topic: str, partition: int) -> ErrorCode:
    return ErrorCode(produce(world, topic, partition=partition).error_code)


@pytest.mark.parametrize("kept_bytes", [0, 1, 60])
def test_a_change_of_the_metadata_without_room_is_refused_and_the_broker_continues(
    kept_bytes: int,
) -> None:
    """What got to the disk of the refused batch is cut off, and not found by the next start."""
    with RestartingWorld() as world:
        refuse_and_go_on(world, kept_bytes)


def refuse_and_go_on(world: RestartingWorld, kept_bytes: int) -> None:
    world.create_topic("t", 1)
    offset = world.broker.parts.metadata.offset
    world.disk.fail("write", "*.journal", error=errno.ENOSPC, times=None, keep_bytes=kept_bytes)
    request = CreateTopicsRequest([CreatableTopic("full", 3, 1)])
    for _ in range(3):
        (refused,) = world.ask(request, 7).topics
        assert refused.error_code == STORAGE
        assert "disk is full" in refused.error_message
    assert world.broker.parts.metadata.offset == offset
    assert "full" not in world.broker.parts.metadata.topics
    assert code_of(world, "t", 0) == NONE, "its disk has room"
    world.disk.heal()
    assert world.ask(request, 7).topics[0].error_code == NONE
    world.kill()
    assert code_of(world, "full", 2) == NONE
