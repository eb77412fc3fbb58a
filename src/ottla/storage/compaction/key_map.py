"""The key map of compaction: the compiled one if it could be built, otherwise that in Python.

Owns      the choice between `_key_map` and `_plain_key_map`, made once, at import, and the size.
Promises  no more memory than asked for, whatever the log holds.
"""

from __future__ import annotations

try:
    from ottla.storage.compaction._key_map import SLOT_BYTES, KeyMap, are_rising

    IMPLEMENTATION = "compiled"
except ImportError:  # built without a compiler
    from ottla.storage.compaction._plain_key_map import (  # type: ignore[assignment]
        SLOT_BYTES,
        KeyMap,
        are_rising,
    )

    IMPLEMENTATION = "plain Python"

__all__ = ["IMPLEMENTATION", "SLOT_BYTES", "KeyMap", "are_rising", "new_key_map"]

SLOTS_MIN = 64
SLOTS_MAX = (1 << 32) - 1


def new_key_map(
    keys: int, bytes_max: int, load_factor: float, base_offset: int, secret: bytes
) -> KeyMap:
    """Room for `keys` different keys, or for as many as fit into `bytes_max`."""
    wanted = int(keys / load_factor) + 1
    slots = max(SLOTS_MIN, min(wanted, bytes_max // SLOT_BYTES, SLOTS_MAX))
    return KeyMap(slots, min(int(slots * load_factor), slots - 1), base_offset, secret)
