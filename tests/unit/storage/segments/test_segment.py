from __future__ import annotations

import errno
from dataclasses import replace
from random import Random

import pytest
from tests.unit.storage.log_making import (
    PATH,
    SMALL,
    Place,
    append,
    append_many,
    batch_of,
    placed,
    read_records,
)

from ottla.base.files.readers import BLOCKING
from ottla.protocol.records.batch import BatchHeader
from ottla.storage.errors import CorruptLogError, IndexAppendError, OffsetOverflowError
from ottla.storage.indexes.offset_index import OffsetIndex
from ottla.storage.indexes.time_index import TimeIndex
from ottla.storage.log.log import Log
from ottla.storage.log.recovery import Checkpoint
from ottla.storage.segments.scanning import scan_headers
from ottla.storage.segments.segment import RECENT_BATCHES_MAX
from ottla.storage.segments.segment_search import find_batch, largest_timestamp, last_before, locate
from ottla.testing.filesystem import MemoryDisk

LARGE = replace(SMALL, segment_bytes=1 << 24)


def filled(place: Place) -> Log:
    """Batches of several sizes and with gaps, in one segment."""
    log, random, offset = place.open(), Random(2), 0
    for _ in range(400):
        offset += random.choice((0, 0, 0, 9))
        batch = batch_of(*[bytes(random.randrange(60))] * random.randrange(1, 5))
        log.append_as_follower(placed(batch, offset))
        offset = log.log_end_offset
    assert len(log.segments) == 1
    return log


def batches_in(log: Log) -> list[tuple[int, BatchHeader]]:
    segment = log.segments[0]
    return list(scan_headers(BLOCKING, segment.open(BLOCKING), 0, segment.size))


@pytest.mark.parametrize("is_reopened", [False, True])
def test_an_index_finds_what_reading_from_the_start_would(is_reopened: bool) -> None:
    place = Place(config=LARGE)
    log = filled(place)
    batches = batches_in(log)
    if is_reopened:
        log = place.reopen_clean(log)
    segment = log.segments[0]
    for offset in range(log.log_end_offset + 5):
        expected = next((each for each in batches if each[1].last_offset >= offset), None)
        found = locate(BLOCKING, segment, offset)
        assert (found and found.position) == (expected and expected[0])
        assert find_batch(BLOCKING, segment, offset) == expected
        before = [header for _, header in batches if header.last_offset < offset]
        assert last_before(BLOCKING, segment, offset) == (before[-1] if before else None)


def test_every_damage_to_an_index_is_found_or_does_no_harm() -> None:
    place = Place(config=replace(LARGE, index_interval_bytes=2000))
    log = filled(place)
    batches = batches_in(log)
    end_offset = log.log_end_offset
    log.close()
    path = f"{PATH}/{0:020d}.index"
    for position in range(place.disk.size(path)):
        place.disk.flip_bit(path, position, position % 8)
        log = place.open(Checkpoint(end_offset, 0, is_clean=True))
        for offset in range(0, end_offset, 41):
            expected = next(each for each in batches if each[1].last_offset >= offset)
            assert find_batch(BLOCKING, log.segments[0], offset) == expected
        log.release()


def test_readers_at_the_end_cost_no_read() -> None:
    place = Place(config=LARGE)
    log = place.open()
    append_many(log, 3 * RECENT_BATCHES_MAX)
    place.disk.operations.clear()
    for offset in range(log.log_end_offset - 300, log.log_end_offset):
        log.read(BLOCKING, offset, 1000, log.log_end_offset)
    assert "read" not in place.disk.operations
    assert len(read_records(log, 10, 20)) == 10


def test_the_records_themselves_being_damaged_no_index_is_rebuilt_twice() -> None:
    place = Place(config=LARGE)
    log = place.open()
    append_many(log, 50)
    log.close()
    place.disk.flip_bit(log.segments[0].path, 70 * 20 + 16, 2)
    place.disk.flip_bit(f"{PATH}/{0:020d}.index", 8 * 5 + 7, 1)
    log = place.open(Checkpoint(50, 0, is_clean=True))
    for _ in range(3):
        with pytest.raises(CorruptLogError):
            [locate(BLOCKING, log.segments[0], offset) for offset in range(50)]


