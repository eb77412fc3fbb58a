"""The file log: the common tests on both disks, then what may happen to its files."""

from __future__ import annotations

import asyncio
import errno
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from random import Random
from typing import ClassVar, TypeVar

import pytest
from tests.unit.metadata.histories import histories
from tests.unit.metadata.log_conformance import MetadataLogConformance, batch

from ottla.base.files.disk import DiskFileSystem
from ottla.base.files.filesystem import FileSystem, read_file
from ottla.metadata.continuity import KnownState
from ottla.metadata.file_log import FileMetadataLog
from ottla.metadata.frame import BATCH, SNAPSHOT, encode_frame, encode_parts
from ottla.metadata.image import Batch, Image
from ottla.metadata.journal import JOURNAL_BYTES_MAX, open_journal, remove_older, write_snapshot
from ottla.metadata.log import (
    AppendFailed,
    CorruptMetadataError,
    MetadataLogFull,
    MetadataLost,
    NewerMetadata,
)
from ottla.metadata.records import ALL_BROKERS, ConfigChanged, Record
from ottla.testing.disk_faults import ANY
from ottla.testing.filesystem import MemoryDisk

T = TypeVar("T")


async def at_once(work: Callable[[], T]) -> T:
    return work()


class FilePlace:
    def __init__(self, files: FileSystem, directory: str, *, uses_threads: bool) -> None:
        self._files = files
        self._directory = directory
        self._uses_threads = uses_threads

    def new_log(self) -> FileMetadataLog:
        run = asyncio.to_thread if self._uses_threads else at_once
        return FileMetadataLog(self._files, self._directory, run)

    def run(self, story: Awaitable[T]) -> T:
        async def whole() -> T:
            return await story

        return asyncio.run(whole())


class TestOnDisk(MetadataLogConformance):
    @pytest.fixture
    def place(self, tmp_path: Path) -> FilePlace:
        return FilePlace(DiskFileSystem(), str(tmp_path / "metadata"), uses_threads=True)


class TestInMemory(MetadataLogConformance):
    @pytest.fixture
    def place(self) -> FilePlace:
        return FilePlace(MemoryDisk(), "/data/metadata", uses_threads=False)


def open_image(disk: FileSystem) -> Image:
    journal, image = open_journal(disk, "/m", KnownState())
    journal.close(is_clean=False)
    return image


def fill(disk: MemoryDisk, batches: int = 3) -> None:
    journal, _ = open_journal(disk, "/m", KnownState())
    for offset in range(batches):
        journal.append(batch(offset))
    journal.close(is_clean=False)


JOURNAL = f"/m/{0:020}.journal"


def life(disk: MemoryDisk, seed: int, acknowledged: list[Batch]) -> None:
    """Appends, with a snapshot in between and an orderly stop, until something fails."""
    journal, image = open_journal(disk, "/m", KnownState())
    captured = image
    for each in histories(Random(seed), 8):
        journal.append(each)
        acknowledged.append(each)
        image.apply(each)
        if len(acknowledged) == 5:
            journal.begin_next()
            captured = image.copy()
        if len(acknowledged) == 7:  # meanwhile others have appended
            write_snapshot(disk, "/m", snapshot_frame(captured), captured.offset)
            remove_older(disk, "/m", captured.offset)
    journal.close(is_clean=True)


def snapshot_frame(image: Image) -> bytes:
    records = tuple(image.to_records())
    return encode_frame(SNAPSHOT, Batch(image.offset, image.controller_epoch, records))


def fold(batches: list[Batch]) -> Image:
    image = Image()
    for each in batches:
        image.apply(each)
    return image


@pytest.mark.parametrize("seed", range(6))
def test_after_a_crash_at_any_operation_every_acknowledged_batch_is_there(seed: int) -> None:
    crashes = 0
    while True:
        disk = MemoryDisk()
        error = errno.EIO if seed % 2 else errno.ENOSPC
        disk.fail(ANY, error=error, skip=crashes, times=None, keep_bytes=crashes * seed % 50)
        acknowledged: list[Batch] = []
        try:
            life(disk, 11, acknowledged)
        except OSError:
            pass
        else:
            break
        disk.heal()
        disk.crash(Random(seed * 1000 + crashes))
        check_survivors(open_image(disk), acknowledged)
        disk.crash(Random(seed))  # and what was found stays found
        check_survivors(open_image(disk), acknowledged)
        crashes += 1
    assert crashes > 60


def check_survivors(image: Image, acknowledged: list[Batch]) -> None:
    """All that was acknowledged, and perhaps the one batch that was being written."""
    expected = list(histories(Random(11), 8))
    assert image in (fold(acknowledged), fold(expected[: len(acknowledged) + 1]))


