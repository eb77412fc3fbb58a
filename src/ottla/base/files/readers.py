"""Reading files from the event loop without blocking on the disk.

    def find_batch(reader: Reader, segment: Segment, offset: int) -> Batch | None: ...

    find_batch(BLOCKING, segment, offset)               # in a thread, a tool, or during recovery
    yield from looking_up(lambda reader: find_batch(reader, segment, offset))  # on the event loop

Owns      the two ways to read. `BLOCKING` waits for the disk. A `CachedReader` reads only the page
          cache: on a miss it raises `NotCached` with a job that reads the data in a thread. The
          look-up is then restarted (`looking_up` in `scheduling/steps.py`), so each attempt sees a
          consistent state of memory.
Promises  progress: data that was fetched once for a look-up is read even if it was evicted from the
          page cache since.
Leaves    to the look-up that it can be restarted: it must not change state before its last read.
          Code that changes state while reading uses `BLOCKING`.

Every function that may read a file has `reader` as its first parameter, without a default: the
caller decides whether it may block, and the signature shows it.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Protocol, TypeVar

from ottla.base.files.filesystem import File, FileSystem, read_file
from ottla.base.memory.stored_errors import without_traceback

T = TypeVar("T")
Fetch = Callable[[], object]  # runs in a thread; its result is ignored

AHEAD_BYTES = 64 * 1024  # read ahead: readers usually continue
ENDS_BYTES = 4096  # read at both ends of a file when it is opened: index searches begin there

_FilePart = tuple[str, int, int]  # path, position, and end or size
_WHOLE = -1
_PAUSE = -2

# Errors that may not recur at the next attempt: the file was removed or closed, or descriptors ran
# out.
_PASSING = (errno.ENOENT, errno.EBADF, errno.EMFILE, errno.ENFILE)


class NotCached(Exception):
    """Data is not in the page cache, or it is not known whether it is."""

    def __init__(self, part: _FilePart, fetch: Fetch, *, is_computed: bool = False) -> None:
        super().__init__(f"{part[0]}: position {part[1]} is not in memory")
        self.part = part
        self.fetches = {part: fetch}
        self.is_computed = is_computed  # `fetch` is the work of `compute`


class Reader(Protocol):
    """How a look-up reads files."""

    def read(self, file: File, position: int, size: int) -> bytes:
        """As `file.read_at`."""

    def open(self, files: FileSystem, path: str) -> File:
        """As `files.open`."""

    def expect(
        self, files: FileSystem, path: str, following: Callable[[], Iterable[str]] | None = None
    ) -> None:
        """Announce that a file will be opened or looked up. It need not exist.

        If many files are opened in sequence, some of the `following` ones are fetched as well:
        restarting the look-up for each would take quadratic time.
        """

    def read_file(self, files: FileSystem, path: str) -> bytes:
        """The whole of a small file."""

    def prefetch(self, path: str, position: int, end: int, fetch: Fetch) -> None:
        """Announce many reads from `position` to `end`; `fetch` reads all of it."""

    def compute(
        self, path: str, position: int, end: int, work: Callable[[], T], *, keeps: bool = False
    ) -> T:
        """The result of `work`, which takes long and depends only on files that do not change.

        On the event loop it runs in a thread. If the look-up is restarted, the work is repeated,
        unless `keeps` is set; then the result must not be modified.
        """

    def pause(self, path: str, number: int) -> None:
        """Yield to the event loop and restart, in a look-up that keeps its intermediate results."""


class BlockingReader:
    """Blocks on the disk. Stateless: `BLOCKING` is the only instance."""

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
    """Reads only the page cache. `CACHED` is shared by all first attempts, so that a look-up
    without a cache miss allocates no reader."""

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
        if not self._has_fetched(part := (path, position, end)):
            raise NotCached(part, fetch)

    def compute(
        self, path: str, position: int, end: int, work: Callable[[], T], *, keeps: bool = False
    ) -> T:
        part = (path, position, end)
        outcome = self._computed(part, keeps=keeps)
        if outcome is None:
            raise NotCached(part, work, is_computed=True)
        result: T = outcome()
        return result

    def pause(self, path: str, number: int) -> None:
        self.prefetch(path, number, _PAUSE, lambda: None)

    def _has_fetched(self, part: _FilePart) -> bool:  # noqa: ARG002
        """Whether it was fetched; OSError if that failed."""
        return False

    def _computed(self, part: _FilePart, *, keeps: bool) -> Callable[[], Any] | None:  # noqa: ARG002
        """A function that returns or raises the outcome of the computation; None before it has
        run."""
        return None


class LookUpReader(CachedReader):
    """The reader of one look-up, with the data that was fetched for it so far."""

    __slots__ = ("_fetched", "_results")

    def __init__(self) -> None:
        self._fetched: dict[_FilePart, OSError | None] = {}
        self._results: dict[_FilePart, Callable[[], Any]] = {}

    def fetch(self, missing: Iterable[NotCached]) -> None:
        """Runs in a thread while the look-up waits. Errors are stored, and raised when the look-up
        reads the same data again."""
        for each in missing:
            if each.is_computed:
                self._results[each.part] = _outcome(each.fetches[each.part])
            else:
                for part, fetch in each.fetches.items():
                    self._fetched[part] = _fetch_error(part, fetch)

    def _has_fetched(self, part: _FilePart) -> bool:
        if part not in self._fetched:
            return False
        if (error := self._fetched[part]) is not None:
            raise error
        return True

    def _computed(self, part: _FilePart, *, keeps: bool) -> Callable[[], Any] | None:
        # Returned once, unless `keeps` is set: the attempt that used it may have modified it.
        return self._results.get(part) if keeps else self._results.pop(part, None)


BLOCKING = BlockingReader()
CACHED = CachedReader()


def _fetch_error(part: _FilePart, fetch: Fetch) -> OSError | None:
    try:
        fetch()
    except OSError as error:
        if error.errno not in _PASSING:
            return OSError(error.errno, error.strerror, part[0])
    return None


def _outcome(work: Callable[[], Any]) -> Callable[[], Any]:
    try:
        result = work()
    except Exception as error:
        return partial(_raise, without_traceback(error))
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
