"""The basic types of the protocol: reading and writing.

Promises  every length and count is checked against the remaining bytes before it is used, so no
          number from a peer determines an allocation; violations raise MalformedMessage.
Leaves    fixed-width fields to `struct`, whose `unpack_from` checks bounds itself.

Readers take (data, at) and return (value, position after it); generated code passes the position
on. Writers append to a bytearray. "Compact" is the encoding of flexible versions: an unsigned
varint of length + 1, where 0 is null. Functions are intentionally duplicated with small
differences: they run for every field of every request, and a call costs as much as its work.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextvars import ContextVar
from struct import Struct
from typing import NoReturn

from ottla.protocol.errors import MalformedMessage, TooManyItems, UnencodableValue

_INT16 = Struct(">h")
_INT32 = Struct(">i")
_read_int16 = _INT16.unpack_from
_read_int32 = _INT32.unpack_from
_pack_int16 = _INT16.pack
_pack_int32 = _INT32.pack

SMALL_VARINTS = tuple(bytes([value]) for value in range(128))
STRING_BYTES_MAX = 32767
COPIED_BYTES_MAX = (
    32 * 1024 * 1024
)  # of a field with bytes, in a message that is decoded with a limit
# Of invalid text, as one more item of the message: a megabyte takes up to 15 ms.
DAMAGED_BYTES = 64
_LONE_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")


def refuse_length(what: str, length: int, data: memoryview, at: int) -> NoReturn:
    left = len(data) - at
    raise MalformedMessage(f"{what} of {length} at byte {at}, but {left} bytes are left")


def refuse_null(what: str, at: int) -> NoReturn:
    raise MalformedMessage(f"null {what} at byte {at}, where null is not allowed")


# --- unsigned varints -----------------------------------------------------------------------


def read_uvarint(data: memoryview, at: int) -> tuple[int, int]:
    first = data[at]
    return (first, at + 1) if first < 128 else read_long_uvarint(data, at + 1, first)


def read_long_uvarint(data: memoryview, at: int, first: int) -> tuple[int, int]:
    """The rest of a varint with more than one byte; at most 32 bits."""
    second = data[at]
    if second < 128:
        return first & 0x7F | second << 7, at + 1
    third = data[at + 1]
    if third < 128:  # up to two megabytes; longer batches are rare
        return first & 0x7F | (second & 0x7F) << 7 | third << 14, at + 2
    value = first & 0x7F
    for shift in (7, 14, 21, 28):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 128:
            break
    else:
        raise MalformedMessage(f"varint longer than five bytes before byte {at}")
    if value > 0xFFFFFFFF:
        raise MalformedMessage(f"varint above 32 bits before byte {at}")
    return value, at


def uvarint(value: int) -> bytes:
    if value < 128:
        return SMALL_VARINTS[value]
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


# --- strings --------------------------------------------------------------------------------


def read_string(data: memoryview, at: int) -> tuple[str, int]:
    (size,) = _read_int16(data, at)
    at += 2
    end = at + size
    if size < 0:
        refuse_null("string", at) if size == -1 else refuse_length("string", size, data, at)
    if end > len(data):
        refuse_length("string", size, data, at)
    try:
        return str(data[at:end], "utf-8"), end
    except UnicodeDecodeError:
        return damaged_text(bytes(data[at:end]), end), end


def damaged_text(raw: bytes, end: int) -> str:
    """Invalid UTF-8 as Kafka decodes it: with U+FFFD, one for half a surrogate pair.

    Such text comes from clients with another encoding; no topic can have such a name.
    """
    if bounded:
        spend_items(len(raw) // DAMAGED_BYTES, end)
    text = _LONE_SURROGATE.sub(b"\xef\xbf\xbd", raw).decode("utf-8", "replace")
    if len(text.encode()) > STRING_BYTES_MAX:
        raise MalformedMessage(f"text of {len(raw)} bytes is not valid UTF-8")
    return text


def read_nullable_string(data: memoryview, at: int) -> tuple[str | None, int]:
    if data[at] == 0xFF and data[at + 1] == 0xFF:
        return None, at + 2
    return read_string(data, at)


def read_compact_string(data: memoryview, at: int) -> tuple[str, int]:
    size = data[at]
    at += 1
    if size > 127:
        size, at = read_long_uvarint(data, at, size)
        if size > STRING_BYTES_MAX + 1:
            refuse_length("string", size - 1, data, at)
    if size == 0:
        refuse_null("string", at)
    end = at + size - 1
    if end > len(data):
        refuse_length("string", size - 1, data, at)
    try:
        return str(data[at:end], "utf-8"), end
    except UnicodeDecodeError:
        return damaged_text(bytes(data[at:end]), end), end


def read_compact_nullable_string(data: memoryview, at: int) -> tuple[str | None, int]:
    if data[at] == 0:
        return None, at + 1
    return read_compact_string(data, at)


def write_string(value: str, out: bytearray) -> None:
    raw = value.encode()
    out += _pack_int16(len(raw))
    out += raw


def write_nullable_string(value: str | None, out: bytearray) -> None:
    if value is None:
        out += b"\xff\xff"
    else:
        raw = value.encode()
        out += _pack_int16(len(raw))
        out += raw


def write_compact_string(value: str, out: bytearray) -> None:
    raw = value.encode()
    size = len(raw) + 1
    out += SMALL_VARINTS[size] if size < 128 else long_string_size(size)
    out += raw


def long_string_size(size: int) -> bytes:
    """Strings keep the limit of their former 16-bit length: Kafka rejects longer ones."""
    if size > STRING_BYTES_MAX + 1:
        raise UnencodableValue(f"a string of {size - 1} bytes; {STRING_BYTES_MAX} are the most")
    return uvarint(size)


def write_compact_nullable_string(value: str | None, out: bytearray) -> None:
    if value is None:
        out.append(0)
    else:
        write_compact_string(value, out)


# --- bytes and records ----------------------------------------------------------------------


def read_bytes(data: memoryview, at: int) -> tuple[bytes, int]:
    view, at = read_view(data, at)
    return (copied(view, at), at) if view is not None else refuse_null("bytes", at)


def read_nullable_bytes(data: memoryview, at: int) -> tuple[bytes | None, int]:
    view, at = read_view(data, at)
    return (None if view is None else copied(view, at)), at


def read_compact_bytes(data: memoryview, at: int) -> tuple[bytes, int]:
    view, at = read_compact_view(data, at)
    return (copied(view, at), at) if view is not None else refuse_null("bytes", at)


def read_compact_nullable_bytes(data: memoryview, at: int) -> tuple[bytes | None, int]:
    view, at = read_compact_view(data, at)
    return (None if view is None else copied(view, at)), at


def copied(view: memoryview, end: int) -> bytes:
    """A copy takes a millisecond for a few megabytes, in any thread: it keeps Python's lock."""
    if len(view) > COPIED_BYTES_MAX and bounded:
        raise MalformedMessage(
            f"bytes of length {len(view)} that end at byte {end}; {COPIED_BYTES_MAX} are the most"
        )
    return bytes(view)


