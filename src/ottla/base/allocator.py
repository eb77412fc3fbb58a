"""Tells the C library to keep memory that was freed, for the next large frame.

By default glibc gives buffers of a megabyte back to the kernel as soon as they are freed, and gets
them again page by page at the next request: each page costs a fault, and those together cost more
than receiving, checking and writing the megabyte does.
"""

from __future__ import annotations

import ctypes
import sys

_M_TRIM_THRESHOLD = -1  # from <malloc.h>
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8

KEPT_BYTES_MAX = 128 * 1024 * 1024  # free memory at the end of the heap beyond this is given back
HEAP_BYTES_MAX = 32 * 1024 * 1024  # larger blocks come from the kernel and go back to it
# One heap for all threads: each of its own would keep what its largest batch once took.
ARENAS_MAX = 1


def keep_freed_memory() -> bool:
    """For the whole process, once at its start. False where the C library is another one."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # musl has no such function
        return False
    return bool(
        mallopt(_M_MMAP_THRESHOLD, HEAP_BYTES_MAX)
        and mallopt(_M_TRIM_THRESHOLD, KEPT_BYTES_MAX)
        and mallopt(_M_ARENA_MAX, ARENAS_MAX)
    )
