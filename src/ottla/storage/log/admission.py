"""What happens to a batch between its arrival and its write: checks, codec, timestamps.

Owns      the rules of a topic for what is appended, and the rewriting they ask for.
Promises  bytes that leave here are one whole batch with a right checksum; a batch that is refused
          is not changed.
Leaves    offsets and epochs to `append.py`, sequences to the producer state, the checks of produced
          batches to `protocol/records/checking.py`.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from ottla.config.topic_options import TopicConfig
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records import native
from ottla.protocol.records.batch import (
    CODEC_MASK,
    KNOWN_ATTRIBUTES,
    BatchHeader,
    Buffer,
    has_valid_checksum,
    iterate_headers,
    read_header,
    stamp_checksum,
    stamp_log_append_time,
)
from ottla.protocol.records.building import assemble
from ottla.protocol.records.checking import ProduceRules, check_produced, check_single_batch
from ottla.protocol.records.compression import DECOMPRESSED_BYTES_MAX, Codec
from ottla.protocol.records.reading import open_body
from ottla.storage.errors import StorageError
from ottla.storage.log.quick_admission import recognise
from ottla.storage.log.topic_codec import bytes_at_once, codec_and_level, fast_level

RATIO_MAX = 8  # by which large batches may grow when they are decompressed; small ones by more
_TIMESTAMP = Struct(">q")
_MAX_TIMESTAMP_POSITION = 35


class UnexpectedOffset(StorageError):
    """Replicated records that do not begin at the end of the log."""

    def __init__(self, first_offset: int, log_end_offset: int) -> None:
        super().__init__(f"records from offset {first_offset}, the log ends at {log_end_offset}")
        self.first_offset = first_offset
        self.log_end_offset = log_end_offset


class AppendRules(NamedTuple):
    """The settings of a topic that concern a batch."""

    produce: ProduceRules
    codec: Codec | None  # None keeps what the producer chose
    level: int | None
    is_log_append_time: bool
    batch_bytes_max: int
    segment_bytes: int
    may_open: bool  # compressed batches may have to be decompressed
    bytes_at_once: int  # what may be compressed again on the event loop
    keeps_batches: bool  # a valid batch is stored as its producer made it


def append_rules(config: TopicConfig) -> AppendRules:
    codec, level = codec_and_level(config)
    is_log_append_time = config.message_timestamp_type == "LogAppendTime"
    return AppendRules(
        ProduceRules(
            message_bytes_max=config.max_message_bytes,
            is_compacted=config.is_compacted,
            is_log_append_time=is_log_append_time,
            timestamp_before_ms_max=config.message_timestamp_before_max_ms,
            timestamp_after_ms_max=config.message_timestamp_after_max_ms,
            decompressed_bytes_max=decompressed_bytes_max(config),
        ),
        codec,
        level,
        is_log_append_time,
        config.max_message_bytes,
        config.segment_bytes,
        may_open(config),
        bytes_at_once(codec, level),
        codec is None and not is_log_append_time,
    )


def may_open(config: TopicConfig) -> bool:
    codec, _level = codec_and_level(config)
    return config.is_compacted or codec is not None


def decompressed_bytes_max(config: TopicConfig) -> int:
    """The limit for one batch of the topic: whatever a producer may send can be decompressed."""
    return max(DECOMPRESSED_BYTES_MAX, RATIO_MAX * config.max_message_bytes)


class Admitted(NamedTuple):
    """A client's batch that may be stored, in the codec of its topic, without its timestamps."""

    data: bytearray | memoryview
    header: BatchHeader  # as it came
    max_timestamp: int


def admit_produced(
    data: Buffer, rules: AppendRules, produce_version: int, now_ms: int
) -> tuple[bytearray | memoryview, BatchHeader]:
    """A client's batch, ready to get its offset, and its header; InvalidBatch with the code for
    the producer."""
    header, max_timestamp = recognise(
        data, rules.produce, produce_version, now_ms
    ) or check_produced(data, rules.produce, produce_version=produce_version, now_ms=now_ms)
    if rules.keeps_batches and max_timestamp == header.max_timestamp:
        if type(data) is memoryview and not data.readonly:
            return data, header  # the usual case
        return _writable(data), header
    writable = _in_final_codec(data, header, rules)
    return stamp(Admitted(writable, header, max_timestamp), rules, now_ms)


