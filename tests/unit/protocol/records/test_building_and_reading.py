"""Batches built from records, and the records read back."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.protocol.records.cases import (
    INT64,
    NOW_MS,
    RECORD_SETS,
    plain_records,
    records,
    spoiled,
)

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records.batch import HEADER_BYTES, has_valid_checksum, read_header
from ottla.protocol.records.building import assemble, build_batch, build_emptied_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.reading import RECORDS_PER_STEP, iterate_records, open_body
from ottla.protocol.records.record import Record

CODECS = pytest.mark.parametrize("codec", Codec, ids=lambda codec: codec.name.lower())
SETS = pytest.mark.parametrize("rows", RECORD_SETS.values(), ids=RECORD_SETS.keys())


@CODECS
@SETS
def test_records_come_back_from_their_batch(codec: Codec, rows: list[Record]) -> None:
    batch = build_batch(rows, codec=codec)
    assert has_valid_checksum(batch, 0, read_header(batch))
    assert list(iterate_records(batch)) == rows


@settings(max_examples=40, deadline=None)
@given(rows=records(), codec=st.sampled_from(Codec), base_timestamp=INT64)
def test_any_records_come_back(rows: list[Record], codec: Codec, base_timestamp: int) -> None:
    horizon = None if base_timestamp < 0 else base_timestamp
    batch = build_batch(rows, codec=codec, delete_horizon_ms=horizon)
    assert list(iterate_records(batch)) == rows


def test_a_batch_is_read_at_any_position() -> None:
    first, second = build_batch(plain_records(2)), build_batch(plain_records(3))
    assert list(iterate_records(first + second, len(first))) == plain_records(3)


def test_the_header_says_what_was_asked_for() -> None:
    header = read_header(
        build_batch(
            plain_records(3, 10),
            base_offset=10,
            producer_id=5,
            producer_epoch=2,
            base_sequence=7,
            is_transactional=True,
            leader_epoch=4,
        )
    )
    assert (header.base_offset, header.last_offset, header.records_count) == (10, 12, 3)
    assert (header.base_timestamp, header.max_timestamp) == (NOW_MS, NOW_MS + 2)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (5, 2, 7)
    assert header.is_transactional
    assert not header.is_control
    assert header.partition_leader_epoch == 4


def test_a_batch_that_lost_records_keeps_its_range() -> None:
    batch = build_batch(plain_records(2, 100), base_offset=100, last_offset_delta=9)
    header = read_header(batch)
    assert (header.last_offset, header.records_count) == (109, 2)
    assert [record.offset for record in iterate_records(batch)] == [100, 101]


def test_a_delete_horizon_changes_no_time_of_a_record() -> None:
    rows = plain_records(3)
    batch = build_batch(rows, delete_horizon_ms=NOW_MS + 86_400_000)
    assert read_header(batch).delete_horizon_ms == NOW_MS + 86_400_000
    assert read_header(batch).max_timestamp == NOW_MS + 2
    assert list(iterate_records(batch)) == rows


def test_an_emptied_batch_keeps_offsets_sequences_and_producer() -> None:
    header = read_header(
        build_batch(
            plain_records(5, 50), base_offset=50, codec=Codec.ZSTD, producer_id=1,
            producer_epoch=3, base_sequence=9, is_transactional=True, delete_horizon_ms=1,
        )
    )  # fmt: skip
    batch = build_emptied_batch(header)
    emptied = read_header(batch)
    assert len(batch) == HEADER_BYTES
    assert has_valid_checksum(batch, 0, emptied)
    assert (emptied.base_offset, emptied.last_offset) == (50, 54)
    assert (emptied.producer_id, emptied.last_sequence) == (1, header.last_sequence)
    assert emptied.delete_horizon_ms is None
    assert list(iterate_records(batch)) == []


@pytest.mark.parametrize("offsets", [(0, 0), (1, 0), (-1,), (0, 2**31)])
def test_offsets_that_no_batch_can_hold_are_a_mistake_of_ours(offsets: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="cannot follow"):
        build_batch([Record(offset, NOW_MS, None, None) for offset in offsets])


@CODECS
def test_more_records_than_one_step_are_all_read(codec: Codec) -> None:
    for count in (RECORDS_PER_STEP - 1, RECORDS_PER_STEP, RECORDS_PER_STEP + 1):
        assert list(iterate_records(build_batch(plain_records(count), codec=codec))) == (
            plain_records(count)
        )


@pytest.mark.parametrize("count", [-(2**31), -1, 0, 1, 3, 2**31 - 1])
def test_a_wrong_count_is_an_invalid_record(count: int) -> None:
    batch = build_batch(plain_records(2))
    header = read_header(batch)._replace(records_count=count)
    with pytest.raises(InvalidBatch) as caught:
        list(iterate_records(assemble(header, batch[HEADER_BYTES:])))
    assert caught.value.code == ErrorCode.INVALID_RECORD


def test_a_batch_cut_off_is_corrupt() -> None:
    batch = build_batch(plain_records(2))
    with pytest.raises(InvalidBatch, match="are there") as caught:
        list(iterate_records(batch[:-1]))
    assert caught.value.code == ErrorCode.CORRUPT_MESSAGE


def test_an_error_says_which_batch_and_which_record() -> None:
    good, bad = build_batch(plain_records(2)), build_batch(plain_records(2, 50), base_offset=50)
    bad[HEADER_BYTES + 1 :] = bytes(len(bad) - HEADER_BYTES - 1)
    place = f"batch at {len(good)}, base offset 50: record 0"
    with pytest.raises(InvalidBatch, match=place):
        list(iterate_records(good + bad, len(good)))


def test_records_over_the_limit_are_not_opened() -> None:
    batch = build_batch(plain_records(100), codec=Codec.GZIP)
    with pytest.raises(InvalidBatch, match="more than 1000 bytes"):
        list(iterate_records(batch, decompressed_bytes_max=1000))


def test_header_keys_that_are_not_utf_8_are_mended_as_in_java() -> None:
    batch = build_batch([Record(0, NOW_MS, None, None, (("key", b"v"),))])
    header = read_header(batch)
    body = bytes(batch[HEADER_BYTES:]).replace(b"key", b"k\xffy")
    (record,) = iterate_records(assemble(header, body))
    assert record.headers == (("k\ufffdy", b"v"),)


def test_the_body_of_an_uncompressed_batch_is_a_view() -> None:
    batch = bytes(build_batch(plain_records(2)))
    body = open_body(batch, 0, read_header(batch))
    assert isinstance(body, memoryview)
    assert body.obj is batch


@settings(max_examples=40, deadline=None)
@given(data=st.data(), codec=st.sampled_from(Codec))
def test_spoiled_batches_end_in_records_or_in_a_typed_error(
    data: st.DataObject, codec: Codec
) -> None:
    batch = bytes(build_batch(data.draw(records()), codec=codec))
    with suppress(InvalidBatch):
        list(iterate_records(data.draw(spoiled(batch))))
