"""Files of a partition that an operator removed: the topic is deleted and made again, as the guide
on recovering says, and nothing of the earlier log is left for the later one of its name."""

from __future__ import annotations

import asyncio

import pytest
from tests.unit.replication.test_set_aside import remove_due
from tests.unit.replication.test_several_directories import FIRST, PATHS, SECOND, T0, World

from ottla.metadata.image import Image
from ottla.metadata.records import TopicDeleted
from ottla.protocol.error_codes import ErrorCode
from ottla.storage.log.flushing import flush
from ottla.testing.filesystem import MemoryDisk


@pytest.fixture
def world() -> World:
    """One partition with three records, of which the first was deleted."""
    disk = MemoryDisk()
    for path in PATHS:
        disk.make_directory(path)
    disk.sync_directory("/")
    world = World(disk, Image())
    world.create_topic(FIRST, 1)
    for value in (b"a", b"b", b"c"):
        world.append(T0, value)
    log = world.replicas.partition(*T0).log
    flush(log)
    log.advance_log_start(1)
    return world


def remove_files(world: World) -> None:
    world.disk.rename(f"{PATHS[0]}/t-0", "/elsewhere")
    world.disk.sync_directory(PATHS[0])


def lose_while_stopped(world: World) -> World:
    world.replicas.close()
    world.logs.close()
    remove_files(world)
    return world.restarted()


def lose_while_running(world: World) -> World:
    for directory in world.logs.directories:
        directory.table.write_checkpoints()
    log = world.replicas.partition(*T0).log
    remove_files(world)
    world.logs.lose(log, OSError(2, "removed by an operator"))
    return world


@pytest.mark.parametrize("is_running", [False, True], ids=["stopped", "running"])
@pytest.mark.parametrize("values", [[], [b"new"]], ids=["empty", "with a record"])
@pytest.mark.parametrize("is_settled", [False, True], ids=["at once", "settled"])
def test_a_recreated_partition_inherits_nothing_of_a_lost_one(
    world: World, is_running: bool, values: list[bytes], is_settled: bool
) -> None:
    world = lose_while_running(world) if is_running else lose_while_stopped(world)
    assert world.error(T0) is ErrorCode.KAFKA_STORAGE_ERROR
    assert world.replicas.without_log("t") == {0}
    world.publish(TopicDeleted(FIRST))
    if is_settled:
        asyncio.run(world.replicas.settle())
        assert world.replicas.is_settled
    world.create_topic(SECOND, 1)
    for value in values:
        world.append(T0, value)
    for _ in range(3):
        log = world.replicas.partition(*T0).log
        assert (world.values(T0), log.log_start_offset) == (values, 0)
        assert log.log_end_offset == len(values)
        world = world.restarted()


def test_a_lost_partition_gets_no_new_log_by_a_change_of_leader(
    world: World,
) -> None:
    world = lose_while_running(world)
    topic = world.image.topic("t")
    assert topic is not None
    world.replicas._placement.place(topic, 0, topic.partitions[0])
    assert world.error(T0) is ErrorCode.KAFKA_STORAGE_ERROR
    again = world.restarted()
    assert again.error(T0) is ErrorCode.KAFKA_STORAGE_ERROR, "the checkpoints know of it"


def test_files_that_went_before_the_checkpoints_were_written_leave_nothing_to_inherit(
    world: World,
) -> None:
    """A deletion that was killed after its files were removed: only the next log of that name
    finishes it."""
    world.replicas.close()
    world.logs.close()
    world = world.restarted()
    world.publish(TopicDeleted(FIRST))
    remove_due(world)
    world = world.restarted()
    world.create_topic(SECOND, 1)
    again = world.restarted()
    assert again.values(T0) == []
    assert again.replicas.partition(*T0).log.log_start_offset == 0
