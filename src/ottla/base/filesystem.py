"""Files, handed in: everything that touches a disk goes through these two interfaces.

Promises  the same storage code runs on the real disk (`disk.py`) and on the failing one
          (`ottla.testing.filesystem`).
Paths     are plain strings with "/" between parts.
Errors    are OSError with its errno, on every implementation (ENOENT, EEXIST, EIO, ENOSPC, ...).
"""

from __future__ import annotations

import errno
from typing import NamedTuple, Protocol

Buffer = bytes | bytearray | memoryview


class DiskSpace(NamedTuple):
    total_bytes: int
    free_bytes: int


class FileLock(Protocol):
    """Held until closed, or until the process ends."""

    def close(self) -> None: ...


class HeldDirectory(Protocol):
    """A directory as it was when it was opened, whatever its path stands for later."""

    def is_in_place(self) -> bool:
        """False once the directory was removed, renamed, replaced or mounted over.

        OSError where that cannot be seen.
        """

    def close(self) -> None: ...


class File(Protocol):
    """One open file. Position is always explicit; writing and reading share no cursor.

    A handle stays good however many files are open: the real implementation closes the least
    recently used descriptors and opens them again when they are needed. If another file has the
    name by then, that is OSError with ESTALE.
    """

    @property
    def path(self) -> str: ...

    def size(self) -> int: ...

    def read_at(self, position: int, size: int) -> bytes:
        """Up to `size` bytes; fewer only at the end of the file."""

    def read_cached(self, position: int, size: int) -> bytes | None:
        """As `read_at`, but None where that would wait for the disk. For the event loop."""

    def write_at(self, position: int, data: Buffer) -> None:
        """Write all of `data`, or raise: then the bytes from `position` on are unknown."""

    def truncate(self, size: int) -> None: ...

    def extend(self, size: int) -> None:
        """Make the file `size` bytes long, unless it is longer. It takes no room on the disk: what
        was never written is a hole, which reads as zeros."""

    def sync(self) -> None:
        """Make content and length survive a power cut. Safe to call from another thread.

        Once it has failed, the handle fails for good: the kernel may have dropped the pages that
        it could not write, so a second attempt that succeeds would prove nothing.
        """

    def descriptor(self) -> int:
        """A duplicate for sendfile, which the caller closes. OSError where there is none."""

    def is_in_place(self) -> bool:
        """False once the file was removed, renamed or replaced by somebody else.

        What is written to it then is lost with its last handle. OSError where that cannot be seen.
        """

    def renamed(self, path: str) -> None:
        """The file was renamed with `FileSystem.rename`: open it there from now on."""

    def close(self) -> None: ...


class FileSystem(Protocol):
    def open(self, path: str, *, create: bool = False) -> File:
        """Open for reading and writing. FileNotFoundError unless it exists or `create`."""

    def exists(self, path: str) -> bool: ...

    def is_directory(self, path: str) -> bool: ...

    def size(self, path: str) -> int: ...

    def modified_ms(self, path: str) -> int: ...

    def list_directory(self, path: str) -> list[str]:
        """The names inside, sorted."""

    def make_directory(self, path: str) -> None:
        """Parents too; no error where it exists."""

    def rename(self, old: str, new: str) -> None:
        """Atomic; replaces an existing file. Survives a power cut after `sync_directory`."""

    def remove(self, path: str) -> None: ...

    def remove_directory(self, path: str) -> None:
        """With everything below it."""

    def sync_directory(self, path: str) -> None: ...

    def space(self, path: str) -> DiskSpace: ...

    def hold_directory(self, path: str) -> HeldDirectory:
        """OSError unless it is a directory; BlockingIOError if another process holds it."""

    def lock(self, path: str) -> FileLock:
        """Create the file and hold it alone, also against Kafka; BlockingIOError if it is held."""


def parent_directory(path: str) -> str:
    return path.rpartition("/")[0] or ("/" if path.startswith("/") else ".")


def make_lasting_directory(files: FileSystem, path: str) -> None:
    """With its parents, and so that a power cut does not undo it."""
    if not files.is_directory(path):
        parent = parent_directory(path)
        make_lasting_directory(files, parent)
        files.make_directory(path)
        files.sync_directory(parent)


def read_file(files: FileSystem, path: str, bytes_max: int = 256 << 20) -> bytes:
    """The whole of a small file; OSError with EFBIG for one that cannot be meant."""
    file = files.open(path)
    try:
        if (size := file.size()) > bytes_max:
            raise OSError(errno.EFBIG, f"{size} bytes, more than {bytes_max}", path)
        return file.read_at(0, size)
    finally:
        file.close()


def replace_file(files: FileSystem, path: str, content: bytes) -> None:
    """Write a small file so that after a power cut either the old or the new content is there."""
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
