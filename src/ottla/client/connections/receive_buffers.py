"""Buffers for large responses, reused once no view of them is left.

Promises  a buffer is never reused while a memoryview, or an Arrow array, refers to its bytes; users
          need not release it.
Leaves    how large a response may be to `connection.py`.

New memory costs as much as filling it, because the system clears every page first. Python itself
knows when a buffer is free: a bytearray with views refuses to change its size.
"""

from __future__ import annotations

from ottla.config.options import MIB

SMALL_BYTES_MAX = 256 * 1024  # up to this size, new memory is cheaper than a search
STEP_BYTES = 1 * MIB


class BufferPool:
    """Threads: `take` from one at a time; views may be released anywhere."""

    def __init__(self, buffers_max: int = 6) -> None:
        self._buffers: list[bytearray] = []
        self._buffers_max = buffers_max

    def take(self, size: int) -> memoryview:
        """A view of exactly `size` bytes that no other view shares."""
        if size <= SMALL_BYTES_MAX:
            return memoryview(bytearray(size))
        fitting = [buffer for buffer in self._buffers if len(buffer) >= size and is_unused(buffer)]
        if fitting:
            return memoryview(min(fitting, key=len))[:size]
        return memoryview(self._add(size))[:size]

    def _add(self, size: int) -> bytearray:
        """A new buffer, rounded up for a somewhat longer response; unused smaller ones are
        dropped."""
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
