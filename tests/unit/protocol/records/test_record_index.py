"""Index arrays, search by time, and what compaction keeps of a batch."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.protocol.records.cases import NOW_MS, ordinary_time, plain_records, records

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records.batch import has_valid_checksum, read_header, stamp_log_append_time
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.reading import iterate_records, open_body
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_index import RecordIndex, index_records, iterate_indexes
from ottla.protocol.records.retaining import retain_records
from ottla.protocol.records.searching import (
    FoundRecord,
    find_timestamp,
)

CODECS = pytest.mark.parametrize("codec", Codec, ids=lambda codec: codec.name.lower())


@settings(max_examples=40, deadline=None)
@given(rows=records(), codec=st.sampled_from(Codec), step=st.integers(1, 5))
def test_indexes_say_where_everything_is(rows: list[Record], codec: Codec, step: int) -> None:
    batch = build_batch(rows, codec=codec)
    indexes = list(iterate_indexes(batch, records_max=step))
    assert [offset for index in indexes for offset in index.offsets] == [r.offset for r in rows]
    assert [time for index in indexes for time in index.timestamps] == [r.timestamp for r in rows]
    assert [key for index in indexes for key in RecordIndex.keys(index)] == [r.key for r in rows]
    assert [value for index in indexes for value in index.values()] == [r.value for r in rows]
    assert [n for index in indexes for n in index.header_counts] == [len(r.headers) for r in rows]


def test_records_lie_one_after_the_other() -> None:
    batch = build_batch(plain_records(5))
    (index,) = iterate_indexes(batch)
    assert list(index.starts[1:]) == list(index.ends[:-1])
    assert index.starts[0] == 0
    assert index.ends[4] == index.end == len(index.body)


def test_a_batch_of_append_time_gives_its_time_to_all() -> None:
    batch = build_batch(plain_records(3))
    stamp_log_append_time(batch, 0, read_header(batch), 77)
    (index,) = iterate_indexes(batch)
    assert list(index.timestamps) == [77, 77, 77]


@pytest.mark.parametrize("count", [-1, 3, 2**31 - 1])
def test_a_claimed_count_allocates_nothing(count: int) -> None:
    with pytest.raises(InvalidBatch) as caught:
        index_records(b"\x0c\0\0\0\1\1\0" * 2, count)
    assert caught.value.code == ErrorCode.INVALID_RECORD


ROWS = [Record(i, NOW_MS + time, b"k", b"v") for i, time in enumerate((5, 1, 9, 9, 3))]


@CODECS
def test_the_first_record_at_or_after_a_time_is_found(codec: Codec) -> None:
    batch = build_batch(ROWS, codec=codec)
    assert find_timestamp(batch, 0, NOW_MS) == FoundRecord(NOW_MS + 5, 0)
    assert find_timestamp(batch, 0, NOW_MS + 6) == FoundRecord(NOW_MS + 9, 2)
    assert find_timestamp(batch, 0, NOW_MS + 1, from_offset=1) == FoundRecord(NOW_MS + 1, 1)
    assert find_timestamp(batch, 0, NOW_MS + 10) is None


@settings(max_examples=40, deadline=None)
@given(
    rows=records(ordinary_time),
    codec=st.sampled_from(Codec),
    horizons=st.tuples(*2 * [st.one_of(st.none(), st.integers(0, 2**45))]),
    data=st.data(),
)
def test_records_that_stay_are_unchanged(
    rows: list[Record], codec: Codec, horizons: tuple[int | None, int | None], data: st.DataObject
) -> None:
    batch = build_batch(
        rows, codec=codec, last_offset_delta=100_000, delete_horizon_ms=horizons[0],
        producer_id=3, producer_epoch=1, base_sequence=8,
    )  # fmt: skip
    header = read_header(batch)
    keep = bytes(data.draw(st.lists(st.integers(0, 1), min_size=len(rows), max_size=len(rows))))
    smaller = retain_records(
        header, open_body(batch, 0, header), keep, delete_horizon_ms=horizons[1]
    )
    kept = [row for row, stays in zip(rows, keep, strict=True) if stays]
    assert list(iterate_records(smaller)) == kept
    found = read_header(smaller)
    assert has_valid_checksum(smaller, 0, found)
    assert found.last_offset == header.last_offset
    assert found.delete_horizon_ms == (horizons[0] if horizons[1] is None else horizons[1])
    assert found.max_timestamp == max((row.timestamp for row in kept), default=-1)
    assert (found.producer_id, found.base_sequence, found.codec) == (3, 8, codec)


def test_a_batch_of_append_time_keeps_its_time() -> None:
    batch = build_batch(plain_records(3), log_append_time_ms=NOW_MS + 50)
    header = read_header(batch)
    smaller = retain_records(header, open_body(batch, 0, header), b"\0\1\0", codec=Codec.LZ4)
    assert [record.timestamp for record in iterate_records(smaller)] == [NOW_MS + 50]
    assert read_header(smaller).codec == Codec.LZ4
