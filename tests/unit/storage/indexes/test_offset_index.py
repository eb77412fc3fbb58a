from __future__ import annotations

import errno
from bisect import bisect_right
from contextlib import suppress
from functools import partial
from random import Random
from struct import pack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.volumes import Volume

from ottla.base.files.disk import DiskFileSystem
from ottla.base.files.readers import BLOCKING
from ottla.storage.errors import CorruptLogError, IndexAppendError, OffsetOverflowError
from ottla.storage.indexes.offset_index import OffsetIndex, OffsetPosition
from ottla.testing.filesystem import MemoryDisk

BASE = 1000
BYTES_MAX = 10 * 1024 * 1024
NAME = "00000000000000001000.index"


def new_index(volume: Volume, bytes_max: int = BYTES_MAX) -> OffsetIndex:
    return OffsetIndex.open(volume.files, volume.path(NAME), BASE, bytes_max, create=True)


def reopened(volume: Volume, bytes_max: int = BYTES_MAX) -> OffsetIndex:
    return OffsetIndex.open(volume.files, volume.path(NAME), BASE, bytes_max)


def put_entries(volume: Volume, *entries: tuple[int, int], zeros: int = 0) -> OffsetIndex:
    """An index file as another program wrote it, with relative offsets."""
    volume.put(NAME, b"".join(pack(">ii", *entry) for entry in entries) + bytes(zeros))
    return reopened(volume)


def test_an_empty_index_answers_with_the_start_of_the_segment(volume: Volume) -> None:
    index = new_index(volume)
    assert index.lookup(BLOCKING, BASE) == OffsetPosition(BASE, 0)
    assert index.lookup(BLOCKING, BASE + 500) == OffsetPosition(BASE, 0)
    assert index.last_entry(BLOCKING) == OffsetPosition(BASE, 0)
    assert index.count(BLOCKING) == 0
    assert index.first_from_position(BLOCKING, 0) is None


def test_a_lookup_finds_the_last_entry_at_or_before(volume: Volume) -> None:
    index = new_index(volume)
    for offset, position in [(1010, 4096), (1020, 8192), (1030, 12288)]:
        index.append(offset, position)
    assert index.lookup(BLOCKING, 1009) == (BASE, 0)
    assert index.lookup(BLOCKING, 1010) == (1010, 4096)
    assert index.lookup(BLOCKING, 1029) == (1020, 8192)
    assert index.lookup(BLOCKING, 9999) == (1030, 12288)
    assert index.lookup(BLOCKING, 0) == (BASE, 0)


def test_every_lookup_of_a_long_index_is_right_in_any_order(volume: Volume) -> None:
    index = put_entries(volume, *[(3 * number, 10 * number) for number in range(1, 3000)])
    offsets = [*range(8990), *reversed(range(8990)), *Random(1).sample(range(8990), 2000)]
    for offset in offsets:
        number = offset // 3
        assert index.lookup(BLOCKING, BASE + offset) == (BASE + 3 * number, 10 * number)


@pytest.mark.parametrize("seed", range(10))
def test_no_page_that_was_found_is_remembered_after_the_file_was_cut(
    volume: Volume, seed: int
) -> None:
    """Neither one that a lookup has found, nor that of the search for where to cut."""
    rng = Random(seed)
    index = put_entries(volume, *[(number, number) for number in range(1, 3000)])
    factors = [1] * 3000
    for factor in range(2, 8):
        for offset in rng.choices(range(1, 3000), k=3):
            assert index.lookup(BLOCKING, BASE + offset) == (
                BASE + offset,
                factors[offset] * offset,
            )
        cut = rng.randrange(1, 3000)
        index.truncate_to(BASE + cut)
        factors[cut:] = [factor] * (3000 - cut)
        index.append_all([(BASE + number, factor * number) for number in range(cut, 3000)])
        if rng.random() < 0.5:
            index.trim()  # nothing is answered from memory
        for offset in (*range(max(1, cut - 600), min(3000, cut + 600), 37), cut, 2999):
            assert index.lookup(BLOCKING, BASE + offset) == (
                BASE + offset,
                factors[offset] * offset,
            )


