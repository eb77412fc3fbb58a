"""Printing records by a template.

Promises  a template is interpreted once; printing a record is one call for each piece.
"""

from __future__ import annotations

import base64
import struct
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ottla.cli.arguments.timestamps import format_timestamp
from ottla.cli.records.record import Header, TopicRecord
from ottla.cli.templates.numbers import number_encoder
from ottla.cli.templates.parser import HEADERS, TEXT, TIME, BadTemplate, Field, Literal, Piece


class RecordContext(NamedTuple):
    """Facts about a record that are not part of it."""

    number: int = 1  # counts the printed records
    ends: Callable[[TopicRecord], tuple[int, int]] = lambda _: (-1, -1)  # of its partition


Escape = Callable[[bytes], bytes]
PrintRecord = Callable[[TopicRecord, RecordContext], bytes]

_TEXTS: dict[str, Callable[[TopicRecord], bytes | None]] = {
    "t": lambda record: record.topic.encode(),
    "k": lambda record: record.key,
    "v": lambda record: record.value,
}
_NUMBERS: dict[str, Callable[[TopicRecord, RecordContext], int]] = {
    "T": lambda record, _: len(record.topic.encode()),
    "K": lambda record, _: length(record.key),
    "V": lambda record, _: length(record.value),
    "H": lambda record, _: len(record.headers),
    "p": lambda record, _: record.partition,
    "o": lambda record, _: record.offset,
    "e": lambda record, _: record.leader_epoch,
    "i": lambda _, context: context.number,
    "[": lambda record, context: context.ends(record)[0],
    "]": lambda record, context: context.ends(record)[1],
}


def record_printer(
    template: Sequence[Piece], null: bytes = b"", escape: Escape | None = None
) -> PrintRecord:
    """`null` is printed for keys and values that are null; `escape` is applied to the others."""
    parts = [_part(piece, null, escape) for piece in template]
    return lambda record, context: b"".join([part(record, context) for part in parts])


def _part(piece: Piece, null: bytes, escape: Escape | None) -> PrintRecord:
    if isinstance(piece, Literal):
        content = piece.content
        return lambda _record, _context: content
    if piece.kind == TEXT:
        take, write = _TEXTS[piece.letter], text_encoder(piece.encoding, escape)
        return lambda record, _: null if (text := take(record)) is None else write(text)
    if piece.kind == TIME:
        write_time = time_encoder(piece.encoding)
        return lambda record, _: write_time(record.timestamp_ms)
    if piece.kind == HEADERS:
        return _headers(piece, null, escape)
    number, write_number = _NUMBERS[piece.letter], number_encoder(piece.encoding)
    return lambda record, context: write_number(number(record, context))


def _headers(piece: Field, null: bytes, escape: Escape | None) -> PrintRecord:
    """A header is printed as the record whose key and value it has."""
    inner = record_printer(piece.inner, null, escape)
    return lambda record, context: b"".join(
        [inner(as_record(header), context) for header in record.headers]
    )


def as_record(header: Header) -> TopicRecord:
    name, value = header
    return TopicRecord(value, key=name.encode())


def length(text: bytes | None) -> int:
    return -1 if text is None else len(text)


def text_encoder(encoding: str, escape: Escape | None) -> Callable[[bytes], bytes]:
    match encoding:
        case "":
            return escape or (lambda text: text)
        case "hex":
            return lambda text: text.hex().encode()
        case "base64":
            return base64.b64encode
        case "base64raw":
            return lambda text: base64.b64encode(text).rstrip(b"=")
    unpack = unpacker(encoding.partition("[")[2].removesuffix("]"))
    return unpack if escape is None else lambda text: escape(unpack(text))


def unpacker(layout: str) -> Callable[[bytes], bytes]:
    """`[>iq]` as in the struct module; remaining bytes are printed unchanged."""
    try:
        fields = struct.Struct(layout if layout[:1] in "<>=!" else f">{layout}")
    except struct.error as error:
        raise BadTemplate(
            f"unpack[{layout}] is not a format of Python's module struct, such as >iq: {error}"
        ) from error

    def unpack(text: bytes) -> bytes:
        if len(text) < fields.size:
            return text
        values = [_plain(value) for value in fields.unpack_from(text)]
        rest = text[fields.size :]
        return b" ".join([*values, rest] if rest else values)

    return unpack


def _plain(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def format_time(layout: str, timestamp_ms: int) -> bytes:
    try:
        return time.strftime(layout, time.gmtime(timestamp_ms / 1000)).encode()
    except (ValueError, OverflowError, OSError):  # beyond what the system's calendar has
        return b"%d" % timestamp_ms


def time_encoder(encoding: str) -> Callable[[int], bytes]:
    if encoding == "rfc3339":
        return lambda timestamp_ms: format_timestamp(timestamp_ms).encode()
    if encoding.startswith("strftime["):
        layout = encoding.removeprefix("strftime[").removesuffix("]")
        return lambda timestamp_ms: format_time(layout, timestamp_ms)
    return number_encoder(encoding)
