"""The real disk: positioned reads and writes, with a bound on open descriptors.

Owns      the descriptors of all files opened here. At most `open_files_max` stay open; the least
          recently used is closed when another is needed, and opened again at its next use.
Promises  a descriptor in use by any thread is never closed; whatever a failed fsync says is
          raised, never tried again; descriptors do not leak into child processes.
Threads   any. A file's own operations are not ordered between threads.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from ottla.base.filesystem import Buffer, DiskSpace

_NO_DESCRIPTOR = -1
_OPEN_FLAGS = os.O_RDWR | os.O_CLOEXEC
_FILE_MODE = 0o644  # narrowed by the umask of whoever starts the broker, as for any server
_DIRECTORY_MODE = 0o755
_NOWAIT_UNSUPPORTED = (errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)


class DiskFile:
    """One open file, whose descriptor comes and goes. Made by `DiskFileSystem.open`."""

    __slots__ = ("_descriptor", "_descriptors", "_is_closed", "_path", "_sync_error", "_uses")

    def __init__(self, descriptors: _Descriptors, path: str) -> None:
        self._descriptors = descriptors
        self._path = path
        self._descriptor = _NO_DESCRIPTOR
        self._uses = 0  # by how many calls the descriptor is in use right now
        self._is_closed = False
        self._sync_error: OSError | None = None

    @property
    def path(self) -> str:
        return self._path

    def size(self) -> int:
        with self._descriptors.used(self) as descriptor:
            return os.fstat(descriptor).st_size

    def read_at(self, position: int, size: int) -> bytes:
        descriptor = self._descriptors.take(self)
        try:
            data = os.pread(descriptor, size, position)
            if len(data) == size or not data:
                return data
            return _read_rest(descriptor, position, size, data)
        finally:
            self._descriptors.give_back(self)

    def read_cached(self, position: int, size: int) -> bytes | None:
        buffer = bytearray(size)
        with self._descriptors.used(self) as descriptor:
            try:
                count = os.preadv(descriptor, [buffer], position, os.RWF_NOWAIT)
            except BlockingIOError:
                return None
            except OSError as error:
                if error.errno not in _NOWAIT_UNSUPPORTED:
                    raise
                return self.read_at(position, size)  # such file systems live in memory
            if count == size or position + count >= os.fstat(descriptor).st_size:
                return bytes(memoryview(buffer)[:count])
        return None

    def write_at(self, position: int, data: Buffer) -> None:
        descriptor = self._descriptors.take(self)
        try:
            written = os.pwrite(descriptor, data, position)
            if written != len(data):
                _write_rest(descriptor, position, data, written)
        finally:
            self._descriptors.give_back(self)

    def truncate(self, size: int) -> None:
        with self._descriptors.used(self) as descriptor:
            os.ftruncate(descriptor, size)

    def allocate(self, size: int) -> None:
        if size > 0:
            with self._descriptors.used(self) as descriptor:
                os.posix_fallocate(descriptor, 0, size)

    def sync(self) -> None:
        with self._descriptors.used(self) as descriptor:
            if self._sync_error is not None:
                raise OSError(self._sync_error.errno, "an earlier sync failed", self._path)
            try:
                os.fsync(descriptor)
            except OSError as error:
                self._sync_error = error
                raise

    def descriptor(self) -> int:
        with self._descriptors.used(self) as descriptor:
            return os.dup(descriptor)

    def renamed(self, path: str) -> None:
        self._path = path

    def close(self) -> None:
        self._descriptors.forget(self)


class _Descriptors:
    """The open descriptors, least recently used first."""

    def __init__(self, open_files_max: int) -> None:
        self._open_files_max = open_files_max
        self._lock = threading.Lock()
        self._open: OrderedDict[DiskFile, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._open)

    def take(self, file: DiskFile) -> int:
        """The file's descriptor, which stays open until `give_back`."""
        with self._lock:
            if file._descriptor == _NO_DESCRIPTOR:
                self._reopen(file)
            else:
                self._open.move_to_end(file)
            file._uses += 1
            return file._descriptor

    def give_back(self, file: DiskFile) -> None:
        with self._lock:
            file._uses -= 1
            if file._is_closed and not file._uses:
                self._close(file)

    @contextmanager
    def used(self, file: DiskFile) -> Iterator[int]:
        descriptor = self.take(file)
        try:
            yield descriptor
        finally:
            self.give_back(file)

    def adopt(self, file: DiskFile, descriptor: int) -> None:
        """Take over a descriptor that was just opened for this file."""
        with self._lock:
            self._make_room()
            file._descriptor = descriptor
            self._open[file] = None

    def forget(self, file: DiskFile) -> None:
        with self._lock:
            file._is_closed = True
            if not file._uses:
                self._close(file)

    def _reopen(self, file: DiskFile) -> None:
        if file._is_closed:
            raise OSError(errno.EBADF, "the file was closed", file._path)
        self._make_room()
        file._descriptor = os.open(file._path, _OPEN_FLAGS)
        self._open[file] = None

    def _make_room(self) -> None:
        """Close what was not used for longest. With all in use the bound gives way, not a user."""
        if len(self._open) < self._open_files_max:
            return
        idle = next((file for file in self._open if not file._uses), None)
        if idle is not None:
            self._close(idle)

    def _close(self, file: DiskFile) -> None:
        descriptor, file._descriptor = file._descriptor, _NO_DESCRIPTOR
        self._open.pop(file, None)
        if descriptor != _NO_DESCRIPTOR:
            os.close(descriptor)


