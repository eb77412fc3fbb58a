"""The real disk: directories, names, locks, and files whose descriptors are bounded in number.

Promises  descriptors do not leak into child processes.
Leaves    reading and writing to `disk_file.py`.
Threads   any.
"""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import shutil
import threading
from typing import ClassVar

from ottla.base.disk_file import OPEN_FLAGS, Descriptors, DiskFile, identity_of, is_at
from ottla.base.filesystem import DiskSpace

_CLOSED = -1
_FILE_MODE = 0o640  # records are nobody else's business; a group may be let in to read
_DIRECTORY_MODE = 0o750
_REMOVALS_MAX = 10  # of one directory, before it is somebody else's turn to try again


class DiskFileSystem:
    """All files of one broker. Its handles share one bound on open descriptors."""

    def __init__(self, *, open_files_max: int | None = None) -> None:
        self._descriptors = Descriptors(open_files_max or default_open_files_max())

    @property
    def open_files(self) -> int:
        """How many descriptors are open right now."""
        return len(self._descriptors)

    def open(self, path: str, *, create: bool = False) -> DiskFile:
        flags = OPEN_FLAGS | (os.O_CREAT if create else 0)
        descriptor = self._descriptors.open_path(path, flags, _FILE_MODE)
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
        """Also while a thread that knows nothing of it writes its last files there."""
        for tries_left in reversed(range(_REMOVALS_MAX)):
            try:
                shutil.rmtree(path)
                return
            except OSError as error:
                is_gone = isinstance(error, FileNotFoundError) and not os.path.lexists(path)
                has_changed = error.errno in (errno.ENOENT, errno.ENOTEMPTY)
                if is_gone or not has_changed or not tries_left:
                    raise

    def sync_directory(self, path: str) -> None:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        descriptor = self._descriptors.open_path(path, flags)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def space(self, path: str) -> DiskSpace:
        status = os.statvfs(path)
        return DiskSpace(status.f_frsize * status.f_blocks, status.f_frsize * status.f_bavail)

    def hold_directory(self, path: str) -> DiskDirectory:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        return DiskDirectory(path, self._descriptors.open_path(path, flags))

    def lock(self, path: str) -> DiskLock:
        return DiskLock(path)


def default_open_files_max() -> int:
    """Half of what the process may open, so that the other half is there for connections."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 4096 if limit == resource.RLIM_INFINITY else max(16, min(4096, limit // 2))


class DiskDirectory:
    """Its descriptor stays open: as long as it is, no other directory gets its identity.

    It is locked, too: a lock file can be removed, and then another process would make a new one.
    """

    def __init__(self, path: str, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor
        self._identity = identity_of(os.fstat(descriptor))
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise BlockingIOError(errno.EAGAIN, "somebody else holds the directory", path) from None
        except OSError:
            pass  # a file system that locks no directories

    def is_in_place(self) -> bool:
        return is_at(self._path, self._identity)

    def close(self) -> None:
        if self._descriptor != _CLOSED:
            os.close(self._descriptor)
            self._descriptor = _CLOSED


class DiskLock:
    """A POSIX record lock, which Kafka takes too; a process never gets one it already holds."""

    # Such a lock does not exclude its own process, and ends when the process closes *any*
    # descriptor of the file: so the file must not even be opened a second time.
    _held: ClassVar[set[tuple[int, int]]] = set()  # device and inode
    _held_lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, path: str) -> None:
        with self._held_lock:
            if os.path.exists(path) and identity_of(os.stat(path)) in self._held:
                raise BlockingIOError(errno.EAGAIN, "this process already holds the lock", path)
            self._descriptor = _open_locked(path)
            self._key = identity_of(os.fstat(self._descriptor))
            self._held.add(self._key)

    def close(self) -> None:
        with self._held_lock:
            if self._descriptor != _CLOSED:
                os.close(self._descriptor)
                self._descriptor = _CLOSED
                self._held.discard(self._key)


def _open_locked(path: str) -> int:
    descriptor = os.open(path, OPEN_FLAGS | os.O_CREAT, _FILE_MODE)
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if error.errno in (errno.EACCES, errno.EAGAIN):
            raise BlockingIOError(errno.EAGAIN, "another process holds the lock", path) from None
        raise
    return descriptor
