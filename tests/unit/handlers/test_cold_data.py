"""Files that are not in memory: requests that need them wait, and no others do."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from tests.unit.handlers.asking import START_MS, produce
from tests.unit.handlers.test_alter_replica_log_dirs import elsewhere, move, place, settle
from tests.unit.handlers.test_fetch import answered, partition_of, reported, request_of, sizes
from tests.unit.handlers.world import World
from tests.unit.storage.log_making import batch_of

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest
from ottla.protocol.messages.fetch_request import FetchRequest
from ottla.protocol.messages.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from ottla.storage.compaction.compactor import Compactor
from ottla.storage.log import read_range, time_search
from ottla.storage.log.log import Log
from ottla.testing.disk_handles import MemoryFile
from ottla.testing.filesystem import MemoryDisk

COMMITTED = 1


class SlowDisk:
    """Every cold file is read in another thread than the event loop's, and not before `release`."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_wanted = threading.Event()
        self.is_released = threading.Event()
        self.cold_reads = 0
        self._loops_thread = threading.get_ident()
        self._disk = world.disk
        read_at, open_file = MemoryFile.read_at, MemoryDisk.open

        def slow_read(file: MemoryFile, position: int, size: int) -> bytes:
            if not file._content.is_cached:
                self._wait(file.path)
            return read_at(file, position, size)

        def slow_open(disk: MemoryDisk, path: str, *, create: bool = False) -> MemoryFile:
            file = open_file(disk, path, create=create)
            if not file._content.is_cached:
                self._wait(path)
            return file

        monkeypatch.setattr(MemoryFile, "read_at", slow_read)
        monkeypatch.setattr(MemoryDisk, "open", slow_open)

    def _wait(self, path: str) -> None:
        assert threading.get_ident() != self._loops_thread, f"the event loop waits for {path}"
        self.cold_reads += 1
        self.is_wanted.set()
        assert self.is_released.wait(60)

    def grow_cold(self, world: World, partition: int = 0) -> None:
        """Forget all that is in memory of a partition, as if it was read long ago."""
        self.forget(partition_of(world, partition).log)

    def forget(self, log: Log) -> None:
        log.producers.unload()
        for segment in log.segments[:-1]:
            segment.close()
            segment.is_prepared = segment.has_checked_transactions = False
        for path, content in self._disk._names.files():
            if path.startswith(f"{log.path}/"):
                content.is_cached = False


@pytest.fixture
def world() -> Iterator[World]:
    with World({"transaction.partition.verification.enable": "false"}) as world:
        world.create_topic("t", 2)
        produce(world, "t", 5)
        partition_of(world).log.roll()
        produce(world, "t", 3, at_ms=START_MS + 60_000)
        produce(world, "t", 1, partition=1)
        yield world


@pytest.fixture
def disk(world: World, monkeypatch: pytest.MonkeyPatch) -> SlowDisk:
    disk = SlowDisk(world, monkeypatch)
    disk.grow_cold(world)
    return disk


async def meanwhile(
    disk: SlowDisk, cold: Awaitable[Any], act: Callable[[], Awaitable[None]]
) -> Any:
    """The outcome of what needs the disk, during which something else is done."""
    waiting = asyncio.ensure_future(cold)
    await asyncio.to_thread(disk.is_wanted.wait, 60)
    await act()
    assert not waiting.done()
    disk.is_released.set()
    return await waiting


def of_partition(index: int) -> FetchRequest:
    request = request_of()
    request.topics[0].partitions[0].partition = index
    return request


@pytest.mark.parametrize("isolation", [0, COMMITTED])
def test_a_reader_of_cold_records_delays_no_other_request(
    world: World, disk: SlowDisk, isolation: int
) -> None:
    async def others_are_served() -> None:
        assert sizes(await answered(world, of_partition(1)))[0] > 0

    size = partition_of(world).log.segments[0].size
    fetching = answered(world, request_of(isolation=isolation))
    response = world.run(meanwhile(disk, fetching, others_are_served))
    assert sizes(response)[0] == size
    assert disk.cold_reads > 0


def test_records_that_come_while_a_reader_waits_for_the_disk_are_not_missed(
    world: World, disk: SlowDisk
) -> None:
    partition = partition_of(world)
    both = request_of(partitions=2)
    both.min_bytes = partition.log.segments[0].size + partition_of(world, 1).log.size_bytes + 1

    async def more_comes() -> None:
        partition_of(world, 1).append(batch_of(b"more"), 1)

    response = world.run(meanwhile(disk, answered(world, both), more_comes))
    first, second = sizes(response)
    assert first + second >= both.min_bytes


