"""The metadata log: batches of records, each at its offset, once and for all.

Every implementation (a file, ZooKeeper) passes the same tests, in
`tests/unit/metadata/log_conformance.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ottla.metadata.image import Batch, Image

if TYPE_CHECKING:
    from ottla.metadata.continuity import Known


class AppendRefused(Exception):
    """Nothing was written: somebody else has written there, or may write instead of us."""


class NoRoom(AppendRefused):
    """Nothing was written, because the disk is full. The log can still be used."""


class AppendFailed(Exception):
    """Whether the batch was written is not known. Only `load` can find out."""


class Trimmed(Exception):
    """The batches that were asked for are gone; a snapshot stands for them. `load` gives it."""


class MetadataLost(Exception):
    """What is kept is older than what was seen of it, of another cluster, or out of reach. The
    process ends: whatever was decided from here on would contradict what was acknowledged."""

    def __init__(self, place: str, what: str) -> None:
        super().__init__(place, what)
        self.place = place
        self.what = what

    def __str__(self) -> str:
        return (
            f"the metadata log {self.place} cannot be used: {self.what}\n"
            "  no partition was touched: restore what was there, or mount it again, then start "
            "the broker again (docs/guides/recovering.md)"
        )


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
    @property
    def place(self) -> str:
        """Where it is kept, for messages."""

    async def load(self, known: Known) -> Image:
        """All that was appended, folded. Must come first, and again after AppendFailed.

        MetadataLost, and nothing changed, unless it contains what is known. Called through
        `continuity.load_known`, which turns OSError into MetadataLost, too.
        """

    async def check(self) -> None:
        """MetadataLost if what was loaded and appended is no longer where it was."""

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
