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
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from ottla.base.filesystem import File, FileSystem, read_file
from ottla.base.kept_errors import without_frames

T = TypeVar("T")

AHEAD_BYTES = 64 * 1024  # of what is fetched: the way to a disk is long, and readers go on
ENDS_BYTES = 4096  # read of a file that is opened: indexes are searched from both ends

_Place = tuple[str, int, int]  # path, where it begins, where it ends or how much it is
_WHOLE = -1
_PAUSE = -2
_Fetch = Callable[[], object]  # for any thread

# What may be otherwise by the next look: the file is gone, was closed, or other files are open.
_PASSING = (errno.ENOENT, errno.EBADF, errno.EMFILE, errno.ENFILE)


class ColdRead(Exception):
    """Something is not in memory, or nobody knows whether it is."""

    def __init__(self, place: _Place, fetch: _Fetch) -> None:
        super().__init__(f"{place[0]}: position {place[1]} is not in memory")
        self.fetches = {place: fetch}


class Looking:
    """One look, and what was fetched for it so far."""

    __slots__ = ("_computed", "_fetched")

    def __init__(self) -> None:
        self._fetched: dict[_Place, OSError | None] = {}
        self._computed: dict[_Place, Callable[[], Any]] = {}  # what returns or raises the outcome

    def __enter__(self) -> None:
        _here.looking = self

    def __exit__(self, *_error: object) -> None:
        _here.looking = None

    def fetch(self, colds: Iterable[ColdRead]) -> None:
        """For any thread, while nobody looks. What is wrong with a disk is raised when its bytes
        are asked for again, without asking the disk once more."""
        for cold in colds:
            for place, fetch in cold.fetches.items():
                self._fetched[place] = None
                try:
                    fetch()
                except OSError as error:
                    if error.errno not in _PASSING:
                        self._fetched[place] = OSError(error.errno, error.strerror, place[0])

    def compute(self, place: _Place, work: Callable[[], Any]) -> None:
        """For any thread, as `fetch`."""
        try:
            result = work()
        except Exception as error:
            self._computed[place] = partial(_raise, without_frames(error))
        else:
            self._computed[place] = lambda: result

    def take(self, place: _Place, *, keeps: bool) -> Callable[[], Any] | None:
        """What was computed. Once, unless it is kept: whoever begins again may have changed it."""
        return self._computed.get(place) if keeps else self._computed.pop(place, None)

    def has(self, place: _Place) -> bool:
        """Whether it was fetched; OSError if it could not be."""
        if place not in self._fetched:
            return False
        if (error := self._fetched[place]) is not None:
            raise error
        return True


class _Here(threading.local):
    """The look that this thread is at; None while it may wait."""

    looking: Looking | None = None


_here = _Here()


async def look(act: Callable[[], T]) -> T:
    """What `act` returns, which begins again whenever something had to be read for it."""
    looking = Looking()
    while True:
        try:
            with looking:
                return act()
        except ColdRead as error:
            cold = without_frames(error)
        await asyncio.to_thread(looking.fetch, [cold])


@contextmanager
def waiting() -> Iterator[None]:
    """Within a look: from here on it may wait, because it could not begin again."""
    looking, _here.looking = _here.looking, None
    try:
        yield
    finally:
        _here.looking = looking


def fetching(cold: ColdRead) -> Callable[[], None]:
    """Within a look: what reads this for it, in a thread. For whoever need not begin again."""
    assert _here.looking is not None
    return partial(_here.looking.fetch, [without_frames(cold)])


def read(file: File, position: int, size: int) -> bytes:
    """As `file.read_at`."""
    if _here.looking is None:
        return file.read_at(position, size)
    data = file.read_cached(position, size)
    if data is None:
        bytes_max = max(size, AHEAD_BYTES)
        prefetch(file.path, position, bytes_max, lambda: file.read_at(position, bytes_max))
        return file.read_at(position, size)
    return data


def open_file(files: FileSystem, path: str) -> File:
    """As `files.open`, which reads directories."""
    expect(files, path)
    return files.open(path)


def expect(
    files: FileSystem, path: str, following: Callable[[], Iterable[str]] | None = None
) -> None:
    """Before a file is opened, or asked for. It need not be there.

    Where many are opened one after the other, some that follow are fetched along with it: a look
    that began again for each would take a time that grows with the square of their number.
    """
    try:
        prefetch(path, 0, _WHOLE, partial(_read_ends, files, path))
    except ColdRead as cold:
        for each in following() if following is not None else ():
            cold.fetches[each, 0, _WHOLE] = partial(_read_ends, files, each)
        raise


def prefetch(path: str, position: int, end: int, fetch: _Fetch) -> None:
    """Before many reads from a place on: in a look, what `fetch` reads is read elsewhere first."""
    looking = _here.looking
    if looking is not None and not looking.has(place := (path, position, end)):
        raise ColdRead(place, fetch)


def compute(path: str, position: int, end: int, work: Callable[[], T], *, keeps: bool = False) -> T:
    """What `work` returns, which takes long and touches nothing but files that do not change. In a
    look it is done in a thread. Should the look begin again it is done again, unless it `keeps` the
    result, which then nobody must change."""
    looking = _here.looking
    if looking is None:
        return work()
    place = (path, position, end)
    computed = looking.take(place, keeps=keeps)
    if computed is None:
        raise ColdRead(place, partial(looking.compute, place, work))
    result: T = computed()
    return result


def pause(path: str, number: int) -> None:
    """In a look that keeps what it has found out: others have their turn, and it begins again."""
    prefetch(path, number, _PAUSE, lambda: None)


def _raise(error: Exception) -> None:
    raise error


def read_small_file(files: FileSystem, path: str) -> bytes:
    """As `read_file`."""
    prefetch(path, 0, _WHOLE, lambda: read_file(files, path))
    return read_file(files, path)


def _read_ends(files: FileSystem, path: str) -> None:
    file = files.open(path)
    try:
        size = file.size()
        file.read_at(0, min(ENDS_BYTES, size))
        file.read_at(max(0, size - ENDS_BYTES), min(ENDS_BYTES, size))
    finally:
        file.close()
