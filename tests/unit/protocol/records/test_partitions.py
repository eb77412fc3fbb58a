"""Keys to partitions as Kafka's own producer does it, and rows grouped by partition."""

from __future__ import annotations

from array import array

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.protocol.records.loops import agreed

from ottla.protocol.records._plain_partitions import murmur2
from ottla.protocol.records.arrow_building import string_column

KEYS = st.lists(st.none() | st.binary(max_size=40), max_size=50)


@pytest.mark.parametrize(
    ("key", "signed"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_the_hash_is_that_of_kafkas_own_producer(key: bytes, signed: int) -> None:
    assert murmur2(key) == signed % 2**32


@given(KEYS, st.integers(1, 2**31 - 1))
def test_each_key_has_its_partition_and_rows_without_key_get_the_one_given(
    keys: list[bytes | None], partitions: int
) -> None:
    column = string_column(pa.array([b"before", *keys], pa.binary())[1:])
    found = agreed("key_partitions", column, partitions, -1)
    assert isinstance(found, bytes)
    expected = [-1 if key is None else (murmur2(key) & 0x7FFFFFFF) % partitions for key in keys]
    assert list(array("i", found)) == expected


def test_no_partitions_are_refused() -> None:
    assert agreed("key_partitions", string_column(pa.array([b"key"])), 0, -1) is ValueError


@given(st.lists(st.integers(0, 5), max_size=60))
def test_rows_keep_their_order_within_a_group(groups: list[int]) -> None:
    found = agreed("group_rows", array("i", groups), 6)
    assert isinstance(found, tuple)
    order, ends = array("i", found[0]), found[1]
    expected = [[row for row, group in enumerate(groups) if group == each] for each in range(6)]
    starts = [0, *ends[:-1]]
    assert [list(order[start:end]) for start, end in zip(starts, ends, strict=True)] == expected


@pytest.mark.parametrize("group", [-1, 3, 2**31 - 1])
def test_a_group_that_does_not_exist_is_refused(group: int) -> None:
    assert agreed("group_rows", array("i", [0, group]), 3) is ValueError
