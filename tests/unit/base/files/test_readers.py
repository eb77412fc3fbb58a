"""Reading files without waiting for the disk."""

from __future__ import annotations

import asyncio
import errno
import gc
import threading

import pytest

from ottla.base.clock import SystemClock
from ottla.base.files.readers import BLOCKING, CACHED, LookUpReader, NotCached, Reader
from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import looking_up, run_blocking
from ottla.testing.disk_handles import MemoryFile
from ottla.testing.filesystem import MemoryDisk


@pytest.fixture
def disk() -> MemoryDisk:
    disk = MemoryDisk()
    disk.open("/cold", create=True).write_at(0, b"some bytes")
    disk.drop_caches()
    return disk


def test_what_is_not_cached_is_fetched_once_and_then_read(disk: MemoryDisk) -> None:
    file, reader = disk.open("/cold"), LookUpReader()
    with pytest.raises(NotCached) as raised:
        reader.read(file, 5, 5)
    reader.fetch([raised.value])
    assert reader.read(file, 5, 5) == b"bytes"
    disk.drop_caches()  # gone again at once: then it waits, so that there is an end
    assert reader.read(file, 5, 5) == b"bytes"


def test_only_the_blocking_reader_waits(disk: MemoryDisk) -> None:
    file = disk.open("/cold")
    with pytest.raises(NotCached):
        CACHED.read(file, 0, 4)
    assert BLOCKING.read(file, 0, 4) == b"some"
    assert CACHED.read(file, 0, 4) == b"some"


def test_the_shared_reader_remembers_nothing(disk: MemoryDisk) -> None:
    """Whatever was fetched or computed belongs to the look-up that asked for it."""
    made: list[str] = []

    def work() -> str:
        made.append("once more")
        return "result"

    with pytest.raises(NotCached) as raised:
        CACHED.compute("/cold", 0, 1, work)
    reader = LookUpReader()
    reader.fetch([raised.value])
    assert reader.compute("/cold", 0, 1, work) == "result"
    assert made == ["once more"]
    for _ in range(2):
        with pytest.raises(NotCached):
            CACHED.compute("/cold", 0, 1, work)
        with pytest.raises(NotCached):
            CACHED.open(disk, "/cold")


def test_a_look_up_starts_again_until_all_of_it_is_in_memory(disk: MemoryDisk) -> None:
    begun: list[int] = []

    def attempt(reader: Reader) -> bytes:
        begun.append(threading.get_ident())
        return reader.read(reader.open(disk, "/cold"), 0, 10)

    assert asyncio.run(StepScheduler(SystemClock()).run(looking_up(attempt))) == b"some bytes"
    assert begun == [threading.get_ident()] * 2  # opening it has read it, as short as it is


def test_a_file_that_is_not_there_is_not_there_for_a_look_up_either(disk: MemoryDisk) -> None:
    with pytest.raises(FileNotFoundError):
        run_blocking(looking_up(lambda reader: reader.open(disk, "/nowhere")))


def test_a_disk_that_fails_is_asked_once(disk: MemoryDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    file = disk.open("/cold")
    reads: list[int] = []

    def failing(_file: MemoryFile, position: int, _size: int) -> bytes:
        reads.append(position)
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(MemoryFile, "read_at", failing)
    with pytest.raises(OSError, match="broken"):
        run_blocking(looking_up(lambda reader: reader.read(file, 5, 5)))
    assert reads == [5]


def test_a_computation_that_fails_fails_where_it_was_asked_for() -> None:
    def work() -> int:
        raise ValueError("no result")

    def attempt(reader: Reader) -> int:
        try:
            return reader.compute("/cold", 0, 1, work)
        except ValueError:
            return -1

    assert run_blocking(looking_up(attempt)) == -1


def test_a_long_range_is_fetched_also_where_its_first_bytes_were_read(disk: MemoryDisk) -> None:
    file, fetched = disk.open("/cold"), list[str]()

    def attempt(reader: Reader) -> bytes:
        first = reader.read(file, 0, 4)
        reader.prefetch(file.path, 0, 1 << 30, lambda: fetched.append("all of it"))
        return first

    assert run_blocking(looking_up(attempt)) == b"some"
    assert fetched == ["all of it"]


def test_starting_again_leaves_no_garbage(disk: MemoryDisk) -> None:
    file = disk.open("/cold")

    async def garbage() -> int:
        gc.collect()
        gc.disable()
        try:
            scheduler = StepScheduler(SystemClock())
            await scheduler.run(looking_up(lambda reader: reader.read(file, 0, 4)))
            # A thread may know for a moment what it has read.
            await asyncio.get_running_loop().shutdown_default_executor()
            return sum(isinstance(each, NotCached) for each in gc.get_objects())
        finally:
            gc.enable()

    assert asyncio.run(garbage()) == 0
