"""Open files and locks of the in-memory disk. They die with the process that holds them."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from ottla.base.files.filesystem import Buffer
from ottla.testing.disk_content import Content
from ottla.testing.disk_faults import DiskFault
from ottla.testing.disk_names import Directory

if TYPE_CHECKING:
    from ottla.testing.filesystem import MemoryDisk


class MemoryFile:
    """A handle. After a crash or kill, or once it is closed, it only raises."""

    def __init__(self, disk: MemoryDisk, content: Content, path: str) -> None:
        self._disk = disk
        self._content = content
        self._path = path
        self._life = disk.life
        self._has_failed_sync = False

    @property
    def path(self) -> str:
        return self._path

    def size(self) -> int:
        with self._disk.mutex:
            self._begin("size")
            return len(self._content.data)

    def read_at(self, position: int, size: int) -> bytes:
        with self._disk.mutex:
            self._begin("read")
            self._content.is_cached = True
            return bytes(self._content.data[position : position + size])

    def read_cached(self, position: int, size: int) -> bytes | None:
        return self.read_at(position, size) if self._content.is_cached else None

    def write_at(self, position: int, data: Buffer) -> None:
        new = bytes(data)
        with self._disk.mutex:
            fault = self._attempt("write")
            kept = len(new) - self._disk.missing_bytes(self._content, position + len(new))
            if fault is not None:
                kept = min(kept, fault.keep_bytes)
            self._disk.write(self._content, position, new[: max(0, kept)])
            if fault is not None:
                raise fault.exception(self._path)
            if kept < len(new):
                raise _error(errno.ENOSPC, self._path)

    def truncate(self, size: int) -> None:
        with self._disk.mutex:
            self._begin("truncate")
            self._content.truncate(size)

    def extend(self, size: int) -> None:
        with self._disk.mutex:
            self._begin("extend")
            self._content.extend(size)

    def sync(self) -> None:
        with self._disk.mutex:
            fault = self._attempt("sync")
            if fault is not None:
                self._has_failed_sync = True
                self._content.give_up()
                raise fault.exception(self._path)
            if self._has_failed_sync:
                raise OSError(errno.EIO, "an earlier sync failed", self._path)
            self._content.sync()

    def descriptor(self) -> int:
        raise OSError(errno.EOPNOTSUPP, "a file in memory has no descriptor", self._path)

    def is_in_place(self) -> bool:
        return self.size_in_place() is not None

    def size_in_place(self) -> int | None:
        with self._disk.mutex:
            self._begin("exists")
            is_same = self._disk.node_at(self._path) is self._content
            return len(self._content.data) if is_same else None

    def renamed(self, path: str) -> None:
        self._path = path

    def close(self) -> None:
        self._life = -1

    def _begin(self, kind: str) -> None:
        if (fault := self._attempt(kind)) is not None:
            raise fault.exception(self._path)

    def _attempt(self, kind: str) -> DiskFault | None:
        if self._life != self._disk.life:
            raise OSError(errno.EBADF, "closed, or lost in a crash", self._path)
        return self._disk.attempt(kind, self._path)


class MemoryHeldDirectory:
    def __init__(self, disk: MemoryDisk, directory: Directory, path: str) -> None:
        self._disk = disk
        self._directory = directory
        self._path = path

    def is_in_place(self) -> bool:
        with self._disk.mutex:
            if (fault := self._disk.attempt("exists", self._path)) is not None:
                raise fault.exception(self._path)
            return self._disk.node_at(self._path) is self._directory

    def close(self) -> None:
        pass


class MemoryLock:
    def __init__(self, held: set[str], path: str) -> None:
        self._held = held
        self._path: str | None = path

    def close(self) -> None:
        if self._path is not None:
            self._held.discard(self._path)
            self._path = None


def _error(code: int, path: str) -> OSError:
    return OSError(code, os.strerror(code), path)
