"""The real disk, which a test can make full."""

from __future__ import annotations

import errno
import os

from ottla.base.files.disk import DiskFileSystem
from ottla.base.files.disk_file import OPEN_FLAGS, Descriptors, DiskFile
from ottla.base.files.filesystem import Buffer, DiskSpace

FILE_MODE = 0o640


class FillableDisk(DiskFileSystem):
    """While it `is_full`, nothing grows and nothing new is made; what is there can be read,
    overwritten and removed."""

    is_full = False

    def open(self, path: str, *, create: bool = False) -> DiskFile:
        if create and not self.exists(path):
            self.need_room(path)
        flags = OPEN_FLAGS | (os.O_CREAT if create else 0)
        descriptor = self._descriptors.open_path(path, flags, FILE_MODE)
        file = FillableFile(self._descriptors, path, self)
        self._descriptors.adopt(file, descriptor)
        return file

    def make_directory(self, path: str) -> None:
        if not self.is_directory(path):
            self.need_room(path)
        super().make_directory(path)

    def space(self, path: str) -> DiskSpace:
        space = super().space(path)
        return DiskSpace(space.total_bytes, 0) if self.is_full else space

    def need_room(self, path: str) -> None:
        if self.is_full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)


class FillableFile(DiskFile):
    """A file that does not grow while its disk is full."""

    __slots__ = ("_disk",)

    def __init__(self, descriptors: Descriptors, path: str, disk: FillableDisk) -> None:
        super().__init__(descriptors, path)
        self._disk = disk

    def write_at(self, position: int, data: Buffer) -> None:
        if self._disk.is_full and position + len(data) > self.size():
            self._disk.need_room(self.path)
        super().write_at(position, data)
