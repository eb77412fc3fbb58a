"""A record as commands print and read it."""

from __future__ import annotations

from typing import NamedTuple

# Of the input for one record, in any format. Brokers take at most 100 MB, and an encoding such as
# hexadecimal doubles that. Without a limit, input that has no line ends would fill the memory.
INPUT_BYTES_MAX = 256 * 1024 * 1024
TOO_LONG = f"it is longer than {INPUT_BYTES_MAX} bytes, which no record can be"

Header = tuple[str, bytes | None]


class TopicRecord(NamedTuple):
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
