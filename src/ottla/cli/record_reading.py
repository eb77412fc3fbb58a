"""Reading records by a template, the one that would print them.

A piece of text ends where the literal behind it begins, or after as many bytes as its length says
if that stands before it: `%k\\t%v\\n`, `%K{big32}%k%V{big32}%v`. Headers need their number first:
`%H %h{%k=%v }`. A record that lacks a sign does not reach into the next one: no text that ends with
a sign holds the one that ends the record.

Promises  the input is read piece by piece; nothing is taken in on the word of a length alone.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

from ottla.cli.json_records import BadRecord
from ottla.cli.moments import parse_moment
from ottla.cli.records import Header, Record
from ottla.cli.template_numbers import decode_number, number_size
from ottla.cli.templates import HEADERS, TEXT, TIME, BadTemplate, Field, Literal, Piece

READABLE = "tkvTKVHhpd"
SIZES = {"t": "T", "k": "K", "v": "V"}
CHUNK_BYTES = 64 * 1024


def read_records(input_file: BinaryIO, template: Sequence[Piece]) -> Iterator[Record]:
    """The records of the input, up to its end.

    BadTemplate comes at once; BadRecord, when it is reached, says which one cannot be read.
    """
    check_readable(template)
    return _records(Source(input_file), template)


def _records(source: Source, template: Sequence[Piece]) -> Iterator[Record]:
    number = 0
    last = template[-1] if template else None
    source.record_end = last.content if isinstance(last, Literal) else None
    while not source.is_at_end():
        number += 1
        try:
            yield as_record(read_pieces(source, template))
        except (ValueError, EOFError) as error:
            raise BadRecord(f"record {number}: {error}") from error


def check_readable(template: Sequence[Piece]) -> None:
    sized: set[str] = set()
    for piece, following in zip(template, [*template[1:], None], strict=True):
        if isinstance(piece, Literal):
            continue
        if piece.letter not in READABLE:
            raise BadTemplate(f"%{piece.letter} can be printed, but not be read")
        if piece.way.startswith(("unpack", "strftime")):
            raise BadTemplate(f"%{piece.letter}{{{piece.way}}} can be printed, but not be read")
        sized.add(piece.letter)
        has_end = isinstance(following, Literal) or following is None
        if piece.kind == HEADERS and "H" not in sized:
            raise BadTemplate("%h needs the number of headers, %H, before it")
        if piece.kind == HEADERS:
            check_readable(piece.inner)
        elif piece.kind == TEXT and not has_end and SIZES[piece.letter] not in sized:
            size = SIZES[piece.letter]
            raise BadTemplate(f"where %{piece.letter} ends cannot be told: put a sign or %{size}")


def read_pieces(source: Source, template: Sequence[Piece]) -> dict[str, Any]:
    """What was read, by the letter of the field."""
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


def read_text(source: Source, field: Field, size: int | None, end: bytes | None) -> bytes | None:
    if size is not None and size < 0:
        return None
    content = source.until(end) if size is None else source.exactly(size)
    match field.way:
        case "hex":
            return bytes.fromhex(content.decode())
        case "base64" | "base64raw":
            return base64.b64decode(content.rstrip(b"=") + b"=" * (-len(content.rstrip(b"=")) % 4))
    return content


def read_number(source: Source, field: Field, end: bytes | None) -> int:
    size = number_size(field.way) if field.way != "rfc3339" else None
    content = source.until(end) if size is None else source.exactly(size)
    if field.kind == TIME and field.way == "rfc3339":
        moment_ms = parse_moment(content.decode(), 0)
        if moment_ms is None:
            raise ValueError(f"{content!r} is no time")
        return moment_ms
    return decode_number(field.way, content)


def as_record(found: dict[str, Any]) -> Record:
    return Record(
        found.get("v", b""),
        found.get("k"),
        tuple(found.get("h", ())),
        topic=(found.get("t") or b"").decode(),
        partition=found.get("p", -1),
        timestamp_ms=found.get("d", -1),
    )


def as_header(found: dict[str, Any]) -> Header:
    return (found.get("k") or b"").decode(), found.get("v")


class Source:
    """A stream of bytes with a look ahead."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.record_end: bytes | None = None
        self._held = bytearray()
        self._has_ended = False

    def is_at_end(self) -> bool:
        return not self._held and not self._more()

    def expect(self, content: bytes) -> None:
        """The last record need not have its end."""
        while len(self._held) < len(content) and self._more():
            pass
        if not self._held and content == self.record_end:
            return
        if not self._held.startswith(content):
            raise ValueError(f"expected {content!r}, found {bytes(self._held[:20])!r}")
        del self._held[: len(content)]

    def until(self, end: bytes | None) -> bytes:
        """Up to, and not including, `end` or the end of the input."""
        searched = 0
        while True:
            at = self._held.find(end, searched) if end is not None else -1
            if at >= 0:
                return self._checked(self._take(at), end)
            searched = max(0, len(self._held) - len(end or b""))
            if not self._more():
                return self._take(len(self._held))

    def _checked(self, content: bytes, end: bytes | None) -> bytes:
        if self.record_end not in (None, end) and self.record_end in content:
            raise ValueError(f"there is no {end!r} before {self.record_end!r}")
        return content

    def exactly(self, size: int) -> bytes:
        while len(self._held) < size and self._more():
            pass
        if len(self._held) < size:
            raise EOFError(f"{size} bytes announced, but the input ends after {len(self._held)}")
        return self._take(size)

    def _take(self, size: int) -> bytes:
        content = bytes(self._held[:size])
        del self._held[:size]
        return content

    def _more(self) -> bool:
        """What there is now, without waiting for a whole chunk: somebody may be typing."""
        if not self._has_ended:
            chunk = self._file.read1(CHUNK_BYTES)  # type: ignore[attr-defined]
            self._has_ended = not chunk
            self._held += chunk
        return not self._has_ended