@pytest.mark.parametrize("seed", range(40))
def test_a_power_cut_brings_back_no_mark_of_an_earlier_clean_shutdown(seed: int) -> None:
    """With the mark, the torn end of the journal would be damage."""
    disk, random = MemoryDisk(), Random(seed)
    fill(disk)
    journal, _ = open_journal(disk, "/m", KnownState())
    journal.close(is_clean=True)
    journal, image = open_journal(disk, "/m", KnownState())
    journal.append(batch(image.offset))
    disk.fail("sync", "*.journal")
    with pytest.raises(OSError, match="Input/output"):
        journal.append(batch(image.offset + 1))
    disk.heal()
    disk.crash(random)
    assert open_image(disk).offset >= image.offset + 1


@pytest.mark.parametrize("keep_bytes", [0, 7])
def test_after_a_batch_without_room_the_log_continues(keep_bytes: int) -> None:
    async def story() -> None:
        disk = MemoryDisk()
        log = FileMetadataLog(disk, "/m", at_once)
        await log.load(KnownState())
        await log.append(batch(0))
        for _ in range(2):
            disk.fail("write", "*.journal", error=errno.ENOSPC, keep_bytes=keep_bytes)
            with pytest.raises(MetadataLogFull):
                await log.append(batch(1))
        await log.append(batch(1))
        assert await log.read(0) == [batch(0), batch(1)]
        await log.close()

    asyncio.run(story())


def test_a_crash_while_a_crash_is_repaired_loses_nothing() -> None:
    for repaired in range(60):
        disk = MemoryDisk()
        fill(disk)
        disk.crash(Random(repaired))
        disk.fail(ANY, skip=repaired, times=None)
        try:
            open_image(disk)
        except OSError:
            disk.heal()
            disk.crash(Random(repaired))
        else:
            break
        assert open_image(disk) == fold([batch(n) for n in range(3)])
    assert 10 < repaired < 59


def test_a_batch_whose_sync_failed_is_durable_once_it_was_found_again() -> None:
    for seed in range(20):
        disk = MemoryDisk()
        fill(disk, 2)
        journal, _ = open_journal(disk, "/m", KnownState())
        disk.fail("sync", "*.journal")
        with pytest.raises(OSError, match="Input/output error"):
            journal.append(batch(2))
        disk.kill()  # the process ends, the page cache still shows the batch
        found = open_image(disk)
        assert found.offset == 3
        disk.crash(Random(seed))
        assert open_image(disk) == found


def test_an_old_journal_may_be_damaged_once_a_snapshot_stands_for_it() -> None:
    for seed in range(20):
        disk = MemoryDisk()
        fill(disk, 2)
        journal, _ = open_journal(disk, "/m", KnownState())
        disk.fail("sync", "*.journal")
        with pytest.raises(OSError, match="Input/output error"):
            journal.append(batch(2))
        disk.kill()
        disk.fail("remove", "*.journal")  # it is written again, and then the old one stays
        with pytest.raises(OSError, match="Input/output error"):
            open_image(disk)
        disk.crash(Random(seed))  # which takes the batch that was never synced from the old one
        assert open_image(disk).offset == 3


@pytest.mark.parametrize("keep_bytes", [0, 1, 27, 28, 29, 60])
def test_a_torn_batch_at_the_end_is_cut_off(keep_bytes: int) -> None:
    disk = MemoryDisk()
    fill(disk)
    disk.tear_last_write(keep_bytes)
    assert open_image(disk).offset == 2
    assert open_image(disk).offset == 2


@pytest.mark.parametrize(
    ("record", "error"),
    [(b'[{"k":"hologram"}]', NewerMetadata), (b'[{"k":"topic"}]', CorruptMetadataError)],
)
@pytest.mark.parametrize("is_torn_before", [False, True])
def test_a_whole_batch_that_cannot_be_read_is_not_cut_off(
    record: bytes, error: type[Exception], *, is_torn_before: bool
) -> None:
    """A crash does not write a checksum that matches: a newer version has written it."""
    disk = MemoryDisk()
    fill(disk)
    if is_torn_before:
        disk.tear_last_write(keep_bytes=29)
        error = CorruptMetadataError
    end = disk.size(JOURNAL)
    file = disk.open(JOURNAL)
    file.write_at(end, encode_parts(BATCH, Batch(3, 1, ()), record, 1))
    file.close()
    with pytest.raises(error, match=JOURNAL):
        open_image(disk)
    assert disk.size(JOURNAL) > end


def test_damage_before_the_end_is_reported_with_file_and_position() -> None:
    disk = MemoryDisk()
    fill(disk)
    size = disk.size(JOURNAL) // 3
    disk.flip_bit(JOURNAL, size + 40)
    with pytest.raises(CorruptMetadataError) as raised:
        open_image(disk)
    assert (raised.value.location, raised.value.position) == (JOURNAL, size)
    assert "the checksum does not match" in str(raised.value)