class DiskFileSystem:
    """All files of one broker. Its handles share one bound on open descriptors."""

    def __init__(self, *, open_files_max: int = 4096) -> None:
        self._descriptors = _Descriptors(open_files_max)

    @property
    def open_files(self) -> int:
        """How many descriptors are open right now."""
        return len(self._descriptors)

    def open(self, path: str, *, create: bool = False) -> DiskFile:
        descriptor = os.open(path, _OPEN_FLAGS | (os.O_CREAT if create else 0), _FILE_MODE)
        file = DiskFile(self._descriptors, path)
        self._descriptors.adopt(file, descriptor)
        return file

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def is_directory(self, path: str) -> bool:
        return os.path.isdir(path)

    def size(self, path: str) -> int:
        return os.stat(path).st_size

    def modified_ms(self, path: str) -> int:
        return os.stat(path).st_mtime_ns // 1_000_000

    def list_directory(self, path: str) -> list[str]:
        return sorted(os.listdir(path))

    def make_directory(self, path: str) -> None:
        os.makedirs(path, _DIRECTORY_MODE, exist_ok=True)

    def rename(self, old: str, new: str) -> None:
        os.replace(old, new)

    def remove(self, path: str) -> None:
        os.unlink(path)

    def remove_directory(self, path: str) -> None:
        shutil.rmtree(path)

    def sync_directory(self, path: str) -> None:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def space(self, path: str) -> DiskSpace:
        status = os.statvfs(path)
        return DiskSpace(status.f_frsize * status.f_blocks, status.f_frsize * status.f_bavail)

    def lock(self, path: str) -> DiskLock:
        return DiskLock(path)


class DiskLock:
    """A POSIX record lock, which Kafka takes too; a process never gets one it already holds."""

    # Such a lock does not exclude its own process, and ends when the process closes *any*
    # descriptor of the file: so the file must not even be opened a second time.
    _held: ClassVar[set[tuple[int, int]]] = set()  # device and inode
    _held_lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, path: str) -> None:
        with self._held_lock:
            if os.path.exists(path) and _identity(os.stat(path)) in self._held:
                raise BlockingIOError(errno.EAGAIN, "this process already holds the lock", path)
            self._descriptor = _open_locked(path)
            self._key = _identity(os.fstat(self._descriptor))
            self._held.add(self._key)

    def close(self) -> None:
        with self._held_lock:
            if self._descriptor != _NO_DESCRIPTOR:
                os.close(self._descriptor)
                self._descriptor = _NO_DESCRIPTOR
                self._held.discard(self._key)


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _open_locked(path: str) -> int:
    descriptor = os.open(path, _OPEN_FLAGS | os.O_CREAT, _FILE_MODE)
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if error.errno in (errno.EACCES, errno.EAGAIN):
            raise BlockingIOError(errno.EAGAIN, "another process holds the lock", path) from None
        raise
    return descriptor


def _read_rest(descriptor: int, position: int, size: int, data: bytes) -> bytes:
    """Go on after a short read: large ones are cut by the kernel, others by the file's end."""
    parts, count = [data], len(data)
    while count < size:
        part = os.pread(descriptor, size - count, position + count)
        if not part:
            break
        parts.append(part)
        count += len(part)
    return b"".join(parts)


def _write_rest(descriptor: int, position: int, data: Buffer, written: int) -> None:
    """Go on after a short write, which comes before a full disk's error or a very large write."""
    with memoryview(data) as view:
        while written < len(view):
            written += os.pwrite(descriptor, view[written:], position + written)
