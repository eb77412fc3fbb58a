"""Memory that large answers are received into, used again once nobody looks at it any more.

Promises  a buffer whose bytes somebody still holds is never handed out again: whoever keeps a
          memoryview (or an Arrow array over it) keeps its bytes, and need not say when it is done.
Leaves    how large an answer may be to `connection.py`.

Fresh memory costs as much as filling it: every page of it is cleared first. Python itself knows
when a buffer is free again: a bytearray that is looked at refuses to change its size.
"""

from __future__ import annotations

from ottla.config.options import MIB

SMALL_BYTES_MAX = 256 * 1024  # below it, memory of its own is cheaper than looking for some
STEP_BYTES = 1 * MIB


class BufferPool:
    """Threads: `take` from one at a time; views may be released anywhere."""

    def __init__(self, buffers_max: int = 6) -> None:
        self._buffers: list[bytearray] = []
        self._buffers_max = buffers_max

    def take(self, size: int) -> memoryview:
        """Room for exactly `size` bytes, of which nobody else holds any."""
        if size <= SMALL_BYTES_MAX:
            return memoryview(bytearray(size))
        fitting = [buffer for buffer in self._buffers if len(buffer) >= size and is_unused(buffer)]
        if fitting:
            return memoryview(min(fitting, key=len))[:size]
        return memoryview(self._add(size))[:size]

    def _add(self, size: int) -> bytearray:
        """A new buffer, with room for a somewhat longer answer; unused smaller ones make way."""
        self._buffers = [buffer for buffer in self._buffers if not is_unused(buffer)]
        buffer = bytearray(-(-size // STEP_BYTES) * STEP_BYTES)
        if len(self._buffers) < self._buffers_max:
            self._buffers.append(buffer)
        return buffer


def is_unused(buffer: bytearray) -> bool:
    try:
        buffer.append(buffer.pop())
    except BufferError:
        return False
    return True
