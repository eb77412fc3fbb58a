from __future__ import annotations

from struct import pack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.volumes import Volume

from ottla.base.files.readers import BLOCKING
from ottla.protocol.records.batch import NO_TIMESTAMP
from ottla.storage.errors import CorruptLogError, IndexAppendError, OffsetOverflowError
from ottla.storage.indexes.time_index import TimeIndex, TimestampOffset
from ottla.testing.filesystem import MemoryDisk

BASE = 1000
BYTES_MAX = 10 * 1024 * 1024
NAME = "00000000000000001000.timeindex"


def new_index(volume: Volume, bytes_max: int = BYTES_MAX) -> TimeIndex:
    return TimeIndex.open(volume.files, volume.path(NAME), BASE, bytes_max, create=True)


def reopened(volume: Volume) -> TimeIndex:
    return TimeIndex.open(volume.files, volume.path(NAME), BASE, BYTES_MAX)


def put_entries(volume: Volume, *entries: tuple[int, int], zeros: int = 0) -> TimeIndex:
    """An index file as another program wrote it, with relative offsets."""
    volume.put(NAME, b"".join(pack(">qi", *entry) for entry in entries) + bytes(zeros))
    return reopened(volume)


def test_an_empty_index_knows_no_timestamp(volume: Volume) -> None:
    index = new_index(volume)
    assert index.last_entry(BLOCKING) == TimestampOffset(NO_TIMESTAMP, BASE)
    assert index.lookup(BLOCKING, 10**15) == (NO_TIMESTAMP, BASE)
    assert index.lookup(BLOCKING, -1) == (NO_TIMESTAMP, BASE)


def test_a_lookup_finds_the_last_entry_at_or_before(volume: Volume) -> None:
    index = new_index(volume)
    for timestamp, offset in [(100, 1010), (200, 1020), (300, 1030)]:
        index.maybe_append(timestamp, offset)
    assert index.lookup(BLOCKING, 99) == (NO_TIMESTAMP, BASE)
    assert index.lookup(BLOCKING, 100) == (100, 1010)
    assert index.lookup(BLOCKING, 299) == (200, 1020)
    assert index.lookup(BLOCKING, 10**15) == (300, 1030)


def test_the_file_holds_timestamps_and_relative_offsets(volume: Volume) -> None:
    index = new_index(volume)
    index.maybe_append(1_700_000_000_000, 1005)
    index.maybe_append(2**63 - 1, BASE + 2**31 - 1)
    assert volume.get(NAME) == pack(">qi", 1_700_000_000_000, 5) + pack(">qi", 2**63 - 1, 2**31 - 1)
    assert reopened(volume).last_entry(BLOCKING) == (2**63 - 1, BASE + 2**31 - 1)


def test_only_a_new_maximum_is_added(volume: Volume) -> None:
    index = new_index(volume)
    index.maybe_append(NO_TIMESTAMP, 1001)
    assert index.count(BLOCKING) == 0
    index.maybe_append(100, 1010)
    index.maybe_append(100, 1010)
    index.maybe_append(100, 1020)
    assert index.count(BLOCKING) == 1
    assert index.last_entry(BLOCKING) == (100, 1010)


def test_a_timestamp_of_zero_is_a_timestamp(volume: Volume) -> None:
    index = new_index(volume)
    index.maybe_append(0, BASE)
    assert index.last_entry(BLOCKING) == (0, BASE)
    index.close()
    assert reopened(volume).last_entry(BLOCKING) == (0, BASE)


def test_entries_must_not_descend(volume: Volume) -> None:
    index = new_index(volume)
    index.maybe_append(100, 1010)
    for timestamp, offset in [(99, 1020), (100, 1009), (200, 1009)]:
        with pytest.raises(IndexAppendError, match="comes before"):
            index.maybe_append(timestamp, offset)
    index.maybe_append(200, 1010)
    assert index.count(BLOCKING) == 2


@pytest.mark.parametrize("offset", [BASE - 1, BASE + 2**31])
def test_an_offset_that_does_not_fit_is_an_overflow(volume: Volume, offset: int) -> None:
    with pytest.raises(OffsetOverflowError):
        new_index(volume).maybe_append(100, offset)


def test_one_entry_is_held_back_for_the_end_of_the_segment(volume: Volume) -> None:
    index = new_index(volume, bytes_max=12 * 3)
    index.maybe_append(100, 1010)
    assert not index.is_full(BLOCKING)
    index.maybe_append(200, 1020)
    assert index.is_full(BLOCKING)
    with pytest.raises(IndexAppendError, match="full"):
        index.maybe_append(300, 1030)
    index.maybe_append(300, 1030, even_if_full=True)
    assert index.last_entry(BLOCKING) == (300, 1030)


