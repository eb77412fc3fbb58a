"""Zig-zag varints, as records use them, in Python.

Owns      reading and writing them within bounds.
Promises  no number is longer than its type allows, and no read passes the given end.
"""

from __future__ import annotations

from ottla.protocol.records.faults import Fault, invalid_record

_INT64_SIGN = 1 << 63
_INT64_SPAN = 1 << 64
_INT32_WIDTH, _INT32_LAST_BYTE_MAX = 5, 0x0F
_INT64_WIDTH, _INT64_LAST_BYTE_MAX = 10, 0x01


def read_varint(body: bytes, position: int, end: int, number: int) -> tuple[int, int]:
    """An int32 and its end; `number` is the record that is being read, for errors."""
    if position < end and (raw := body[position]) < 0x80:  # the common case
        return (raw >> 1) ^ -(raw & 1), position + 1
    return _read_long(body, position, end, number, _INT32_WIDTH, _INT32_LAST_BYTE_MAX)


def read_varlong(body: bytes, position: int, end: int, number: int) -> tuple[int, int]:
    """An int64 and its end."""
    if position < end and (raw := body[position]) < 0x80:
        return (raw >> 1) ^ -(raw & 1), position + 1
    return _read_long(body, position, end, number, _INT64_WIDTH, _INT64_LAST_BYTE_MAX)


def _read_long(
    body: bytes, position: int, end: int, number: int, width: int, last_byte_max: int
) -> tuple[int, int]:
    start, raw, last_shift = position, 0, 7 * (width - 1)
    for shift in range(0, 7 * width, 7):
        if position >= end:
            raise invalid_record(Fault.TRUNCATED, number, start)
        byte = body[position]
        position += 1
        if shift == last_shift and byte > last_byte_max:
            break
        raw |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (raw >> 1) ^ -(raw & 1), position
    raise invalid_record(Fault.VARINT, number, start)


def write_varint(output: bytearray, number: int) -> None:
    raw = (number << 1) ^ (number >> 63)
    while raw > 0x7F:
        output.append(raw & 0x7F | 0x80)
        raw >>= 7
    output.append(raw)


def wrap_int64(number: int) -> int:
    """The result of 64-bit arithmetic on overflow, as in Java."""
    if -_INT64_SIGN <= number < _INT64_SIGN:
        return number
    return (number + _INT64_SIGN) % _INT64_SPAN - _INT64_SIGN