def test_the_first_entry_from_a_position_on(volume: Volume) -> None:
    index = new_index(volume)
    for offset, position in [(1010, 4096), (1020, 8192), (1030, 12288)]:
        index.append(offset, position)
    assert index.first_from_position(BLOCKING, 0) == (1010, 4096)
    assert index.first_from_position(BLOCKING, 4096) == (1010, 4096)
    assert index.first_from_position(BLOCKING, 4097) == (1020, 8192)
    assert index.first_from_position(BLOCKING, 12289) is None


def test_the_file_holds_relative_offsets_and_positions(volume: Volume) -> None:
    index = new_index(volume)
    index.append(1005, 4096)
    index.append(BASE + 2**31 - 1, 2**31 - 1)
    assert volume.get(NAME) == pack(">iiii", 5, 4096, 2**31 - 1, 2**31 - 1)
    index.close()
    assert reopened(volume).last_entry(BLOCKING) == (BASE + 2**31 - 1, 2**31 - 1)


def test_entries_must_ascend(volume: Volume) -> None:
    index = new_index(volume)
    index.append(1010, 4096)
    for offset, position in [(1010, 8192), (1009, 8192), (1011, 4096), (1011, 4095)]:
        with pytest.raises(IndexAppendError, match="does not come after"):
            index.append(offset, position)
    assert volume.get(NAME) == pack(">ii", 10, 4096)


def test_the_first_entry_may_be_the_base_offset(volume: Volume) -> None:
    index = new_index(volume)
    index.append(BASE, 0)
    assert index.count(BLOCKING) == 1


@pytest.mark.parametrize("offset", [BASE - 1, BASE + 2**31])
def test_an_offset_that_does_not_fit_is_an_overflow(volume: Volume, offset: int) -> None:
    index = new_index(volume)
    with pytest.raises(OffsetOverflowError, match=str(offset)) as raised:
        index.append(offset, 4096)
    assert (raised.value.base_offset, raised.value.offset) == (BASE, offset)
    assert volume.get(NAME) == b""


@pytest.mark.parametrize("position", [-1, 2**31])
def test_a_position_that_does_not_fit_is_refused(volume: Volume, position: int) -> None:
    with pytest.raises(IndexAppendError, match="position"):
        new_index(volume).append(BASE + 1, position)


def test_an_index_is_full_when_its_bytes_are_used(volume: Volume) -> None:
    index = new_index(volume, bytes_max=8 * 2 + 7)
    index.append(1001, 10)
    assert not index.is_full(BLOCKING)
    index.append(1002, 20)
    assert index.is_full(BLOCKING)
    with pytest.raises(IndexAppendError, match="full"):
        index.append(1003, 30)


@pytest.mark.parametrize(
    ("offset", "left"), [(1000, 0), (1010, 0), (1011, 1), (1020, 1), (1025, 2), (1031, 3)]
)
def test_truncating_forgets_entries_from_an_offset_on(
    volume: Volume, offset: int, left: int
) -> None:
    index = new_index(volume)
    for entry in [(1010, 4096), (1020, 8192), (1030, 12288)]:
        index.append(*entry)
    index.truncate_to(offset)
    assert index.count(BLOCKING) == left
    assert volume.files.size(index.path) == 8 * left
    assert (
        index.last_entry(BLOCKING) == ((BASE, 0), (1010, 4096), (1020, 8192), (1030, 12288))[left]
    )
    index.append(1040, 99999)
    assert reopened(volume).last_entry(BLOCKING) == (1040, 99999)


def test_a_cleared_index_begins_again(volume: Volume) -> None:
    index = new_index(volume)
    index.append(1010, 4096)
    index.clear()
    assert index.count(BLOCKING) == 0
    index.append(1001, 10)
    assert volume.get(NAME) == pack(">ii", 1, 10)


