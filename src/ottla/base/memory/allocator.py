"""Configures the C library to keep freed memory for the next large frame.

By default glibc returns buffers of a megabyte to the kernel as soon as they are freed, and the next
request allocates them again page by page. The page faults cost more than receiving, checking and
writing the megabyte.
"""

from __future__ import annotations

import ctypes
import sys

_M_TRIM_THRESHOLD = -1  # from <malloc.h>
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8

KEPT_BYTES_MAX = 128 * 1024 * 1024  # more free memory at the end of the heap is returned
HEAP_BYTES_MAX = 32 * 1024 * 1024  # larger blocks are mapped and unmapped
# One heap for all threads: separate heaps would each keep the memory of their largest batch.
ARENAS_MAX = 1


def keep_freed_memory() -> bool:
    """Applies to the whole process; call once at its start. False if the C library has no
    `mallopt`."""
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
