"""Other people's clients behind one small interface, so that one test asks all of them.

Every call makes a client, uses it and closes it, as separate programs would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

PATIENCE_S = 120.0
NOW = -1  # the producer's clock
FAR_AWAY = 999_999  # an offset that no topic of a test has


class Record(NamedTuple):
    """What was sent, or what was read."""

    value: bytes | None
    key: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp_ms: int = NOW


class Stored(NamedTuple):
    offset: int
    record: Record


@dataclass(frozen=True, slots=True)
class How:
    """How records are sent."""

    codec: str = "none"
    acks: str = "all"
    partition: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)  # in the client's own words


ORDINARY = How()


class ForeignClient(Protocol):
    def produce(self, topic: str, records: Sequence[Record], how: How = ORDINARY) -> list[int]:
        """Send all; their offsets, -1 each where no acknowledgement was wanted."""

    def consume(
        self, topic: str, count: int, partition: int = 0, start: int = 0
    ) -> list[Stored]: ...

    def bounds(self, topic: str, partition: int = 0) -> tuple[int, int]:
        """The first offset, and the one after the last."""

    def offset_for_time(self, topic: str, timestamp_ms: int, partition: int = 0) -> int | None: ...

    def read_at(self, topic: str, offsets: Sequence[int]) -> list[int]:
        """One reader goes to each of these offsets in turn; where the next record was."""

    def position_after_reset(self, topic: str, reset: str) -> int:
        """Where a reader at an offset that does not exist continues: `earliest`, `latest`."""
