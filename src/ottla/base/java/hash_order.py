"""The iteration order of Java's hash maps.

Kafka returns some lists (settings, quotas) in the order of a `java.util.HashMap`. The order is not
specified, but always the same, so clients and their tests depend on it.

Promises  the order of a map into which the keys were inserted one by one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

_UTF_16 = "utf-16-le" if sys.byteorder == "little" else "utf-16-be"
_SLOTS_MIN = 16  # initial capacity of a map


def java_string_hash(text: str) -> int:
    """`String.hashCode()` as an unsigned 32-bit number, computed over UTF-16 code units."""
    value = 0
    for unit in memoryview(text.encode(_UTF_16, "surrogatepass")).cast("H"):
        value = (31 * value + unit) & 0xFFFFFFFF
    return value


def hash_map_order(keys: Iterable[str], slots_min: int = _SLOTS_MIN) -> list[str]:
    """Keys by bucket, within a bucket in order of insertion. A map is resized at a load factor of
    0.75."""
    known = list(dict.fromkeys(keys))
    slots = slots_min
    while len(known) * 4 > slots * 3:
        slots *= 2
    return sorted(known, key=lambda key: _spread(java_string_hash(key)) & (slots - 1))


def _spread(value: int) -> int:
    return value ^ value >> 16
