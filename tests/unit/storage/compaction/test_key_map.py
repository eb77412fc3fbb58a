"""The map from keys to their newest offset, compiled and plain."""

from __future__ import annotations

from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.protocol.records import native
from ottla.protocol.records.batch import HEADER_BYTES
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record
from ottla.storage.compaction import _plain_key_map, key_map

try:
    from ottla.storage.compaction import _key_map as compiled

    IMPLEMENTATIONS: list[Any] = [_plain_key_map, compiled]
except ImportError:
    IMPLEMENTATIONS = [_plain_key_map]

SECRET = bytes(range(16))
KEYS = st.one_of(st.none(), st.binary(max_size=40))
ROWS = st.lists(st.tuples(KEYS, st.none() | st.binary(max_size=3)), min_size=1, max_size=40)

Row = tuple[bytes | None, bytes | None]
Indexed = tuple[bytes, memoryview, memoryview]


def indexed(rows: list[Row], base_offset: int) -> Indexed:
    """The body of a batch with these keys and values, and its index arrays."""
    records = [
        Record(base_offset + at, 1000 + at, key, value) for at, (key, value) in enumerate(rows)
    ]
    body = bytes(build_batch(records, base_offset=base_offset))[HEADER_BYTES:]
    numbers = memoryview(array("q", bytes(16 * len(rows))))
    places = memoryview(array("i", bytes(32 * len(rows))))
    native.index(body, 0, len(body), 0, len(rows), True, base_offset, 1000, None, numbers, places)
    return body, numbers, places


def note(keys: Any, rows: list[Row], base_offset: int, from_offset: int = 0) -> int:
    body, numbers, places = indexed(rows, base_offset)
    taken: int = keys.note(body, 0, len(rows), numbers, places, from_offset)
    return taken


def choose(
    keys: Any, rows: list[Row], base_offset: int, end_offset: int = 10**6, drops: bool = False
) -> tuple[list[int], tuple[int, bool]]:
    body, numbers, places = indexed(rows, base_offset)
    keep = bytearray(len(rows))
    answer = keys.choose(body, 0, len(rows), numbers, places, end_offset, drops, keep)
    return list(keep), answer


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda module: module.__name__.rpartition(".")[2])
def implementation(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.mark.parametrize("module", IMPLEMENTATIONS, ids=lambda module: module.__name__[-9:])
@given(batches=st.lists(ROWS, max_size=5), end=st.integers(0, 200), drops=st.booleans())
def test_it_decides_as_a_dictionary_would(
    module: Any, batches: list[list[Row]], end: int, drops: bool
) -> None:
    keys = module.KeyMap(1000, 900, 0, SECRET)
    newest: dict[bytes, int] = {}
    for number, rows in enumerate(batches):
        assert note(keys, rows, 40 * number) == len(rows)
        newest |= {key: 40 * number + at for at, (key, _) in enumerate(rows) if key is not None}
    assert len(keys) == len(newest)
    for number, rows in enumerate(batches):
        expected = [
            offset >= end
            or (key is not None and not (drops and value is None) and offset >= newest[key])
            for offset, (key, value) in enumerate(rows, 40 * number)
        ]
        kept, (count, has_tombstones) = choose(keys, rows, 40 * number, end, drops)
        assert kept == list(map(int, expected))
        assert count == sum(expected)
        chosen = [at for at, is_kept in enumerate(expected) if is_kept]
        assert has_tombstones == any(rows[at][1] is None for at in chosen)


def test_keys_that_were_never_noted_stay(implementation: Any) -> None:
    keys = implementation.KeyMap(10, 9, 100, SECRET)
    note(keys, [(b"a", b"1")], 100)
    assert choose(keys, [(b"b", b"1"), (b"a", b"0")], 5)[0] == [1, 0]


def test_records_before_the_dirty_part_are_not_noted(implementation: Any) -> None:
    keys = implementation.KeyMap(10, 9, 2, SECRET)
    note(keys, [(b"a", b""), (b"b", b""), (b"c", b"")], 0, from_offset=2)
    assert len(keys) == 1


def test_a_full_map_says_where_it_stopped(implementation: Any) -> None:
    keys = implementation.KeyMap(10, 2, 0, SECRET)
    rows: list[Row] = [(b"a", b""), (b"b", b""), (b"a", b""), (b"c", b""), (b"a", b"")]
    assert note(keys, rows, 0) == 3  # a known key needs no room, a new one does
    assert len(keys) == 2
    assert choose(keys, rows, 0, end_offset=3)[0] == [0, 1, 1, 1, 1]


def test_an_offset_too_far_away_counts_as_no_room(implementation: Any) -> None:
    keys = implementation.KeyMap(10, 9, 0, SECRET)
    assert note(keys, [(b"a", b"")], 2**48 - 1) == 0
    assert note(keys, [(b"a", b"")], 2**48 - 2) == 1


def test_a_nearly_full_map_still_finds_every_key(implementation: Any) -> None:
    keys = implementation.KeyMap(1001, 1000, 0, SECRET)
    rows: list[Row] = [(b"key %d" % at, b"") for at in range(1000)]
    assert note(keys, rows, 0) == 1000
    assert note(keys, rows, 1000) == 1000
    assert choose(keys, rows, 0)[1][0] == 0
    assert choose(keys, rows, 1000)[1][0] == 1000


def test_offsets_must_rise_within_their_batch(implementation: Any) -> None:
    numbers = memoryview(array("q", [5, 7, 8, 99]))
    assert implementation.are_rising(numbers, 3, 5, 8)
    assert not implementation.are_rising(numbers, 3, 6, 8)
    assert not implementation.are_rising(numbers, 3, 5, 7)
    assert not implementation.are_rising(memoryview(array("q", [5, 5])), 2, 5, 9)


@pytest.mark.parametrize(("slots", "entries"), [(0, 0), (5, 5), (5, 0), (1 << 32, 5)])
def test_impossible_sizes_are_refused(implementation: Any, slots: int, entries: int) -> None:
    with pytest.raises(ValueError, match="slots"):
        implementation.KeyMap(slots, entries, 0, SECRET)


def test_index_arrays_that_are_too_short_are_refused(implementation: Any) -> None:
    keys = implementation.KeyMap(10, 9, 0, SECRET)
    with pytest.raises((ValueError, IndexError)):
        keys.note(b"", 0, 5, memoryview(array("q", [0])), memoryview(array("i", [0])), 0)


def test_a_map_takes_no_more_memory_than_allowed() -> None:
    keys = key_map.new_key_map(10**9, 16_000, 0.9, 0, SECRET)
    assert keys.size_bytes <= 16_000


def test_a_map_for_few_keys_is_small() -> None:
    assert key_map.new_key_map(100, 1 << 30, 0.9, 0, SECRET).size_bytes <= 2000


def test_a_full_map_takes_less_than_24_bytes_a_key() -> None:
    keys = key_map.new_key_map(10_000, 1 << 20, 0.75, 0, SECRET)
    note(keys, [(b"%d" % at, b"") for at in range(10_000)], 0)
    assert len(keys) == 10_000
    assert keys.size_bytes / len(keys) < 24
