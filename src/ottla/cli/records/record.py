"""A record as commands print and read it."""

from __future__ import annotations

from typing import NamedTuple

Header = tuple[str, bytes | None]


class Record(NamedTuple):
    value: bytes | None
    key: bytes | None = None
    headers: tuple[Header, ...] = ()
    topic: str = ""
    partition: int = -1
    offset: int = -1
    timestamp_ms: int = -1
    leader_epoch: int = -1


class BadRecord(ValueError):
    """The input is not a record. The message says why, `advice` what to do."""

    def __init__(self, message: str, *advice: str) -> None:
        super().__init__(message)
        self.advice = advice
