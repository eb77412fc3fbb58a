"""The ways in which templates write numbers: `{big32}`, `{hex16}`, `{byte}` and so on.

Lengths of what is null are -1, so that it can be told from what is empty.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

ByteOrder = Literal["big", "little"]


def number_encoder(way: str) -> Callable[[int], bytes]:
    if way in ("", "ascii"):
        return lambda number: b"%d" % number
    if way == "bool":
        return lambda number: b"true" if number else b"false"
    if way.startswith("hex"):
        bits = int(way.removeprefix("hex"))
        return lambda number: f"{number & (1 << bits) - 1:0{bits // 4}x}".encode()
    size, order = binary_layout(way)
    return lambda number: (number & (1 << size * 8) - 1).to_bytes(size, order)


def number_size(way: str) -> int | None:
    """How many bytes it takes; None where that depends on the number."""
    if way in ("", "ascii", "bool"):
        return None
    if way.startswith("hex"):
        return int(way.removeprefix("hex")) // 4
    return binary_layout(way)[0]


def decode_number(way: str, content: bytes) -> int:
    """The inverse; ValueError if it is no number."""
    if way == "bool":
        words = {b"true": 1, b"1": 1, b"false": 0, b"0": 0}
        if content.strip().lower() not in words:
            raise ValueError(f"{content!r} is neither true nor false")
        return words[content.strip().lower()]
    if way in ("", "ascii"):
        return int(content)
    if way.startswith("hex"):
        return int(content, 16)
    size, order = binary_layout(way)
    return int.from_bytes(content, order, signed=size > 1)


def binary_layout(way: str) -> tuple[int, ByteOrder]:
    if way == "byte":
        return 1, "big"
    if way.startswith("big"):
        return int(way.removeprefix("big")) // 8, "big"
    return int(way.removeprefix("little")) // 8, "little"
