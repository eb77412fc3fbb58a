"""Validation of produced batches: the rules of Kafka 4.3.

Owns      all stateless checks of a produced batch, in Kafka's order, with its error codes.
Promises  header and checksum are always checked; the records of an uncompressed batch are walked; a
          compressed batch is decompressed only for compacted topics, whose records need keys.
Leaves    sequences and epochs to the producer state, permissions to the handlers, stamping of
          offsets and timestamps to the log.

Stricter than Kafka: bytes after the batch, a delete horizon or LogAppendTime set by a producer,
offsets that do not increase by one, a transactional batch without producer id, and lz4 with linked
blocks (which no Java consumer can read) are rejected. More lenient, because compressed batches are
not decompressed: their count and timestamps are accepted if the header is consistent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records import native
from ottla.protocol.records.batch import (
    DELETE_HORIZON_BIT,
    HEADER_BYTES,
    LENGTH_PREFIX_BYTES,
    MAGIC,
    NO_PRODUCER_ID,
    NO_TIMESTAMP,
    BatchHeader,
    Buffer,
    has_valid_checksum,
    read_header,
)
from ottla.protocol.records.compression import DECOMPRESSED_BYTES_MAX, Codec, codec_of, decompress
from ottla.protocol.records.faults import WORDING, Fault, InvalidRecord, InvalidRecords
from ottla.protocol.records.frame_bounds import has_linked_lz4_blocks
from ottla.protocol.records.record_index import RecordIndex, index_records

PRODUCE_VERSION_OF_ZSTD = 7
INT64_MAX = 2**63 - 1
_LEGACY_MAGICS = (0, 1)
_LEGACY_LENGTH_MIN = 14
# More than clients batch. The limit on records inspected individually to report invalid ones: a
# small batch may decompress to very many.
SCANNED_RECORDS_MAX = 10_000
# A reported record takes 60 to 100 bytes of the response, while a compressed one may have taken a
# single byte of the request: this many are reported for any batch, and more only in proportion to
# its size.
NAMED_RECORDS_MIN = 100
BYTES_PER_NAMED_RECORD = 16


@dataclass(frozen=True, slots=True)
class ProduceRules:
    """The topic settings that determine what may be appended."""

    message_bytes_max: int = 1_048_588
    is_compacted: bool = False
    is_log_append_time: bool = False
    timestamp_before_ms_max: int = INT64_MAX
    timestamp_after_ms_max: int = 3_600_000
    decompressed_bytes_max: int = DECOMPRESSED_BYTES_MAX


class CheckedBatch(NamedTuple):
    """A valid batch. If `max_timestamp` differs from the header's, the header is wrong and the
    log corrects it, as in Kafka."""

    header: BatchHeader
    max_timestamp: int


def check_produced(
    data: Buffer, rules: ProduceRules, *, produce_version: int, now_ms: int
) -> CheckedBatch:
    """The only batch in `data`; InvalidBatch with the code for the producer if it is invalid."""
    header = check_single_batch(data)
    codec = check_codec(header, produce_version)
    if header.base_offset != 0:
        raise _invalid(f"base offset {header.base_offset}: a producer's batch begins at 0")
    if header.size_bytes > rules.message_bytes_max:
        raise InvalidBatch(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"a batch of {header.size_bytes} bytes, {rules.message_bytes_max} are allowed",
        )
    if not has_valid_checksum(data, 0, header):
        raise _corrupt(f"the checksum is not {header.crc:#010x}")
    check_header(header)
    return CheckedBatch(header, _check_records(data, header, codec, rules, now_ms))


def check_request_records(data: Buffer, produce_version: int) -> None:
    """Checks of a partition in a request that do not depend on its log."""
    check_codec(check_single_batch(data), produce_version)


def check_single_batch(data: Buffer) -> BatchHeader:
    """The header of the batch in `data`: magic 2, complete, and nothing after it."""
    if len(data) < HEADER_BYTES:
        raise _invalid(f"{len(data)} bytes are no record batch")
    header = read_header(data)
    if header.batch_length < _LEGACY_LENGTH_MIN:
        raise _corrupt(f"a batch length of {header.batch_length}")
    if header.magic in _LEGACY_MAGICS:
        raise _invalid(f"magic {header.magic}: only batches of magic {MAGIC} are stored")
    if header.magic != MAGIC:
        raise _corrupt(f"magic {header.magic} is not known")
    if header.batch_length < HEADER_BYTES - LENGTH_PREFIX_BYTES:
        raise _corrupt(f"a batch length of {header.batch_length}")
    if header.size_bytes > len(data):
        raise _invalid(f"a batch of {header.size_bytes} bytes, of which {len(data)} came")
    if header.size_bytes < len(data):
        raise _invalid(f"{len(data) - header.size_bytes} bytes follow the batch")
    return header


def check_codec(header: BatchHeader, produce_version: int) -> Codec:
    codec = codec_of(header.codec)
    if codec is Codec.ZSTD and produce_version < PRODUCE_VERSION_OF_ZSTD:
        raise InvalidBatch(
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
            f"zstd in Produce version {produce_version}, it needs {PRODUCE_VERSION_OF_ZSTD}",
        )
    return codec


def check_header(header: BatchHeader) -> None:
    """Consistency of the header fields of a produced batch."""
    if header.last_offset_delta < 0:
        raise _invalid(f"a last offset delta of {header.last_offset_delta}")
    if header.records_count <= 0:
        raise _invalid(f"a count of {header.records_count} records")
    if header.records_count != header.last_offset_delta + 1:
        raise _invalid(
            f"{header.records_count} records with a last offset delta of {header.last_offset_delta}"
        )
    if header.is_control:
        raise _invalid("control records are not for clients to write")
    if header.attributes & DELETE_HORIZON_BIT:
        raise _invalid("a delete horizon is not for clients to set")
    if header.is_log_append_time:
        raise InvalidBatch(
            ErrorCode.INVALID_TIMESTAMP,
            "the timestamp type LogAppendTime is not for clients to set",
        )
    _check_producer(header)


def _check_producer(header: BatchHeader) -> None:
    if header.has_producer_id:
        if header.producer_id < 0 or header.producer_epoch < 0 or header.base_sequence < 0:
            raise _invalid(
                f"producer id {header.producer_id} with epoch {header.producer_epoch}"
                f" and sequence {header.base_sequence}"
            )
    elif header.is_transactional:
        raise _invalid(f"a transactional batch with producer id {NO_PRODUCER_ID}")


def _check_records(
    data: Buffer, header: BatchHeader, codec: Codec, rules: ProduceRules, now_ms: int
) -> int:
    """The largest timestamp of the records: the header's, if the batch is not decompressed."""
    body, start, end = data, HEADER_BYTES, header.size_bytes
    if codec is Codec.LZ4 and has_linked_lz4_blocks(memoryview(data)[HEADER_BYTES:]):
        raise _invalid("lz4 with linked blocks, which no Java consumer can read")
    if codec is not Codec.NONE:
        if not rules.is_compacted:
            check_timestamps((header.base_timestamp, header.max_timestamp), rules, now_ms)
            return header.max_timestamp
        body = decompress(codec, memoryview(data)[HEADER_BYTES:], rules.decompressed_bytes_max)
        start, end = 0, len(body)
    walked = body, start, end, header.records_count, header.base_timestamp, True
    try:
        least, most = native.walk(*walked, rules.is_compacted)
    except InvalidRecord:
        if not rules.is_compacted:
            raise
        native.walk(*walked, False)  # raises unless the fault was a missing key
        raise _name_wrong_records(header, memoryview(body)[start:end], rules, now_ms) from None
    if find_bad_timestamp((least, most), rules, now_ms) is not None:
        raise _name_wrong_records(header, memoryview(body)[start:end], rules, now_ms)
    return most


