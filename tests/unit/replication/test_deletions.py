"""Deleted partitions after a crash, on the disk and for compaction, whatever the moment."""

from __future__ import annotations

import asyncio
import threading
from random import Random

import pytest
from tests.unit.coordinators.groups.broker_world import DIRECTORY, BrokerWorld
from tests.unit.storage.log_making import append

from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicId, TopicPartition
from ottla.metadata.image import Batch, Image
from ottla.metadata.records import TopicDeleted
from ottla.replication.deletions import DELETED_AT_ONCE
from ottla.storage.files.file_names import PARTITION_METADATA_NAME
from ottla.storage.log.flushing import flush

MANY = 60
OTHER_ID = TopicId(b"another topic id")


@pytest.fixture
def world() -> BrokerWorld:
    world = BrokerWorld()
    world.replicas.load(world.image)
    return world


def made(world: BrokerWorld, count: int = MANY) -> TopicId:
    topic_id = world.create_topic("t", count)
    asyncio.run(world.replicas.settle())
    return topic_id


def restarted(world: BrokerWorld, image: Image | None = None) -> BrokerWorld:
    again = BrokerWorld(disk=world.disk, image=image or world.image)
    again.replicas.load(again.image)
    return again


def directories(world: BrokerWorld) -> list[str]:
    return [name for name in world.disk.list_directory(DIRECTORY) if name.startswith("t-")]


def from_snapshot(image: Image) -> Image:
    """As a broker finds it that starts from a snapshot alone."""
    found = Image()
    found.load(image.to_records(), image.offset, image.controller_epoch)
    return found


def test_a_deletion_that_a_crash_cuts_short_is_finished_by_the_next_start(
    world: BrokerWorld,
) -> None:
    world.publish(TopicDeleted(made(world)))

    async def begin() -> None:
        settling = asyncio.create_task(world.replicas.settle())
        await asyncio.sleep(0)
        assert len(world.logs.logs) == MANY - DELETED_AT_ONCE
        world.disk.kill()
        settling.cancel()
        await asyncio.wait([settling])

    asyncio.run(begin())
    again = restarted(world, from_snapshot(world.image))
    assert not again.logs.logs
    assert not again.logs.directories[0].strays.paths
    assert len(directories(again)) == MANY
    assert all(name.endswith("-delete") for name in directories(again))


@pytest.mark.parametrize("seed", range(5))
def test_a_power_cut_brings_back_no_topic_that_was_deleted(world: BrokerWorld, seed: int) -> None:
    topic_id = made(world, 3)
    for each in world.logs.logs:
        flush(each)  # as happens within a second: until then the topic of a log is not on disk
    world.publish(TopicDeleted(topic_id))
    world.disk.crash(Random(seed))
    again = restarted(world)
    assert not again.logs.logs
    assert not again.logs.directories[0].strays.paths


def test_a_deletion_that_was_cut_short_leaves_the_topic_that_has_its_name_now(
    world: BrokerWorld,
) -> None:
    world.publish(TopicDeleted(made(world)))
    world.create_topic("t", MANY, OTHER_ID)
    world.disk.kill()
    again = restarted(world)
    assert {each.topic_id.load(BLOCKING) for each in again.logs.logs} == {OTHER_ID}
    assert len(again.replicas) == MANY


def test_files_that_the_metadata_never_knew_are_set_aside(world: BrokerWorld) -> None:
    topic_id = made(world, 2)
    append(world.replicas.partition("t", 0).log, b"a record")
    world.disk.kill()
    again = restarted(world, BrokerWorld().image)
    assert again.image.deletion_of(topic_id) is None
    assert len(again.logs.directories[0].strays.paths) == 2
    assert all(name.endswith("-stray") for name in directories(again))


def test_files_of_an_unknown_topic_are_set_aside(world: BrokerWorld) -> None:
    topic_id = made(world, 2)
    world.disk.remove(f"{DIRECTORY}/t-1/{PARTITION_METADATA_NAME}")
    world.image.apply(Batch(world.image.offset, 1, (TopicDeleted(topic_id),)))
    world.disk.kill()
    again = restarted(world)
    marks = sorted(name.rpartition("-")[2] for name in directories(again))
    assert marks == ["delete", "stray"]


def noted_syncs(world: BrokerWorld) -> list[bool]:
    """Of directories, from now on: whether each ran in this thread, which is the event loop's."""
    here = threading.get_ident()
    syncs: list[bool] = []
    sync_directory = world.disk.sync_directory

    def noting(path: str) -> None:
        syncs.append(threading.get_ident() == here)
        sync_directory(path)

    world.disk.sync_directory = noting  # type: ignore[method-assign]
    return syncs


@pytest.mark.parametrize("count", [1, DELETED_AT_ONCE, MANY])
def test_deleting_waits_for_the_disk_in_threads_alone(world: BrokerWorld, count: int) -> None:
    topic_id = made(world, count)
    syncs = noted_syncs(world)
    world.publish(TopicDeleted(topic_id))
    assert not world.replicas.is_settled
    asyncio.run(world.replicas.settle())
    assert syncs
    assert not any(syncs)
    assert world.replicas.is_settled


def test_a_topic_created_again_waits_for_the_disk_in_threads_alone(world: BrokerWorld) -> None:
    topic_id = made(world, 2)
    syncs = noted_syncs(world)
    world.publish(TopicDeleted(topic_id))
    world.create_topic("t", 2, OTHER_ID)
    asyncio.run(world.replicas.made(["t"]))
    assert not any(syncs)
    assert {each.topic_id for each in world.replicas} == {OTHER_ID}


def test_many_who_wait_for_deletions_sync_once(world: BrokerWorld) -> None:
    topic_id = made(world, 2)
    world.publish(TopicDeleted(topic_id))
    syncs = noted_syncs(world)

    async def wait_all() -> None:
        await asyncio.gather(*(world.replicas.settle() for _ in range(5)))

    asyncio.run(wait_all())
    in_one_pass = len(syncs)
    world.publish(TopicDeleted(made(world, 2)))
    syncs.clear()
    asyncio.run(world.replicas.settle())
    assert in_one_pass == len(syncs)


def test_deleting_does_not_wait_for_new_topics(world: BrokerWorld) -> None:
    topic_id = made(world, 2)
    world.create_topic("large", MANY)
    world.publish(TopicDeleted(topic_id))
    asyncio.run(world.replicas.deleted())
    assert not world.logs.is_deleting
    assert len(world.replicas) < MANY


def test_a_new_topic_does_not_wait_for_those_of_others(world: BrokerWorld) -> None:
    world.create_topic("large", MANY)
    world.create_topic("small", 6)
    asyncio.run(world.replicas.made(["small", "unknown"]))
    names = {each.name for each in world.replicas}
    assert {TopicPartition("small", index) for index in range(6)} <= names
    assert len(names) < MANY
    assert not world.replicas.is_settled