def admit(data: Buffer, rules: AppendRules, produce_version: int, now_ms: int) -> Admitted:
    """Everything that needs no log, and so may run in another thread."""
    header, max_timestamp = recognise(
        data, rules.produce, produce_version, now_ms
    ) or check_produced(data, rules.produce, produce_version=produce_version, now_ms=now_ms)
    return Admitted(_in_final_codec(data, header, rules), header, max_timestamp)


def stamp(
    admitted: Admitted, rules: AppendRules, now_ms: int
) -> tuple[bytearray | memoryview, BatchHeader]:
    """The batch with the timestamps that its topic requires, and its header."""
    writable, header, max_timestamp = admitted
    if rules.is_log_append_time:
        stamp_log_append_time(writable, 0, read_header(writable), now_ms)
    elif max_timestamp != header.max_timestamp:
        _TIMESTAMP.pack_into(writable, _MAX_TIMESTAMP_POSITION, max_timestamp)
        stamp_checksum(writable, 0, len(writable))
    return writable, read_header(writable)


def admit_internal(
    data: Buffer, rules: AppendRules, now_ms: int
) -> tuple[bytearray | memoryview, BatchHeader]:
    """A batch of one of the broker's own coordinators: group offsets, transactions, markers."""
    header = check_single_batch(data)
    if not has_valid_checksum(data, 0, header):
        raise InvalidBatch(ErrorCode.CORRUPT_MESSAGE, f"the checksum is not {header.crc:#010x}")
    if header.size_bytes > rules.batch_bytes_max:
        raise _too_large(header.size_bytes, rules.batch_bytes_max)
    if header.is_control:
        writable: bytearray | memoryview = _writable(data)  # Kafka leaves markers as they are
    else:
        writable = _in_final_codec(data, header, _with_fast_level(rules, header.size_bytes))
    if rules.is_log_append_time:
        stamp_log_append_time(writable, 0, read_header(writable), now_ms)
    return writable, read_header(writable)


def check_replicated(data: Buffer, log_end_offset: int) -> list[tuple[int, BatchHeader]]:
    """Position and header of every complete batch of a leader. The last may be incomplete."""
    batches: list[tuple[int, BatchHeader]] = []
    next_offset = log_end_offset
    for position, header in iterate_headers(data):
        if header.base_offset < next_offset or header.last_offset_delta < 0:
            if not batches:
                raise UnexpectedOffset(header.base_offset, log_end_offset)
            raise InvalidBatch(
                ErrorCode.CORRUPT_MESSAGE,
                f"batch at {position}: offset {header.base_offset} below {next_offset}",
            )
        if not has_valid_checksum(data, position, header):
            raise InvalidBatch(
                ErrorCode.CORRUPT_MESSAGE,
                f"batch at {position}, offset {header.base_offset}: wrong checksum",
            )
        batches.append((position, header))
        next_offset = header.next_offset
    return batches


def recompress(
    data: Buffer, header: BatchHeader, codec: Codec, level: int | None, opened_bytes_max: int
) -> bytearray:
    """The same records in another codec, without decoding each of them."""
    body = open_body(data, 0, header, opened_bytes_max)
    if header.codec:  # else they were checked before
        counted = header.records_count, header.base_timestamp
        native.walk(body, 0, len(body), *counted, True, False)
    attributes = header.attributes & KNOWN_ATTRIBUTES & ~CODEC_MASK | codec
    return assemble(header._replace(attributes=attributes), body, level)


def _in_final_codec(
    data: Buffer, header: BatchHeader, rules: AppendRules
) -> bytearray | memoryview:
    if rules.codec is None or rules.codec == header.attributes & CODEC_MASK:
        return _writable(data)
    limit = rules.produce.decompressed_bytes_max
    changed = recompress(data, header, rules.codec, rules.level, limit)
    if len(changed) > rules.batch_bytes_max:
        raise _too_large(len(changed), rules.batch_bytes_max)
    return changed


def _with_fast_level(rules: AppendRules, size_bytes: int) -> AppendRules:
    """A coordinator decides and appends without yielding: its batches are compressed at once."""
    if rules.codec is None or size_bytes <= rules.bytes_at_once:
        return rules
    return rules._replace(level=fast_level(rules.codec, rules.level))


def _writable(data: Buffer) -> bytearray | memoryview:
    if isinstance(data, memoryview):
        return bytearray(data) if data.readonly else data
    return bytearray(data) if isinstance(data, bytes) else data


def _too_large(size: int, limit: int) -> InvalidBatch:
    return InvalidBatch(
        ErrorCode.MESSAGE_TOO_LARGE, f"a batch of {size} bytes, {limit} are allowed"
    )
