"""A replica with damaged records: when it gives up its place, and when it is cut."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.unit.replication.test_directory_reports import (
    BOTH,
    ME,
    OTHER,
    ReportingWorld,
    new_disk,
    reports_of,
    story,
)
from tests.unit.replication.test_several_directories import FIRST, SECOND, T0
from tests.unit.storage.log_making import append

from ottla.metadata.image import Image
from ottla.metadata.records import (
    LOST_DIRECTORY,
    PartitionChanged,
    PartitionCreated,
    TopicCreated,
    TopicDeleted,
)
from ottla.protocol.error_codes import ErrorCode
from ottla.replication.partition import Partition
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.log import Log

KNOWN = b"the known folder"


class DamagedWorld(ReportingWorld):
    def __init__(self, in_sync: tuple[int, ...] = BOTH, leader: int = ME) -> None:
        super().__init__(new_disk(), Image())
        self.epoch = 0
        known = (KNOWN, KNOWN)
        created = PartitionCreated(FIRST, 0, BOTH, in_sync, leader, directories=known)
        self.publish(TopicCreated(FIRST, "t"), created)
        for value in (b"a", b"b", b"c"):
            append(self.partition.log, value)

    @property
    def partition(self) -> Partition:
        return self.replicas.partition(*T0)

    def find_damage(self, name: str = f"{0:020d}.log") -> None:
        error = CorruptLogError(f"{self.partition.log.path}/{name}", 70, "wrong checksum")
        self.partition.report_damage(error)

    def change(self, **fields: Any) -> None:
        self.epoch += 1
        self.publish(PartitionChanged(FIRST, 0, self.epoch, **fields))

    def lose(self, **fields: Any) -> None:
        """As the controller decides."""
        self.change(directories=(LOST_DIRECTORY, KNOWN), **fields)

    def sent(self) -> list[bytes]:
        """The directories that were reported."""
        return [directory_id for directory_id, _ in reports_of(self)]

    @property
    def end(self) -> int:
        return self.partition.log.log_end_offset


@pytest.mark.parametrize("leader", BOTH)
def test_a_damaged_replica_is_cut_once_no_election_counts_on_it(leader: int) -> None:
    @story
    async def run() -> None:
        world = DamagedWorld(leader=leader)
        sent = world.sent
        world.find_damage()
        await asyncio.sleep(1)
        assert sent()[-1] == LOST_DIRECTORY
        assert world.end == 3
        elected = {} if leader == OTHER else {"leader": OTHER, "leader_epoch": 1}
        world.lose(in_sync_replicas=(OTHER,), eligible_replicas=(ME,), **elected)
        assert world.end == 3, "it may be elected"
        world.change(eligible_replicas=())
        assert world.end == 0
        await asyncio.sleep(1)
        assert sent()[-1] == world.id_of(T0), "it may be in sync again"

    run()


@story
async def test_a_repair_that_fails_is_tried_again() -> None:
    world = DamagedWorld(leader=OTHER, in_sync=(OTHER,))

    def fail(log: Log, _offset: int) -> None:
        raise CorruptLogError(log.path, 0, "its leader epochs cannot be read")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Log, "truncate_fully_and_start_at", fail)
        world.lose()
        await asyncio.sleep(1)
    assert (world.end, world.sent()[-1]) == (3, LOST_DIRECTORY)
    await asyncio.sleep(10)
    assert (world.end, world.sent()[-1]) == (0, world.id_of(T0))


def remove_files(world: DamagedWorld) -> None:
    """As another process may do."""
    log = world.partition.log
    world.disk.rename(log.path, "/elsewhere")
    world.logs.lose(log, OSError(2, "removed by an operator"))


@pytest.mark.parametrize("leader", BOTH)
def test_a_replica_whose_files_were_removed_is_copied_again(leader: int) -> None:
    @story
    async def run() -> None:
        world = DamagedWorld(leader=leader)
        remove_files(world)
        await asyncio.sleep(1)
        assert world.sent()[-1] == LOST_DIRECTORY
        assert world.error(T0) is ErrorCode.KAFKA_STORAGE_ERROR
        elected = {} if leader == OTHER else {"leader": OTHER, "leader_epoch": 1}
        world.lose(in_sync_replicas=(OTHER,), eligible_replicas=(ME,), **elected)
        assert world.error(T0) is ErrorCode.KAFKA_STORAGE_ERROR, "it may be elected"
        world.change(eligible_replicas=())
        assert world.end == 0
        await asyncio.sleep(1)
        assert world.sent()[-1] == world.id_of(T0)

    run()


@story
async def test_files_that_were_removed_are_reported_until_another_replica_can_lead() -> None:
    world = DamagedWorld(in_sync=(ME,))
    remove_files(world)
    await asyncio.sleep(1)
    count = len(world.sent())
    world.change(in_sync_replicas=(ME, OTHER))
    await asyncio.sleep(1)
    assert world.sent()[count:] == [LOST_DIRECTORY]
    assert world.error(T0) is ErrorCode.KAFKA_STORAGE_ERROR


@story
async def test_a_new_topic_with_the_name_of_a_removed_one_is_not_lost() -> None:
    world = DamagedWorld()
    remove_files(world)
    world.publish(TopicDeleted(FIRST))
    await asyncio.sleep(1)
    created = PartitionCreated(SECOND, 0, BOTH, BOTH, ME, directories=(KNOWN, KNOWN))
    world.publish(TopicCreated(SECOND, "t"), created)
    assert world.end == 0
    await asyncio.sleep(1)
    assert world.sent()[-1] == world.id_of(T0)


@story
async def test_the_only_replica_in_sync_keeps_what_it_has() -> None:
    world = DamagedWorld(in_sync=(ME,))
    world.find_damage()
    await asyncio.sleep(1)
    assert LOST_DIRECTORY not in world.sent()
    assert world.end == 3


@story
async def test_a_damaged_index_is_built_again_by_itself() -> None:
    world = DamagedWorld()
    world.find_damage(f"{0:020d}.index")
    await asyncio.sleep(1)
    assert LOST_DIRECTORY not in world.sent()


@story
async def test_a_replica_that_was_lost_before_a_start_begins_again() -> None:
    world = DamagedWorld(leader=OTHER, in_sync=(OTHER,))
    world.lose()
    assert world.end == 0
    await asyncio.sleep(1)
    assert world.sent()[-1] == world.id_of(T0)


@story
async def test_a_report_that_was_refused_is_repeated_when_others_are_in_sync() -> None:
    world = DamagedWorld()
    world.find_damage()
    await asyncio.sleep(1)
    count = len(world.sent())
    world.change(in_sync_replicas=(ME, OTHER))
    await asyncio.sleep(1)
    assert world.sent()[count:] == [LOST_DIRECTORY]
    assert world.end == 3


@story
async def test_a_new_topic_with_the_name_of_a_damaged_one_is_not_lost() -> None:
    world = DamagedWorld()
    world.find_damage()
    world.publish(TopicDeleted(FIRST))
    await asyncio.sleep(1)
    created = PartitionCreated(SECOND, 0, BOTH, BOTH, ME, directories=(KNOWN, KNOWN))
    world.publish(TopicCreated(SECOND, "t"), created)
    assert world.end == 0
    await asyncio.sleep(1)
    assert world.sent()[-1] == world.id_of(T0)
