"""The metadata log: batches of records, each at its offset, once and for all.

Whoever keeps it (a file, ZooKeeper) passes the same tests, in
`tests/unit/metadata/log_conformance.py`.
"""

from __future__ import annotations

from typing import Protocol

from ottla.metadata.image import Batch, Image


class AppendRefused(Exception):
    """Nothing was written: somebody else has written there, or may write instead of us."""


class AppendFailed(Exception):
    """Whether the batch was written is not known. Only `load` tells."""


class Trimmed(Exception):
    """The batches that were asked for are gone; a snapshot stands for them. `load` gives it."""


class CorruptMetadataError(Exception):
    """What is kept cannot be what was written: says where it is kept and at which byte."""

    def __init__(self, place: str, position: int, what: str) -> None:
        super().__init__(place, position, what)
        self.place = place
        self.position = position
        self.what = what

    def __str__(self) -> str:
        return f"{self.place} at byte {self.position}: {self.what}"


class MetadataLog(Protocol):
    async def load(self) -> Image:
        """All that was appended, folded. Must come first, and again after AppendFailed."""

    @property
    def end_offset(self) -> int:
        """The offset of the next batch."""

    async def append(self, batch: Batch) -> None:
        """Add a batch at the end: all of it or nothing, and durable when this returns."""

    async def read(self, offset: int) -> list[Batch]:
        """The batches from `offset` on, which is where one of them begins; Trimmed if gone."""

    async def wait_beyond(self, offset: int) -> None:
        """Return once there is something at `offset`."""

    @property
    def wants_snapshot(self) -> bool:
        """Whether enough was appended since the last snapshot to be worth another."""

    async def write_snapshot(self, image: Image) -> None:
        """Keep the image, which is at the end of the log, in the place of what made it.

        After OSError there is no new snapshot, and the log goes on without.
        """

    async def close(self) -> None: ...