@pytest.mark.parametrize(
    ("offset", "left"), [(1000, 0), (1010, 0), (1011, 1), (1020, 1), (1021, 3), (1031, 4)]
)
def test_truncating_forgets_entries_from_an_offset_on(
    volume: Volume, offset: int, left: int
) -> None:
    index = new_index(volume)
    for entry in [(100, 1010), (200, 1020), (250, 1020), (300, 1030)]:
        index.maybe_append(*entry)
    index.truncate_to(offset)
    assert index.count(BLOCKING) == left
    assert volume.files.size(index.path) == 12 * left


def test_a_cleared_index_begins_again(volume: Volume) -> None:
    index = new_index(volume)
    index.maybe_append(100, 1010)
    index.clear()
    assert index.last_entry(BLOCKING) == (NO_TIMESTAMP, BASE)
    index.maybe_append(50, 1001)
    assert volume.get(NAME) == pack(">qi", 50, 1)


def test_a_preallocated_file_reads_as_if_cut(volume: Volume) -> None:
    size = BYTES_MAX // 12 * 12
    index = put_entries(volume, (100, 10), (200, 20), zeros=size - 24)
    assert index.count(BLOCKING) == 2
    assert index.last_entry(BLOCKING) == (200, 1020)
    index.check(BLOCKING)
    index.check_entries(BLOCKING, end_offset=1021)
    index.trim()
    assert volume.files.size(index.path) == 24


def test_a_preallocated_file_without_entries_is_empty(volume: Volume) -> None:
    index = put_entries(volume, zeros=BYTES_MAX // 12 * 12)
    assert index.count(BLOCKING) == 0
    index.check(BLOCKING)


def test_an_index_follows_its_file(volume: Volume) -> None:
    index = new_index(volume)
    index.maybe_append(100, 1010)
    volume.files.rename(volume.path(NAME), volume.path("x.swap"))
    index.renamed(volume.path("x.swap"))
    index.maybe_append(200, 1020)
    index.sync()
    index.close()
    assert index.lookup(BLOCKING, 150) == (100, 1010)


@pytest.mark.parametrize(
    ("entries", "zeros"),
    [([(100, 10)], 5), ([(100, 10), (50, 20)], 0), ([(100, 10), (200, -1)], 0)],
)
def test_an_implausible_file_is_corrupt(
    volume: Volume, entries: list[tuple[int, int]], zeros: int
) -> None:
    with pytest.raises(CorruptLogError):
        put_entries(volume, *entries, zeros=zeros).check(BLOCKING)


@pytest.mark.parametrize(
    ("entries", "position"),
    [
        ([(100, 10), (100, 20), (300, 30)], 12),
        ([(100, 10), (200, 5), (300, 30)], 12),
        ([(100, 10), (200, 100)], 12),
        ([(-5, 10), (200, 20)], 0),
    ],
)
def test_every_entry_is_checked_on_request(
    volume: Volume, entries: list[tuple[int, int]], position: int
) -> None:
    with pytest.raises(CorruptLogError) as raised:
        put_entries(volume, *entries).check_entries(BLOCKING, end_offset=BASE + 100)
    assert raised.value.position == position


steps = st.one_of(
    st.tuples(st.just("append"), st.lists(st.integers(-3, 100), min_size=1, max_size=20)),
    st.tuples(st.just("append many"), st.lists(st.integers(1, 9), min_size=1, max_size=20)),
    st.tuples(st.just("truncate"), st.integers(-5, 20_000)),
    st.tuples(st.just("trim"), st.none()),
    st.tuples(st.just("reopen"), st.none()),
    st.tuples(st.just("look up"), st.integers(-10, 200_000)),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(steps, max_size=15))
def test_an_index_behaves_like_a_list_of_maxima(steps: list[tuple[str, object]]) -> None:
    disk = MemoryDisk()
    disk.make_directory("/data")
    volume = Volume(disk, "/data")
    index, model = new_index(volume), [(NO_TIMESTAMP, BASE)]
    for kind, argument in steps:
        match kind, argument:
            case (("append" | "append many"), list(gaps)):
                for gap in gaps * (100 if kind == "append many" else 1):
                    timestamp, offset = max(model[-1][0], 0) + max(gap, 0), model[-1][1] + 1
                    index.maybe_append(timestamp, offset)
                    if timestamp > model[-1][0]:
                        model.append((timestamp, offset))
            case "truncate", int(offset):
                index.truncate_to(BASE + offset)
                model[1:] = [entry for entry in model[1:] if entry[1] < BASE + offset]
            case "trim", _:
                index.trim()
            case "reopen", _:
                index.close()
                index = reopened(volume)
            case "look up", int(timestamp):
                expected = max((e for e in model if e[0] <= timestamp), default=model[0])
                assert index.lookup(BLOCKING, timestamp) == expected
        assert index.last_entry(BLOCKING) == model[-1]
        assert index.count(BLOCKING) == len(model) - 1
    index.check_entries(BLOCKING, end_offset=BASE + 2**31)
    index.close()
    entries = [pack(">qi", timestamp, offset - BASE) for timestamp, offset in model[1:]]
    assert volume.get(NAME) == b"".join(entries)
