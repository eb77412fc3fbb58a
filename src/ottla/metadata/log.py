"""The interface of the metadata log: batches of records at consecutive offsets.

Every implementation (files, ZooKeeper) passes the tests in
`tests/unit/metadata/log_conformance.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ottla.metadata.image import Batch, Image

if TYPE_CHECKING:
    from ottla.metadata.continuity import KnownState


class AppendRefused(Exception):
    """Nothing was written: another controller has written, or may write."""


class AppendDenied(AppendRefused):
    """Nothing was written, by no broker, and the log can still be used: an operator has to change
    something first. The message says what."""


class MetadataLogFull(AppendDenied):
    """The disk is full."""


class AppendFailed(Exception):
    """It is not known whether the batch was written. Only `load` can determine it."""


class Trimmed(Exception):
    """The requested batches were replaced by a snapshot, which `load` returns."""


class MetadataLost(Exception):
    """The stored metadata is older than what was seen of it, of another cluster, or not
    readable. The process ends: further decisions would contradict acknowledged ones."""

    def __init__(self, location: str, what: str) -> None:
        super().__init__(location, what)
        self.location = location
        self.what = what

    def __str__(self) -> str:
        return (
            f"the metadata log {self.location} cannot be used: {self.what}\n"
            "  no partition was touched: restore what was there, or mount it again, then start "
            "the broker again (docs/guides/recovering.md)"
        )


class CorruptMetadataError(Exception):
    """The stored bytes were damaged; the message contains the file and the position."""

    def __init__(self, location: str, position: int, what: str) -> None:
        super().__init__(location, position, what)
        self.location = location
        self.position = position
        self.what = what

    def __str__(self) -> str:
        return f"{self.location} at byte {self.position}: {self.what}"


class NewerMetadata(Exception):
    """A newer version has written what is stored, and it is not damaged. The message gives the
    location and what is unknown."""

    def __init__(self, location: str, what: str) -> None:
        super().__init__(location, what)
        self.location = location
        self.what = what

    def __str__(self) -> str:
        return f"{self.location} was written by a newer version: {self.what}"


class MetadataLog(Protocol):
    @property
    def location(self) -> str:
        """Where it is stored, for messages."""

    async def load(self, known: KnownState) -> Image:
        """The image of everything that was appended. Must be called first, and again after
        AppendFailed.

        MetadataLost, without any change, unless it contains the known state. Called through
        `continuity.load_known`, which turns OSError into MetadataLost, too.
        """

    async def check(self) -> None:
        """MetadataLost if the stored log was removed or replaced."""

    @property
    def end_offset(self) -> int:
        """The offset of the next batch."""

    async def append(self, batch: Batch) -> None:
        """Append a batch atomically; it is durable when this returns."""

    async def confirm(self) -> None:
        """AppendRefused if another controller may have appended since this one was elected."""

    async def read(self, offset: int) -> list[Batch]:
        """The batches from `offset` on, which must be the start of a batch; Trimmed if they were
        removed."""

    async def wait_beyond(self, offset: int) -> None:
        """Wait until there is a record at `offset`."""

    @property
    def wants_snapshot(self) -> bool:
        """Whether enough was appended since the last snapshot."""

    async def write_snapshot(self, image: Image) -> None:
        """Replace the log up to its end with a snapshot of the image, in threads. The image may
        change with the next append.

        After OSError there is no new snapshot, and the log can still be used.
        """

    async def close(self) -> None: ...