def read_view(data: memoryview, at: int) -> tuple[memoryview | None, int]:
    """Bytes as a slice of the frame: record batches are not copied."""
    (size,) = _read_int32(data, at)
    at += 4
    if size == -1:
        return None, at
    end = at + size
    if size < 0 or end > len(data):
        refuse_length("bytes", size, data, at)
    return data[at:end], end


def read_compact_view(data: memoryview, at: int) -> tuple[memoryview | None, int]:
    size = data[at]
    at += 1
    if size > 127:
        size, at = read_long_uvarint(data, at, size)
    if size == 0:
        return None, at
    end = at + size - 1
    if end > len(data):
        refuse_length("bytes", size - 1, data, at)
    return data[at:end], end


def write_bytes(value: bytes, out: bytearray) -> None:
    out += _pack_int32(len(value))
    out += value


def write_nullable_bytes(value: bytes | None, out: bytearray) -> None:
    if value is None:
        out += b"\xff\xff\xff\xff"
    else:
        out += _pack_int32(len(value))
        out += value


def write_compact_bytes(value: bytes, out: bytearray) -> None:
    out += uvarint(len(value) + 1)
    out += value


def write_compact_nullable_bytes(value: bytes | None, out: bytearray) -> None:
    if value is None:
        out.append(0)
    else:
        out += uvarint(len(value) + 1)
        out += value


# --- arrays ---------------------------------------------------------------------------------

# The limit on the items of all arrays of the message that is being decoded, including tagged
# fields. An item of two bytes may become an object of a hundred, so large frames need a limit:
# `Message.decode_bounded` sets one, for its own thread.
items_left: ContextVar[int] = ContextVar("items_left")
# The number of messages being decoded with a limit: checked first, because it is nearly always 0.
bounded: list[type] = []


def spend_items(count: int, at: int) -> None:
    left = items_left.get(None)
    if left is None:
        return  # the limit belongs to another thread
    if count > left:
        raise TooManyItems(f"{count} more items at byte {at} than one message may have")
    items_left.set(left - count)


