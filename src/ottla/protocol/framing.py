"""Cuts a byte stream into length-prefixed frames.

Promises  memory grows with the bytes that arrive, never with the length that is announced;
          a frame is a buffer of its own, which is never written again, so it stays good however
          long its request takes, and whoever keeps a part of it keeps nothing else alive.
Leaves    sockets to the network layer, which reads into `next_buffer` and reports to `received`
          before anything else happens: the bytes in between lie in a buffer that readers share.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from struct import Struct

from ottla.protocol.errors import MalformedMessage

LENGTH_BYTES = 4
SCRATCH_BYTES = 256 * 1024
PARTIAL_BYTES_MAX = 64 * 1024  # up to here a beginning is kept aside and read on in the scratch
TIGHT_BYTES = 16 * 1024  # read at a time where memory is short
WHOLE_BYTES_MAX = 1088 * 1024  # up to here a longer beginning gets room for all the rest at once

_LENGTH = Struct(">i")
_write_length = _LENGTH.pack_into


class Scratch:
    """Where the bytes of many streams land, one stream at a time: an idle one costs nothing."""

    __slots__ = ("buffer", "view")

    def __init__(self, size: int = SCRATCH_BYTES) -> None:
        assert size > PARTIAL_BYTES_MAX
        self.buffer = bytearray(size)
        self.view = memoryview(self.buffer)


class FrameReader:
    """Gathers bytes as they arrive and hands out whole frames, without the length in front.

    A stream is in one of two states. Small frames are cut out of the scratch by copying them,
    which costs less than fresh memory for the next read would; the beginning of a frame at the
    end of a read waits in `_partial`. A frame of which much has arrived continues in a buffer of
    its own, `_large`, into which the rest is read directly.
    """

    __slots__ = (
        "_large",
        "_large_end",
        "_large_size",
        "_partial",
        "_scratch",
        "frame_bytes_max",
        "held_bytes",
    )

    def __init__(self, frame_bytes_max: int, scratch: Scratch | None = None) -> None:
        self.frame_bytes_max = frame_bytes_max
        self.held_bytes = 0  # the memory that the incomplete frame takes
        self._scratch = scratch or Scratch()
        self._partial = bytearray()
        self._large: memoryview | None = None
        self._large_end = 0  # of what has arrived
        self._large_size = 0  # of the whole frame with its length

    @property
    def has_partial_frame(self) -> bool:
        """Whether the peer owes the rest of a frame: such a wait has a deadline."""
        return self.held_bytes > 0

    @property
    def partial_bytes(self) -> int:
        """How much of the incomplete frame has arrived."""
        return self._large_end or len(self._partial)

    @property
    def announced_bytes(self) -> int:
        """Of the whole incomplete frame, its length included; 0 while it is not known."""
        if self._large is not None:
            return self._large_size
        if len(self._partial) < LENGTH_BYTES:
            return 0
        return LENGTH_BYTES + int(_LENGTH.unpack_from(self._partial)[0])

    @property
    def growth_bytes(self) -> int:
        """What reading on takes beyond `held_bytes`; 0 if there is room, or its size unknown."""
        if self._large is not None:
            if self._large_end < len(self._large):
                return 0
            return min(self._large_size, 2 * self._large_end) - self.held_bytes
        size = self.announced_bytes
        return max(0, (size if size <= WHOLE_BYTES_MAX else 2 * SCRATCH_BYTES) - self.held_bytes)

    def next_buffer(self, *, is_tight: bool = False) -> memoryview:
        """Where the next bytes belong; never empty.

        If memory is tight, few bytes: a frame that begins with them takes no room for its rest.
        """
        if self._large is not None:
            if self._large_end == len(self._large):
                self._grow_large(self._large)
            return self._large[self._large_end :]
        kept = len(self._partial)
        if kept:
            self._scratch.buffer[:kept] = self._partial
        if is_tight:
            return self._scratch.view[
                kept : min(kept + TIGHT_BYTES, max(kept + 1, PARTIAL_BYTES_MAX))
            ]
        return self._scratch.view[kept:] if kept else self._scratch.view

    def received(self, count: int) -> list[memoryview]:
        """Note that `count` bytes arrived; return the frames they complete."""
        if self._large is not None:
            return self._received_large(count)
        buffer = self._scratch.buffer
        if not self._partial and count >= LENGTH_BYTES:
            size = _LENGTH.unpack_from(buffer)[0]
            if size == count - LENGTH_BYTES and size <= self.frame_bytes_max:
                return [memoryview(buffer[LENGTH_BYTES:count])]  # as nearly always
        start, end, frames = 0, len(self._partial) + count, list[memoryview]()
        while end - start >= LENGTH_BYTES:
            size = _LENGTH.unpack_from(buffer, start)[0]
            if not 0 <= size <= self.frame_bytes_max:
                raise self._refusal(size)
            behind = start + LENGTH_BYTES + size
            if behind > end:
                break
            frames.append(memoryview(buffer[start + LENGTH_BYTES : behind]))
            start = behind
        if start < end or self._partial:
            self._keep_partial(start, end)
        return frames

    def _refusal(self, size: int) -> MalformedMessage:
        return MalformedMessage(
            f"a frame of {size} bytes is announced; at most {self.frame_bytes_max} are allowed"
        )

    def _keep_partial(self, start: int, end: int) -> None:
        if end - start <= PARTIAL_BYTES_MAX:
            self._partial = self._scratch.buffer[start:end]
            self.held_bytes = end - start
            return
        self._partial = bytearray()
        self._large_size = LENGTH_BYTES + _LENGTH.unpack_from(self._scratch.buffer, start)[0]
        self._grow_large(self._scratch.view[start:end])
        self._large_end = end - start

    def _received_large(self, count: int) -> list[memoryview]:
        assert self._large is not None
        self._large_end += count
        if self._large_end < self._large_size:
            return []
        frame = self._large[LENGTH_BYTES:]
        self._large, self._large_end, self.held_bytes = None, 0, 0
        return [frame]

    def _grow_large(self, arrived: memoryview) -> None:
        """Go on in a larger buffer that begins with what has arrived.

        Doubling means that a byte is copied once at most on average, and that a hundred thousand
        bytes of a frame never cost ninety megabytes.
        """
        size = self._large_size
        if size > WHOLE_BYTES_MAX:
            size = min(size, 2 * len(arrived))
        large = memoryview(bytearray(size))
        large[: len(arrived)] = arrived
        self._large, self.held_bytes = large, size


def finish_frame(first: bytearray, segments: Sequence[Sized]) -> None:
    """Write the length of all that follows into the first four bytes of the first segment."""
    size = len(first) if len(segments) == 1 else sum(map(len, segments))
    _write_length(first, 0, size - LENGTH_BYTES)