def test_creating_an_index_empties_what_was_there(volume: Volume) -> None:
    put_entries(volume, (5, 5))
    assert new_index(volume).count(BLOCKING) == 0
    assert volume.get(NAME) == b""


def test_a_preallocated_file_reads_as_if_cut(volume: Volume) -> None:
    index = put_entries(volume, (10, 4096), (20, 8192), zeros=BYTES_MAX - 16)
    assert index.count(BLOCKING) == 2
    assert index.last_entry(BLOCKING) == (1020, 8192)
    assert index.lookup(BLOCKING, 1015) == (1010, 4096)
    index.check(BLOCKING)
    index.check_entries(BLOCKING, log_bytes=10000)
    index.append(1030, 12288)
    assert volume.files.size(index.path) == BYTES_MAX
    index.close()
    assert volume.get(NAME) == pack(">iiiiii", 10, 4096, 20, 8192, 30, 12288)


def test_a_preallocated_file_without_entries_is_empty(volume: Volume) -> None:
    index = put_entries(volume, zeros=BYTES_MAX)
    assert index.count(BLOCKING) == 0
    assert index.lookup(BLOCKING, 5000) == (BASE, 0)
    index.check(BLOCKING)
    index.trim()
    assert volume.files.size(index.path) == 0


def test_opening_touches_no_file(volume: Volume) -> None:
    index = reopened(volume)
    with pytest.raises(FileNotFoundError):
        index.lookup(BLOCKING, BASE)
    index.close()


def test_a_closed_index_can_be_used_again(volume: Volume) -> None:
    index = new_index(volume)
    index.append(1010, 4096)
    index.close()
    assert index.lookup(BLOCKING, 1010) == (1010, 4096)
    index.append(1020, 8192)
    assert index.last_entry(BLOCKING) == (1020, 8192)


def test_an_index_follows_its_file(volume: Volume) -> None:
    index = new_index(volume)
    index.append(1010, 4096)
    volume.files.rename(volume.path(NAME), volume.path("x.deleted"))
    index.renamed(volume.path("x.deleted"))
    index.append(1020, 8192)
    index.sync()
    index.close()
    assert index.path == volume.path("x.deleted")
    assert len(volume.get("x.deleted")) == 16
    assert index.lookup(BLOCKING, 1019) == (1010, 4096)


def test_a_length_that_is_no_multiple_is_corrupt(volume: Volume) -> None:
    index = put_entries(volume, (10, 4096), zeros=3)
    with pytest.raises(CorruptLogError, match="multiple") as raised:
        index.check(BLOCKING)
    assert raised.value.path == volume.path(NAME)


def test_a_last_offset_before_the_base_is_corrupt(volume: Volume) -> None:
    for entry in [(-5, 8192), (20, -1)]:
        index = put_entries(volume, (10, 4096), entry)
        with pytest.raises(CorruptLogError, match="negative"):
            index.check(BLOCKING)
        with pytest.raises(CorruptLogError, match="negative"):
            index.lookup(BLOCKING, 2000)
        index.clear()
        index.append(1001, 10)


@pytest.mark.parametrize(
    ("entries", "position"),
    [
        ([(10, 100), (10, 200)], 8),
        ([(10, 100), (20, 100)], 8),
        ([(10, 100), (5, 200), (30, 300)], 8),
        ([(10, 100), (20, 1000)], 8),
        ([(-1, 100), (20, 200)], 0),
    ],
)
def test_every_entry_is_checked_on_request(
    volume: Volume, entries: list[tuple[int, int]], position: int
) -> None:
    with pytest.raises(CorruptLogError) as raised:
        put_entries(volume, *entries).check_entries(BLOCKING, log_bytes=1000)
    assert raised.value.position == position


