"""The bytes of one file on the in-memory disk, and which of them a power failure would lose.

A change is written to memory at once and remembered with what it replaced, until the file is
synced. A power cut takes all remembered changes back and does some of them again, as a real disk
does: in any selection, and any of them in part.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

SECTOR_BYTES = 512


@dataclass(slots=True)
class Change:
    """One write or truncation that is not durable yet."""

    position: int
    size: int  # of what was written; a truncation writes nothing
    replaced: bytes  # what stood from `position` on
    size_before: int
    is_cut: bool = False


@dataclass(slots=True)
class Redo:
    """A change that was taken back, and can be done again."""

    position: int
    written: bytes
    is_cut: bool

    def apply(self, data: bytearray) -> None:
        if self.is_cut:
            del data[self.position :]
        else:
            put(data, self.position, self.written)

    def apply_in_part(self, data: bytearray, rng: Random) -> None:
        """As if the power failed during the write: a beginning, or some of the sectors."""
        if self.is_cut or len(self.written) < 2:
            return
        if rng.random() < 0.5:
            put(data, self.position, self.written[: rng.randrange(1, len(self.written))])
            return
        for start in range(0, len(self.written), SECTOR_BYTES):
            if rng.random() < 0.5:
                put(data, self.position + start, self.written[start : start + SECTOR_BYTES])


@dataclass(eq=False)
class Content:
    data: bytearray = field(default_factory=bytearray)
    modified_ms: int = 0
    is_cached: bool = True
    unsynced: list[Change] = field(default_factory=list)
    # What failed syncs did not write. A later sync does not write it either, since the kernel
    # believes it has: only a power cut shows.
    given_up: list[Redo] = field(default_factory=list)
    hole: int = 0  # bytes at the end that were never written: they take no room

    @property
    def room_bytes(self) -> int:
        return max(0, len(self.data) - self.hole)

    def write(self, position: int, new: bytes) -> Change:
        replaced = bytes(self.data[position : position + len(new)])
        change = Change(position, len(new), replaced, len(self.data))
        put(self.data, position, new)
        self.hole = max(0, min(self.hole, len(self.data) - position - len(new)))
        self.unsynced.append(change)
        return change

    def extend(self, size: int) -> None:
        before, hole = len(self.data), self.hole
        if size > before:
            self.write(before, bytes(size - before))
            self.hole = hole + size - before

    def truncate(self, size: int) -> None:
        before = len(self.data)
        if size >= before:
            self.write(before, bytes(size - before))
            return
        self.unsynced.append(Change(size, 0, bytes(self.data[size:]), before, is_cut=True))
        self.hole = max(0, size - self.room_bytes)
        del self.data[size:]

    def sync(self) -> None:
        self.unsynced.clear()

    def give_up(self) -> None:
        """A sync failed: the changes so far stay readable, and will not survive a power cut."""
        for change in self.unsynced:
            if not change.is_cut:
                old = change.replaced.ljust(change.size, b"\0")
                self.given_up.append(Redo(change.position, old, is_cut=False))
        self.unsynced.clear()

    def take_back(self, change: Change) -> Redo:
        redo = Redo(
            change.position,
            bytes(self.data[change.position : change.position + change.size]),
            change.is_cut,
        )
        put(self.data, change.position, change.replaced)
        del self.data[change.size_before :]
        return redo

    def tear(self, change: Change, keep_bytes: int) -> None:
        """Undo the last write, except for its first bytes."""
        redo = self.take_back(change)
        put(self.data, redo.position, redo.written[:keep_bytes])

    def cut_power(self, rng: Random) -> None:
        redos = [self.take_back(change) for change in reversed(self.unsynced)]
        keep_chance = rng.choice((0.0, 0.5, 0.9, 1.0))
        is_in_order = rng.random() < 0.5  # nothing survives that comes after something lost
        for redo in reversed(redos):
            if rng.random() < keep_chance:
                redo.apply(self.data)
                continue
            redo.apply_in_part(self.data, rng)
            if is_in_order:
                break
        for redo in self.given_up:
            if redo.position < len(self.data) and rng.random() < 0.8:
                redo.written = redo.written[: len(self.data) - redo.position]
                redo.apply(self.data)
        self.unsynced.clear()
        self.given_up.clear()
        self.is_cached = False


def put(data: bytearray, position: int, new: bytes) -> None:
    """Overwrite, with zeros in between where `position` is beyond the end."""
    if position > len(data):
        data.extend(bytes(position - len(data)))
    data[position : position + len(new)] = new
