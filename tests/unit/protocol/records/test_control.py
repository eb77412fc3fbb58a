"""Control batches: transaction markers, and the other kinds that are only recognised."""

from __future__ import annotations

import struct

import pytest
from tests.unit.protocol.records.cases import NOW_MS, plain_records

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records.batch import read_header
from ottla.protocol.records.building import build_batch, build_emptied_batch
from ottla.protocol.records.control import (
    ControlType,
    EndMarker,
    build_end_marker,
    control_type_of,
    read_end_marker,
)
from ottla.protocol.records.reading import iterate_records
from ottla.protocol.records.record import Record


def control_batch(key: bytes | None, value: bytes | None) -> bytearray:
    return build_batch([Record(0, NOW_MS, key, value)], is_control=True)


@pytest.mark.parametrize("is_commit", [True, False])
def test_a_marker_comes_back(is_commit: bool) -> None:
    batch = build_end_marker(
        is_commit, 12, producer_id=7, producer_epoch=3, timestamp_ms=NOW_MS, base_offset=99
    )
    assert read_end_marker(batch) == EndMarker(is_commit, 12)
    header = read_header(batch)
    assert header.is_control
    assert header.is_transactional
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 3, -1)
    assert (header.base_offset, header.last_offset) == (99, 99)


def test_the_bytes_of_a_marker_are_kafkas() -> None:
    batch = build_end_marker(True, 5, producer_id=1, producer_epoch=0, timestamp_ms=NOW_MS)
    (record,) = iterate_records(batch)
    assert record.key == bytes.fromhex("00000001")
    assert record.value == bytes.fromhex("000000000005")


@pytest.mark.parametrize(("number", "expected"), [
    (2, ControlType.LEADER_CHANGE), (3, ControlType.SNAPSHOT_HEADER),
    (4, ControlType.SNAPSHOT_FOOTER), (5, ControlType.KRAFT_VERSION),
    (6, ControlType.KRAFT_VOTERS), (7, ControlType.UNKNOWN), (-3, ControlType.UNKNOWN),
])  # fmt: skip
def test_other_control_records_are_recognised_and_are_no_marker(
    number: int, expected: ControlType
) -> None:
    batch = control_batch(struct.pack(">hh", 0, number), b"anything")
    assert control_type_of(next(iterate_records(batch))) is expected
    assert read_end_marker(batch) is None


def test_later_versions_of_key_and_marker_are_read_as_far_as_they_are_known() -> None:
    batch = control_batch(struct.pack(">hhi", 9, 1, 0), struct.pack(">hiq", 4, 77, 0))
    assert read_end_marker(batch) == EndMarker(True, 77)


@pytest.mark.parametrize(("key", "value"), [
    (None, b""), (b"\0\0\0", b""), (b"\xff\xff\0\1", bytes(6)), (b"\0\0\0\1", None),
    (b"\0\0\0\1", bytes(5)), (b"\0\0\0\1", b"\xff\xff" + bytes(4)),
])  # fmt: skip
def test_malformed_markers_are_invalid_records(key: bytes | None, value: bytes | None) -> None:
    with pytest.raises(InvalidBatch) as caught:
        read_end_marker(control_batch(key, value))
    assert caught.value.code == ErrorCode.INVALID_RECORD


def test_a_control_batch_that_compaction_emptied_holds_no_marker() -> None:
    batch = build_end_marker(False, 1, producer_id=1, producer_epoch=0, timestamp_ms=NOW_MS)
    assert read_end_marker(build_emptied_batch(read_header(batch))) is None


def test_a_data_batch_is_no_control_batch() -> None:
    with pytest.raises(InvalidBatch, match="no control batch"):
        read_end_marker(build_batch(plain_records(1)))