def test_the_largest_timestamp_survives_cutting() -> None:
    place = Place(config=LARGE)
    log = place.open()
    now_ms = place.clock.now_ms()
    for number in range(60):
        append(log, b"x", timestamp=now_ms - 1000 + (number * 37) % 60)
    for end in (50, 31, 12, 1):
        log.truncate_to(end)
        expected = max(now_ms - 1000 + (number * 37) % 60 for number in range(end))
        assert largest_timestamp(BLOCKING, log.segments[0]) == expected


# Entries in groups


def test_a_group_of_entries_is_one_write_and_looks_like_single_ones() -> None:
    disk = MemoryDisk()
    disk.make_directory("/data")
    grouped = OffsetIndex.open(disk, "/data/a", 100, 4096, create=True)
    single = OffsetIndex.open(disk, "/data/b", 100, 4096, create=True)
    disk.operations.clear()
    entries = [(100 + number, number * 50) for number in range(0, 300, 3)]
    grouped.append_all(entries[:60])
    grouped.append_all(entries[60:])
    assert disk.operations["write"] == 2
    for entry in entries:
        single.append(*entry)
    for offset in range(90, 420):
        assert grouped.lookup(BLOCKING, offset) == single.lookup(BLOCKING, offset)
    assert grouped.last_entry(BLOCKING) == entries[-1]
    grouped.close()
    assert disk.open("/data/a").read_at(0, 9999) == disk.open("/data/b").read_at(0, 9999)


def test_only_new_maxima_of_a_group_get_into_the_time_index() -> None:
    disk = MemoryDisk()
    disk.make_directory("/data")
    index = TimeIndex.open(disk, "/data/a", 100, 4096, create=True)
    index.maybe_append_all([(5, 101), (5, 101), (9, 104), (9, 104)])
    index.maybe_append_all([(9, 104)])
    assert index.count(BLOCKING) == 2
    assert index.last_entry(BLOCKING) == (9, 104)


@pytest.mark.parametrize(
    "entries", [[(100, 5), (100, 9)], [(105, 5), (104, 9)], [(101, 5), (102, 5)]]
)
def test_a_group_out_of_order_is_refused(entries: list[tuple[int, int]]) -> None:
    disk = MemoryDisk()
    disk.make_directory("/data")
    index = OffsetIndex.open(disk, "/data/a", 100, 4096, create=True)
    with pytest.raises(IndexAppendError):
        index.append_all(entries)
    assert index.count(BLOCKING) == 0
    times = TimeIndex.open(disk, "/data/b", 100, 4096, create=True)
    with pytest.raises(IndexAppendError):
        times.maybe_append_all([(5, 110), (6, 109)])


def test_a_group_without_room_or_too_far_away_is_refused() -> None:
    disk = MemoryDisk()
    disk.make_directory("/data")
    index = OffsetIndex.open(disk, "/data/a", 100, 16, create=True)
    assert index.room(BLOCKING) == 2
    with pytest.raises(IndexAppendError):
        index.append_all([(101, 1), (102, 2), (103, 3)])
    with pytest.raises(OffsetOverflowError):
        index.append_all([(100 + 2**31, 1)])
    times = TimeIndex.open(disk, "/data/b", 100, 36, create=True)
    assert times.room(BLOCKING) == 2
    with pytest.raises(IndexAppendError):
        times.maybe_append_all([(1, 101), (2, 102), (3, 103)])


def test_a_group_that_cannot_be_written_leaves_the_index_as_it_was() -> None:
    disk = MemoryDisk()
    disk.make_directory("/data")
    index = OffsetIndex.open(disk, "/data/a", 100, 4096, create=True)
    index.append(101, 1)
    disk.fail("write", error=errno.ENOSPC, keep_bytes=11)
    with pytest.raises(OSError):
        index.append_all([(102, 2), (103, 3)])
    assert index.last_entry(BLOCKING) == (101, 1)
    index.append_all([(104, 4)])
    index.close()
    assert disk.size("/data/a") == 16
