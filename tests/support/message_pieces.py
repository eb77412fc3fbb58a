"""A message in pieces: every count, length, marker and tag of its encoding apart from the rest.

A second encoder, slow and written straight from the schema, so that tests can put unknown tags
into every section, or change one number and join the pieces again.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.message_values import INTEGERS, Plain, default_value
from tools.messages.schema import FIXED_BYTES, FieldSchema, MessageSchema, StructSchema

CODES = {"bool": "?", "int8": "b", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
         "int64": "q", "float64": "d", "uuid": "16s"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Piece:
    """`width` is that of a number which announces something: 2, 4, or 0 for a varint."""

    kind: str  # value, count, length, text, content, marker, tag count, tag, tag size
    data: bytes
    width: int | None = None

    @property
    def is_number(self) -> bool:
        return self.width is not None


def varint(value: int) -> bytes:
    out = []
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def joined(pieces: list[Piece]) -> bytes:
    return b"".join(piece.data for piece in pieces)


def pieces_of(
    message: MessageSchema,
    version: int,
    value: Plain,
    unknown_tags: Mapping[int, bytes] | None = None,
) -> list[Piece]:
    """The encoding of a plain value; with `unknown_tags` in every section of tagged fields."""
    return list(_Encoding(message, version, unknown_tags or {}).struct(message.root, value))


class _Encoding:
    def __init__(self, message: MessageSchema, version: int, unknown: Mapping[int, bytes]) -> None:
        self.message = message
        self.version = version
        self.unknown = unknown
        self.is_flexible = message.is_flexible(version)

    def struct(self, struct: StructSchema, value: Plain) -> Iterator[Piece]:
        present = [f for f in struct.fields if self.version in f.versions]
        for field in present:
            if field.tag is None:
                yield from self._field(field, value[field.name])
        if self.is_flexible:
            yield from self._tags(struct, [f for f in present if f.tag is not None], value)

    def _tags(
        self, struct: StructSchema, present: list[FieldSchema], value: Plain
    ) -> Iterator[Piece]:
        sections = {}
        for field in present:
            item = value[field.name]
            if item != default_value(self.message, field, self.version):
                sections[field.tag or 0] = list(self._field(field, item))
        used = {field.tag for field in struct.fields}  # of other versions too
        for tag, data in self.unknown.items():
            if tag not in used:
                sections[tag] = [Piece("content", data)]
        yield Piece("tag count", varint(len(sections)), 0)
        for tag, pieces in sorted(sections.items()):
            yield Piece("tag", varint(tag), 0)
            yield Piece("tag size", varint(len(joined(pieces))), 0)
            yield from pieces

    def _field(self, field: FieldSchema, item: Any) -> Iterator[Piece]:
        if not field.is_array:
            yield from self._one(field, item)
            return
        yield self._number("count", None if item is None else len(item), field, 4)
        for each in item or ():
            yield from self._one(field, each, is_item=True)

    def _one(self, field: FieldSchema, item: Any, *, is_item: bool = False) -> Iterator[Piece]:
        if field.is_struct:
            yield from self._one_struct(field, item, is_item)
        elif field.type in FIXED_BYTES:
            yield Piece("value", struct.pack(">" + CODES[field.type], item))
        else:
            data = item.encode() if isinstance(item, str) else item
            width = 2 if field.type == "string" else 4
            yield self._number("length", None if data is None else len(data), field, width)
            yield Piece("text" if field.type == "string" else "content", data or b"")

    def _one_struct(self, field: FieldSchema, item: Any, is_item: bool) -> Iterator[Piece]:
        if field.is_nullable(self.version) and not is_item:
            null = b"\xff" if field.tag is None else b"\x00"
            yield Piece("marker", null if item is None else b"\x01")
        if item is not None:
            yield from self.struct(self.message.structs[field.type], item)

    def _number(self, kind: str, size: int | None, field: FieldSchema, width: int) -> Piece:
        if self.is_flexible and not field.is_plain:
            return Piece(kind, varint(0 if size is None else size + 1), 0)
        return Piece(kind, number(-1 if size is None else size, width), width)


def number(value: int, width: int) -> bytes:
    return value.to_bytes(width, "big", signed=True)


def hostile_numbers(width: int) -> list[bytes]:
    """What to put in the place of a count or length: too large, negative, too long."""
    if width:
        lowest, highest = INTEGERS["int16" if width == 2 else "int32"]
        return [number(value, width) for value in (highest, highest // 2, lowest, -2, -1)]
    return [
        varint(0),
        varint(2**31 - 1),
        varint(2**31),
        varint(2**32 - 1),
        b"\xff\xff\xff\xff\x7f",  # five bytes, more than 32 bits
        b"\x80\x80\x80\x80\x80\x00",  # zero, in six bytes
        b"\xff" * 9 + b"\x01",  # minus one, in ten
        b"\x80",  # and then whatever follows
    ]
