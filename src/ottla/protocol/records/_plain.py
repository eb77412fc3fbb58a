"""The record loops in plain Python: what runs where the compiled ones could not be built.

Owns      the layout of a record inside a batch (magic 2): walking, decoding, encoding.
Promises  the same results and the same faults as `_native.pyx`, function by function.
Leaves    headers, checksums and compression to their own modules; callers use `native.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ottla.protocol.records.batch import NO_TIMESTAMP, Buffer
from ottla.protocol.records.faults import Fault, invalid_record
from ottla.protocol.records.record import Header, Record

RECORD_BYTES_MIN = 7  # length, attributes, two deltas, no key, no value, no headers: a byte each

_INT64_SIGN = 1 << 63
_INT64_SPAN = 1 << 64

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
    """Check the structure of all records in data[start:end]; the least and largest timestamp.

    With `check_offsets` their offsets must rise by one from the batch's first, with `require_keys`
    each must have a key. Records without timestamp (-1) do not count for the least.
    """
    body = bytes(data[start:end])
    least = most = NO_TIMESTAMP
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
    """`count` records from `position` on, the first with number `first`, and where they end."""
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


def iterate_fields(
    body: bytes, position: int, first: int, count: int, is_last: bool = True
) -> Iterator[Fields]:
    """Where the parts of each record are. With `is_last`, the body must end where they do."""
    end = len(body)
    if not 0 <= count <= (end - position) // RECORD_BYTES_MIN:
        raise invalid_record(Fault.COUNT, first, position)
    for number in range(first, first + count):
        start = position
        length, position = _read_varint(body, position, end, number)
        if not 0 < length <= end - position:
            raise invalid_record(Fault.LENGTH, number, start)
        record_end = position + length
        # The attributes of a record (one byte) mean nothing yet.
        timestamp, position = _read_varlong(body, position + 1, record_end, number)
        offset, position = _read_varint(body, position, record_end, number)
        key_at, key_size = _read_field(body, position, record_end, number)
        position = key_at + max(key_size, 0)
        value_at, value_size = _read_field(body, position, record_end, number)
        position = value_at + max(value_size, 0)
        headers, position = _read_varint(body, position, record_end, number)
        headers_at = position
        if not 0 <= headers <= (record_end - position) // 2:
            raise invalid_record(Fault.HEADER_COUNT, number, start)
        for _ in range(headers):
            position = _skip_header(body, position, record_end, number)
        if position != record_end:
            raise invalid_record(Fault.RECORD_END, number, start)
        yield (
            start, record_end, timestamp, offset,
            key_at, key_size, value_at, value_size, headers_at, headers,
        )  # fmt: skip
    if is_last and position != end:
        raise invalid_record(Fault.BODY_END, first + count, position)


def decode_headers(body: bytes, position: int, count: int) -> tuple[Header, ...]:
    """Headers whose structure has been checked. Keys that are not UTF-8 are mended, as in Java."""
    headers = []
    end = len(body)
    for _ in range(count):
        key_at, key_size = _read_field(body, position, end, 0)
        value_at, value_size = _read_field(body, key_at + key_size, end, 0)
        position = value_at + max(value_size, 0)
        key = body[key_at : key_at + key_size].decode("utf-8", "replace")
        headers.append((key, body[value_at:position] if value_size >= 0 else None))
    return tuple(headers)


def encode(records: Iterable[Record], base_offset: int, base_timestamp: int) -> bytearray:
    """The body of a batch: records in order, their offsets and times relative to the batch's."""
    body = bytearray()
    last = base_offset - 1
    for offset, timestamp, key, value, headers in records:
        if offset <= last or offset - base_offset > 0x7FFFFFFF:
            raise ValueError(f"offset {offset} cannot follow {last} in a batch from {base_offset}")
        last = offset
        record = bytearray(1)
        _write_varint(record, timestamp - base_timestamp)
        _write_varint(record, offset - base_offset)
        _write_field(record, key)
        _write_field(record, value)
        _write_headers(record, headers)
        _write_varint(body, len(record))
        body += record
    return body


def wrap_int64(number: int) -> int:
    """What 64-bit arithmetic makes of a sum that leaves its range: the same as in Java."""
    if -_INT64_SIGN <= number < _INT64_SIGN:
        return number
    return (number + _INT64_SIGN) % _INT64_SPAN - _INT64_SIGN


def _read_varint(body: bytes, position: int, end: int, number: int) -> tuple[int, int]:
    """A zig-zag int32 and where it ends."""
    if position < end and (raw := body[position]) < 0x80:  # nearly always
        return (raw >> 1) ^ -(raw & 1), position + 1
    return _read_long(body, position, end, number, 5, 0x0F)


def _read_varlong(body: bytes, position: int, end: int, number: int) -> tuple[int, int]:
    """A zig-zag int64 and where it ends."""
    if position < end and (raw := body[position]) < 0x80:
        return (raw >> 1) ^ -(raw & 1), position + 1
    return _read_long(body, position, end, number, 10, 0x01)


def _read_long(
    body: bytes, position: int, end: int, number: int, width: int, last_byte_max: int
) -> tuple[int, int]:
    start, raw = position, 0
    for shift in range(0, 7 * width, 7):
        if position >= end:
            raise invalid_record(Fault.TRUNCATED, number, start)
        byte = body[position]
        position += 1
        raw |= (byte & 0x7F) << shift
        if byte < 0x80:
            if shift == 7 * (width - 1) and byte > last_byte_max:
                break
            return (raw >> 1) ^ -(raw & 1), position
    raise invalid_record(Fault.VARINT, number, start)


def _read_field(body: bytes, position: int, end: int, number: int) -> tuple[int, int]:
    """(start, length) of a key or value; the length is -1 for null."""
    size, start = _read_varint(body, position, end, number)
    if not -1 <= size <= end - start:
        raise invalid_record(Fault.FIELD_LENGTH, number, position)
    return start, size


def _skip_header(body: bytes, position: int, end: int, number: int) -> int:
    key_at, key_size = _read_field(body, position, end, number)
    if key_size < 0:
        raise invalid_record(Fault.HEADER_KEY, number, position)
    value_at, value_size = _read_field(body, key_at + key_size, end, number)
    return value_at + max(value_size, 0)


def _write_varint(output: bytearray, number: int) -> None:
    raw = (number << 1) ^ (number >> 63)
    while raw > 0x7F:
        output.append(raw & 0x7F | 0x80)
        raw >>= 7
    output.append(raw)


def _write_field(output: bytearray, field: bytes | None) -> None:
    if field is None:
        output.append(1)  # -1
    else:
        _write_varint(output, len(field))
        output += field


def _write_headers(output: bytearray, headers: Sequence[Header]) -> None:
    _write_varint(output, len(headers))
    for key, value in headers:
        _write_field(output, key.encode())
        _write_field(output, value)
