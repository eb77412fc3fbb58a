"""Errors in the content of stored files, with the file and the position in it.

OSError is not among them: it means that the disk failed. These mean that the disk worked, and that
what was read, or was to be written, is not valid.
"""

from __future__ import annotations


class StorageError(Exception):
    """The base of all errors of stored data, and of attempts to store data."""


class CorruptLogError(StorageError):
    """A file contains bytes that cannot be what was written."""

    def __init__(self, path: str, position: int, what: str) -> None:
        super().__init__(path, position, what)
        self.path = path
        self.position = position  # in bytes from the start of the file
        self.what = what

    def __str__(self) -> str:
        return f"{self.path} at byte {self.position}: {self.what}"


class OffsetOverflowError(StorageError):
    """An offset too far from the base offset of its segment for the 31 bits an index has."""

    def __init__(self, path: str, base_offset: int, offset: int) -> None:
        super().__init__(path, base_offset, offset)
        self.path = path
        self.base_offset = base_offset
        self.offset = offset

    def __str__(self) -> str:
        return f"{self.path}: offset {self.offset} does not fit above base {self.base_offset}"


class IndexAppendError(StorageError):
    """An index entry that is out of order, or one more than the index may hold."""

    def __init__(self, path: str, what: str) -> None:
        super().__init__(path, what)
        self.path = path
        self.what = what

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"
