"""A place for files on either disk: the real one and the one in memory."""

from __future__ import annotations

from typing import NamedTuple

from ottla.base.files.filesystem import FileSystem, read_file


class Volume(NamedTuple):
    files: FileSystem
    root: str

    def path(self, name: str) -> str:
        return f"{self.root}/{name}"

    def put(self, name: str, content: bytes) -> str:
        """Make a file with this content, and return its path."""
        path = self.path(name)
        file = self.files.open(path, create=True)
        file.truncate(0)
        file.write_at(0, content)
        file.close()
        return path

    def get(self, name: str) -> bytes:
        return read_file(self.files, self.path(name))
