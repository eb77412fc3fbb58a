"""Cuts a byte stream into length-prefixed frames.

Promises  memory grows with the bytes that arrive, never with the length that is announced;
          a frame is a slice of a buffer whose bytes are never written again, so it stays good
          however long its request takes.
Leaves    sockets to the network layer, which reads into `next_buffer` and reports to `received`.
"""

from __future__ import annotations

from struct import Struct

from ottla.protocol.errors import MalformedMessage

LENGTH_BYTES = 4
FIRST_BUFFER_BYTES = 4 * 1024  # an idle connection costs this much
BUFFER_BYTES_MAX = 256 * 1024  # for streams of small frames; a large frame gets its own size

_LENGTH = Struct(">i")


class FrameReader:
    """Gathers bytes as they arrive and hands out whole frames, without the length in front."""

    def __init__(self, frame_bytes_max: int) -> None:
        self.frame_bytes_max = frame_bytes_max
        self._buffer = bytearray(FIRST_BUFFER_BYTES)
        self._view = memoryview(self._buffer)
        self._start = 0  # of the frame that is not complete yet
        self._end = 0  # of what has arrived

    @property
    def has_partial_frame(self) -> bool:
        """Whether the peer owes the rest of a frame: such a wait has a deadline."""
        return self._end > self._start

    def next_buffer(self) -> memoryview:
        """Where the next bytes belong; never empty."""
        if self._end == len(self._buffer):
            self._renew_buffer()
        return self._view[self._end :]

    def received(self, count: int) -> list[memoryview]:
        """Note that `count` bytes arrived; return the frames they complete."""
        self._end += count
        frames = []
        while self._end - self._start >= LENGTH_BYTES:
            size = self._announced_size()
            end = self._start + LENGTH_BYTES + size
            if end > self._end:
                break
            frames.append(self._view[self._start + LENGTH_BYTES : end])
            self._start = end
        return frames

    def _announced_size(self) -> int:
        size: int = _LENGTH.unpack_from(self._buffer, self._start)[0]
        if not 0 <= size <= self.frame_bytes_max:
            raise MalformedMessage(
                f"a frame of {size} bytes is announced; at most {self.frame_bytes_max} are allowed"
            )
        return size

    def _renew_buffer(self) -> None:
        """A fresh buffer, twice as large as the last, which begins with the partial frame.

        The old one is left to the frames that were cut from it. Doubling means that a large frame
        is copied once at most on average, and that ten bytes of it never cost ninety megabytes.
        """
        partial = self._view[self._start : self._end]
        size = min(2 * len(self._buffer), BUFFER_BYTES_MAX)
        if len(partial) >= LENGTH_BYTES:
            whole = LENGTH_BYTES + self._announced_size()
            size = max(size, min(whole, 2 * len(partial)))
        size = max(size, len(partial) + LENGTH_BYTES)
        buffer = bytearray(size)
        buffer[: len(partial)] = partial
        self._buffer, self._view = buffer, memoryview(buffer)
        self._start, self._end = 0, len(partial)


def finish_frame(segments: list[memoryview | bytes | bytearray]) -> None:
    """Write the length of all that follows into the first four bytes of the first segment."""
    first = segments[0]
    assert isinstance(first, bytearray)
    _LENGTH.pack_into(first, 0, sum(map(len, segments)) - LENGTH_BYTES)