def test_every_flipped_bit_of_an_earlier_batch_is_noticed() -> None:
    disk = MemoryDisk()
    fill(disk, 2)
    for position in range(disk.size(JOURNAL) // 2):
        disk.flip_bit(JOURNAL, position, position % 8)
        with pytest.raises(CorruptMetadataError):
            open_image(disk)
        disk.flip_bit(JOURNAL, position, position % 8)
    assert open_image(disk).offset == 2


def test_every_flipped_bit_is_noticed_after_an_orderly_stop() -> None:
    disk = MemoryDisk()
    life(disk, 11, [])
    names = [name for name in disk.list_directory("/m") if name != "clean"]
    assert len(names) == 2
    for path in (f"/m/{name}" for name in names):
        for position in range(0, disk.size(path), 7):
            disk.flip_bit(path, position, position % 8)
            with pytest.raises(CorruptMetadataError, match=r"\.journal|\.snapshot|clean"):
                open_image(disk)
            disk.flip_bit(path, position, position % 8)


def test_a_journal_that_lost_its_end_after_an_orderly_stop_is_noticed() -> None:
    disk = MemoryDisk()
    life(disk, 11, [])
    (path,) = (f"/m/{name}" for name in disk.list_directory("/m") if name.endswith(".journal"))
    file = disk.open(path)
    file.truncate(0)
    with pytest.raises(CorruptMetadataError, match="it was closed at offset"):
        open_image(disk)


def test_a_missing_snapshot_is_noticed() -> None:
    disk = MemoryDisk()
    life(disk, 11, [])
    (name,) = (name for name in disk.list_directory("/m") if name.endswith(".snapshot"))
    disk.remove(f"/m/{name}")
    disk.remove("/m/clean")
    with pytest.raises(CorruptMetadataError, match="the offsets from 0 to"):
        open_image(disk)


@pytest.mark.parametrize("content", [b"", b"x", b"[]", b"{}", b'{"endOffset":"5"}'])
def test_a_damaged_note_of_the_orderly_stop_is_noticed(content: bytes) -> None:
    disk = MemoryDisk()
    fill(disk)
    disk.open("/m/clean", create=True).write_at(0, content)
    with pytest.raises(CorruptMetadataError, match="no end offset"):
        open_image(disk)


def test_an_older_note_of_an_orderly_stop_does_no_harm() -> None:
    disk = MemoryDisk()
    journal, _ = open_journal(disk, "/m", KnownState())
    journal.append(batch(0))
    journal.close(is_clean=True)
    older = read_file(disk, "/m/clean")
    journal, _ = open_journal(disk, "/m", KnownState())
    journal.append(batch(1))
    journal.close(is_clean=True)
    file = disk.open("/m/clean")
    file.truncate(0)
    file.write_at(0, older)
    assert open_image(disk).offset == 2
    assert not disk.exists("/m/clean")


def test_after_a_clean_shutdown_nothing_is_rewritten() -> None:
    disk = MemoryDisk()
    life(disk, 11, [])
    before = [name for name in disk.list_directory("/m") if name != "clean"]
    journal, _ = open_journal(disk, "/m", KnownState())
    assert disk.list_directory("/m") == before
    journal.close(is_clean=True)


def test_a_large_journal_becomes_a_snapshot_at_the_next_start() -> None:
    disk = MemoryDisk()
    journal, _ = open_journal(disk, "/m", KnownState())
    big = ConfigChanged(ALL_BROKERS, "x", "y" * JOURNAL_BYTES_MAX)
    journal.append(Batch(0, 1, (big,)))
    journal.close(is_clean=True)
    journal, image = open_journal(disk, "/m", KnownState())
    assert journal.size_bytes == 0
    assert image.broker_config(None) == {"x": "y" * JOURNAL_BYTES_MAX}


def test_files_of_others_are_left_alone() -> None:
    disk = MemoryDisk()
    fill(disk)
    disk.open("/m/notes.txt", create=True)
    open_image(disk)
    assert "notes.txt" in disk.list_directory("/m")


def test_after_a_failed_append_only_loading_again_helps() -> None:
    async def story() -> None:
        disk = MemoryDisk()
        log = FileMetadataLog(disk, "/m", at_once)
        await log.load(KnownState())
        disk.fail("write", "*.journal", keep_bytes=10)
        with pytest.raises(AppendFailed):
            await log.append(batch(0))
        for attempt in (log.append(batch(0)), log.read(0), log.write_snapshot(Image())):
            with pytest.raises(AppendFailed, match="was not loaded, or failed since"):
                await attempt
        assert (await log.load(KnownState())).offset == 0
        await log.append(batch(0))
        assert await log.read(0) == [batch(0)]
        await log.close()

    asyncio.run(story())


def test_a_bug_while_a_batch_is_written_leaves_the_log_as_loading_finds_it() -> None:
    async def story() -> None:
        disk = MemoryDisk()
        log = FileMetadataLog(disk, "/m", at_once)
        await log.load(KnownState())
        await log.append(batch(0))
        bad = Batch(1, 0, (ConfigChanged(ALL_BROKERS, "x", object()),))  # type: ignore[arg-type]
        with pytest.raises(AppendFailed):
            await log.append(bad)
        with pytest.raises(AppendFailed, match="was not loaded, or failed since"):
            await log.append(batch(1))
        assert (await log.load(KnownState())).offset == 1
        await log.append(batch(1))
        assert await log.read(1) == [batch(1)]
        await log.close()

    asyncio.run(story())


def test_a_log_that_failed_is_not_closed_as_if_in_order() -> None:
    async def story() -> None:
        disk = MemoryDisk()
        log = FileMetadataLog(disk, "/m", at_once)
        await log.load(KnownState())
        disk.fail("sync", "*.journal")
        with pytest.raises(AppendFailed):
            await log.append(batch(0))
        await log.close()
        assert not disk.exists("/m/clean")

    asyncio.run(story())


def test_a_cancelled_append_runs_to_its_end_before_anything_else_happens() -> None:
    async def story() -> None:
        gate = asyncio.Event()

        async def slowly(work: Callable[[], T]) -> T:
            await gate.wait()
            return work()

        log = FileMetadataLog(MemoryDisk(), "/m", slowly)
        gate.set()
        await log.load(KnownState())
        gate.clear()
        appending = asyncio.ensure_future(log.append(batch(0)))
        await asyncio.sleep(0)
        appending.cancel()
        await asyncio.wait([appending])
        loading = asyncio.ensure_future(log.load(KnownState()))
        await asyncio.sleep(0)
        assert not loading.done()
        gate.set()
        assert (await loading).offset == 1
        await log.close()

    asyncio.run(story())


def test_a_log_asks_for_a_snapshot_when_its_journal_has_grown() -> None:
    async def story() -> None:
        log = FileMetadataLog(MemoryDisk(), "/m", at_once)
        image = await log.load(KnownState())
        assert not log.wants_snapshot
        big = Batch(0, 1, (ConfigChanged(ALL_BROKERS, "x", "y" * JOURNAL_BYTES_MAX),))
        await log.append(big)
        image.apply(big)
        assert log.wants_snapshot
        await log.write_snapshot(image)
        assert not log.wants_snapshot
        await log.close()

    asyncio.run(story())


def test_a_snapshot_is_copied_and_encoded_in_threads() -> None:
    """On the event loop, an image with fifty thousand topics would take a third of a second."""

    async def story() -> None:
        log = FileMetadataLog(MemoryDisk(), "/m", asyncio.to_thread)
        await log.load(KnownState())
        await log.append(batch(0))
        image = WatchedImage()
        image.apply(batch(0))
        await log.write_snapshot(image)
        await log.close()

    WatchedImage.threads.clear()
    asyncio.run(story())
    assert len(WatchedImage.threads) == 2
    assert threading.get_ident() not in WatchedImage.threads


class WatchedImage(Image):
    """Notes the threads in which it is read as a whole."""

    threads: ClassVar[list[int]] = []

    def copy(self) -> WatchedImage:
        self.threads.append(threading.get_ident())
        copied = WatchedImage()
        copied.become(super().copy())
        return copied

    def to_records(self) -> Iterator[Record]:
        self.threads.append(threading.get_ident())
        return super().to_records()


def test_a_snapshot_is_not_written_where_another_directory_has_taken_the_place() -> None:
    async def story() -> None:
        disk = MemoryDisk()
        gate = asyncio.Event()

        async def gated(work: Callable[[], T]) -> T:
            await gate.wait()
            return work()

        log = FileMetadataLog(disk, "/m", gated)
        gate.set()
        image = await log.load(KnownState())
        await log.append(batch(0))
        image.apply(batch(0))
        writing = asyncio.ensure_future(log.write_snapshot(image))
        while len(disk.list_directory("/m")) < 3:
            await asyncio.sleep(0)
        gate.clear()
        disk.rename("/m", "/elsewhere")
        fill_at(disk, "/m")
        before = {name: read_file(disk, f"/m/{name}") for name in disk.list_directory("/m")}
        gate.set()
        with pytest.raises(OSError, match="removed or replaced"):
            await writing
        with pytest.raises(MetadataLost, match="removed or replaced"):
            await log.close()
        assert {name: read_file(disk, f"/m/{name}") for name in disk.list_directory("/m")} == before

    asyncio.run(story())


def fill_at(disk: MemoryDisk, directory: str) -> None:
    journal, _ = open_journal(disk, directory, KnownState())
    journal.append(batch(0))
    journal.close(is_clean=False)