def read_count(data: memoryview, at: int, item_bytes: int) -> tuple[int, int]:
    """The number of items of an array, each at least `item_bytes` long; they must fit in the
    rest."""
    (count,) = _read_int32(data, at)
    at += 4
    if count < 0:
        refuse_null("array", at) if count == -1 else refuse_length("array", count, data, at)
    if count * item_bytes > len(data) - at:
        refuse_length("array", count, data, at)
    if bounded:
        spend_items(count, at)
    return count, at


def read_nullable_count(data: memoryview, at: int, item_bytes: int) -> tuple[int, int]:
    """As `read_count`; -1 for null."""
    (count,) = _read_int32(data, at)
    at += 4
    if count < -1 or count * item_bytes > len(data) - at:
        refuse_length("array", count, data, at)
    if bounded:
        spend_items(count, at)
    return count, at


def read_compact_count(data: memoryview, at: int, item_bytes: int) -> tuple[int, int]:
    count = data[at]
    at += 1
    if count > 127:
        count, at = read_long_uvarint(data, at, count)
    if count == 0:
        refuse_null("array", at)
    count -= 1
    if count * item_bytes > len(data) - at:
        refuse_length("array", count, data, at)
    if bounded:
        spend_items(count, at)
    return count, at


def read_compact_nullable_count(data: memoryview, at: int, item_bytes: int) -> tuple[int, int]:
    """As `read_compact_count`; -1 for null."""
    if data[at] == 0:
        return -1, at + 1
    return read_compact_count(data, at, item_bytes)


_NUMBERS: dict[tuple[str, int], Struct] = {}
NUMBER_FORMATS_MAX = 256


def numbers_format(code: str, count: int) -> Struct:
    """The `struct` for `count` numbers; short ones are cached."""
    known = _NUMBERS.get((code, count))
    if known is None:
        known = Struct(f">{count}{code}")
        if count < NUMBER_FORMATS_MAX:
            _NUMBERS[code, count] = known
    return known


def read_numbers(data: memoryview, at: int, count: int, code: str) -> tuple[list[int], int]:
    """`count` numbers of one fixed width; the count was checked by a `read_*_count`."""
    layout = numbers_format(code, count)
    return list(layout.unpack_from(data, at)), at + layout.size


def write_numbers(values: Sequence[int], code: str, out: bytearray) -> None:
    out += numbers_format(code, len(values)).pack(*values)


def read_strings(data: memoryview, at: int, count: int) -> tuple[list[str], int]:
    values = []
    for _ in range(count):
        value, at = read_string(data, at)
        values.append(value)
    return values, at


def read_compact_strings(data: memoryview, at: int, count: int) -> tuple[list[str], int]:
    values = []
    for _ in range(count):
        value, at = read_compact_string(data, at)
        values.append(value)
    return values, at


def write_strings(values: Sequence[str], out: bytearray) -> None:
    for value in values:
        write_string(value, out)


def write_compact_strings(values: Sequence[str], out: bytearray) -> None:
    for value in values:
        write_compact_string(value, out)


def read_uuids(data: memoryview, at: int, count: int) -> tuple[list[bytes], int]:
    end = at + 16 * count
    return [bytes(data[start : start + 16]) for start in range(at, end, 16)], end


# --- tagged fields --------------------------------------------------------------------------


def read_tag_count(data: memoryview, at: int) -> tuple[int, int]:
    """The number of tagged fields that follow; each takes at least two bytes."""
    count, at = read_uvarint(data, at)
    if count * 2 > len(data) - at:
        refuse_length("tagged fields", count, data, at)
    if bounded:
        spend_items(count, at)
    return count, at


def read_tag(data: memoryview, at: int) -> tuple[int, int, int]:
    """(tag, end of its value, start of its value)."""
    tag, at = read_uvarint(data, at)
    size, at = read_uvarint(data, at)
    end = at + size
    if end > len(data):
        refuse_length(f"tagged field {tag}", size, data, at)
    return tag, end, at


def skip_tags(data: memoryview, at: int, count_max: int | None = None) -> int:
    """The position after a section of tagged fields, all unknown to this version."""
    count, at = read_tag_count(data, at)
    if count_max is not None and count > count_max:
        raise TooManyItems(f"{count} tagged fields at byte {at}, at most {count_max} are allowed")
    for _ in range(count):
        _, at, _ = read_tag(data, at)
    return at


def check_tag_end(tag: int, at: int, end: int) -> None:
    if at != end:
        raise MalformedMessage(f"tagged field {tag} ends at byte {end}, its value at byte {at}")


def write_tags(tags: Sequence[tuple[int, bytes | bytearray]], out: bytearray) -> None:
    """The section of tagged fields, given in ascending order."""
    out += uvarint(len(tags))
    for tag, value in tags:
        out += uvarint(tag)
        out += uvarint(len(value))
        out += value
