"""Rows to partitions, a chunk of columns at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from ottla.protocol.records._plain_partitions import murmur2
from ottla.spark.sink.errors import InvalidRows
from ottla.spark.sink.input_columns import SinkColumns
from ottla.spark.sink.row_partitioning import Splitter, gather

PARTITIONS = {"orders": 6, "bills": 3, "one": 1}
TYPES = {
    "key": pa.binary(), "value": pa.string(), "topic": pa.string(), "partition": pa.int32(),
    "headers": pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())])),
}  # fmt: skip


def rows(**columns: Sequence[Any]) -> pa.RecordBatch:
    return pa.record_batch({name: pa.array(each, TYPES[name]) for name, each in columns.items()})


def splitter(topic: str | None = "orders", *, run_bytes: int = 1000, **has: bool) -> Splitter:
    wanted = {"has_key": False, "has_headers": False, "has_partition": False, **has}
    return Splitter(
        SinkColumns(topic, **wanted), PARTITIONS.__getitem__, run_bytes=run_bytes, first_turn=0
    )


def split(by: Splitter, chunk: pa.RecordBatch) -> dict[str, list[Any]]:
    found = {str(part.partition): part.rows.column("value").to_pylist() for part in by.split(chunk)}
    assert sum(map(len, found.values())) == chunk.num_rows
    return found


def place(key: bytes, count: int = 6) -> int:
    return (murmur2(key) & 0x7FFFFFFF) % count


def test_keys_go_where_kafkas_own_producer_sends_them_and_keep_their_order() -> None:
    keys = [f"key-{number % 7}".encode() for number in range(100)]
    values = [str(number) for number in range(100)]
    found = split(splitter(has_key=True), rows(key=keys, value=values))
    for partition in range(6):
        expected = [v for k, v in zip(keys, values, strict=True) if place(k) == partition]
        assert found.get(f"orders-{partition}", []) == expected


def test_a_slice_of_a_batch_is_split_as_any_other() -> None:
    whole = rows(key=[b"x", b"a", b"b", b"c"], value=["0", "1", "2", "3"])
    found = split(splitter(has_key=True), whole.slice(1, 2))
    assert found == split(splitter(has_key=True), rows(key=[b"a", b"b"], value=["1", "2"]))


def test_a_partition_named_goes_before_the_key() -> None:
    chunk = rows(key=[b"a", b"a", None], value=["0", "1", "2"], partition=[4, None, 5])
    found = split(splitter(has_key=True, has_partition=True), chunk)
    expected: dict[str, list[str]] = {}
    for partition, value in ((4, "0"), (place(b"a"), "1"), (5, "2")):
        expected.setdefault(f"orders-{partition}", []).append(value)
    assert found == expected


@pytest.mark.parametrize("wrong", [-1, 6])
def test_a_partition_that_the_topic_does_not_have_is_refused(wrong: int) -> None:
    chunk = rows(value=["0", "1"], partition=[None, wrong])
    with pytest.raises(InvalidRows, match=f"orders names partition {wrong}.*0 to 5.*drop"):
        split(splitter(has_partition=True), chunk)


def test_rows_without_key_are_assigned_round_robin_in_chunks() -> None:
    by = splitter()
    assert split(by, rows(value=["a", "b"])) == {"orders-0": ["a", "b"]}
    assert split(by, rows(value=["c"])) == {"orders-1": ["c"]}


def test_many_rows_without_key_are_spread_in_runs() -> None:
    found = split(splitter(run_bytes=2000), rows(value=["x" * 96] * 100))
    assert [len(found[f"orders-{partition}"]) for partition in range(5)] == [20] * 5


def test_rows_without_key_among_others_are_assigned_round_robin_too() -> None:
    found = split(splitter(has_key=True), rows(key=[b"a", None], value=["0", "1"]))
    assert found == (
        {"orders-0": ["1"], f"orders-{place(b'a')}": ["0"]}
        if place(b"a") else {"orders-0": ["0", "1"]}
    )  # fmt: skip


def test_a_column_names_the_topic_of_each_row() -> None:
    chunk = rows(topic=["one", "bills", "one"], value=["0", "1", "2"], key=[b"a", b"b", b"c"])
    found = split(splitter(None, has_key=True), chunk)
    assert found == {"one-0": ["0", "2"], f"bills-{place(b'b', 3)}": ["1"]}


def test_a_row_without_topic_is_refused_by_its_number() -> None:
    by = splitter(None)
    split(by, rows(topic=["one", "one"], value=["0", "1"]))
    with pytest.raises(InvalidRows, match="Row 3 of this task"):
        split(by, rows(topic=["one", None], value=["2", "3"]))


def test_headers_and_tombstones_travel_with_their_rows() -> None:
    headers = [[("h", b"1")], None, []]
    chunk = rows(key=[b"a", b"b", b"c"], value=[None, "1", "2"], headers=headers)
    parts = list(splitter("one", has_key=True, has_headers=True).split(chunk))
    assert [part.rows.column("value").to_pylist() for part in parts] == [[None, "1", "2"]]
    assert parts[0].rows.column("headers").to_pylist() == [[{"key": "h", "value": b"1"}], None, []]


def test_batches_are_gathered_to_chunks() -> None:
    small = rows(value=["x" * 100] * 10)
    chunks = list(gather([small, rows(value=[]), *[small] * 6], bytes_max=3000))
    assert [chunk.num_rows for chunk in chunks] == [30, 30, 10]


def test_a_large_batch_stays_by_itself() -> None:
    small, large = rows(value=["x" * 100] * 10), rows(value=["x" * 100] * 100)
    chunks = list(gather([small, large, small], bytes_max=3000))
    assert [chunk.num_rows for chunk in chunks] == [10, 100, 10]


def test_no_rows_make_no_chunk() -> None:
    assert list(gather([rows(value=[])], bytes_max=1)) == []


def test_chunks_keep_all_rows_in_their_order_however_large_they_are() -> None:
    batches = [rows(value=[f"{number}-{at}" for at in range(3)]) for number in range(7)]
    everything = [value for batch in batches for value in batch.column("value").to_pylist()]
    for bytes_max in (1, batches[0].nbytes, batches[0].nbytes + 1, 3 * batches[0].nbytes, 10**6):
        chunks = list(gather(iter(batches), bytes_max))
        found = [value for chunk in chunks for value in chunk.column("value").to_pylist()]
        assert found == everything
        assert all(chunk.nbytes <= 2 * max(bytes_max, batches[0].nbytes) for chunk in chunks)


def test_every_row_has_a_run_of_its_own_where_rows_are_large() -> None:
    by = splitter(run_bytes=1)
    chunk = rows(value=["x" * 50] * 9)
    places = [str(part.partition) for part in by.split(chunk)]
    assert places == [f"orders-{at % 6}" for at in range(9)]
    again = split(by, rows(value=["y"]))
    assert list(again) == ["orders-3"], "round-robin continues where it was"