def _name_wrong_records(
    header: BatchHeader, body: Buffer, rules: ProduceRules, now_ms: int
) -> InvalidRecords:
    """Report the records with missing keys or invalid timestamps, which a walk has detected."""
    first, index = _index_first_wrong(header, body, rules, now_ms)
    code, count, wrong = ErrorCode.INVALID_RECORD, 0, list[tuple[int, str]]()
    named_max = named_records_max(header.size_bytes)
    earliest, latest = _limits(rules, now_ms)
    times_and_keys = zip(index.timestamps, index.key_lengths, strict=True)
    for record, (timestamp, key_length) in enumerate(times_and_keys, first):
        if rules.is_compacted and key_length < 0:
            what = WORDING[Fault.NULL_KEY]
        elif timestamp == NO_TIMESTAMP or earliest <= timestamp <= latest:
            continue
        else:
            code = ErrorCode.INVALID_TIMESTAMP  # takes precedence, as in Kafka
            what = _timestamp_limits(timestamp, rules, now_ms)
        count += 1
        if count <= named_max:
            wrong.append((record, what))
    are_all = first + len(index) == header.records_count
    return InvalidRecords(code, wrong, count_min=count, are_all=are_all)


def named_records_max(size_bytes: int) -> int:
    """The number of invalid records that a response may report for a batch or request of this
    size."""
    return max(NAMED_RECORDS_MIN, size_bytes // BYTES_PER_NAMED_RECORD)


def _index_first_wrong(
    header: BatchHeader, body: Buffer, rules: ProduceRules, now_ms: int
) -> tuple[int, RecordIndex]:
    """The records to inspect, beginning near the first invalid one, and the number of the first.
    Earlier ones are only walked by compiled loops."""
    start = 0
    for first in range(0, header.records_count, SCANNED_RECORDS_MAX):
        count = min(SCANNED_RECORDS_MAX, header.records_count - first)
        end = native.skip(body, start, len(body), first, count)
        part = memoryview(body)[start:end]
        if _has_wrong(part, count, header.base_timestamp, rules, now_ms):
            return first, index_records(part, count, base_timestamp=header.base_timestamp)
        start = end
    raise AssertionError("every record has a key and a time within limits")


def _has_wrong(
    part: Buffer, count: int, base_timestamp: int, rules: ProduceRules, now_ms: int
) -> bool:
    try:
        times = native.walk(part, 0, len(part), count, base_timestamp, False, rules.is_compacted)
    except InvalidRecord:
        return True
    return find_bad_timestamp(times, rules, now_ms) is not None


def check_timestamps(timestamps: Sequence[int], rules: ProduceRules, now_ms: int) -> None:
    bad = find_bad_timestamp(timestamps, rules, now_ms)
    if bad is not None:
        what = _timestamp_limits(timestamps[bad], rules, now_ms)
        raise InvalidBatch(ErrorCode.INVALID_TIMESTAMP, what)


def find_bad_timestamp(timestamps: Iterable[int], rules: ProduceRules, now_ms: int) -> int | None:
    """The first timestamp outside the topic's limits. Records without one (-1) are valid."""
    earliest, latest = _limits(rules, now_ms)
    for row, timestamp in enumerate(timestamps):
        if timestamp != NO_TIMESTAMP and not earliest <= timestamp <= latest:
            return row
    return None


def _limits(rules: ProduceRules, now_ms: int) -> tuple[int, int]:
    if rules.is_log_append_time:
        return -INT64_MAX - 1, INT64_MAX
    return now_ms - rules.timestamp_before_ms_max, now_ms + rules.timestamp_after_ms_max


def _timestamp_limits(timestamp: int, rules: ProduceRules, now_ms: int) -> str:
    earliest, latest = _limits(rules, now_ms)
    return f"timestamp {timestamp} is not between {earliest} and {latest}"


def _invalid(what: str) -> InvalidBatch:
    return InvalidBatch(ErrorCode.INVALID_RECORD, what)


def _corrupt(what: str) -> InvalidBatch:
    return InvalidBatch(ErrorCode.CORRUPT_MESSAGE, what)
