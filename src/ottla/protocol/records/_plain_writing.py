"""Writing records in Python, used if the compiled loops could not be built.

Owns      the body of a batch, from records or from a selection of another batch's records.
Promises  the same bytes as `_native.pyx`, function by function.
Leaves    the batch header to `building.py`; callers use `native.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ottla.protocol.records._plain_reading import INT32_MAX, iterate_fields, part_of
from ottla.protocol.records._varints import read_varint, read_varlong, wrap_int64, write_varint
from ottla.protocol.records.batch import Buffer
from ottla.protocol.records.record import Record


def encode(records: Iterable[Record], base_offset: int, base_timestamp: int) -> bytearray:
    """The body of a batch: records in order, with offsets and timestamps relative to the
    batch's."""
    body = bytearray()
    last = base_offset - 1
    for offset, timestamp, key, value, headers in records:
        if offset <= last or offset - base_offset > INT32_MAX:
            raise ValueError(f"offset {offset} cannot follow {last} in a batch from {base_offset}")
        last = offset
        fields = [(name.encode(), content) for name, content in headers]
        timestamp_delta = wrap_int64(timestamp - base_timestamp)
        write_record(body, timestamp_delta, offset - base_offset, key, value, fields)
    return body


def select(
    data: Buffer, start: int, end: int, count: int, keep: Buffer, timestamp_shift: int
) -> bytearray:
    """The records whose byte in `keep` is not 0, unchanged; `timestamp_shift` is added to their
    relative timestamps, for a batch whose base timestamp changes accordingly."""
    if len(keep) != count:
        raise ValueError(f"{len(keep)} decisions on {count} records")
    body, chosen = part_of(data, start, end), bytearray()
    for kept, fields in zip(keep, iterate_fields(body, 0, 0, count), strict=True):
        if kept and not timestamp_shift:
            chosen += body[fields[0] : fields[1]]
        elif kept:
            _copy_shifted(chosen, body, fields[0], fields[1], timestamp_shift)
    return chosen


def _copy_shifted(output: bytearray, body: bytes, start: int, end: int, shift: int) -> None:
    _, position = read_varint(body, start, end, 0)
    timestamp, rest = read_varlong(body, position + 1, end, 0)
    record = bytearray(body[position : position + 1])
    write_varint(record, wrap_int64(timestamp + shift))
    record += body[rest:end]
    write_varint(output, len(record))
    output += record


def write_record(
    output: bytearray,
    timestamp_delta: int,
    offset_delta: int,
    key: Buffer | None,
    value: Buffer | None,
    headers: Sequence[tuple[Buffer, Buffer | None]],
) -> None:
    record = bytearray(1)
    write_varint(record, timestamp_delta)
    write_varint(record, offset_delta)
    write_field(record, key)
    write_field(record, value)
    write_varint(record, len(headers))
    for name, content in headers:
        write_field(record, name)
        write_field(record, content)
    write_varint(output, len(record))
    output += record


def write_field(output: bytearray, field: Buffer | None) -> None:
    if field is None:
        output.append(1)  # -1
    else:
        write_varint(output, len(field))
        output += field
