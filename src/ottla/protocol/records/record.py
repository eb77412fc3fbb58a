"""One record.

Owns      the fields of a record and its headers.
Leaves    encoding to `reading.py` and `building.py`.
"""

from __future__ import annotations

from typing import NamedTuple

Header = tuple[str, bytes | None]


class Record(NamedTuple):
    """A null value is a tombstone: in a compacted topic it removes the key."""

    offset: int
    timestamp: int  # milliseconds; -1 for none
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
