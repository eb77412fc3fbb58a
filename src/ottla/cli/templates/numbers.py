"""Encodings of numbers in templates: `{big32}`, `{hex16}`, `{byte}` and so on.

The length of null is -1, which distinguishes it from an empty value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

ByteOrder = Literal["big", "little"]


def number_encoder(encoding: str) -> Callable[[int], bytes]:
    if encoding in ("", "ascii"):
        return lambda number: b"%d" % number
    if encoding == "bool":
        return lambda number: b"true" if number else b"false"
    if encoding.startswith("hex"):
        bits = int(encoding.removeprefix("hex"))
        return lambda number: f"{number & (1 << bits) - 1:0{bits // 4}x}".encode()
    size, order = binary_layout(encoding)
    return lambda number: (number & (1 << size * 8) - 1).to_bytes(size, order)


def number_size(encoding: str) -> int | None:
    """Length in bytes; None if it depends on the number."""
    if encoding in ("", "ascii", "bool"):
        return None
    if encoding.startswith("hex"):
        return int(encoding.removeprefix("hex")) // 4
    return binary_layout(encoding)[0]


def decode_number(encoding: str, content: bytes) -> int:
    """The inverse; ValueError if the content is not a number."""
    if encoding == "bool":
        words = {b"true": 1, b"1": 1, b"false": 0, b"0": 0}
        if content.strip().lower() not in words:
            raise ValueError(
                f"{content.decode('utf-8', 'backslashreplace')!r} is neither true nor false"
            )
        return words[content.strip().lower()]
    if encoding in ("", "ascii") or encoding.startswith("hex"):
        try:
            return int(content, 16 if encoding.startswith("hex") else 10)
        except ValueError:
            raise ValueError(
                f"{content.decode('utf-8', 'backslashreplace')!r} is not a number"
            ) from None
    size, order = binary_layout(encoding)
    return int.from_bytes(content, order, signed=size > 1)


def binary_layout(encoding: str) -> tuple[int, ByteOrder]:
    if encoding == "byte":
        return 1, "big"
    if encoding.startswith("big"):
        return int(encoding.removeprefix("big")) // 8, "big"
    return int(encoding.removeprefix("little")) // 8, "little"
