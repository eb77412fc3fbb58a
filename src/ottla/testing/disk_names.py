"""The directories of the in-memory disk, and which of their changes a power cut would undo.

A change is made at once and remembered until its directory is synced. A power cut keeps, in each
directory, the changes up to some moment and undoes those after it. A directory that is itself
undone takes everything in it along.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from ottla.testing.disk_content import Content


@dataclass(eq=False)
class Directory:
    entries: dict[str, Node] = field(default_factory=dict)
    modified_ms: int = 0


Node = Content | Directory


class EntryChange(NamedTuple):
    directory: Directory
    name: str
    before: Node | None
    after: Node | None

    def set(self, node: Node | None) -> None:
        if node is None:
            self.directory.entries.pop(self.name, None)
        else:
            self.directory.entries[self.name] = node


NameChange = tuple[EntryChange, ...]  # all that one operation did; happens or is undone as a whole


class Names:
    def __init__(self) -> None:
        self.root = Directory()
        self._next_number = 0
        self._unsynced: dict[int, NameChange] = {}  # by number, in the order of the changes
        # The numbers of those that touch a directory: a sync looks at no others.
        self._unsynced_in: dict[Directory, set[int]] = {}

    def find(self, path: str) -> Node | None:
        node: Node = self.root
        for name in _parts(path):
            if not isinstance(node, Directory) or name not in node.entries:
                return None
            node = node.entries[name]
        return node

    def files(self) -> Iterator[tuple[str, Content]]:
        """Every file with its path, in order."""
        yield from _files("", self.root)

    def add(self, path: str, node: Node) -> None:
        directory, name = self._entry_of(path)
        self._change(EntryChange(directory, name, None, node))

    def make_directories(self, path: str, now_ms: int) -> None:
        parts = _parts(path)
        for end in range(1, len(parts) + 1):
            part = "/".join(parts[:end])
            node = self.find(part)
            if node is None:
                self.add(part, Directory(modified_ms=now_ms))
            elif isinstance(node, Content):
                raise _error(errno.EEXIST if end == len(parts) else errno.ENOTDIR, path)

    def rename(self, old: str, new: str) -> None:
        (old_directory, old_name), (new_directory, new_name) = (
            self._entry_of(old),
            self._entry_of(new),
        )
        node, replaced = old_directory.entries[old_name], new_directory.entries.get(new_name)
        if node is replaced:
            return
        if isinstance(replaced, Directory):
            if isinstance(node, Content):
                raise _error(errno.EISDIR, new)
            if replaced.entries:
                raise _error(errno.ENOTEMPTY, new)
        elif isinstance(replaced, Content) and isinstance(node, Directory):
            raise _error(errno.ENOTDIR, new)
        self._change(
            EntryChange(old_directory, old_name, node, None),
            EntryChange(new_directory, new_name, replaced, node),
        )

    def remove(self, path: str) -> None:
        directory, name = self._entry_of(path)
        self._change(EntryChange(directory, name, directory.entries[name], None))

    def sync(self, directory: Directory) -> None:
        for number in self._unsynced_in.pop(directory, ()):
            for entry in self._unsynced.pop(number):
                if entry.directory is not directory:
                    self._unsynced_in[entry.directory].discard(number)

    def cut_power(self, rng: Random) -> None:
        survivors = self._choose_survivors(rng)
        for number, change in reversed(self._unsynced.items()):
            if number not in survivors:
                for entry in reversed(change):
                    entry.set(entry.before)
        self._unsynced.clear()
        self._unsynced_in.clear()

    def _choose_survivors(self, rng: Random) -> set[int]:
        """The changes that survive: in each directory those before a random moment."""
        survivors = set()
        lost_in: set[int] = set()
        lose_chance = rng.choice((0.0, 0.1, 0.5, 1.0))
        for number, change in self._unsynced.items():
            directories = {id(entry.directory) for entry in change}
            if directories & lost_in or rng.random() < lose_chance:
                lost_in |= directories
            else:
                survivors.add(number)
        return survivors

    def _change(self, *entries: EntryChange) -> None:
        for entry in entries:
            entry.set(entry.after)
            self._unsynced_in.setdefault(entry.directory, set()).add(self._next_number)
        self._unsynced[self._next_number] = entries
        self._next_number += 1

    def _entry_of(self, path: str) -> tuple[Directory, str]:
        *parents, name = _parts(path)
        directory = self.find("/".join(parents))
        if directory is None:
            raise _error(errno.ENOENT, path)
        if isinstance(directory, Content):
            raise _error(errno.ENOTDIR, path)
        return directory, name


def _files(path: str, directory: Directory) -> Iterator[tuple[str, Content]]:
    for name in sorted(directory.entries):
        node = directory.entries[name]
        if isinstance(node, Directory):
            yield from _files(f"{path}/{name}", node)
        else:
            yield f"{path}/{name}", node


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def _error(code: int, path: str) -> OSError:
    return OSError(code, os.strerror(code), path)
