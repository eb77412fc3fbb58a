"""Looking into files without waiting for the disk."""

from __future__ import annotations

import asyncio
import errno
import gc
import threading

import pytest

from ottla.base.cold_reads import ColdRead, Looking, look, open_file, prefetch, read, waiting
from ottla.testing.disk_handles import MemoryFile
from ottla.testing.filesystem import MemoryDisk


@pytest.fixture
def disk() -> MemoryDisk:
    disk = MemoryDisk()
    disk.open("/cold", create=True).write_at(0, b"some bytes")
    disk.drop_caches()
    return disk


def test_what_is_cold_is_fetched_once_and_then_read(disk: MemoryDisk) -> None:
    file, looking = disk.open("/cold"), Looking()
    with looking, pytest.raises(ColdRead) as raised:
        read(file, 5, 5)
    looking.fetch([raised.value])
    with looking:
        assert read(file, 5, 5) == b"bytes"
        disk.drop_caches()  # gone again at once: then it waits, so that there is an end
        assert read(file, 5, 5) == b"bytes"


def test_only_a_look_and_only_its_own_thread_does_not_wait(disk: MemoryDisk) -> None:
    file = disk.open("/cold")
    seen: list[bytes] = []
    with Looking():
        other = threading.Thread(target=lambda: seen.append(read(file, 0, 4)))
        other.start()
        other.join()
        disk.drop_caches()
        with waiting():
            seen.append(read(file, 0, 4))
        disk.drop_caches()
        with pytest.raises(ColdRead):
            read(file, 0, 4)
    seen.append(read(file, 0, 4))
    assert seen == [b"some"] * 3


def test_a_look_begins_again_until_all_of_it_is_in_memory(disk: MemoryDisk) -> None:
    begun: list[int] = []

    def act() -> bytes:
        begun.append(threading.get_ident())
        return read(open_file(disk, "/cold"), 0, 10)

    assert asyncio.run(look(act)) == b"some bytes"
    assert begun == [threading.get_ident()] * 2  # opening it has read it, as short as it is


def test_a_file_that_is_not_there_is_not_there_for_a_look_either(disk: MemoryDisk) -> None:
    with pytest.raises(FileNotFoundError):
        asyncio.run(look(lambda: open_file(disk, "/nowhere")))


def test_a_disk_that_fails_is_asked_once(disk: MemoryDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    file = disk.open("/cold")
    reads: list[int] = []

    def failing(_file: MemoryFile, position: int, _size: int) -> bytes:
        reads.append(position)
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(MemoryFile, "read_at", failing)
    with pytest.raises(OSError, match="broken"):
        asyncio.run(look(lambda: read(file, 5, 5)))
    assert reads == [5]


def test_a_long_way_is_fetched_also_where_its_first_bytes_were_read(disk: MemoryDisk) -> None:
    file, fetched = disk.open("/cold"), list[str]()

    def act() -> bytes:
        first = read(file, 0, 4)
        prefetch(file.path, 0, 1 << 30, lambda: fetched.append("all of it"))
        return first

    assert asyncio.run(look(act)) == b"some"
    assert fetched == ["all of it"]


def test_beginning_again_leaves_no_garbage(disk: MemoryDisk) -> None:
    file = disk.open("/cold")

    async def garbage() -> int:
        gc.collect()
        gc.disable()
        try:
            await look(lambda: read(file, 0, 4))
            # A thread may know for a moment what it has read.
            await asyncio.get_running_loop().shutdown_default_executor()
            return sum(isinstance(each, ColdRead) for each in gc.get_objects())
        finally:
            gc.enable()

    assert asyncio.run(garbage()) == 0
