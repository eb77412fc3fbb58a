"""A fast path for the batches that nearly all producers send.

The checks of a batch cost more than anything else but its write, and nearly every batch passes all
of them. So they are made here together, on plain integers.

Promises  a batch that is recognised would pass `check_produced`, with the same result. One that is
          not recognised may pass as well: `check_produced` then decides.
Leaves    error messages to `protocol/records/checking.py`.
"""

from __future__ import annotations

from struct import Struct

from ottla.base.checksums import crc32c
from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records import native
from ottla.protocol.records.batch import (
    CHECKED_FROM,
    CODEC_MASK,
    HEADER_BYTES,
    LENGTH_PREFIX_BYTES,
    MAGIC,
    NO_PRODUCER_ID,
    TRANSACTIONAL_BIT,
    BatchHeader,
    Buffer,
)
from ottla.protocol.records.checking import (
    PRODUCE_VERSION_OF_ZSTD,
    ProduceRules,
)
from ottla.protocol.records.compression import Codec

_unpack = Struct(">qiiBIhiqqqhii").unpack_from
_new = tuple.__new__  # `_make` and a NamedTuple's own constructor cost twice as much
_walk = native.walk
_USUAL_ATTRIBUTES = CODEC_MASK | TRANSACTIONAL_BIT
_ZSTD = int(Codec.ZSTD)
_LZ4 = int(Codec.LZ4)
_LZ4_FLAGS = HEADER_BYTES + 4  # of the frame that the records are in
_LZ4_INDEPENDENT_BLOCKS = 0x20


def recognise(
    data: Buffer, rules: ProduceRules, produce_version: int, now_ms: int
) -> tuple[BatchHeader, int] | None:
    """The result of `check_produced`; None if it must be called."""
    size = len(data)
    if not HEADER_BYTES <= size <= rules.message_bytes_max:
        return None
    fields = _unpack(data)
    (
        base_offset, length, _, magic, crc, attributes, delta,
        first, last, producer_id, producer_epoch, sequence, count,
    ) = fields  # fmt: skip
    if (
        magic != MAGIC
        or base_offset != 0
        or length != size - LENGTH_PREFIX_BYTES
        or attributes & ~_USUAL_ATTRIBUTES
        or not 0 <= delta == count - 1
    ):
        return None
    if producer_id == NO_PRODUCER_ID:
        if attributes & TRANSACTIONAL_BIT:
            return None
    elif producer_id < 0 or producer_epoch < 0 or sequence < 0:
        return None
    checked = data if isinstance(data, memoryview) else memoryview(data)
    if crc32c(checked[CHECKED_FROM:]) != crc:
        return None
    if not attributes & CODEC_MASK:
        try:
            first, last = _walk(data, HEADER_BYTES, size, count, first, True, rules.is_compacted)
        except InvalidBatch:
            return None
    elif rules.is_compacted or not _is_usual_codec(attributes & CODEC_MASK, data, produce_version):
        return None
    if not rules.is_log_append_time:
        earliest = now_ms - rules.timestamp_before_ms_max
        if not earliest <= first <= last <= now_ms + rules.timestamp_after_ms_max:
            return None
    return _new(BatchHeader, fields), last


def _is_usual_codec(codec: int, data: Buffer, produce_version: int) -> bool:
    if codec == _LZ4:
        return len(data) > _LZ4_FLAGS and bool(data[_LZ4_FLAGS] & _LZ4_INDEPENDENT_BLOCKS)
    return codec < _ZSTD or (codec == _ZSTD and produce_version >= PRODUCE_VERSION_OF_ZSTD)
