"""What producers may send: Kafka's rules, in Kafka's order, with Kafka's codes."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import replace
from typing import Any

import lz4.frame
import pytest
from tests.unit.protocol.records.cases import NOW_MS, RECORD_SETS, plain_records
from tests.unit.protocol.records.loops import implementations

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records import checking
from ottla.protocol.records.batch import (
    CONTROL_BIT,
    DELETE_HORIZON_BIT,
    HEADER_BYTES,
    TIMESTAMP_TYPE_BIT,
    TRANSACTIONAL_BIT,
    BatchHeader,
    read_header,
)
from ottla.protocol.records.building import assemble, build_batch, seal
from ottla.protocol.records.checking import (
    NAMED_RECORDS_MIN,
    SCANNED_RECORDS_MAX,
    CheckedBatch,
    ProduceRules,
    check_produced,
)
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.faults import InvalidRecord, InvalidRecords
from ottla.protocol.records.record import Record

CODECS = pytest.mark.parametrize("codec", Codec, ids=lambda codec: codec.name.lower())
LAX = ProduceRules(message_bytes_max=10_000_000)
COMPACTED = ProduceRules(message_bytes_max=10_000_000, is_compacted=True)


def check(data: bytes | bytearray, rules: ProduceRules = LAX, version: int = 12) -> CheckedBatch:
    return check_produced(data, rules, produce_version=version, now_ms=NOW_MS)


def refusal(data: bytes | bytearray, rules: ProduceRules = LAX, version: int = 12) -> InvalidBatch:
    with pytest.raises(InvalidBatch) as caught:
        check(data, rules, version)
    return caught.value


def changed(**fields: int) -> bytearray:
    """A good batch of three records with other header fields, and the right checksum."""
    batch = build_batch(plain_records(3))
    header = read_header(batch)._replace(**fields)
    seal(batch, header)
    return batch


@CODECS
@pytest.mark.parametrize("rules", [LAX, COMPACTED], ids=["plain", "compacted"])
def test_a_good_batch_is_taken(codec: Codec, rules: ProduceRules) -> None:
    batch = build_batch(plain_records(100), codec=codec)
    assert check(batch, rules) == CheckedBatch(read_header(batch), NOW_MS + 99)


@pytest.mark.parametrize("rows", RECORD_SETS.values(), ids=RECORD_SETS.keys())
def test_all_kinds_of_records_are_taken(rows: list[Record]) -> None:
    assert check(build_batch(rows)).header.records_count == len(rows)


@pytest.mark.parametrize("buffer", [bytes, bytearray, memoryview])
def test_any_buffer_is_taken(buffer: Callable[[bytearray], bytes]) -> None:
    assert check(buffer(build_batch(plain_records(3))))


def test_an_idempotent_transactional_batch_is_taken() -> None:
    batch = build_batch(
        plain_records(3), producer_id=1, producer_epoch=0, base_sequence=0, is_transactional=True
    )
    assert check(batch).header.is_transactional


CORRUPT, INVALID = ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_RECORD
BAD_HEADERS: dict[str, tuple[bytearray, ErrorCode]] = {
    "base offset": (changed(base_offset=1), INVALID),
    "negative offset delta": (changed(last_offset_delta=-1), INVALID),
    "no records": (changed(records_count=0, last_offset_delta=-1), INVALID),
    "count and range differ": (changed(records_count=4), INVALID),
    "more than there are": (changed(records_count=4, last_offset_delta=3), INVALID),
    "fewer than there are": (changed(records_count=2, last_offset_delta=1), INVALID),
    "2**31 - 1 records": (
        changed(records_count=2**31 - 1, last_offset_delta=2**31 - 2),
        INVALID,
    ),
    "control": (changed(attributes=CONTROL_BIT), INVALID),
    "delete horizon": (changed(attributes=DELETE_HORIZON_BIT), INVALID),
    "append time": (changed(attributes=TIMESTAMP_TYPE_BIT), ErrorCode.INVALID_TIMESTAMP),
    "transaction without producer": (changed(attributes=TRANSACTIONAL_BIT), INVALID),
    "producer without sequence": (changed(producer_id=1, producer_epoch=0), INVALID),
    "producer without epoch": (changed(producer_id=1, base_sequence=0), INVALID),
    "negative producer": (changed(producer_id=-2, producer_epoch=0, base_sequence=0), INVALID),
    "magic 0": (changed(magic=0), INVALID),
    "magic 1": (changed(magic=1), INVALID),
    "magic 3": (changed(magic=3), CORRUPT),
    "codec 5": (changed(attributes=5), ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
}


@pytest.mark.parametrize(("batch", "code"), BAD_HEADERS.values(), ids=BAD_HEADERS.keys())
def test_a_header_that_no_producer_may_send_is_refused(batch: bytearray, code: ErrorCode) -> None:
    assert refusal(batch).code == code


def test_exactly_one_whole_batch_is_taken() -> None:
    batch = build_batch(plain_records(2))
    for data in (b"", batch[:60], batch[:-1], batch + batch, batch + b"\0"):
        assert refusal(data).code == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("length", [-1, 0, 13, 48])
def test_a_length_that_no_batch_can_have_is_corrupt(length: int) -> None:
    batch = build_batch(plain_records(2))
    batch[8:12] = length.to_bytes(4, "big", signed=True)
    assert refusal(batch).code == ErrorCode.CORRUPT_MESSAGE


def test_a_wrong_checksum_is_corrupt() -> None:
    batch = build_batch(plain_records(2))
    batch[-1] ^= 1
    assert refusal(batch).code == ErrorCode.CORRUPT_MESSAGE


def test_a_batch_over_the_limit_is_too_large_and_one_at_the_limit_is_not() -> None:
    batch = build_batch(plain_records(50))
    assert check(batch, ProduceRules(message_bytes_max=len(batch)))
    too_large = refusal(batch, ProduceRules(message_bytes_max=len(batch) - 1))
    assert too_large.code == ErrorCode.MESSAGE_TOO_LARGE


def test_zstd_needs_produce_version_7() -> None:
    batch = build_batch(plain_records(2), codec=Codec.ZSTD)
    assert check(batch, version=7)
    assert refusal(batch, version=6).code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def test_offsets_inside_the_batch_rise_by_one() -> None:
    rows = [Record(0, NOW_MS, None, b"a"), Record(2, NOW_MS, None, b"b")]
    batch = build_batch(rows, last_offset_delta=1)
    error = refusal(batch)
    assert isinstance(error, InvalidRecord)
    assert (error.code, error.record) == (ErrorCode.INVALID_RECORD, 1)


@CODECS
def test_a_compacted_topic_requires_keys(codec: Codec) -> None:
    rows = [Record(0, NOW_MS, b"", b"a"), Record(1, NOW_MS, None, b"b")]
    batch = build_batch(rows, codec=codec)
    assert check(batch)
    error = refusal(batch, COMPACTED)
    assert isinstance(error, InvalidRecord)
    assert (error.code, error.record) == (ErrorCode.INVALID_RECORD, 1)


@CODECS
def test_every_record_that_a_compacted_topic_does_not_take_is_named(codec: Codec) -> None:
    keys = [b"k", None, b"k", None]
    rows = [Record(i, NOW_MS, key, b"v") for i, key in enumerate(keys)]
    error = refusal(build_batch(rows, codec=codec), COMPACTED)
    assert isinstance(error, InvalidRecords)
    assert [record for record, _ in error.named()] == [1, 3]


def test_a_wrong_time_counts_more_than_a_missing_key_and_both_records_are_named() -> None:
    rows = [Record(0, NOW_MS, None, b"v"), Record(1, 10**15, b"k", b"v")]
    error = refusal(build_batch(rows), COMPACTED)
    assert isinstance(error, InvalidRecords)
    assert error.code == ErrorCode.INVALID_TIMESTAMP
    assert [record for record, _ in error.named()] == [0, 1]


def keyless(count: int, *, wrong: Container[int], codec: Codec = Codec.NONE) -> bytearray:
    rows = [Record(i, NOW_MS, None if i in wrong else b"", b"") for i in range(count)]
    return build_batch(rows, codec=codec)


def test_ten_wrong_records_of_a_hundred_are_all_named_however_small_the_batch_is() -> None:
    batch = keyless(100, wrong=range(0, 100, 10), codec=Codec.ZSTD)
    error = refusal(batch, COMPACTED)
    assert isinstance(error, InvalidRecords)
    assert [record for record, _ in error.named()] == list(range(0, 100, 10))
    assert error.message.endswith("wrong records in the batch: 10")


def test_of_few_bytes_that_open_to_many_wrong_records_the_first_ones_are_named() -> None:
    batch = keyless(1000, wrong=range(1000), codec=Codec.ZSTD)
    error = refusal(batch, COMPACTED)
    assert isinstance(error, InvalidRecords)
    assert [record for record, _ in error.named()] == list(range(NAMED_RECORDS_MIN))
    assert error.message.endswith("wrong records in the batch: 1000")


def test_a_batch_with_more_bytes_has_more_of_its_wrong_records_named() -> None:
    batch = keyless(5000, wrong=range(5000))
    error = refusal(batch, COMPACTED)
    assert isinstance(error, InvalidRecords)
    assert len(error.named()) == len(batch) // 16 > NAMED_RECORDS_MIN


@pytest.mark.parametrize("loops", implementations(), ids=lambda loops: loops.__name__)
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_of_more_records_than_clients_batch_few_are_looked_at_one_by_one(
    loops: Any, codec: Codec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "native", loops)
    last = 2 * SCANNED_RECORDS_MAX
    batch = keyless(last + 1, wrong={last - 2, last}, codec=codec)
    error = refusal(batch, COMPACTED)
    assert isinstance(error, InvalidRecords)
    assert [record for record, _ in error.named()] == [last - 2]
    assert error.message.endswith("wrong records in the batch: at least 1")
    error = refusal(keyless(last + 1, wrong={last}, codec=codec), COMPACTED)
    assert isinstance(error, InvalidRecords)
    assert [record for record, _ in error.named()] == [last]
    assert "at least" not in error.message, "none was before"


def test_the_first_wrong_time_is_named_however_far_back_it_is() -> None:
    times_ms = [NOW_MS] * (2 * SCANNED_RECORDS_MAX) + [0, NOW_MS, -1, NOW_MS + 101]
    rules = replace(TIGHT, message_bytes_max=10_000_000)
    error = refusal(times(*times_ms), rules)
    assert isinstance(error, InvalidRecords)
    assert error.code == ErrorCode.INVALID_TIMESTAMP
    assert [record for record, _ in error.named()] == [len(times_ms) - 4, len(times_ms) - 1]


def test_a_wrong_time_among_records_that_are_not_named_any_more_still_decides_the_code() -> None:
    rows = [Record(i, NOW_MS, None, b"") for i in range(NAMED_RECORDS_MIN)]
    rows.append(Record(NAMED_RECORDS_MIN, 10**15, b"k", b""))
    error = refusal(build_batch(rows, codec=Codec.ZSTD), COMPACTED)
    assert isinstance(error, InvalidRecords)
    assert error.code == ErrorCode.INVALID_TIMESTAMP
    assert len(error.named()) == NAMED_RECORDS_MIN
    assert error.message.endswith(f"wrong records in the batch: {NAMED_RECORDS_MIN + 1}")


def test_a_record_that_cannot_be_read_counts_more_than_one_without_key() -> None:
    rows = [Record(0, NOW_MS, None, b"a"), Record(2, NOW_MS, b"k", b"b")]
    error = refusal(build_batch(rows, last_offset_delta=1), COMPACTED)
    assert isinstance(error, InvalidRecord)
    assert error.record == 1


def test_compressed_bodies_are_opened_for_compacted_topics_alone() -> None:
    header = read_header(build_batch(plain_records(2), codec=Codec.GZIP))
    batch = assemble(header._replace(attributes=Codec.NONE), b"no gzip")
    seal(batch, header)
    assert check(batch)
    assert refusal(batch, COMPACTED).code == ErrorCode.CORRUPT_MESSAGE


def test_lz4_that_java_cannot_read_is_refused() -> None:
    batch = build_batch([Record(0, NOW_MS, None, bytes(200_000))])
    frame = lz4.frame.compress(batch[HEADER_BYTES:], block_linked=True)
    linked = bytearray(HEADER_BYTES) + frame
    seal(linked, read_header(batch)._replace(attributes=Codec.LZ4))
    assert refusal(linked).code == ErrorCode.INVALID_RECORD


def times(*timestamps: int, codec: Codec = Codec.NONE) -> bytearray:
    rows = [Record(i, timestamp, b"k", b"v") for i, timestamp in enumerate(timestamps)]
    return build_batch(rows, codec=codec)


TIGHT = ProduceRules(timestamp_before_ms_max=1000, timestamp_after_ms_max=100)


@CODECS
def test_timestamps_lie_within_the_topics_limits(codec: Codec) -> None:
    assert check(times(NOW_MS - 1000, NOW_MS + 100, codec=codec), TIGHT)
    early, late = (
        times(NOW_MS - 1001, NOW_MS, codec=codec),
        times(NOW_MS, NOW_MS + 101, codec=codec),
    )
    assert refusal(early, TIGHT).code == ErrorCode.INVALID_TIMESTAMP
    assert refusal(late, TIGHT).code == ErrorCode.INVALID_TIMESTAMP


def test_the_record_with_the_bad_timestamp_is_named() -> None:
    error = refusal(times(NOW_MS, NOW_MS, NOW_MS + 101, NOW_MS), TIGHT)
    assert isinstance(error, InvalidRecord)
    assert error.record == 2


def test_every_record_with_a_bad_timestamp_is_named() -> None:
    error = refusal(times(NOW_MS + 101, NOW_MS, NOW_MS - 1001, -1), TIGHT)
    assert isinstance(error, InvalidRecords)
    assert [record for record, _ in error.named()] == [0, 2]


def test_a_record_without_timestamp_is_welcome() -> None:
    assert check(times(-1, NOW_MS), TIGHT).max_timestamp == NOW_MS
    assert check(times(-1), TIGHT).max_timestamp == -1


def test_log_append_time_topics_take_any_timestamp() -> None:
    rules = ProduceRules(
        timestamp_before_ms_max=1, timestamp_after_ms_max=1, is_log_append_time=True
    )
    assert check(times(5), rules)


def test_a_wrong_largest_timestamp_in_the_header_is_found() -> None:
    batch = times(NOW_MS, NOW_MS + 5, NOW_MS + 1)
    seal(batch, read_header(batch)._replace(max_timestamp=NOW_MS + 50))
    assert check(batch).max_timestamp == NOW_MS + 5


def test_checks_are_made_in_kafkas_order() -> None:
    """The first of several faults counts: codec, base offset, size, checksum, header, records."""
    header: BatchHeader = read_header(changed())._replace(
        attributes=Codec.ZSTD | CONTROL_BIT, base_offset=5, records_count=9
    )
    batch = changed()
    seal(batch, header)
    batch[17] ^= 1
    small = ProduceRules(message_bytes_max=10)
    assert refusal(batch, small, 6).code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert "base offset" in refusal(batch, small).message
    batch[:8] = bytes(8)
    assert refusal(batch, small).code == ErrorCode.MESSAGE_TOO_LARGE
    assert refusal(batch).code == ErrorCode.CORRUPT_MESSAGE
    batch[17] ^= 1
    assert "9 records" in refusal(batch).message
