"""Where replicas are: what a broker reports, and what it does with a replaced directory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
from tests.support.virtual_time import run_in_virtual_time
from tests.unit.replication.test_several_directories import FIRST, PATHS, SECOND, T0, T1, World

from ottla.base.ids import TopicPartition
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.metadata.image import Image
from ottla.metadata.records import (
    PartitionChanged,
    PartitionCreated,
    TopicCreated,
    TopicDeleted,
)
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.assign_replicas_to_dirs_request import DirectoryData
from ottla.replication.directory_reports import DirectoryReports
from ottla.testing.filesystem import MemoryDisk

ME, OTHER = 1, 2
BOTH = (ME, OTHER)
LOST = b"a lost directory"


class ReportingWorld(World):
    """As a member of a cluster."""

    def __init__(self, disk: MemoryDisk, image: Image, expected: tuple[bytes, ...] = ()) -> None:
        self.reported: list[list[DirectoryData]] = []
        self.failures = 0
        super().__init__(disk, image, expected)

    def make_reports(self) -> DirectoryReports:
        return DirectoryReports(ME, self.logs, self.assign, OwnedTasks())

    async def assign(self, directories: list[DirectoryData]) -> None:
        if self.failures:
            self.failures -= 1
            raise BrokerError(ErrorCode.NOT_CONTROLLER)
        self.reported.append(directories)

    def id_of(self, name: TopicPartition) -> bytes:
        found = self.place(name).directory_id
        assert found is not None
        return found

    def create(self, **fields: Any) -> None:
        parts = [PartitionCreated(FIRST, each, BOTH, BOTH, ME, **fields) for each in range(2)]
        self.publish(TopicCreated(FIRST, "t"), *parts)

    def is_leader(self, name: TopicPartition) -> bool:
        return self.replicas.partition(*name).is_leader


def new_disk() -> MemoryDisk:
    disk = MemoryDisk()
    for path in PATHS:
        disk.make_directory(path)
    disk.sync_directory("/")
    return disk


def story(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    def run() -> None:
        run_in_virtual_time(test())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


def reports_of(world: ReportingWorld) -> Iterator[tuple[bytes, int]]:
    for directories in world.reported:
        for each in directories:
            for topic in each.topics:
                for part in topic.partitions:
                    yield each.id, part.partition_index


@story
async def test_new_replicas_are_reported_together_and_lead_when_that_is_known() -> None:
    world = ReportingWorld(new_disk(), Image())
    world.create()
    assert not world.is_leader(T0)
    await asyncio.sleep(1)
    assert len(world.reported) == 1
    assert sorted(reports_of(world)) == sorted([(world.id_of(T0), 0), (world.id_of(T1), 1)])
    assert not world.is_leader(T0)
    world.publish(PartitionChanged(FIRST, 0, 1, directories=(world.id_of(T0), bytes(16))))
    assert world.is_leader(T0)
    assert not world.is_leader(T1)
    await asyncio.sleep(1)
    assert len(world.reported) == 1


@story
async def test_a_report_is_repeated_until_it_is_answered() -> None:
    world = ReportingWorld(new_disk(), Image())
    world.failures = 3
    world.create()
    await asyncio.sleep(0.1)
    assert not world.reported
    await asyncio.sleep(5)
    assert len(world.reported) == 1
    assert len(list(reports_of(world))) == 2


@story
async def test_a_repeated_report_is_of_the_topic_that_has_the_name_by_then() -> None:
    world = ReportingWorld(new_disk(), Image())
    world.failures = 1
    world.create()
    await asyncio.sleep(0.1)
    world.publish(TopicDeleted(FIRST))
    await world.replicas.deleted()
    parts = [PartitionCreated(SECOND, each, BOTH, BOTH, ME) for each in range(2)]
    world.publish(TopicCreated(SECOND, "t"), *parts)
    await asyncio.sleep(5)
    asked = {topic.topic_id for each in world.reported for one in each for topic in one.topics}
    assert asked == {SECOND}


@story
async def test_a_replica_in_another_directory_than_known_leads_and_is_reported() -> None:
    world = ReportingWorld(new_disk(), Image())
    world.create(directories=(LOST, LOST))
    assert world.is_leader(T0)
    await asyncio.sleep(1)
    assert (world.id_of(T0), 0) in reports_of(world)


def replaced(in_sync: tuple[int, ...], leader: int, eligible: tuple[int, ...]) -> ReportingWorld:
    """The broker starts with a new directory instead of the one that its replicas were in."""
    before = ReportingWorld(new_disk(), Image())
    created = PartitionCreated(
        FIRST, 0, BOTH, in_sync, leader, eligible_replicas=eligible, directories=(LOST, LOST)
    )
    before.image.apply(before.batch(TopicCreated(FIRST, "t"), created))
    before.disk.kill()
    return ReportingWorld(before.disk, before.image, (LOST,))


@pytest.mark.parametrize(
    ("in_sync", "leader", "eligible", "begins_again"),
    [
        ((OTHER,), OTHER, (), True),
        ((ME, OTHER), OTHER, (), False),
        ((OTHER,), OTHER, (ME,), False),
        ((OTHER,), -1, (), False),
        ((ME,), ME, (), False),
    ],
)
def test_a_replica_in_a_replaced_directory_begins_again_if_no_election_counts_on_it(
    in_sync: tuple[int, ...], leader: int, eligible: tuple[int, ...], begins_again: bool
) -> None:
    async def test() -> None:
        world = replaced(in_sync, leader, eligible)
        if not begins_again:
            assert world.error(T0) is ErrorCode.KAFKA_STORAGE_ERROR
            change = {"leader": OTHER, "leader_epoch": 7, "in_sync_replicas": (OTHER,)}
            world.publish(PartitionChanged(FIRST, 0, 1, eligible_replicas=(), **change))  # type: ignore[arg-type]
        assert world.replicas.partition(*T0).log.log_end_offset == 0
        await asyncio.sleep(1)
        assert list(reports_of(world)) == [(world.id_of(T0), 0)]

    run_in_virtual_time(test())
