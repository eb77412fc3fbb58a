"""The text format of all checkpoint files: a version, a count, then one entry a line.

Promises  a file is replaced as a whole, and survives a power cut once `write_checkpoint` returned.
          A file that is empty, or ends after its version, holds no entries: Kafka creates such.
          Whatever else is wrong is a CorruptLogError with the path and the line.
Leaves    the meaning of an entry to its reader.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ottla.base.files.filesystem import FileSystem, replace_file
from ottla.base.files.readers import Reader
from ottla.storage.errors import CorruptLogError

VERSION = 0
_DIGITS_MAX = 20  # more than any int64 needs; int() is slow on long input


class Line(NamedTuple):
    """One line with its position, for error messages."""

    path: str
    number: int  # from 1
    position: int  # in bytes
    text: str

    def fields(self, count: int) -> list[str]:
        fields = self.text.split()
        if len(fields) != count:
            raise self.error(f"{len(fields)} fields instead of {count}")
        return fields

    def integer(self, field: str, largest: int) -> int:
        """A whole number from -1 (where Kafka writes "unknown") up to `largest`."""
        digits = field.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) <= _DIGITS_MAX):
            raise self.error(f"{field[:40]!r} is no number")
        value = int(field)
        if not -1 <= value <= largest:
            raise self.error(f"{value} is not between -1 and {largest}")
        return value

    def error(self, what: str) -> CorruptLogError:
        return CorruptLogError(self.path, self.position, f"line {self.number}: {what}")


def read_checkpoint(reader: Reader, files: FileSystem, path: str) -> list[Line]:
    """The entries of a checkpoint file. FileNotFoundError where there is none."""
    lines = list(_split(path, reader.read_file(files, path)))
    if not lines:
        return []
    version = lines[0].integer(lines[0].text, 2**31 - 1)
    if version != VERSION:
        raise lines[0].error(f"version {version} instead of {VERSION}")
    if len(lines) == 1:
        return []
    expected = lines[1].integer(lines[1].text, 2**31 - 1)
    if len(lines) - 2 != expected:
        raise lines[1].error(f"{expected} entries announced, {len(lines) - 2} found")
    return lines[2:]


def write_checkpoint(files: FileSystem, path: str, entries: Iterable[str]) -> None:
    lines = list(entries)
    text = "\n".join([str(VERSION), str(len(lines)), *lines, ""])
    replace_file(files, path, text.encode())


def _split(path: str, content: bytes) -> Iterator[Line]:
    position = 0
    for number, raw in enumerate(content.splitlines(keepends=True), 1):
        try:
            text = raw.decode().rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise CorruptLogError(path, position, f"line {number}: {error}") from error
        yield Line(path, number, position, text)
        position += len(raw)
