"""Records as Arrow tables and back."""

from __future__ import annotations

import datetime
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.protocol.records.cases import (
    NOW_MS,
    RECORD_SETS,
    ordinary_time,
    plain_records,
    records,
)

from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records import arrow
from ottla.protocol.records.arrow import read_arrow
from ottla.protocol.records.arrow_building import build_arrow_batches, rows_of
from ottla.protocol.records.batch import HEADER_BYTES, read_header, stamp_offset_and_epoch
from ottla.protocol.records.building import assemble, build_batch
from ottla.protocol.records.column_building import ColumnBatchSettings
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.control import build_end_marker
from ottla.protocol.records.reading import iterate_records
from ottla.protocol.records.record import Record

CODECS = pytest.mark.parametrize("codec", Codec, ids=lambda codec: codec.name.lower())
SETS = pytest.mark.parametrize("rows", RECORD_SETS.values(), ids=RECORD_SETS.keys())


def read_all(data: bytes | bytearray, **options: Any) -> list[Record]:
    """The tables as records again, after Arrow has checked them in full."""
    found = []
    for table in read_arrow(data, with_headers=True, **options):
        table.validate(full=True)
        times = table.column("timestamp").cast(pa.int64()).to_pylist()
        for row, timestamp in zip(table.to_pylist(), times, strict=True):
            headers = tuple((header["key"], header["value"]) for header in row["headers"])
            found.append(Record(row["offset"], timestamp, row["key"], row["value"], headers))
    return found


def log_of(*parts: list[Record], codec: Codec = Codec.NONE) -> bytes:
    return b"".join(build_batch(rows, base_offset=rows[0].offset, codec=codec) for rows in parts)


@CODECS
@SETS
def test_tables_hold_the_records(codec: Codec, rows: list[Record]) -> None:
    assert read_all(build_batch(rows, codec=codec)) == rows


@settings(max_examples=40, deadline=None)
@given(rows=records(ordinary_time), codec=st.sampled_from(Codec))
def test_tables_hold_any_records(rows: list[Record], codec: Codec) -> None:
    assert read_all(build_batch(rows, codec=codec)) == rows


def test_the_schema_is_what_was_promised() -> None:
    (table,) = read_arrow(build_batch(plain_records(2)))
    assert table.schema == arrow.SCHEMA
    assert table.column("timestamp")[0].as_py() == datetime.datetime.fromtimestamp(
        NOW_MS / 1000, datetime.UTC
    )
    (table,) = read_arrow(build_batch(plain_records(2)), with_headers=True)
    assert table.schema == arrow.SCHEMA_WITH_HEADERS


def test_small_batches_become_one_table_and_a_cut_off_one_is_left() -> None:
    data = log_of(*([record] for record in plain_records(20)))
    (table,) = read_arrow(data + data[:-1])
    assert table.num_rows == 39


def test_large_batches_become_several_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow, "ROWS_MAX", 7)
    rows = plain_records(30)
    data = log_of(rows[:10], rows[10:12], rows[12:])
    assert [table.num_rows for table in read_arrow(data)] == [7, 5, 7, 7, 4]
    assert read_all(data) == rows


def test_only_the_wanted_offsets_are_there() -> None:
    rows = plain_records(30)
    data = log_of(rows[:10], rows[10:20], rows[20:])
    assert read_all(data, from_offset=8, end_offset=13) == rows[8:13]


def test_control_batches_and_unwanted_ones_are_left_out() -> None:
    rows = plain_records(4)
    marker = build_end_marker(True, 0, producer_id=1, producer_epoch=0, timestamp_ms=0)
    stamp_offset_and_epoch(marker, 0, 2, 0)
    data = log_of(rows[:2]) + bytes(marker) + log_of(rows[3:])
    assert read_all(data) == [rows[0], rows[1], rows[3]]
    assert read_all(data, is_wanted=lambda header: header.base_offset == 3) == rows[3:]


def test_the_kind_of_timestamp_is_a_column_of_its_own() -> None:
    data = bytes(
        build_batch(plain_records(2)) + build_batch(plain_records(2), log_append_time_ms=7)
    )
    tables = list(read_arrow(data))
    assert [table.column("timestamp_type").to_pylist() for table in tables] == [[0, 0], [1, 1]]


def test_a_wrong_checksum_is_found_unless_checking_is_disabled() -> None:
    batch = build_batch(plain_records(2))
    batch[17] ^= 1
    with pytest.raises(InvalidBatch, match="checksum"):
        list(read_arrow(batch))
    assert sum(table.num_rows for table in read_arrow(batch, check_checksums=False)) == 2