def test_a_failed_append_leaves_the_index_as_it_was(disk: MemoryDisk) -> None:
    volume = Volume(disk, "/data")
    index = new_index(volume)
    index.append(1010, 4096)
    disk.fail("write", error=errno.ENOSPC, keep_bytes=3)
    with pytest.raises(OSError):
        index.append(1020, 8192)
    assert index.last_entry(BLOCKING) == (1010, 4096)
    index.append(1020, 8192)
    disk.fail("write", error=errno.ENOSPC, keep_bytes=3)
    with pytest.raises(OSError):
        index.append(1030, 12288)
    index.close()
    assert volume.get(NAME) == pack(">iiii", 10, 4096, 20, 8192)


def test_memory_does_not_grow_with_the_index(disk: MemoryDisk) -> None:
    index = new_index(Volume(disk, "/data"))
    for n in range(10_000):
        index.append(BASE + n, n + 1)
    assert len(index._entries._tail) <= 2048
    index.trim()
    assert len(index._entries._tail) == 0
    assert index.lookup(BLOCKING, BASE + 5000) == (BASE + 5000, 5001)


def test_most_lookups_need_few_reads(disk: MemoryDisk) -> None:
    index = new_index(Volume(disk, "/data"))
    for n in range(50_000):
        index.append(BASE + n * 10, n * 4096 + 1)
    index.trim()
    index.lookup(BLOCKING, BASE)
    before = disk.operations["read"]
    for n in range(0, 50_000, 100):
        assert index.lookup(BLOCKING, BASE + n * 10 + 3) == (BASE + n * 10, n * 4096 + 1)
    assert disk.operations["read"] - before <= 2 * 500


def test_a_file_that_became_shorter_is_corrupt(volume: Volume) -> None:
    index = put_entries(volume, *[(n, n + 1) for n in range(3000)])
    assert index.lookup(BLOCKING, BASE + 2999) == (BASE + 2999, 3000)
    volume.files.open(volume.path(NAME)).truncate(100)
    with pytest.raises(CorruptLogError, match="shorter"):
        index.lookup(BLOCKING, BASE + 2000)


gaps = st.lists(st.integers(1, 1000), min_size=1, max_size=20)
steps = st.one_of(
    st.tuples(st.just("append"), gaps),
    st.tuples(st.just("append many"), gaps),
    st.tuples(st.just("truncate"), st.integers(-5, 2_000_000)),
    st.tuples(st.just("trim"), st.none()),
    st.tuples(st.just("reopen"), st.none()),
    st.tuples(st.just("look up"), st.integers(-10, 2_000_000)),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(steps, max_size=15))
def test_an_index_behaves_like_a_sorted_list(steps: list[tuple[str, object]]) -> None:
    disk = MemoryDisk()
    disk.make_directory("/data")
    volume = Volume(disk, "/data")
    index, model = new_index(volume), [(BASE, 0)]
    for kind, argument in steps:
        match kind, argument:
            case (("append" | "append many"), list(gaps)):
                for gap in gaps * (100 if kind == "append many" else 1):
                    model.append((model[-1][0] + gap, model[-1][1] + gap * 3))
                    index.append(*model[-1])
            case "truncate", int(offset):
                index.truncate_to(BASE + offset)
                model[1:] = [entry for entry in model[1:] if entry[0] < BASE + offset]
            case "trim", _:
                index.trim()
            case "reopen", _:
                index.close()
                index = reopened(volume)
            case "look up", int(offset):
                expected = max((e for e in model if e[0] <= BASE + offset), default=model[0])
                assert index.lookup(BLOCKING, BASE + offset) == expected
                after = [entry for entry in model[1:] if entry[1] >= offset]
                assert index.first_from_position(BLOCKING, offset) == (after[0] if after else None)
        assert index.last_entry(BLOCKING) == model[-1]
        assert index.count(BLOCKING) == len(model) - 1
    index.check_entries(BLOCKING, log_bytes=2**31)
    index.close()
    relative = [pack(">ii", offset - BASE, position) for offset, position in model[1:]]
    assert volume.get(NAME) == b"".join(relative)


