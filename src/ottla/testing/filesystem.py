"""A disk in memory that can fail: power cuts, killed processes, torn writes, bad bits, errors.

Promises  everything `ottla.base.files.filesystem` asks for, and beyond that the worst a real disk
          may do: what was not synced may be lost in any part; what was created, renamed or removed
          may be undone until its directory is synced; what a failed sync left behind is lost
          permanently. The same seed loses the same bytes.
Threads   any.

    disk = MemoryDisk()
    log = open_log(disk)
    disk.fail("sync", "*.log", error=errno.EIO)
    ...
    disk.crash(Random(7))  # or disk.kill(), or disk.tear_last_write(keep_bytes=7)
    log = open_log(disk)
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Collection, Sequence
from random import Random
from zlib import crc32

from ottla.base.clock import Clock
from ottla.base.files.filesystem import DiskSpace, ExpectedFile
from ottla.testing.clock import ManualClock
from ottla.testing.disk_content import Change, Content
from ottla.testing.disk_faults import DiskFault, kinds_of
from ottla.testing.disk_handles import MemoryFile, MemoryHeldDirectory, MemoryLock
from ottla.testing.disk_names import Directory, Names, Node

_UNLIMITED_BYTES = 1 << 40  # what a disk without a limit says of itself


class MemoryDisk:
    """The file system, and what a test does to it."""

    def __init__(self, *, space_bytes: int | None = None, clock: Clock | None = None) -> None:
        self.space_bytes = space_bytes  # None is no limit; may be changed at any time
        self.life = 0  # how often the process has died
        self.operations: dict[str, int] = {}  # how many of each kind were tried
        self._clock = clock or ManualClock()
        self._names = Names()
        self._faults: list[DiskFault] = []
        self._locks: set[str] = set()
        self._last_write: tuple[Content, Change] | None = None
        self.mutex = threading.RLock()  # held for each operation

    # What goes wrong.

    def crash(self, rng: Random) -> None:
        """Simulate a power failure: the process ends, and some of what was not synced is lost."""
        with self.mutex:
            self.kill()
            self._names.cut_power(rng)
            for _, content in self._names.files():
                content.cut_power(rng)

    def kill(self) -> None:
        """Kill the process: its handles and locks end, all that was written remains."""
        with self.mutex:
            self.life += 1
            self._locks = set()  # locks of the dead process keep the old set

    def tear_last_write(self, keep_bytes: int) -> None:
        """Kill the process in the middle of its last write, of which `keep_bytes` are there."""
        with self.mutex:
            assert self._last_write is not None, "nothing was written yet"
            content, change = self._last_write
            content.tear(change, keep_bytes)
            self.kill()

    def flip_bit(self, path: str, position: int, bit: int = 0) -> None:
        """Flip one bit of the byte at `position`."""
        with self.mutex:
            self._file(path).data[position] ^= 1 << bit

    def drop_caches(self) -> None:
        """Make every file cold, so that `read_cached` finds nothing until it is read."""
        with self.mutex:
            for _, content in self._names.files():
                content.is_cached = False

    def fail(
        self,
        kinds: str | Collection[str],
        path_pattern: str = "*",
        *,
        error: int = errno.EIO,
        skip: int = 0,
        times: int | None = 1,
        keep_bytes: int = 0,
    ) -> None:
        """Let operations fail: after `skip` matching ones the next `times`, or all with None.

        The kinds, and the groups READS, CHANGES, SYNCS and ANY, are in `disk_faults.py`.
        """
        self._faults.append(
            DiskFault(kinds_of(kinds), path_pattern, error, skip, times, keep_bytes)
        )

    def heal(self) -> None:
        """Forget all faults."""
        self._faults.clear()

    # What every file system does.

    def open(self, path: str, *, create: bool = False) -> MemoryFile:
        with self.mutex:
            self._begin("open", path)
            node = self._names.find(path)
            if isinstance(node, Directory):
                raise _error(errno.EISDIR, path)
            if node is None and create:
                node = Content(modified_ms=self._clock.now_ms())
                self._begin("create", path)
                self._names.add(path, node)
            if node is None:
                raise _error(errno.ENOENT, path)
            return MemoryFile(self, node, path)

    def exists(self, path: str) -> bool:
        with self.mutex:
            self._begin("exists", path)
            return self._names.find(path) is not None

    def is_directory(self, path: str) -> bool:
        with self.mutex:
            self._begin("exists", path)
            return isinstance(self._names.find(path), Directory)

    def inode(self, path: str) -> int:
        """By the path, so that a simulation replays: nothing is copied or renamed that is asked."""
        return crc32(path.encode())

    def size(self, path: str) -> int:
        with self.mutex:
            self._begin("size", path)
            return len(self._file(path).data)

    def are_as_expected(self, expected: Sequence[ExpectedFile]) -> list[bool]:
        """Each is checked by other calls, which can fail."""
        return [False] * len(expected)

    def modified_ms(self, path: str) -> int:
        with self.mutex:
            self._begin("size", path)
            return self._node(path).modified_ms

    def list_directory(self, path: str) -> list[str]:
        with self.mutex:
            self._begin("list", path)
            return sorted(self._directory(path).entries)

    def make_directory(self, path: str) -> None:
        with self.mutex:
            self._begin("make_directory", path)
            self._names.make_directories(path, self._clock.now_ms())

    def rename(self, old: str, new: str) -> None:
        with self.mutex:
            self._begin("rename", old)
            self._node(old)
            self._names.rename(old, new)

    def remove(self, path: str) -> None:
        with self.mutex:
            self._begin("remove", path)
            self._file(path)
            self._names.remove(path)

    def remove_directory(self, path: str) -> None:
        for name in self.list_directory(path):
            inner = f"{path}/{name}"
            if self.is_directory(inner):
                self.remove_directory(inner)
            else:
                self.remove(inner)
        with self.mutex:
            self._begin("remove", path)
            self._names.remove(path)

    def sync_directory(self, path: str) -> None:
        with self.mutex:
            self._begin("sync_directory", path)
            self._names.sync(self._directory(path))

    def space(self, path: str) -> DiskSpace:
        with self.mutex:
            self._begin("space", path)
            self._node(path)
            total = _UNLIMITED_BYTES if self.space_bytes is None else self.space_bytes
            return DiskSpace(total, max(0, total - self.used_bytes))

    def hold_directory(self, path: str) -> MemoryHeldDirectory:
        with self.mutex:
            self._begin("open", path)
            return MemoryHeldDirectory(self, self._directory(path), path)

    def lock(self, path: str) -> MemoryLock:
        self.open(path, create=True)
        with self.mutex:
            self._begin("lock", path)
            if path in self._locks:
                raise BlockingIOError(errno.EAGAIN, "the lock is held", path)
            self._locks.add(path)
            return MemoryLock(self._locks, path)

    # What handles use.

    def node_at(self, path: str) -> Node | None:
        return self._names.find(path)

    def attempt(self, kind: str, path: str) -> DiskFault | None:
        """Count an operation; the fault with which it is to fail, if any."""
        self.operations[kind] = self.operations.get(kind, 0) + 1
        happening = [fault for fault in self._faults if fault.happens(kind, path)]
        return happening[0] if happening else None

    def write(self, content: Content, position: int, new: bytes) -> None:
        self._last_write = content, content.write(position, new)
        content.modified_ms = self._clock.now_ms()

    def missing_bytes(self, content: Content, size: int) -> int:
        """How many bytes the disk lacks for `content` to become `size` bytes long."""
        growth = size - content.room_bytes
        if self.space_bytes is None or growth <= 0:
            return 0
        return max(0, growth - max(0, self.space_bytes - self.used_bytes))

    def _begin(self, kind: str, path: str) -> None:
        if (fault := self.attempt(kind, path)) is not None:
            raise fault.exception(path)

    @property
    def used_bytes(self) -> int:
        return sum(content.room_bytes for _, content in self._names.files())

    def files(self) -> list[tuple[str, Content]]:
        """All files, with their paths."""
        with self.mutex:
            return list(self._names.files())

    def _node(self, path: str) -> Node:
        node = self._names.find(path)
        if node is None:
            raise _error(errno.ENOENT, path)
        return node

    def _file(self, path: str) -> Content:
        node = self._node(path)
        if isinstance(node, Directory):
            raise _error(errno.EISDIR, path)
        return node

    def _directory(self, path: str) -> Directory:
        node = self._node(path)
        if isinstance(node, Content):
            raise _error(errno.ENOTDIR, path)
        return node


def _error(code: int, path: str) -> OSError:
    return OSError(code, os.strerror(code), path)
