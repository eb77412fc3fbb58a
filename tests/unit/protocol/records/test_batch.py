"""The batch header: reading, walking from batch to batch, stamping."""

from __future__ import annotations

import pytest
from tests.unit.protocol.records.cases import NOW_MS, plain_records

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records.batch import (
    HEADER_BYTES,
    encode_header,
    has_valid_checksum,
    iterate_headers,
    read_header,
    stamp_log_append_time,
    stamp_offset_and_epoch,
)
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.reading import iterate_records


def test_a_header_survives_encoding() -> None:
    header = read_header(build_batch(plain_records(3), producer_id=7, producer_epoch=1))
    assert read_header(encode_header(header)) == header


def test_a_header_that_is_not_all_there_is_corrupt() -> None:
    with pytest.raises(InvalidBatch, match="60 bytes left") as caught:
        read_header(bytes(HEADER_BYTES - 1))
    assert caught.value.code == ErrorCode.CORRUPT_MESSAGE


def test_batches_are_found_one_after_the_other_until_one_is_cut_off() -> None:
    first, second = build_batch(plain_records(3)), build_batch(plain_records(5, 3), base_offset=3)
    data = bytes(first + second + second[:-1])
    found = [(position, header.last_offset) for position, header in iterate_headers(data)]
    assert found == [(0, 2), (len(first), 7)]


@pytest.mark.parametrize("length", [-(2**31), -1, 0, HEADER_BYTES - 12 - 1])
def test_a_length_that_no_batch_can_have_is_corrupt(length: int) -> None:
    batch = build_batch(plain_records(1))
    batch[8:12] = length.to_bytes(4, "big", signed=True)
    with pytest.raises(InvalidBatch):
        list(iterate_headers(batch))


def test_another_magic_is_corrupt() -> None:
    batch = build_batch(plain_records(1))
    batch[16] = 1
    with pytest.raises(InvalidBatch, match="magic 1"):
        list(iterate_headers(batch))


def test_stamping_offset_and_epoch_keeps_the_checksum() -> None:
    batch = build_batch(plain_records(3))
    stamp_offset_and_epoch(batch, 0, 1_000_000, 5)
    header = read_header(batch)
    assert (header.base_offset, header.partition_leader_epoch) == (1_000_000, 5)
    assert has_valid_checksum(batch, 0, header)
    assert [record.offset for record in iterate_records(batch)] == [1_000_000, 1_000_001, 1_000_002]


def test_log_append_time_is_the_time_of_every_record() -> None:
    batch = build_batch(plain_records(3))
    stamp_log_append_time(batch, 0, read_header(batch), NOW_MS + 500)
    assert has_valid_checksum(batch, 0, read_header(batch))
    assert {record.timestamp for record in iterate_records(batch)} == {NOW_MS + 500}


def test_sequences_wrap_to_zero() -> None:
    batch = build_batch(plain_records(3), producer_id=1, producer_epoch=0, base_sequence=2**31 - 2)
    assert read_header(batch).last_sequence == 0
