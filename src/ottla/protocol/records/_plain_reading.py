"""Reading records in Python, used if the compiled loops could not be built.

Owns      the layout of a record inside a batch (magic 2): walking, decoding, indexing.
Promises  the same results and faults as `_native.pyx`, function by function.
Leaves    headers, checksums and compression to their own modules; callers use `native.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ottla.protocol.records._varints import read_varint, read_varlong, wrap_int64
from ottla.protocol.records.batch import NO_TIMESTAMP, Buffer
from ottla.protocol.records.faults import Fault, invalid_record
from ottla.protocol.records.record import Header, Record

INT32_MAX = 2**31 - 1
# length, attributes, two deltas, null key, null value, no headers: one byte each
RECORD_BYTES_MIN = 7

# (record start, record end, timestamp delta, offset delta, key start, key length, value start,
#  value length, headers start, header count); a length of -1 is null, starts are in the body
Fields = tuple[int, int, int, int, int, int, int, int, int, int]


def walk(
    data: Buffer,
    start: int,
    end: int,
    count: int,
    base_timestamp: int,
    check_offsets: bool,
    require_keys: bool,
) -> tuple[int, int]:
    """Check the structure of all records in data[start:end]; returns the smallest and largest
    timestamp.

    With `check_offsets` their offsets must increase by one from 0, with `require_keys` each must
    have a key. Records without a timestamp (-1) are not included in the smallest.
    """
    least = most = NO_TIMESTAMP
    body = part_of(data, start, end)
    for number, fields in enumerate(iterate_fields(body, 0, 0, count)):
        if check_offsets and fields[3] != number:
            raise invalid_record(Fault.OFFSET_DELTA, number, fields[0])
        if require_keys and fields[5] < 0:
            raise invalid_record(Fault.NULL_KEY, number, fields[0])
        timestamp = wrap_int64(base_timestamp + fields[2])
        most = max(most, timestamp)
        if timestamp != NO_TIMESTAMP and (least == NO_TIMESTAMP or timestamp < least):
            least = timestamp
    return least, most


def skip(data: Buffer, start: int, end: int, first: int, count: int) -> int:
    """The position after the next `count` records, which are checked."""
    position = 0
    for fields in iterate_fields(part_of(data, start, end), 0, first, count, is_last=False):
        position = fields[1]
    return start + position


def decode(
    body: bytes,
    position: int,
    first: int,
    count: int,
    is_last: bool,
    base_offset: int,
    base_timestamp: int,
    append_time: int | None,
) -> tuple[list[Record], int]:
    """`count` records from `position` on, the first with number `first`, and their end."""
    if not 0 <= position <= len(body):
        raise ValueError(f"byte {position} of {len(body)}")
    records = []
    for fields in iterate_fields(body, position, first, count, is_last):
        _, position, timestamp_delta, offset_delta, key_at, key_size, value_at, value_size = fields[
            :8
        ]
        timestamp = wrap_int64(base_timestamp + timestamp_delta)
        records.append(
            Record(
                wrap_int64(base_offset + offset_delta),
                timestamp if append_time is None else append_time,
                body[key_at : key_at + key_size] if key_size >= 0 else None,
                body[value_at : value_at + value_size] if value_size >= 0 else None,
                decode_headers(body, fields[8], fields[9]) if fields[9] else (),
            )
        )
    return records, position


def index(
    data: Buffer,
    start: int,
    end: int,
    first: int,
    count: int,
    is_last: bool,
    base_offset: int,
    base_timestamp: int,
    append_time: int | None,
    numbers: memoryview,
    places: memoryview,
) -> int:
    """Fill arrays, column by column: int64 offsets and timestamps into `numbers`, and into
    `places`, as int32: record starts, record ends, key starts, key lengths, value starts, value
    lengths, header starts, header counts. Returns the end position."""
    body = part_of(data, start, end)
    if not 0 <= count <= len(body) // RECORD_BYTES_MIN:
        raise invalid_record(Fault.COUNT, first, 0)
    if end > INT32_MAX:
        raise ValueError(f"records up to byte {end} cannot be indexed")
    if numbers.nbytes < 16 * count or places.nbytes < 32 * count:
        raise ValueError("the index arrays are too short")
    wide, narrow = numbers.cast("B").cast("q"), places.cast("B").cast("i")
    bases = (start, start, start, 0, start, 0, start, 0)
    position = 0
    for row, fields in enumerate(iterate_fields(body, 0, first, count, is_last)):
        position = fields[1]
        timestamp = wrap_int64(base_timestamp + fields[2])
        wide[row] = wrap_int64(base_offset + fields[3])
        wide[count + row] = timestamp if append_time is None else append_time
        for column, (place, base) in enumerate(zip(fields[:2] + fields[4:], bases, strict=True)):
            narrow[column * count + row] = base + place
    return start + position


def slices(data: Buffer, starts: Buffer, sizes: Buffer) -> list[bytes | None]:
    """The bytes at these positions (int32 arrays); None for a size of -1."""
    at, length = memoryview(starts).cast("B").cast("i"), memoryview(sizes).cast("B").cast("i")
    if len(at) != len(length):
        raise ValueError("starts and sizes differ in number")
    with memoryview(data) as view:
        return [_slice(view, a, n) for a, n in zip(at, length, strict=True)]


def _slice(view: memoryview, start: int, size: int) -> bytes | None:
    if size < 0:
        return None
    if not 0 <= start <= len(view) - size:
        raise ValueError(f"{size} bytes at {start} of {len(view)}")
    return bytes(view[start : start + size])


def part_of(data: Buffer, start: int, end: int) -> bytes:
    if not 0 <= start <= end <= len(data):
        raise ValueError(f"bytes {start} to {end} of {len(data)}")
    return bytes(data[start:end])


def iterate_fields(
    body: bytes, position: int, first: int, count: int, is_last: bool = True
) -> Iterator[Fields]:
    """The positions of the fields of each record. With `is_last`, the body must end after them."""
    end = len(body)
    if not 0 <= count <= (end - position) // RECORD_BYTES_MIN:
        raise invalid_record(Fault.COUNT, first, position)
    for number in range(first, first + count):
        fields = read_fields(body, position, end, number)
        yield fields
        position = fields[1]
    if is_last and position != end:
        raise invalid_record(Fault.BODY_END, first + count, position)


def read_fields(body: bytes, start: int, body_end: int, number: int) -> Fields:
    """The record at `start`, checked to its end."""
    length, position = read_varint(body, start, body_end, number)
    if not 0 < length <= body_end - position:
        raise invalid_record(Fault.LENGTH, number, start)
    end = position + length
    # The attributes of a record (one byte) are unused.
    timestamp, position = read_varlong(body, position + 1, end, number)
    offset, position = read_varint(body, position, end, number)
    key_at, key_size = read_field(body, position, end, number)
    value_at, value_size = read_field(body, key_at + max(key_size, 0), end, number)
    headers, headers_at = read_varint(body, value_at + max(value_size, 0), end, number)
    if not 0 <= headers <= (end - headers_at) // 2:
        raise invalid_record(Fault.HEADER_COUNT, number, start)
    position = headers_at
    for _ in range(headers):
        position = _skip_header(body, position, end, number)
    if position != end:
        raise invalid_record(Fault.RECORD_END, number, start)
    return (
        start, end, timestamp, offset,
        key_at, key_size, value_at, value_size, headers_at, headers,
    )  # fmt: skip


def read_field(body: bytes, position: int, end: int, number: int) -> tuple[int, int]:
    """(start, length) of a key or value; the length is -1 for null."""
    size, start = read_varint(body, position, end, number)
    if not -1 <= size <= end - start:
        raise invalid_record(Fault.FIELD_LENGTH, number, position)
    return start, size


def _skip_header(body: bytes, position: int, end: int, number: int) -> int:
    key_at, key_size = read_field(body, position, end, number)
    if key_size < 0:
        raise invalid_record(Fault.HEADER_KEY, number, position)
    value_at, value_size = read_field(body, key_at + key_size, end, number)
    return value_at + max(value_size, 0)


def header_slices(body: bytes, position: int, count: int) -> Sequence[tuple[bytes, bytes | None]]:
    """Headers whose structure has been checked, as bytes."""
    headers: list[tuple[bytes, bytes | None]] = []
    for _ in range(count):
        key_at, key_size = read_field(body, position, len(body), 0)
        value_at, value_size = read_field(body, key_at + key_size, len(body), 0)
        position = value_at + max(value_size, 0)
        value = body[value_at:position] if value_size >= 0 else None
        headers.append((body[key_at : key_at + key_size], value))
    return headers


def decode_headers(body: bytes, position: int, count: int) -> tuple[Header, ...]:
    """The same with keys as text. Invalid UTF-8 is replaced, as in Java."""
    headers = header_slices(body, position, count)
    return tuple((key.decode("utf-8", "replace"), value) for key, value in headers)
