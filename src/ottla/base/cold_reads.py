"""Looking into files on the event loop without ever waiting for the disk.

    looking = Looking()
    while True:
        try:
            with looking:
                return find_something()         # whose reads go through `read`, `open_file`, ...
        except ColdRead as cold:
            await asyncio.to_thread(looking.fetch, [cold])

Owns      what reads do where they would wait: they raise `ColdRead`, and whoever looked begins
          again once a thread has read those bytes into the page cache. All that is looked at and
          decided stays in one thread; the other one only reads, and forgets.
Promises  an end: what was fetched once for a look is read without asking, should it be gone again.
          Outside of a look, and in every other thread, reads wait as always.
Leaves    to those who look: that beginning again does no harm. What changes something and reads on
          the way does so within `waiting`.
"""

from __future__ import annotations

import asyncio
import errno
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import TypeVar

from ottla.base.filesystem import File, FileSystem, read_file

T = TypeVar("T")

AHEAD_BYTES = 64 * 1024  # of what is fetched: the way to a disk is long, and readers go on
ENDS_BYTES = 4096  # read of a file that is opened: indexes are searched from both ends

_Place = tuple[str, int]
_WHOLE = -1
_Fetched = Mapping[_Place, OSError | None]
_NOTHING: _Fetched = {}

# What may be otherwise by the next look: the file is gone, was closed, or other files are open.
_PASSING = (errno.ENOENT, errno.EBADF, errno.EMFILE, errno.ENFILE)


class ColdRead(Exception):
    """Something is not in memory, or nobody knows whether it is."""

    def __init__(self, path: str, position: int, fetch: Callable[[], object]) -> None:
        super().__init__(f"{path}: position {position} is not in memory")
        self.place: _Place = path, position
        self.fetch = fetch  # for any thread


class _Here(threading.local):
    """What was fetched for the look that this thread is at; None while it may wait."""

    fetched: _Fetched | None = None


_here = _Here()


class Looking:
    """One look, and what was fetched for it so far."""

    __slots__ = ("_fetched",)

    def __init__(self) -> None:
        self._fetched: _Fetched = _NOTHING

    def __enter__(self) -> None:
        _here.fetched = self._fetched

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _here.fetched = None

    def fetch(self, colds: Iterable[ColdRead]) -> None:
        """For any thread. What is wrong with a disk is raised when its bytes are asked for again,
        without asking the disk once more."""
        fetched = dict(self._fetched)
        for cold in colds:
            fetched[cold.place] = None
            try:
                cold.fetch()
            except OSError as error:
                if error.errno not in _PASSING:
                    fetched[cold.place] = OSError(error.errno, error.strerror, cold.place[0])
        self._fetched = fetched


async def look(act: Callable[[], T]) -> T:
    """What `act` returns, which begins again whenever something had to be read for it."""
    looking = Looking()
    while True:
        try:
            with looking:
                return act()
        except ColdRead as error:
            cold = error
        await asyncio.to_thread(looking.fetch, [cold])


@contextmanager
def waiting() -> Iterator[None]:
    """Within a look: from here on it may wait, because it could not begin again."""
    fetched, _here.fetched = _here.fetched, None
    try:
        yield
    finally:
        _here.fetched = fetched


def read(file: File, position: int, size: int) -> bytes:
    """As `file.read_at`."""
    fetched = _here.fetched
    if fetched is None:
        return file.read_at(position, size)
    data = file.read_cached(position, size)
    if data is None:
        bytes_max = max(size, AHEAD_BYTES)
        prefetch(file.path, position, lambda: file.read_at(position, bytes_max))
        return file.read_at(position, size)
    return data


def open_file(files: FileSystem, path: str) -> File:
    """As `files.open`, which reads directories."""
    expect(files, path)
    return files.open(path)


def expect(files: FileSystem, path: str) -> None:
    """Before a file is opened, or asked for. It need not be there."""
    prefetch(path, _WHOLE, lambda: _read_ends(files, path))


def prefetch(path: str, position: int, fetch: Callable[[], object]) -> None:
    """Before many reads from a place on: in a look, what `fetch` reads is read elsewhere first."""
    if (fetched := _here.fetched) is None:
        return
    place = path, position
    if place not in fetched:
        raise ColdRead(path, position, fetch)
    if (error := fetched[place]) is not None:
        raise error


def read_small_file(files: FileSystem, path: str) -> bytes:
    """As `read_file`."""
    prefetch(path, _WHOLE, lambda: read_file(files, path))
    return read_file(files, path)


def _read_ends(files: FileSystem, path: str) -> None:
    file = files.open(path)
    try:
        size = file.size()
        file.read_at(0, min(ENDS_BYTES, size))
        file.read_at(max(0, size - ENDS_BYTES), min(ENDS_BYTES, size))
    finally:
        file.close()
