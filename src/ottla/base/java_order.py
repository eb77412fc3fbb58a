"""The order in which Java's hash maps give their keys.

Kafka answers some lists (settings, quotas) straight from a `java.util.HashMap`. The order is no
promise, but it is the same at every call, so clients and their tests have come to rely on it.

Owns nothing. Promises the order of a map that was filled by inserting the keys one by one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

_UTF_16 = "utf-16-le" if sys.byteorder == "little" else "utf-16-be"
_SLOTS_MIN = 16  # of a map that was made without a size


def java_string_hash(text: str) -> int:
    """`String.hashCode()`, as an unsigned 32-bit number; characters count as UTF-16 units."""
    value = 0
    for unit in memoryview(text.encode(_UTF_16, "surrogatepass")).cast("H"):
        value = (31 * value + unit) & 0xFFFFFFFF
    return value


def hash_map_order(keys: Iterable[str], slots_min: int = _SLOTS_MIN) -> list[str]:
    """Keys by slot; those of one slot as they came. A map doubles once three quarters are taken."""
    known = list(dict.fromkeys(keys))
    slots = slots_min
    while len(known) * 4 > slots * 3:
        slots *= 2
    return sorted(known, key=lambda key: _spread(java_string_hash(key)) & (slots - 1))


def _spread(value: int) -> int:
    return value ^ value >> 16