def test_records_that_are_deleted_meanwhile_are_out_of_range(world: World, disk: SlowDisk) -> None:
    async def go() -> None:
        partition_of(world).log.offsets.advance_start(3)

    response = world.run(meanwhile(disk, answered(world, request_of()), go))
    assert reported(response).error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_topic_that_is_deleted_meanwhile_is_unknown(world: World, disk: SlowDisk) -> None:
    async def go() -> None:
        await world._answer(DeleteTopicsRequest(topic_names=["t"]), 4, world.me, None)

    response = world.run(meanwhile(disk, answered(world, request_of()), go))
    assert reported(response).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_file_that_cannot_be_read_is_a_storage_error(world: World, disk: SlowDisk) -> None:
    disk.is_released.set()
    world.disk.fail("read", "*.log", times=None)
    assert reported(world.run(answered(world, request_of()))).error_code == (
        ErrorCode.KAFKA_STORAGE_ERROR
    )


@pytest.mark.parametrize("timestamp", [START_MS + 2_000, START_MS + 61_000, -3])
def test_a_search_by_time_delays_no_other_request(
    world: World, disk: SlowDisk, timestamp: int
) -> None:
    disk.is_released.set()
    wanted = [ListOffsetsPartition(0, -1, timestamp)]
    request = ListOffsetsRequest(-1, COMMITTED, [ListOffsetsTopic("t", wanted)])
    found = world.ask(request, 7).topics[0].partitions[0]
    expected = {START_MS + 2_000: 2, START_MS + 61_000: 6, -3: 7}
    assert (found.error_code, found.offset) == (0, expected[timestamp])
    assert disk.cold_reads > 0


def test_deleting_records_delays_no_other_request(world: World, disk: SlowDisk) -> None:
    disk.is_released.set()
    wanted = [DeleteRecordsPartition(0, 6)]
    request = DeleteRecordsRequest([DeleteRecordsTopic("t", wanted)], 1000)
    assert world.ask(request, 2).topics[0].partitions[0].low_watermark == 6


def test_retention_delays_no_request(world: World, disk: SlowDisk) -> None:
    disk.is_released.set()
    world.clock.advance_ms(30 * 24 * 3600_000)
    world.run(world.broker.housekeeping.retain())
    assert disk.cold_reads > 0


def test_a_log_that_cannot_be_read_keeps_no_other_from_being_cared_for(
    world: World, disk: SlowDisk
) -> None:
    disk.is_released.set()
    world.clock.advance_ms(30 * 24 * 3600_000)
    broken, other = partition_of(world).log, partition_of(world, 1).log
    assert broken.context is not other.context  # of two directories
    world.disk.fail("read", f"{broken.path}/*", times=None)
    world.run(world.broker.housekeeping.retain())
    assert other.log_start_offset == 1
    assert not broken.health.is_online


def test_a_move_follows_a_log_whose_beginning_is_deleted_while_it_waits_for_the_disk(
    world: World, disk: SlowDisk
) -> None:
    target = elsewhere(world)
    assert move(world, target) == 0

    async def delete() -> None:
        await asyncio.to_thread(disk.is_wanted.wait, 60)
        partition_of(world).log.offsets.advance_start(6)
        disk.is_released.set()

    world.run(delete())
    settle(world)
    assert place(world) == target
    assert partition_of(world).log.log_start_offset == 6


# Where there is very much that is cold, no look begins again for each piece of it.

MANY = 20


def counted(monkeypatch: pytest.MonkeyPatch, owner: object, name: str, calls: list[object]) -> None:
    original = getattr(owner, name)

    def counting(*arguments: object) -> object:
        calls.append(arguments)
        return original(*arguments)

    monkeypatch.setattr(owner, name, counting)


def test_many_cold_segments_are_passed_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(MANY):
        partition_of(world).log.roll()
        produce(world, "t", 1, at_ms=START_MS + 120_000 + number)
    disk = SlowDisk(world, monkeypatch)
    disk.is_released.set()
    disk.grow_cold(world)
    searches: list[object] = []
    counted(monkeypatch, time_search, "_finding", searches)
    counted(monkeypatch, read_range, "find_aborted", searches)
    wanted = [ListOffsetsPartition(0, -1, START_MS + 120_000 + MANY - 1)]
    request = ListOffsetsRequest(-1, 0, [ListOffsetsTopic("t", wanted)])
    assert world.ask(request, 7).topics[0].partitions[0].offset == 8 + MANY - 1
    disk.grow_cold(world)
    assert sizes(world.run(answered(world, request_of(isolation=COMMITTED))))[0] > 0
    assert len(searches) < MANY / 2


def test_many_cold_logs_are_surveyed_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    surveys: list[object] = []
    with World({"log.cleanup.policy": "compact"}) as world:
        world.create_topic("t", MANY)
        for index in range(MANY):
            produce(world, "t", 1, partition=index)
            partition_of(world, index).log.producers.unload()
        counted(monkeypatch, Compactor, "_survey", surveys)
        world.run(world.broker.housekeeping.compact())
    assert len(surveys) <= 4 * MANY  # each to be known, begun again, and to be compared
