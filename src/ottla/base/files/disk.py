"""The real disk: directories, names, locks, and files with a bounded number of descriptors.

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
from collections.abc import Sequence
from typing import ClassVar, cast

from ottla.base.files.disk_file import OPEN_FLAGS, Descriptors, DiskFile, identity_of, is_at
from ottla.base.files.file_states import file_states
from ottla.base.files.filesystem import DiskSpace, ExpectedFile

_CLOSED = -1
_NOT_OPEN = 2**31 - 1  # a number that no descriptor has: reading from it fails
_PINNED_MAX = 64  # files that are kept open at a time, in addition to those in use
_FILE_MODE = 0o640  # the group may read, others may not
_DIRECTORY_MODE = 0o750
_REMOVALS_MAX = 10  # attempts per directory while another thread still creates files in it


class DiskFileSystem:
    """All files of one broker. Its handles share one limit on open descriptors."""

    def __init__(self, *, open_files_max: int | None = None) -> None:
        self._descriptors = Descriptors(open_files_max or default_open_files_max())

    @property
    def open_files(self) -> int:
        """The number of open descriptors."""
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

    def inode(self, path: str) -> int:
        return os.stat(path).st_ino

    def size(self, path: str) -> int:
        return os.stat(path).st_size

    def modified_ms(self, path: str) -> int:
        return os.stat(path).st_mtime_ns // 1_000_000

    def are_as_expected(self, expected: Sequence[ExpectedFile]) -> list[bool]:
        found: list[bool] = []
        for start in range(0, len(expected), _PINNED_MAX):
            found += _compared(expected[start : start + _PINNED_MAX])
        return found

    def list_directory(self, path: str) -> list[str]:
        return sorted(os.listdir(path))

    def make_directory(self, path: str) -> None:
        os.makedirs(path, _DIRECTORY_MODE, exist_ok=True)

    def rename(self, old: str, new: str) -> None:
        os.replace(old, new)

    def remove(self, path: str) -> None:
        os.unlink(path)

    def remove_directory(self, path: str) -> None:
        """Remove a tree, even while another thread still creates files in it."""
        for tries_left in reversed(range(_REMOVALS_MAX)):
            try:
                shutil.rmtree(path)
                return
            except OSError as error:
                is_removed = isinstance(error, FileNotFoundError) and not os.path.lexists(path)
                has_changed = error.errno in (errno.ENOENT, errno.ENOTEMPTY)
                if is_removed or not has_changed or not tries_left:
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


def _compared(expected: Sequence[ExpectedFile]) -> list[bool]:
    pinned: list[DiskFile] = []
    try:
        states = file_states(
            [os.fsencode(each.path) for each in expected],
            [_pin(each, pinned) for each in expected],
            [each.data_at or 0 for each in expected],
        )
    finally:
        for file in pinned:
            file.unpin()
    return [
        state is not None
        and state[2] >= each.size
        and state[3]
        and (each.file is None or cast(DiskFile, each.file).has_identity(state[:2]))
        for each, state in zip(expected, states, strict=True)
    ]


def _pin(expected: ExpectedFile, pinned: list[DiskFile]) -> int:
    """The descriptor to read from, which stays open until its file, added to `pinned`, is unpinned;
    -1 if nothing is read. A file that cannot be opened has a number that no descriptor has."""
    if expected.file is None or expected.data_at is None:
        return -1
    file = cast(DiskFile, expected.file)
    pinned.append(file)
    try:
        return file.pin()
    except OSError:
        return _NOT_OPEN


def default_open_files_max() -> int:
    """Half of the process's descriptor limit; the other half is for connections."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 4096 if limit == resource.RLIM_INFINITY else max(16, min(4096, limit // 2))


class DiskDirectory:
    """A locked directory. Its descriptor stays open, so that its identity is not reused.

    The directory itself is locked because a lock file can be removed, and another process would
    then create a new one.
    """

    def __init__(self, path: str, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor
        self._identity = identity_of(os.fstat(descriptor))
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise BlockingIOError(
                errno.EAGAIN, "another process holds the directory", path
            ) from None
        except OSError:
            pass  # the file system cannot lock directories

    def is_in_place(self) -> bool:
        return is_at(self._path, self._identity)

    def close(self) -> None:
        if self._descriptor != _CLOSED:
            os.close(self._descriptor)
            self._descriptor = _CLOSED


class DiskLock:
    """A POSIX record lock, as Kafka takes it. Locking twice in one process fails."""

    # POSIX record locks do not exclude the process that holds them, and are released when the
    # process closes *any* descriptor of the file. So the file must not be opened a second time.
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
