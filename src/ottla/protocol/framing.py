"""Splits a byte stream into length-prefixed frames.

Promises  memory grows with the bytes that arrive, never with an announced length, and by one read
          at a time: clearing the rest of a large frame would block the event loop. A frame has
          its own buffer, which is never written again, so it stays valid for the whole request,
          and a reference to a part of it keeps nothing else alive.
Leaves    sockets to the network layer, which reads into `next_buffer` and calls `received` before
          anything else runs: streams share the scratch buffer.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from struct import Struct

from ottla.protocol.errors import MalformedMessage

LENGTH_BYTES = 4
SCRATCH_BYTES = 256 * 1024
# a smaller partial frame is copied aside and continued in the scratch buffer
PARTIAL_BYTES_MAX = 64 * 1024
READ_BYTES_MAX = 1024 * 1024  # at a time: some tenths of a millisecond
TIGHT_BYTES = 16 * 1024  # per read while memory is short
WHOLE_BYTES_MAX = 1088 * 1024  # up to this size the memory for all of a frame is taken at once

_LENGTH = Struct(">i")
_read_length = _LENGTH.unpack_from
_write_length = _LENGTH.pack_into


class Scratch:
    """The receive buffer shared by many streams, one at a time: an idle stream has no buffer."""

    __slots__ = ("buffer", "view")

    def __init__(self, size: int = SCRATCH_BYTES) -> None:
        assert size > PARTIAL_BYTES_MAX
        self.buffer = bytearray(size)
        self.view = memoryview(self.buffer)


class FrameReader:
    """Collects bytes as they arrive and returns complete frames, without their length prefix.

    A stream is in one of two states. Small frames are copied out of the scratch buffer, which is
    cheaper than a new buffer for the next read; a partial frame at the end of a read is kept in
    `_partial`. A large frame continues in its own buffer, `_large`, into which the rest is read
    directly. `held_bytes` is the memory that it may use, and the buffer grows up to that.
    """

    __slots__ = (
        "_large",
        "_large_end",
        "_large_size",
        "_partial",
        "_scratch",
        "frame_bytes_max",
        "grown_bytes",
        "held_bytes",
    )

    def __init__(self, frame_bytes_max: int, scratch: Scratch | None = None) -> None:
        self.frame_bytes_max = frame_bytes_max
        self.held_bytes = 0  # memory of the incomplete frame, used or not
        self.grown_bytes = 0  # that were cleared for the last buffer; the caller resets it
        self._scratch = scratch or Scratch()
        self._partial = bytearray()
        self._large: bytearray | None = None
        self._large_end = 0  # end of the received bytes
        self._large_size = 0  # of the whole frame, with its length prefix

    @property
    def has_partial_frame(self) -> bool:
        """Whether a frame is incomplete: waiting for its rest has a deadline."""
        return self.held_bytes > 0

    @property
    def partial_bytes(self) -> int:
        """The received bytes of the incomplete frame."""
        return self._large_end or len(self._partial)

    @property
    def announced_bytes(self) -> int:
        """The size of the incomplete frame with its length prefix; 0 if it is not known yet."""
        if self._large is not None:
            return self._large_size
        if len(self._partial) < LENGTH_BYTES:
            return 0
        return LENGTH_BYTES + int(_read_length(self._partial)[0])

    @property
    def growth_bytes(self) -> int:
        """The memory needed beyond `held_bytes` to continue; 0 if there is room, or the size is
        unknown."""
        if self._large is not None:
            if self._large_end < self.held_bytes:
                return 0
            return min(self._large_size, 2 * self._large_end) - self.held_bytes
        size = self.announced_bytes
        return max(0, (size if size <= WHOLE_BYTES_MAX else 2 * SCRATCH_BYTES) - self.held_bytes)

    def next_buffer(self, bytes_max: int = READ_BYTES_MAX, *, is_tight: bool = False) -> memoryview:
        """The buffer for the next bytes, at most so many; never empty.

        If memory is tight, it is small: a frame that begins in it gets no buffer for its rest.
        """
        if self._large is not None:
            return self._next_of_large(self._large, bytes_max)
        kept = len(self._partial)
        if kept:
            self._scratch.buffer[:kept] = self._partial
        if is_tight:
            return self._scratch.view[
                kept : min(kept + TIGHT_BYTES, max(kept + 1, PARTIAL_BYTES_MAX))
            ]
        if kept or bytes_max < SCRATCH_BYTES:
            return self._scratch.view[kept : kept + bytes_max]
        return self._scratch.view

    def _next_of_large(self, large: bytearray, bytes_max: int) -> memoryview:
        end = self._large_end
        if end == self.held_bytes:
            self.held_bytes = min(self._large_size, 2 * end)
        if end == len(large):
            self.grown_bytes = min(bytes_max, self.held_bytes - end)
            more = bytes(self.grown_bytes)
            try:
                large += more  # mostly without copying what has arrived
            except BufferError:  # the event loop still has the last buffer
                self._large = large = large + more
        return memoryview(large)[end : end + bytes_max]

    def received(self, count: int) -> list[memoryview]:
        """Record that `count` bytes arrived; returns the frames that are complete."""
        if self._large is not None:
            return self._received_large(count)
        buffer = self._scratch.buffer
        if not self._partial and count >= LENGTH_BYTES:
            (size,) = _read_length(buffer)
            if size == count - LENGTH_BYTES and size <= self.frame_bytes_max:
                return [memoryview(buffer[LENGTH_BYTES:count])]  # the common case
        start, end, frames = 0, len(self._partial) + count, list[memoryview]()
        bytes_max = self.frame_bytes_max
        while (body := start + LENGTH_BYTES) <= end:
            (size,) = _read_length(buffer, start)
            if not 0 <= size <= bytes_max:
                raise self._refusal(size)
            behind = body + size
            if behind > end:
                break
            frames.append(memoryview(buffer[body:behind]))
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
        self._large_size = LENGTH_BYTES + _read_length(self._scratch.buffer, start)[0]
        self._large = self._scratch.buffer[start:end]
        self._large_end = arrived = end - start
        size = self._large_size
        self.held_bytes = size if size <= WHOLE_BYTES_MAX else min(size, 2 * arrived)

    def _received_large(self, count: int) -> list[memoryview]:
        assert self._large is not None
        self._large_end += count
        if self._large_end < self._large_size:
            return []
        frame = memoryview(self._large)[LENGTH_BYTES:]
        self._large, self._large_end, self.held_bytes = None, 0, 0
        return [frame]


def finish_frame(first: bytearray, segments: Sequence[Sized]) -> None:
    """Write the total length into the first four bytes of the first segment."""
    size = len(first) if len(segments) == 1 else sum(map(len, segments))
    _write_length(first, 0, size - LENGTH_BYTES)
