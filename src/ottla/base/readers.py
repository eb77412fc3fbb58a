"""Reading files on the event loop, which must not wait for a disk.

    def find_batch(reader: Reader, segment: Segment, offset: int) -> Batch | None: ...

    find_batch(WAIT, segment, offset)                   # in a thread, a tool, or during recovery
    yield from looking_up(lambda reader: find_batch(reader, segment, offset))  # on the event loop

Owns      the two ways to read. `WAIT` blocks. A `CachedReader` reads the page cache alone: what is
          not there, or not known to be there, is `NotCached`, with the job that fetches it in a
          thread. The look-up then starts again (`looking_up` in `steps.py`), so each attempt sees
          one state of everything in memory.
Promises  an end: what was fetched once for a look-up is read without asking, should it be gone
          again by then.
Leaves    to the look-up that starting again does no harm. What changes something and reads on the
          way uses `WAIT`.

Every function that may read a file takes a `reader` first, and has no default for it: whether it
may block is decided by the caller, and seen in its signature.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Protocol, TypeVar

from ottla.base.filesystem import File, FileSystem, read_file
from ottla.base.kept_errors import without_frames

T = TypeVar("T")
Fetch = Callable[[], object]  # reads, in a thread; what it returns is dropped

AHEAD_BYTES = 64 * 1024  # of what is fetched: a disk takes its time, and readers go on
ENDS_BYTES = 4096  # read of a file that is opened: indexes are searched from both ends

_Place = tuple[str, int, int]  # path, where it begins, where it ends or how much it is
_WHOLE = -1
_PAUSE = -2

# What may be different at the next attempt: the file is gone, was closed, or other files are open.
_PASSING = (errno.ENOENT, errno.EBADF, errno.EMFILE, errno.ENFILE)


class NotCached(Exception):
    """Something is not in memory, or it is not known whether it is."""

    def __init__(self, place: _Place, fetch: Fetch, *, is_computed: bool = False) -> None:
        super().__init__(f"{place[0]}: position {place[1]} is not in memory")
        self.place = place
        self.fetches = {place: fetch}
        self.is_computed = is_computed  # what `fetch` returns is the result of `compute`


class Reader(Protocol):
    """How a look-up reads files."""

    def read(self, file: File, position: int, size: int) -> bytes:
        """As `file.read_at`."""

    def open(self, files: FileSystem, path: str) -> File:
        """As `files.open`, which reads directories."""

    def expect(
        self, files: FileSystem, path: str, following: Callable[[], Iterable[str]] | None = None
    ) -> None:
        """Before a file is opened, or asked for. It need not be there.

        Where many are opened one after the other, some that follow are fetched along with it: a
        look-up that started again for each would take a time that grows with the square of their
        number.
        """

    def read_file(self, files: FileSystem, path: str) -> bytes:
        """The whole of a small file."""

    def prefetch(self, path: str, position: int, end: int, fetch: Fetch) -> None:
        """Before many reads from a position on: `fetch` reads all of that."""

    def compute(
        self, path: str, position: int, end: int, work: Callable[[], T], *, keeps: bool = False
    ) -> T:
        """What `work` returns, which takes long and touches nothing but files that do not change.

        On the event loop it runs in a thread. Should the look-up start again it is done again,
        unless it `keeps` the result, which then nobody must change.
        """

    def pause(self, path: str, number: int) -> None:
        """In a look-up that keeps what it has found out: on the event loop others have their turn,
        and it starts again."""


class BlockingReader:
    """Reads as files do. Has no state: `WAIT` is the only one."""

    __slots__ = ()

    def read(self, file: File, position: int, size: int) -> bytes:
        return file.read_at(position, size)

    def open(self, files: FileSystem, path: str) -> File:
        return files.open(path)

    def expect(
        self, files: FileSystem, path: str, following: Callable[[], Iterable[str]] | None = None
    ) -> None:
        pass

    def read_file(self, files: FileSystem, path: str) -> bytes:
        return read_file(files, path)

    def prefetch(self, path: str, position: int, end: int, fetch: Fetch) -> None:
        pass

    def compute(
        self,
        path: str,  # noqa: ARG002
        position: int,  # noqa: ARG002
        end: int,  # noqa: ARG002
        work: Callable[[], T],
        *,
        keeps: bool = False,  # noqa: ARG002
    ) -> T:
        return work()

    def pause(self, path: str, number: int) -> None:
        pass


class CachedReader:
    """Reads the page cache alone. Nothing was fetched for it, so `CACHED` serves everybody: a
    look-up that finds everything in memory allocates no reader."""

    __slots__ = ()

    def read(self, file: File, position: int, size: int) -> bytes:
        data = file.read_cached(position, size)
        if data is None:
            bytes_max = max(size, AHEAD_BYTES)
            self.prefetch(file.path, position, bytes_max, lambda: file.read_at(position, bytes_max))
            return file.read_at(position, size)
        return data

    def open(self, files: FileSystem, path: str) -> File:
        self.expect(files, path)
        return files.open(path)

    def expect(
        self, files: FileSystem, path: str, following: Callable[[], Iterable[str]] | None = None
    ) -> None:
        try:
            self.prefetch(path, 0, _WHOLE, partial(_read_ends, files, path))
        except NotCached as missing:
            for each in following() if following is not None else ():
                missing.fetches[each, 0, _WHOLE] = partial(_read_ends, files, each)
            raise

    def read_file(self, files: FileSystem, path: str) -> bytes:
        self.prefetch(path, 0, _WHOLE, lambda: read_file(files, path))
        return read_file(files, path)

    def prefetch(self, path: str, position: int, end: int, fetch: Fetch) -> None:
        if not self._has_fetched(place := (path, position, end)):
            raise NotCached(place, fetch)

    def compute(
        self, path: str, position: int, end: int, work: Callable[[], T], *, keeps: bool = False
    ) -> T:
        place = (path, position, end)
        outcome = self._computed(place, keeps=keeps)
        if outcome is None:
            raise NotCached(place, work, is_computed=True)
        result: T = outcome()
        return result

    def pause(self, path: str, number: int) -> None:
        self.prefetch(path, number, _PAUSE, lambda: None)

    def _has_fetched(self, place: _Place) -> bool:  # noqa: ARG002
        """Whether it was fetched; OSError if it could not be."""
        return False

    def _computed(self, place: _Place, *, keeps: bool) -> Callable[[], Any] | None:  # noqa: ARG002
        """What returns or raises the outcome of a computation, if it was made."""
        return None


class LookUpReader(CachedReader):
    """The reader of one look-up, which remembers what was fetched for it so far."""

    __slots__ = ("_fetched", "_results")

    def __init__(self) -> None:
        self._fetched: dict[_Place, OSError | None] = {}
        self._results: dict[_Place, Callable[[], Any]] = {}

    def fetch(self, missing: Iterable[NotCached]) -> None:
        """For any thread, while the look-up waits. What is wrong with a disk is raised when its
        bytes are asked for again, without asking the disk once more."""
        for each in missing:
            if each.is_computed:
                self._results[each.place] = _outcome(each.fetches[each.place])
            else:
                for place, fetch in each.fetches.items():
                    self._fetched[place] = _trouble(place, fetch)

    def _has_fetched(self, place: _Place) -> bool:
        if place not in self._fetched:
            return False
        if (error := self._fetched[place]) is not None:
            raise error
        return True

    def _computed(self, place: _Place, *, keeps: bool) -> Callable[[], Any] | None:
        # Once, unless it is kept: the attempt that took it may have changed it.
        return self._results.get(place) if keeps else self._results.pop(place, None)


WAIT = BlockingReader()
CACHED = CachedReader()


def _trouble(place: _Place, fetch: Fetch) -> OSError | None:
    try:
        fetch()
    except OSError as error:
        if error.errno not in _PASSING:
            return OSError(error.errno, error.strerror, place[0])
    return None


def _outcome(work: Callable[[], Any]) -> Callable[[], Any]:
    try:
        result = work()
    except Exception as error:
        return partial(_raise, without_frames(error))
    return lambda: result


def _raise(error: Exception) -> None:
    raise error


def _read_ends(files: FileSystem, path: str) -> None:
    file = files.open(path)
    try:
        size = file.size()
        file.read_at(0, min(ENDS_BYTES, size))
        file.read_at(max(0, size - ENDS_BYTES), min(ENDS_BYTES, size))
    finally:
        file.close()