def test_header_keys_that_are_not_utf_8_are_mended() -> None:
    batch = build_batch([Record(0, 0, None, None, (("key", b"v"), ("ok", None)))])
    body = bytes(batch[HEADER_BYTES:]).replace(b"key", b"k\xffy")
    (record,) = read_all(assemble(read_header(batch), body))
    assert record.headers == (("k\ufffdy", b"v"), ("ok", None))


def built(table: pa.RecordBatch, **settings: Any) -> list[bytearray]:
    made = build_arrow_batches(table, ColumnBatchSettings(**settings), now_ms=NOW_MS)
    return [batch.batch for batch in made]


@CODECS
@SETS
def test_a_table_gives_the_bytes_that_its_records_give(codec: Codec, rows: list[Record]) -> None:
    batch = build_batch(rows, codec=codec)
    (table,) = read_arrow(batch, with_headers=True)
    assert built(table, codec=codec) == [batch]


@settings(max_examples=40, deadline=None)
@given(rows=records(ordinary_time), cut=st.integers(0, 3))
def test_any_table_whole_or_sliced_gives_its_records(rows: list[Record], cut: int) -> None:
    rows = [row._replace(offset=number) for number, row in enumerate(rows)]
    for table in read_arrow(build_batch(rows), with_headers=True):
        for part in (table, table.slice(cut), table.slice(cut, 2)):
            expected = rows[cut : cut + part.num_rows] if part.num_rows < len(rows) else rows
            found = [record for batch in built(part) for record in iterate_records(batch)]
            assert [row[1:] for row in found] == [row[1:] for row in expected]


def test_rows_are_cut_into_batches_with_sequences_that_go_on() -> None:
    (table,) = read_arrow(build_batch(plain_records(100)))
    batches = built(table, bytes_max=600, producer_id=4, producer_epoch=0, base_sequence=2**31 - 10)
    headers = [read_header(batch) for batch in batches]
    assert len(headers) > 2
    assert sum(header.records_count for header in headers) == 100
    assert all(len(batch) <= HEADER_BYTES + 600 for batch in batches)
    assert headers[0].base_sequence == 2**31 - 10
    for earlier, later in pairwise(headers):
        assert later.base_sequence == (earlier.last_sequence + 1) & 0x7FFFFFFF


def test_a_row_over_the_size_is_a_batch_of_its_own() -> None:
    table = pa.RecordBatch.from_pydict({"value": [b"a" * 50, b"b" * 50, b"c"]})
    assert [read_header(batch).records_count for batch in built(table, bytes_max=10)] == [1, 1, 1]


@pytest.mark.parametrize("kind", [
    pa.binary(), pa.string(), pa.large_binary(), pa.large_string(), pa.binary_view(),
    pa.string_view(), pa.dictionary(pa.int32(), pa.string()),
], ids=str)  # fmt: skip
def test_strings_of_every_kind_are_values(kind: pa.DataType) -> None:
    values = pa.array(["a", None, "", "ccc"], pa.string()).cast(kind)
    (batch,) = built(pa.RecordBatch.from_arrays([values], ["value"]))
    assert [record.value for record in iterate_records(batch)] == [b"a", None, b"", b"ccc"]
    assert [record.key for record in iterate_records(batch)] == [None] * 4


def test_rows_without_timestamp_are_of_now() -> None:
    times = pa.array([1_000_000, None], pa.timestamp("us"))
    (batch,) = built(pa.RecordBatch.from_arrays([times], ["timestamp"]))
    assert [record.timestamp for record in iterate_records(batch)] == [1000, NOW_MS]
    (batch,) = built(pa.RecordBatch.from_pydict({"value": [b"v"]}))
    assert [record.timestamp for record in iterate_records(batch)] == [NOW_MS]


def test_headers_may_be_large_lists_with_nulls() -> None:
    kind = pa.large_list(pa.struct([("key", pa.large_string()), ("value", pa.binary())]))
    headers = pa.array([None, [], [{"key": "k", "value": None}, {"key": "", "value": b"v"}]], kind)
    (batch,) = built(pa.RecordBatch.from_arrays([headers], ["headers"]))
    assert [record.headers for record in iterate_records(batch)] == [
        (), (), (("k", None), ("", b"v")),
    ]  # fmt: skip


def test_a_header_without_key_is_a_mistake() -> None:
    headers = pa.array([[{"key": None, "value": b"v"}]], pa.list_(arrow.HEADER))
    with pytest.raises(ValueError, match="inconsistent"):
        built(pa.RecordBatch.from_arrays([headers], ["headers"]))


def test_headers_that_are_no_list_are_a_mistake() -> None:
    with pytest.raises(TypeError, match="headers are a list"):
        rows_of(pa.RecordBatch.from_pydict({"headers": ["a"]}), 0)


def test_a_table_without_rows_gives_no_batch() -> None:
    assert built(pa.RecordBatch.from_pylist([], schema=arrow.SCHEMA_WITH_HEADERS)) == []
