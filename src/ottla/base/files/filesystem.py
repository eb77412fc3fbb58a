"""The interfaces that all file access goes through.

Promises  the same storage code runs on the real disk (`disk.py`) and on one that injects faults
          (`ottla.testing.filesystem`).
Paths     are strings with "/" as separator.
Errors    are OSError with its errno, on every implementation (ENOENT, EEXIST, EIO, ENOSPC, ...).
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import NamedTuple, Protocol

Buffer = bytes | bytearray | memoryview


class DiskSpace(NamedTuple):
    total_bytes: int
    free_bytes: int


class FileLock(Protocol):
    """A lock that is held until it is closed or the process ends."""

    def close(self) -> None: ...


class HeldDirectory(Protocol):
    """An open directory. It stays the same if its path is later used by another directory."""

    def is_in_place(self) -> bool:
        """False once the directory was removed, renamed, replaced or mounted over.

        OSError if that cannot be determined.
        """

    def close(self) -> None: ...


class File(Protocol):
    """One open file. Positions are explicit; there is no cursor.

    A handle stays valid however many files are open: the real implementation closes the least
    recently used descriptors and reopens them when needed. If the name then refers to another file,
    the operation fails with ESTALE.
    """

    @property
    def path(self) -> str: ...

    def size(self) -> int: ...

    def read_at(self, position: int, size: int) -> bytes:
        """Up to `size` bytes; fewer only at the end of the file."""

    def read_cached(self, position: int, size: int) -> bytes | None:
        """As `read_at`, but None if that would block on the disk. For the event loop."""

    def write_at(self, position: int, data: Buffer) -> None:
        """Write all of `data`, or raise; then the content from `position` on is undefined."""

    def truncate(self, size: int) -> None: ...

    def extend(self, size: int) -> None:
        """Make the file at least `size` bytes long. The new part is a hole: it takes no disk space
        and reads as zeros."""

    def sync(self) -> None:
        """Make content and length durable. May be called from any thread.

        After a failure the handle fails permanently: the kernel may have dropped the pages that it
        could not write, so a second fsync that succeeds would prove nothing.
        """

    def descriptor(self) -> int:
        """A duplicate of the descriptor for sendfile, to be closed by the caller. OSError if there
        is none."""

    def is_in_place(self) -> bool:
        """False once the file was removed, renamed or replaced by another process.

        Later writes to it are lost with its last handle. OSError if that cannot be determined.
        """

    def size_in_place(self) -> int | None:
        """Its size; None if it is not in place. One system call for both."""

    def renamed(self, path: str) -> None:
        """The file was renamed with `FileSystem.rename`: reopen it under the new name."""

    def close(self) -> None: ...


class ExpectedFile(NamedTuple):
    """The expected state of a file that was written."""

    path: str
    size: int  # at least
    file: File | None = None  # in place, if given
    data_at: int | None = None  # the position of four bytes of it that are not all zero


class FileSystem(Protocol):
    def open(self, path: str, *, create: bool = False) -> File:
        """Open for reading and writing. FileNotFoundError if it does not exist, unless `create` is
        set."""

    def exists(self, path: str) -> bool: ...

    def is_directory(self, path: str) -> bool: ...

    def inode(self, path: str) -> int:
        """The same after a rename and a restart; another one for a copy."""

    def size(self, path: str) -> int: ...

    def modified_ms(self, path: str) -> int: ...

    def are_as_expected(self, expected: Sequence[ExpectedFile]) -> list[bool]:
        """True for each file that is as expected. False if it is not, or must be checked by other
        calls. For a thread: the event loop is disturbed less than by a call for each file."""

    def list_directory(self, path: str) -> list[str]:
        """The names of its entries, sorted."""

    def make_directory(self, path: str) -> None:
        """Create it and its parents; no error if it exists."""

    def rename(self, old: str, new: str) -> None:
        """Atomic; replaces an existing file. Durable after `sync_directory`."""

    def remove(self, path: str) -> None: ...

    def remove_directory(self, path: str) -> None:
        """Remove a directory and its content."""

    def sync_directory(self, path: str) -> None: ...

    def space(self, path: str) -> DiskSpace: ...

    def hold_directory(self, path: str) -> HeldDirectory:
        """OSError unless it is a directory; BlockingIOError if another process holds it."""

    def lock(self, path: str) -> FileLock:
        """Create the file and lock it, also against Kafka; BlockingIOError if it is locked."""


def parent_directory(path: str) -> str:
    return path.rpartition("/")[0] or ("/" if path.startswith("/") else ".")


def make_durable_directory(files: FileSystem, path: str) -> None:
    """Create a directory and its parents, and sync them."""
    if not files.is_directory(path):
        parent = parent_directory(path)
        make_durable_directory(files, parent)
        files.make_directory(path)
        files.sync_directory(parent)


def read_file(files: FileSystem, path: str, bytes_max: int = 256 << 20) -> bytes:
    """The whole of a small file; OSError with EFBIG if it is larger than any valid one."""
    file = files.open(path)
    try:
        if (size := file.size()) > bytes_max:
            raise OSError(errno.EFBIG, f"{size} bytes, more than {bytes_max}", path)
        return file.read_at(0, size)
    finally:
        file.close()


def replace_file(files: FileSystem, path: str, content: bytes) -> None:
    """Replace a small file atomically: after a crash it has either the old or the new content."""
    temporary = path + ".tmp"
    file = files.open(temporary, create=True)
    try:
        file.truncate(0)
        file.write_at(0, content)
        file.sync()
    finally:
        file.close()
    files.rename(temporary, path)
    files.sync_directory(parent_directory(path))
