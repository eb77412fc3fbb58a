"""The bound on what all requests together may hold in memory (`queued.max.request.bytes`).

Counted are frames that arrive and frames that wait or are worked on; no longer those that have
taken effect. When the bound is reached, connections that hold some of it are not read until others
have released theirs. Small requests, which are served as they come, never hold any.

Incomplete frames alone could fill the memory, and then nobody would ever release any. So while no
complete request is there, one reader may go on beyond the bound until its frame is whole.
"""

from __future__ import annotations

from typing import Protocol

READ_BYTES = 256 * 1024  # what one read may bring: wakes no more readers than there is room for


class Reader(Protocol):
    def resume_after_memory(self) -> None: ...


class RequestMemory:
    def __init__(self, bytes_max: int) -> None:
        self.bytes_max = bytes_max
        self.held_bytes = 0
        self._complete_bytes = 0  # of these, in frames that will be served without our help
        self._stopped: dict[Reader, None] = {}  # oldest first
        self._favoured: Reader | None = None

    @property
    def stopped_readers(self) -> int:
        return len(self._stopped)

    def change(self, held: int, complete: int) -> None:
        """Add these (negative: release them)."""
        self.held_bytes += held
        self._complete_bytes += complete
        if self._stopped and (held < 0 or complete < 0):
            self._wake()

    def may_read(self, reader: Reader) -> bool:
        """Whether a reader that holds some may go on; if not, it is woken when it may."""
        if self.held_bytes < self.bytes_max or reader is self._favoured:
            return True
        if not self._complete_bytes and self._favoured is None:
            self._favoured = reader
            return True
        self._stopped[reader] = None
        return False

    def leave(self, reader: Reader) -> None:
        """The reader's frame is whole, or the reader is gone."""
        self._stopped.pop(reader, None)
        if reader is self._favoured:
            self._favoured = None
            if self._stopped:
                self._wake()

    def _wake(self) -> None:
        room = self.bytes_max - self.held_bytes
        while self._stopped and room > 0:
            self._wake_oldest()
            room -= READ_BYTES
        if self._stopped and not self._complete_bytes and self._favoured is None:
            self._favoured = next(iter(self._stopped))
            self._wake_oldest()

    def _wake_oldest(self) -> None:
        reader = next(iter(self._stopped))
        del self._stopped[reader]
        reader.resume_after_memory()
