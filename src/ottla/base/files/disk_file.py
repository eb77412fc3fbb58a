"""Files on the real disk: positioned reads and writes, with a limit on open descriptors.

Owns      the descriptors of all files opened here. At most `open_files_max` stay open; the least
          recently used is closed when another is needed, and reopened at its next use.
Promises  a descriptor in use by any thread is never closed; a failed fsync is raised and never
          retried.
Threads   any. Operations on one file are not ordered between threads.
"""

from __future__ import annotations

import errno
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from ottla.base.files.filesystem import Buffer

OPEN_FLAGS = os.O_RDWR | os.O_CLOEXEC

_NO_DESCRIPTOR = -1
_OUT_OF_DESCRIPTORS = (errno.EMFILE, errno.ENFILE)  # limit of the process, or of the system
_NOWAIT_UNSUPPORTED = (errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)


class DiskFile:
    """One open file, whose descriptor may be closed and reopened. Created by `DiskFileSystem.open`.

    Using a descriptor takes no lock, since a lock could make the event loop wait for a thread.
    Instead a user first pins the file and then reads the descriptor; a closer first removes the
    descriptor and then checks for pins. So at least one of them sees the other: the user reopens
    the file, or the closer restores the descriptor.
    """

    __slots__ = (
        "_closed_as",
        "_descriptor",
        "_descriptors",
        "_identity",
        "_is_closed",
        "_is_recent",
        "_path",
        "_pins",
        "_sync_error",
    )

    def __init__(self, descriptors: Descriptors, path: str) -> None:
        self._descriptors = descriptors
        self._path = path
        self._descriptor = _NO_DESCRIPTOR
        self._identity: tuple[int, int] | None = None  # of the file that was opened
        # size and modification time, while it is not open
        self._closed_as: tuple[int, int] | None = None
        self._pins: list[None] = []  # one for each call in progress; list operations are atomic
        self._is_recent = True  # used since the last search for a file to close
        self._is_closed = False
        self._sync_error: OSError | None = None

    @property
    def path(self) -> str:
        return self._path

    def size(self) -> int:
        with self._pinned() as descriptor:
            return os.fstat(descriptor).st_size

    def read_at(self, position: int, size: int) -> bytes:
        self._pins.append(None)
        try:
            descriptor = self._descriptor
            if descriptor == _NO_DESCRIPTOR:
                descriptor = self._descriptors.reopen(self)
            self._is_recent = True
            data = os.pread(descriptor, size, position)
            if len(data) == size or not data:
                return data
            return _read_rest(descriptor, position, size, data)
        finally:
            self._pins.pop()
            if self._is_closed:
                self._descriptors.close(self)

    def read_cached(self, position: int, size: int) -> bytes | None:
        self._pins.append(None)
        try:
            descriptor = self._descriptor
            if descriptor == _NO_DESCRIPTOR:
                descriptor = self._descriptors.reopen(self)
            self._is_recent = True
            buffer = bytearray(size)
            if os.preadv(descriptor, (buffer,), position, os.RWF_NOWAIT) == size:
                return bytes(buffer)
            return _read_to_end(descriptor, position, size)
        except BlockingIOError:
            return None
        except OSError as error:
            if error.errno not in _NOWAIT_UNSUPPORTED:
                raise
            # File systems without RWF_NOWAIT are mostly in memory.
            return self.read_at(position, size)
        finally:
            self._pins.pop()
            if self._is_closed:
                self._descriptors.close(self)

    def write_at(self, position: int, data: Buffer) -> None:
        self._pins.append(None)
        try:
            descriptor = self._descriptor
            if descriptor == _NO_DESCRIPTOR:
                descriptor = self._descriptors.reopen(self)
            self._is_recent = True
            written = os.pwrite(descriptor, data, position)
            if written != len(data):
                _write_rest(descriptor, position, data, written)
        finally:
            self._pins.pop()
            if self._is_closed:
                self._descriptors.close(self)

    def truncate(self, size: int) -> None:
        with self._pinned() as descriptor:
            os.ftruncate(descriptor, size)

    def extend(self, size: int) -> None:
        with self._pinned() as descriptor:
            if size > os.fstat(descriptor).st_size:
                os.ftruncate(descriptor, size)

    def sync(self) -> None:
        with self._pinned() as descriptor:
            if self._sync_error is not None:
                raise OSError(self._sync_error.errno, "an earlier sync failed", self._path)
            try:
                os.fsync(descriptor)
            except OSError as error:
                self._sync_error = error
                raise

    def descriptor(self) -> int:
        self._pins.append(None)
        try:
            descriptor = self._descriptor
            if descriptor == _NO_DESCRIPTOR:
                descriptor = self._descriptors.reopen(self)
            self._is_recent = True
            return os.dup(descriptor)
        finally:
            self._pins.pop()
            if self._is_closed:
                self._descriptors.close(self)

    def is_in_place(self) -> bool:
        return self.size_in_place() is not None

    def size_in_place(self) -> int | None:
        try:
            status = os.stat(self._path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return status.st_size if self.is_same(status) else None

    def is_same(self, status: os.stat_result) -> bool:
        """Whether this is the file that was opened. Some network and FUSE file systems change the
        inode number of a file that is not open; then size and modification time are compared."""
        if identity_of(status) == self._identity:
            return True
        return self._closed_as is not None and self._closed_as == size_and_time(status)

    def has_identity(self, identity: tuple[int, int]) -> bool:
        return identity == self._identity

    def renamed(self, path: str) -> None:
        self._path = path

    def close(self) -> None:
        self._is_closed = True
        self._descriptors.close(self)

    def pin(self) -> int:
        """The descriptor, which stays open until `unpin`. That must follow an error too."""
        self._pins.append(None)
        descriptor = self._descriptor
        if descriptor == _NO_DESCRIPTOR:
            descriptor = self._descriptors.reopen(self)
        self._is_recent = True
        return descriptor

    def unpin(self) -> None:
        self._pins.pop()
        if self._is_closed:
            self._descriptors.close(self)

    @contextmanager
    def _pinned(self) -> Iterator[int]:
        """The same steps as in `read_at` and `write_at`, which inline them for speed."""
        try:
            yield self.pin()
        finally:
            self.unpin()


class Descriptors:
    """The open descriptors. The lock protects opening and closing, not using them."""

    def __init__(self, open_files_max: int) -> None:
        self._open_files_max = open_files_max
        self._lock = threading.Lock()
        # in the order in which they are closed
        self._open: OrderedDict[DiskFile, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._open)

    def adopt(self, file: DiskFile, descriptor: int) -> None:
        """Register a descriptor that was just opened for this file."""
        with self._lock:
            self._make_room()
            file._descriptor = descriptor
            file._identity = identity_of(os.fstat(descriptor))
            self._open[file] = None

    def reopen(self, file: DiskFile) -> int:
        """The descriptor of a pinned file that has none."""
        with self._lock:
            if file._is_closed:
                raise OSError(errno.EBADF, "the file was closed", file._path)
            if file._descriptor == _NO_DESCRIPTOR:
                self._make_room()
                file._descriptor = self._open_same(file)
                self._open[file] = None
            return file._descriptor

    def _open_same(self, file: DiskFile) -> int:
        descriptor = self._open_or_make_room(file._path, OPEN_FLAGS, 0)
        status = os.fstat(descriptor)
        if not file.is_same(status):
            os.close(descriptor)
            raise OSError(errno.ESTALE, "another file has the name now", file._path)
        file._identity, file._closed_as = identity_of(status), None
        return descriptor

    def open_path(self, path: str, flags: int, mode: int = 0) -> int:
        """A new descriptor of a file or directory. The caller closes it or passes it to `adopt`."""
        try:
            return os.open(path, flags, mode)
        except OSError as error:
            if error.errno not in _OUT_OF_DESCRIPTORS:
                raise
        with self._lock:
            return self._open_or_make_room(path, flags, mode)

    def _open_or_make_room(self, path: str, flags: int, mode: int) -> int:
        """Open a file; without free descriptors, close another file first.

        Otherwise very many connections would prevent records from being written.
        """
        while True:
            try:
                return os.open(path, flags, mode)
            except OSError as error:
                before = len(self._open)
                if error.errno in _OUT_OF_DESCRIPTORS:
                    self._make_room(before // 2)
                if len(self._open) == before:
                    raise

    def close(self, file: DiskFile) -> None:
        """Close the descriptor now; if it is in use, its last user closes it."""
        with self._lock:
            if self._close_if_idle(file):
                del self._open[file]

    def _make_room(self, bound: int | None = None) -> None:
        """Close the descriptor that was not used for longest (second-chance algorithm).

        If all are in use, the limit is exceeded.
        """
        chances, bound = 2 * len(self._open), self._open_files_max if bound is None else bound
        while len(self._open) >= max(1, bound) and chances:
            chances -= 1
            file, _ = self._open.popitem(last=False)
            if file._is_recent or not self._close_if_idle(file):
                file._is_recent = False
                self._open[file] = None

    def _close_if_idle(self, file: DiskFile) -> bool:
        descriptor, file._descriptor = file._descriptor, _NO_DESCRIPTOR
        if descriptor == _NO_DESCRIPTOR:
            return False
        if file._pins:
            file._descriptor = descriptor
            return False
        if not file._is_closed:  # it may be opened again
            file._closed_as = size_and_time(os.fstat(descriptor))
        os.close(descriptor)
        return True


def identity_of(status: os.stat_result) -> tuple[int, int]:
    """Device and inode, which identify a file among those that exist at the same time."""
    return status.st_dev, status.st_ino


def size_and_time(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


def is_at(path: str, identity: tuple[int, int] | None) -> bool:
    """Whether the path refers to the file or directory with this identity."""
    try:
        return identity_of(os.stat(path)) == identity
    except (FileNotFoundError, NotADirectoryError):
        return False


def _read_to_end(descriptor: int, position: int, size: int) -> bytes | None:
    """Complete a short `read_cached`: either the file ends there, or the page cache does."""
    buffer = bytearray(size)
    count = os.preadv(descriptor, (buffer,), position, os.RWF_NOWAIT)
    is_at_end = position + count >= os.fstat(descriptor).st_size
    return bytes(buffer[:count]) if count == size or is_at_end else None


def _read_rest(descriptor: int, position: int, size: int, data: bytes) -> bytes:
    """Continue after a short read, which the kernel returns for large sizes and at the end of a
    file."""
    parts, count = [data], len(data)
    while count < size:
        part = os.pread(descriptor, size - count, position + count)
        if not part:
            break
        parts.append(part)
        count += len(part)
    return b"".join(parts)


def _write_rest(descriptor: int, position: int, data: Buffer, written: int) -> None:
    """Continue after a short write, which precedes ENOSPC or results from a very large write."""
    with memoryview(data) as view:
        while written < len(view):
            written += os.pwrite(descriptor, view[written:], position + written)
