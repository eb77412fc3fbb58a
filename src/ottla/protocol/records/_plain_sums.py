"""Sums of records by time bucket in Python, used if the compiled loops could not be built.

Owns      the hashes of the completeness audit: of a record's content, its place, and a row.
Promises  the same results as `_native.pyx`, function by function, on every machine.
Leaves    the meaning of the sums to the callers that compare them.

All hashes are XXH64, and all numbers in what is hashed are little-endian:

    content  XXH64 of: timestamp (int64, milliseconds), key, value, number of headers (int32), and
             the key and the value of each header. Each string is its length (int32, -1 for null)
             and its bytes.
    place    XXH64 of: topic id (16 bytes, as in the protocol), partition (int32), offset (int64).
    row      XXH64 of the sum (mod 2**64, int64) over all columns that are not null of the XXH64 of
             the value, with the XXH64 of the column's name as its seed.

A bucket is the timestamp divided by the length of a bucket, rounded down. Records whose timestamp
is before 2000 or after 2099 are in bucket -1, so that wrong clocks make few buckets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from struct import Struct

from ottla.protocol.records._plain_columns import (
    _check_column,
    _check_columns,
    _headers_at,
    _string_at,
)
from ottla.protocol.records._plain_reading import header_slices, iterate_fields, part_of
from ottla.protocol.records._varints import wrap_int64
from ottla.protocol.records.batch import Buffer
from ottla.protocol.records.column_layout import (
    BucketSums,
    HeaderColumns,
    RecordSegment,
    StringColumn,
)

MASK = 2**64 - 1
PRIME_1 = 0x9E3779B185EBCA87
PRIME_2 = 0xC2B2AE3D27D4EB4F
PRIME_3 = 0x165667B19E3779F9
PRIME_4 = 0x85EBCA77C2B2AE63
PRIME_5 = 0x27D4EB2F165667C5

DATED_FROM_MS = 946_684_800_000
DATED_UNTIL_MS = 4_102_444_800_000
UNDATED = -1
TOPIC_ID_BYTES = 16
INT32 = Struct("<i")
INT64 = Struct("<q")
PLACE = Struct("<16siq")


def _rotate(number: int, bits: int) -> int:
    return (number << bits | number >> (64 - bits)) & MASK


def _mix(lane: int, word: int) -> int:
    return _rotate((lane + word * PRIME_2) & MASK, 31) * PRIME_1 & MASK


def xxh64(data: Buffer, seed: int = 0) -> int:
    """The 64-bit hash of xxHash."""
    view = bytes(data)
    at, size = 0, len(view)
    found = (seed + PRIME_5) & MASK
    if size >= 32:
        lanes = [(seed + start) & MASK for start in (PRIME_1 + PRIME_2, PRIME_2, 0, -PRIME_1)]
        while size - at >= 32:
            words = (int.from_bytes(view[at + n : at + n + 8], "little") for n in (0, 8, 16, 24))
            lanes = [_mix(lane, word) for lane, word in zip(lanes, words, strict=True)]
            at += 32
        found = sum(map(_rotate, lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            found = ((found ^ _mix(0, lane)) * PRIME_1 + PRIME_4) & MASK
    found = (found + size) & MASK
    while size - at >= 8:
        word = int.from_bytes(view[at : at + 8], "little")
        found = (_rotate(found ^ _mix(0, word), 27) * PRIME_1 + PRIME_4) & MASK
        at += 8
    if size - at >= 4:
        word = int.from_bytes(view[at : at + 4], "little")
        found = (_rotate(found ^ word * PRIME_1 & MASK, 23) * PRIME_2 + PRIME_3) & MASK
        at += 4
    for byte in view[at:]:
        found = _rotate(found ^ byte * PRIME_5 & MASK, 11) * PRIME_1 & MASK
    found = (found ^ found >> 33) * PRIME_2 & MASK
    found = (found ^ found >> 29) * PRIME_3 & MASK
    return found ^ found >> 32


def content_bytes(
    timestamp: int,
    key: Buffer | None,
    value: Buffer | None,
    headers: Sequence[tuple[Buffer, Buffer | None]],
) -> bytes:
    parts = [INT64.pack(timestamp), _string_bytes(key), _string_bytes(value)]
    parts.append(INT32.pack(len(headers)))
    for name, content in headers:
        parts += _string_bytes(name), _string_bytes(content)
    return b"".join(parts)


def _string_bytes(field: Buffer | None) -> bytes:
    return INT32.pack(-1) if field is None else INT32.pack(len(field)) + bytes(field)


def bucket_of(timestamp: int, bucket_ms: int) -> int:
    return timestamp // bucket_ms if DATED_FROM_MS <= timestamp < DATED_UNTIL_MS else UNDATED


class _Fold:
    def __init__(self, topic_id: bytes, partition: int, bucket_ms: int) -> None:
        if len(topic_id) != TOPIC_ID_BYTES:
            raise ValueError(f"a topic id of {len(topic_id)} bytes")
        if bucket_ms <= 0:
            raise ValueError(f"buckets of {bucket_ms} ms")
        self.topic_id, self.partition, self.bucket_ms = topic_id, partition, bucket_ms
        self.buckets: dict[int, BucketSums] = {}

    def add(self, timestamp: int, offset: int, size: int, content: int, row: int) -> None:
        place = xxh64(PLACE.pack(self.topic_id, self.partition, offset))
        number = bucket_of(timestamp, self.bucket_ms)
        new = BucketSums(
            number, 1, size, content, content, place, place, row, row,
            timestamp, timestamp, offset, offset,
        )  # fmt: skip
        known = self.buckets.get(number)
        self.buckets[number] = new if known is None else known.merged(new)

    def results(self) -> list[BucketSums]:
        return sorted(self.buckets.values())


def fold_segments(
    segments: Iterable[RecordSegment], topic_id: bytes, partition: int, bucket_ms: int
) -> list[BucketSums]:
    """The sums of records in encoded batches."""
    fold = _Fold(topic_id, partition, bucket_ms)
    for segment in segments:
        body = part_of(segment.data, segment.position, segment.end)
        for fields in iterate_fields(
            body, 0, segment.first, segment.records_count, segment.is_last
        ):
            offset = wrap_int64(segment.base_offset + fields[3])
            if not segment.from_offset <= offset < segment.end_offset:
                continue
            timestamp = wrap_int64(segment.base_timestamp + fields[2])
            timestamp = timestamp if segment.append_time is None else segment.append_time
            key = body[fields[4] : fields[4] + fields[5]] if fields[5] >= 0 else None
            value = body[fields[6] : fields[6] + fields[7]] if fields[7] >= 0 else None
            headers = header_slices(body, fields[8], fields[9])
            size = _size_of(key, value, headers)
            content = xxh64(content_bytes(timestamp, key, value, headers))
            fold.add(timestamp, offset, size, content, 0)
    return fold.results()


def _size_of(
    key: Buffer | None, value: Buffer | None, headers: Sequence[tuple[Buffer, Buffer | None]]
) -> int:
    return len(key or b"") + len(value or b"") + sum(len(a) + len(b or b"") for a, b in headers)


def fold_columns(
    count: int,
    offsets: Buffer,
    timestamps: Buffer,
    keys: StringColumn | None,
    values: StringColumn | None,
    headers: HeaderColumns | None,
    row_hashes: Buffer | None,
    with_content: bool,
    topic_id: bytes,
    partition: int,
    bucket_ms: int,
) -> list[BucketSums]:
    """The sums of rows. Without content (`with_content`), sizes and their hashes are 0."""
    places, times = memoryview(offsets).cast("B").cast("q"), memoryview(timestamps).cast("B")
    times = times.cast("q")
    hashes = None if row_hashes is None else memoryview(row_hashes).cast("B").cast("Q")
    if count < 0 or len(places) < count:
        raise ValueError("fewer offsets than rows")
    if hashes is not None and len(hashes) < count:
        raise ValueError("fewer hashes than rows")
    _check_columns(len(times), count, keys, values, headers)
    fold = _Fold(topic_id, partition, bucket_ms)
    for row in range(count):
        size = content = 0
        if with_content:
            key, value = _string_at(keys, row), _string_at(values, row)
            pairs = _headers_at(headers, row) if headers else []
            size = _size_of(key, value, pairs)
            content = xxh64(content_bytes(times[row], key, value, pairs))
        fold.add(times[row], places[row], size, content, 0 if hashes is None else hashes[row])
    return fold.results()


def add_hashes(hashes: Buffer, column: StringColumn, seed: int) -> None:
    """Add the hash of each value that is not null to the sums of the rows (uint64)."""
    _check_column(column)
    sums = memoryview(hashes).cast("B").cast("Q")
    if len(sums) < column.rows:
        raise ValueError("fewer hashes than rows")
    for row in range(column.rows):
        value = _string_at(column, row)
        if value is not None:
            sums[row] = (sums[row] + xxh64(value, seed)) & MASK


def finish_hashes(hashes: Buffer) -> None:
    """The hashes of rows from the sums over their columns."""
    sums = memoryview(hashes).cast("B").cast("Q")
    for row, number in enumerate(sums):
        sums[row] = xxh64(number.to_bytes(8, "little"))
