"""The base of all generated messages: decoding, encoding, comparison, and repr.

The generated modules (`messages/`) contain classes with slots and, per version, functions that read
and write them; versions with the same layout share a function. All these functions are called here,
so that every malformed input raises `MalformedMessage` and every value that does not fit its field
`UnencodableValue`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, NoReturn, Self, TypeAlias

from ottla.protocol.errors import MalformedMessage, TooManyItems, UnencodableValue
from ottla.protocol.primitives import bounded, items_left

Buffer: TypeAlias = bytes | bytearray | memoryview
FrameSegment: TypeAlias = Any  # bytes-like, or a range of a file that the network sends

Decoder: TypeAlias = Callable[[memoryview, int], tuple[Any, int]]
Encoder: TypeAlias = Callable[[Any, bytearray], None]
SegmentsEncoder: TypeAlias = Callable[[Any, bytearray, list[FrameSegment]], bytearray]

_UNFIT = (UnencodableValue, struct.error, UnicodeEncodeError)


class UnsupportedVersion(ValueError):
    """A version that the message does not have."""


class Struct:
    """A group of fields. Equality is by value; a list equals a tuple with the same items."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # fields can change

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return all(_equal(mine, getattr(other, name)) for name, mine in self.items())

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={_shown(value)}" for name, value in self.items())
        return f"{self.__class__.__name__}({fields})"

    def items(self) -> Iterator[tuple[str, Any]]:
        """(field name, value), in wire order."""
        names: tuple[str, ...] = self.__slots__
        return ((name, getattr(self, name)) for name in names if name != "kept")


def _equal(one: object, other: object) -> bool:
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    return one == other


def _shown(value: object) -> str:
    """Long bytes are shown by their size."""
    if isinstance(value, bytes | bytearray | memoryview) and len(value) > 64:
        return f"<{len(value)} bytes>"
    return repr(value)


class Message(Struct):
    """A request, a response or a data record, in all its versions."""

    __slots__ = ()
    VERSIONS: ClassVar[range]
    FLEXIBLE_FROM: ClassVar[int | None] = None
    DECODERS: ClassVar[Mapping[int, Decoder]]
    ENCODERS: ClassVar[Mapping[int, Any]]

    @classmethod
    def decode(cls, data: Buffer, version: int, at: int = 0) -> Self:
        """The message that occupies `data` from `at` to its end."""
        message, end = cls.decode_prefix(data, version, at)
        if end != len(data):
            raise MalformedMessage(
                f"{cls.__name__} version {version} ends at byte {end}, the data at byte {len(data)}"
            )
        return message

    @classmethod
    def decode_bounded(
        cls, data: Buffer, version: int, at: int, items_max: int
    ) -> tuple[Self, int]:
        """As `decode_prefix`; TooManyItems if all arrays together have more items."""
        message, end, _items = cls.decode_counted(data, version, at, items_max)
        return message, end

    @classmethod
    def decode_counted(
        cls, data: Buffer, version: int, at: int, items_max: int
    ) -> tuple[Self, int, int]:
        """As `decode_bounded`, and the number of items."""
        before = items_left.set(items_max)
        bounded.append(cls)
        try:
            message, end = cls.decode_prefix(data, version, at)
            return message, end, items_max - items_left.get()
        finally:
            bounded.pop()
            items_left.reset(before)

    @classmethod
    def decode_prefix(cls, data: Buffer, version: int, at: int = 0) -> tuple[Self, int]:
        """The message at `at`, and the position after it. Records are slices of `data`."""
        decoder = cls.DECODERS.get(version)
        if decoder is None:
            raise UnsupportedVersion(f"{cls.__name__} has no version {version}")
        if not isinstance(data, memoryview):
            data = memoryview(data)
        try:
            return decoder(data, at)
        except (MalformedMessage, struct.error, IndexError, UnicodeDecodeError) as error:
            if isinstance(error, TooManyItems):
                raise
            raise MalformedMessage(f"{cls.__name__} version {version}: {_reason(error)}") from error

    @classmethod
    def decode_prefixed(cls, data: Buffer) -> Self:
        """For data records on disk, which are preceded by their version in two bytes."""
        if len(data) < 2:
            raise MalformedMessage(f"{cls.__name__}: {len(data)} bytes, no room for a version")
        return cls.decode(data, int.from_bytes(data[:2], "big", signed=True), 2)

    def encode(self, version: int) -> bytes:
        """The encoded message as one object."""
        out = bytearray()
        self.encode_segments(version, out)
        return bytes(out)

    def encode_prefixed(self, version: int) -> bytes:
        out = bytearray(version.to_bytes(2, "big", signed=True))
        self.encode_segments(version, out)
        return bytes(out)

    def encode_segments(self, version: int, out: bytearray) -> list[FrameSegment]:
        """Append to `out`, the first segment of the list; records follow without being copied."""
        encoder = self.ENCODERS.get(version) or self._no_encoder(version)
        try:
            encoder(self, out)
        except _UNFIT as error:
            raise self._unencodable(version, error) from error
        return [out]

    def _no_encoder(self, version: int) -> NoReturn:
        raise UnsupportedVersion(f"{self.__class__.__name__} has no version {version}")

    def _unencodable(self, version: int, error: Exception) -> UnencodableValue:
        return UnencodableValue(f"{self.__class__.__name__} version {version}: {error}")


class RecordsMessage(Message):
    """A message with records, which are separate segments."""

    __slots__ = ()

    def encode(self, version: int) -> bytes:
        return b"".join(self.encode_segments(version, bytearray()))

    def encode_prefixed(self, version: int) -> bytes:
        return version.to_bytes(2, "big", signed=True) + self.encode(version)

    def encode_segments(self, version: int, out: bytearray) -> list[FrameSegment]:
        encoder = self.ENCODERS.get(version) or self._no_encoder(version)
        segments: list[FrameSegment] = []
        try:
            last = encoder(self, out, segments)
        except _UNFIT as error:
            raise self._unencodable(version, error) from error
        if last or not segments:
            segments.append(last)
        return segments


def _reason(error: Exception) -> str:
    if isinstance(error, IndexError):
        return "it ends in the middle of a field"
    return str(error)


def refuse_field(name: str) -> NoReturn:
    """A field is set that this version does not have, and that must not be ignored."""
    raise UnsupportedVersion(f"{name} is set, but this version does not have it")


def refuse_null_field(name: str) -> NoReturn:
    raise UnsupportedVersion(f"{name} is null, but this version cannot carry null")