def spread(rng: Random, kind: str, count: int) -> list[int]:
    """Ascending relative offsets, spread out in different ways."""
    match kind:
        case "even":
            return [n * 10 for n in range(count)]
        case "random":
            return sorted(rng.sample(range(2**31), count))
        case "clusters":
            centres = [rng.randrange(2**31 - 5000) for _ in range(5)]
            return sorted({rng.choice(centres) + rng.randrange(5000) for _ in range(count)})
        case _:
            return sorted({int(2 ** rng.uniform(0, 31)) for _ in range(count)})


@pytest.mark.parametrize("kind", ["even", "random", "clusters", "exponential"])
@pytest.mark.parametrize("count", [1, 511, 512, 513, 1025, 20_000])
def test_a_lookup_needs_no_luck_with_the_spread_of_offsets(
    disk: MemoryDisk, kind: str, count: int
) -> None:
    rng = Random(count)
    offsets = spread(rng, kind, count)
    index = put_entries(Volume(disk, "/data"), *[(o, n + 1) for n, o in enumerate(offsets)])
    near = [offset + step for offset in rng.choices(offsets, k=100) for step in (-1, 0, 1)]
    for wanted in [*near, 0, offsets[0], offsets[-1], 2**31 - 1]:
        number = bisect_right(offsets, wanted)
        expected = (BASE + offsets[number - 1], number) if number else (BASE, 0)
        assert index.lookup(BLOCKING, BASE + wanted) == expected


@pytest.mark.parametrize("kind", ["even", "random", "clusters", "exponential"])
def test_a_lookup_reads_few_pages_however_offsets_are_spread(disk: MemoryDisk, kind: str) -> None:
    rng = Random(1)
    offsets = spread(rng, kind, 50_000)
    index = put_entries(Volume(disk, "/data"), *[(o, n + 1) for n, o in enumerate(offsets)])
    index.lookup(BLOCKING, BASE)
    for wanted in rng.choices(offsets, k=200):
        before = disk.operations["read"]
        index.lookup(BLOCKING, BASE + wanted)
        assert disk.operations["read"] - before <= 3 + 7  # guesses, then halving 98 pages


@given(st.integers(0, 2**32), st.integers(0, 40_000), st.lists(st.integers(0, 2**32), max_size=9))
def test_a_search_in_garbage_ends_with_an_answer_or_a_typed_error(
    seed: int, size: int, wanted: list[int]
) -> None:
    disk = MemoryDisk()
    disk.make_directory("/data")
    volume = Volume(disk, "/data")
    volume.put(NAME, Random(seed).randbytes(size))
    for offset in wanted:
        index = reopened(volume)
        for use in (
            partial(index.check, BLOCKING),
            partial(index.lookup, BLOCKING, offset),
            partial(index.check_entries, BLOCKING, 9),
        ):
            with suppress(CorruptLogError):
                use()
        index.truncate_to(offset)


def test_ten_thousand_indexes_open_without_touching_the_disk(disk: MemoryDisk) -> None:
    before = dict(disk.operations)
    indexes = [
        OffsetIndex.open(disk, f"/data/t-{n}/{NAME}", BASE, BYTES_MAX) for n in range(10_000)
    ]
    assert disk.operations == before
    assert len(indexes) == 10_000


def test_indexes_share_few_descriptors(volume: Volume) -> None:
    indexes = [
        OffsetIndex.open(volume.files, volume.path(f"{n}.index"), BASE, BYTES_MAX, create=True)
        for n in range(20)
    ]
    for n, index in enumerate(indexes):
        index.append(BASE + n, n + 1)
    assert [index.lookup(BLOCKING, BASE + 50).position for index in indexes] == list(range(1, 21))
    if isinstance(volume.files, DiskFileSystem):
        assert volume.files.open_files <= 2
