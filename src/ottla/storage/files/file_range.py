"""A range of a record file, to be sent to a socket without being read into Python.

Promises  the bytes of the range are whole batches that were verified, except that the last one may
          be incomplete because of the fetch limit (consumers skip an incomplete batch).
Leaves    choosing between `pread` and `sendfile` to the network.
"""

from __future__ import annotations

from ottla.base.files.filesystem import File


class FileRange:
    __slots__ = ("file", "position", "size")

    def __init__(self, file: File, position: int, size: int) -> None:
        self.file = file
        self.position = position
        self.size = size

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"FileRange({self.file.path!r}, {self.position}, {self.size})"

    def read(self) -> bytes:
        """All bytes of the range; fewer only if the file was cut meanwhile."""
        return self.file.read_at(self.position, self.size) if self.size else b""

    def descriptor(self) -> int:
        """A duplicate for sendfile, which the caller closes. OSError where there is none."""
        return self.file.descriptor()
