"""The helper process: reads requests from its input, cleans, writes events to its output.

    python -m ottla.storage.compaction.helper_start

Owns      the process: its output, its end when the broker has ended.
Promises  it writes no files but `.cleaned` ones, and none after the broker has died or closed its
          end of the pipe; every error is sent as an event.
Leaves    starting and killing it to `helper_process.py`.
"""

from __future__ import annotations

import os
import pickle
import select
import sys
import time
from collections.abc import Callable, Iterator
from struct import Struct
from typing import IO

from ottla.base.files.disk import DiskFileSystem
from ottla.base.files.filesystem import FileSystem
from ottla.storage.compaction.cleaner import clean
from ottla.storage.compaction.request import (
    CleanedGroup,
    CleanFailure,
    CleanRequest,
    CleanSummary,
)
from ottla.storage.compaction.throttle import Throttle
from ottla.storage.errors import CorruptLogError

WATCH_BYTES = 256 << 10  # how often to check that the broker is alive
LENGTH = Struct(">Q")

Event = CleanedGroup | CleanSummary | CleanFailure


class WatchingThrottle(Throttle):
    """A throttle that checks that the broker is alive, while it waits and after a number of
    bytes."""

    def __init__(self, bytes_per_second: float, watch: Callable[[float], None]) -> None:
        """`watch` waits for a number of seconds, or until the broker ends."""
        super().__init__(bytes_per_second, time.monotonic, watch)
        self._watch = watch
        self._unwatched_bytes = 0

    def count(self, size: int) -> None:
        super().count(size)
        self._unwatched_bytes += size
        if self._unwatched_bytes >= WATCH_BYTES:
            self._unwatched_bytes = 0
            self._watch(0)


def events(request: CleanRequest, files: FileSystem, throttle: Throttle) -> Iterator[Event]:
    """The work itself, with every failure turned into an event."""
    try:
        yield from clean(request, files, throttle, secret=os.urandom(16))
    except CorruptLogError as error:
        yield CleanFailure(str(error), is_damaged=True)
    except OSError as error:
        yield CleanFailure(str(error), is_damaged=False)
    except Exception as error:  # a bug of ours must not be tried again and again
        yield CleanFailure(f"{type(error).__name__}: {error}", is_damaged=True)


def write_message(output: IO[bytes], message: object) -> None:
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    output.write(LENGTH.pack(len(data)))
    output.write(data)
    output.flush()


def read_message(source: IO[bytes]) -> object:
    """The next message; EOFError where there is none, or only a part of one."""
    head = source.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    (size,) = LENGTH.unpack(head)
    data = source.read(size)
    if len(data) < size:
        raise EOFError
    return pickle.loads(data)


def main() -> None:
    source, output = sys.stdin.buffer, sys.stdout.buffer
    hang_up = select.poll()
    hang_up.register(source.fileno(), select.POLLHUP)

    def watch(seconds: float) -> None:
        if hang_up.poll(seconds * 1000):
            # Immediately, without cleaning up: another broker may already use this directory.
            os._exit(1)

    try:
        while True:
            request = read_message(source)
            assert isinstance(request, CleanRequest)
            watch(0)  # on a busy machine the broker may have ended before this process was loaded
            throttle = WatchingThrottle(request.limits.bytes_per_second, watch)
            for event in events(request, DiskFileSystem(), throttle):
                write_message(output, event)
    except (EOFError, BrokenPipeError):
        os._exit(1)  # the pipe has no reader any more
