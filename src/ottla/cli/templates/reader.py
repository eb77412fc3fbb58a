"""RecordReader records by a template, the one that would print them.

A text ends at the literal that follows it, or has the length that precedes it: `%k\\t%v\\n`,
`%K{big32}%k%V{big32}%v`. Headers need their number first: `%H %h{%k=%v }`. A record that lacks a
separator does not continue into the next record: a text that ends at a separator does not contain
the literal that ends the record.

Promises  the input is read in chunks; memory is not allocated for a length before its bytes arrive.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

from ottla.cli.arguments.timestamps import parse_timestamp
from ottla.cli.records.record import INPUT_BYTES_MAX, TOO_LONG, BadRecord, Header, TopicRecord
from ottla.cli.templates.numbers import decode_number, number_size
from ottla.cli.templates.parser import HEADERS, TEXT, TIME, BadTemplate, Field, Literal, Piece

READABLE = "tkvTKVHhpd"
SIZES = {"t": "T", "k": "K", "v": "V"}
CHUNK_BYTES = 64 * 1024


def read_records(
    input_file: BinaryIO, template: Sequence[Piece], unit: str = "record"
) -> Iterator[TopicRecord]:
    """The records of the input.

    BadTemplate is raised at once, BadRecord when the record is reached that cannot be read. It
    names the record by `unit` and number.
    """
    check_readable(template)
    return _records(ByteSource(input_file), template, unit)


def _records(source: ByteSource, template: Sequence[Piece], unit: str) -> Iterator[TopicRecord]:
    number = 0
    last = template[-1] if template else None
    source.record_end = last.content if isinstance(last, Literal) else None
    while not source.is_at_end():
        number += 1
        try:
            yield as_record(read_pieces(source, template))
        except (ValueError, EOFError) as error:
            raise BadRecord(f"{unit} {number}: {error}") from error


def check_readable(template: Sequence[Piece]) -> None:
    sized: set[str] = set()
    for piece, following in zip(template, [*template[1:], None], strict=True):
        if isinstance(piece, Literal):
            continue
        if piece.letter not in READABLE:
            raise BadTemplate(f"%{piece.letter} can be printed, but not read")
        if piece.encoding.startswith(("unpack", "strftime")):
            raise BadTemplate(f"%{piece.letter}{{{piece.encoding}}} can be printed, but not read")
        sized.add(piece.letter)
        has_end = isinstance(following, Literal) or following is None
        if piece.kind == HEADERS and "H" not in sized:
            raise BadTemplate("%h needs the number of headers, %H, before it")
        if piece.kind == HEADERS:
            check_readable(piece.inner)
        elif piece.kind == TEXT and not has_end and SIZES[piece.letter] not in sized:
            size = SIZES[piece.letter]
            raise BadTemplate(
                f"%{piece.letter} has no end: put a separator after it or %{size} before it"
            )


def read_pieces(source: ByteSource, template: Sequence[Piece]) -> dict[str, Any]:
    """Values by the letter of their field."""
    found: dict[str, Any] = {}
    for index, piece in enumerate(template):
        if isinstance(piece, Literal):
            source.expect(piece.content)
            continue
        following = template[index + 1] if index + 1 < len(template) else None
        end = following.content if isinstance(following, Literal) else None
        if piece.kind == HEADERS:
            found["h"] = [as_header(read_pieces(source, piece.inner)) for _ in range(found["H"])]
        elif piece.kind == TEXT:
            found[piece.letter] = read_text(source, piece, found.get(SIZES[piece.letter]), end)
        else:
            found[piece.letter] = read_number(source, piece, end)
    return found


def read_text(
    source: ByteSource, field: Field, size: int | None, end: bytes | None
) -> bytes | None:
    if size is not None and size < 0:
        return None
    content = source.until(end) if size is None else source.exactly(size)
    match field.encoding:
        case "hex":
            return decode_hex(content)
        case "base64" | "base64raw":
            return decode_base64(content)
    return content


def read_number(source: ByteSource, field: Field, end: bytes | None) -> int:
    size = number_size(field.encoding) if field.encoding != "rfc3339" else None
    content = source.until(end) if size is None else source.exactly(size)
    if field.kind == TIME and field.encoding == "rfc3339":
        timestamp_ms = parse_timestamp(content.decode(), 0)
        if timestamp_ms is None:
            raise ValueError(f"{quoted(content)} is not a time")
        return timestamp_ms
    return decode_number(field.encoding, content)


def as_record(found: dict[str, Any]) -> TopicRecord:
    return TopicRecord(
        found.get("v", b""),
        found.get("k"),
        tuple(found.get("h", ())),
        topic=(found.get("t") or b"").decode(),
        partition=found.get("p", -1),
        timestamp_ms=found.get("d", -1),
    )


def as_header(found: dict[str, Any]) -> Header:
    return (found.get("k") or b"").decode(), found.get("v")


def decode_hex(content: bytes) -> bytes:
    try:
        return bytes.fromhex(content.decode())
    except ValueError:
        raise ValueError(f"{quoted(content)} is not hexadecimal") from None


def decode_base64(content: bytes) -> bytes:
    """With or without padding. Characters that are not base64 are refused, not left out."""
    text = content.rstrip(b"=")
    try:
        return base64.b64decode(text + b"=" * (-len(text) % 4), validate=True)
    except ValueError:
        raise ValueError(f"{quoted(content)} is not base64") from None


def quoted(content: bytes | None) -> str:
    return json.dumps((content or b"").decode("utf-8", "backslashreplace"), ensure_ascii=False)


class ByteSource:
    """A byte stream with lookahead."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.record_end: bytes | None = None
        self._held = bytearray()
        self._has_ended = False

    def is_at_end(self) -> bool:
        return not self._held and not self._more()

    def expect(self, content: bytes) -> None:
        """The literal that ends a record may be missing at the end of the input."""
        while len(self._held) < len(content) and self._more():
            pass
        if not self._held and content == self.record_end:
            return
        if not self._held.startswith(content):
            found = quoted(bytes(self._held[:20])) if self._held else "the end of the input"
            raise ValueError(f"expected {quoted(content)}, found {found}")
        del self._held[: len(content)]

    def until(self, end: bytes | None) -> bytes:
        """Up to, and not including, `end` or the end of the input."""
        searched = 0
        while True:
            at = self._held.find(end, searched) if end is not None else -1
            if at >= 0:
                return self._checked(self._take(at), end)
            if len(self._held) > INPUT_BYTES_MAX:
                raise ValueError(TOO_LONG)
            searched = max(0, len(self._held) - len(end or b""))
            if not self._more():
                if end not in (None, self.record_end):
                    raise ValueError(f"there is no {quoted(end)} before the end of the input")
                return self._take(len(self._held))

    def _checked(self, content: bytes, end: bytes | None) -> bytes:
        if self.record_end not in (None, end) and self.record_end in content:
            raise ValueError(f"there is no {quoted(end)} before {quoted(self.record_end)}")
        return content

    def exactly(self, size: int) -> bytes:
        if size > INPUT_BYTES_MAX:
            raise ValueError(f"a length of {size} bytes: {TOO_LONG}")
        while len(self._held) < size and self._more():
            pass
        if len(self._held) < size:
            raise EOFError(f"expected {size} bytes, but the input ends after {len(self._held)}")
        return self._take(size)

    def _take(self, size: int) -> bytes:
        content = bytes(self._held[:size])
        del self._held[:size]
        return content

    def _more(self) -> bool:
        """Read what is available, without waiting for a whole chunk: the input may be typed."""
        if not self._has_ended:
            chunk = self._file.read1(CHUNK_BYTES)  # type: ignore[attr-defined]
            self._has_ended = not chunk
            self._held += chunk
        return not self._has_ended
