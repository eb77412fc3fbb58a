"""A record as commands print and read it."""

from __future__ import annotations

from dataclasses import dataclass

Header = tuple[str, bytes | None]


@dataclass(frozen=True, slots=True)
class Record:
    value: bytes | None
    key: bytes | None = None
    headers: tuple[Header, ...] = ()
    topic: str = ""
    partition: int = -1
    offset: int = -1
    timestamp_ms: int = -1
    leader_epoch: int = -1
