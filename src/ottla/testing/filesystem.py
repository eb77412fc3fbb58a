"""A disk in memory that can fail: power cuts, killed processes, torn writes, bad bits, errors.

Promises  everything `ottla.base.filesystem` asks for, and beyond that the worst a real disk may
          do: what was not synced may be lost in any part; what was created, renamed or removed may
          be undone until its directory is synced; what a failed sync left behind is lost for good.
          The same seed loses the same bytes.
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
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from random import Random

from ottla.base.clock import Clock
from ottla.base.filesystem import Buffer, DiskSpace
from ottla.testing.clock import ManualClock
from ottla.testing.disk_content import Change, Content
from ottla.testing.disk_faults import Fault, kinds_of
from ottla.testing.disk_names import Directory, Names, Node

_UNLIMITED_BYTES = 1 << 40  # what a disk without a limit says of itself


class MemoryFile:
    """A handle. It dies with the process that opened it: after a crash or kill it only raises."""

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
        with self._operation("size"):
            return len(self._content.data)

    def read_at(self, position: int, size: int) -> bytes:
        with self._operation("read"):
            self._content.is_cached = True
            return bytes(self._content.data[position : position + size])

    def read_cached(self, position: int, size: int) -> bytes | None:
        return self.read_at(position, size) if self._content.is_cached else None

    def write_at(self, position: int, data: Buffer) -> None:
        new = bytes(data)
        with self._faulty_operation("write") as fault:
            kept = len(new) - self._disk.missing_bytes(self._content, position + len(new))
            if fault is not None:
                kept = min(kept, fault.keep_bytes)
            self._disk.write(self._content, position, new[: max(0, kept)])
            if fault is not None:
                raise fault.exception(self._path)
            if kept < len(new):
                raise _error(errno.ENOSPC, self._path)

    def truncate(self, size: int) -> None:
        with self._operation("truncate"):
            self._content.truncate(size)

    def allocate(self, size: int) -> None:
        with self._operation("allocate"):
            if self._disk.missing_bytes(self._content, size):
                raise _error(errno.ENOSPC, self._path)
            self._content.truncate(max(size, len(self._content.data)))

    def sync(self) -> None:
        with self._faulty_operation("sync") as fault:
            if fault is not None:
                self._has_failed_sync = True
                self._content.give_up()
                raise fault.exception(self._path)
            if self._has_failed_sync:
                raise OSError(errno.EIO, "an earlier sync failed", self._path)
            self._content.sync()

    def descriptor(self) -> int:
        raise OSError(errno.EOPNOTSUPP, "a file in memory has no descriptor", self._path)

    def renamed(self, path: str) -> None:
        self._path = path

    def close(self) -> None:
        self._life = -1

    @contextmanager
    def _operation(self, kind: str) -> Iterator[None]:
        with self._faulty_operation(kind) as fault:
            if fault is not None:
                raise fault.exception(self._path)
            yield

    @contextmanager
    def _faulty_operation(self, kind: str) -> Iterator[Fault | None]:
        with self._disk.operation(kind, self._path) as fault:
            if self._life != self._disk.life:
                raise OSError(errno.EBADF, "closed, or lost in a crash", self._path)
            yield fault


class MemoryDisk:
    """The file system, and what a test does to it."""

    def __init__(self, *, space_bytes: int | None = None, clock: Clock | None = None) -> None:
        self.space_bytes = space_bytes  # None is no limit; may be changed at any time
        self.life = 0  # how often the process has died
        self.operations: dict[str, int] = {}  # how many of each kind were tried
        self._clock = clock or ManualClock()
        self._names = Names()
        self._faults: list[Fault] = []
        self._locks: set[str] = set()
        self._last_write: tuple[Content, Change] | None = None
        self._lock = threading.RLock()

    # What goes wrong.

    def crash(self, rng: Random) -> None:
        """Cut the power: the process is dead, and of what was not synced some is lost."""
        with self._lock:
            self.kill()
            self._names.cut_power(rng)
            for _, content in self._names.files():
                content.cut_power(rng)

    def kill(self) -> None:
        """Kill the process: its handles and locks are gone, all that was written is there."""
        with self._lock:
            self.life += 1
            self._locks = set()  # locks of the dead process keep the old set

    def tear_last_write(self, keep_bytes: int) -> None:
        """Kill the process in the middle of its last write, of which `keep_bytes` are there."""
        with self._lock:
            assert self._last_write is not None, "nothing was written yet"
            content, change = self._last_write
            content.tear(change, keep_bytes)
            self.kill()

    def flip_bit(self, path: str, position: int, bit: int = 0) -> None:
        """Let one bit of the byte at `position` rot."""
        with self._lock:
            self._file(path).data[position] ^= 1 << bit

    def drop_caches(self) -> None:
        """Make every file cold, so that `read_cached` finds nothing until it is read."""
        with self._lock:
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
        self._faults.append(Fault(kinds_of(kinds), path_pattern, error, skip, times, keep_bytes))

    def heal(self) -> None:
        """Forget all faults."""
        self._faults.clear()

    # What every file system does.

    def open(self, path: str, *, create: bool = False) -> MemoryFile:
        with self._operation("open", path):
            node = self._names.find(path)
            if isinstance(node, Directory):
                raise _error(errno.EISDIR, path)
            if node is None and create:
                node = Content(modified_ms=self._clock.now_ms())
                with self._operation("create", path):
                    self._names.add(path, node)
            if node is None:
                raise _error(errno.ENOENT, path)
            return MemoryFile(self, node, path)

    def exists(self, path: str) -> bool:
        with self._operation("exists", path):
            return self._names.find(path) is not None

    def is_directory(self, path: str) -> bool:
        with self._operation("exists", path):
            return isinstance(self._names.find(path), Directory)

    def size(self, path: str) -> int:
        with self._operation("size", path):
            return len(self._file(path).data)

    def modified_ms(self, path: str) -> int:
        with self._operation("size", path):
            return self._node(path).modified_ms

    def list_directory(self, path: str) -> list[str]:
        with self._operation("list", path):
            return sorted(self._directory(path).entries)

    def make_directory(self, path: str) -> None:
        with self._operation("make_directory", path):
            self._names.make_directories(path, self._clock.now_ms())

    def rename(self, old: str, new: str) -> None:
        with self._operation("rename", old):
            self._node(old)
            self._names.rename(old, new)

    def remove(self, path: str) -> None:
        with self._operation("remove", path):
            self._file(path)
            self._names.remove(path)

    def remove_directory(self, path: str) -> None:
        for name in self.list_directory(path):
            inner = f"{path}/{name}"
            if self.is_directory(inner):
                self.remove_directory(inner)
            else:
                self.remove(inner)
        with self._operation("remove", path):
            self._names.remove(path)

    def sync_directory(self, path: str) -> None:
        with self._operation("sync_directory", path):
            self._names.sync(self._directory(path))

    def space(self, path: str) -> DiskSpace:
        with self._operation("space", path):
            self._node(path)
            total = _UNLIMITED_BYTES if self.space_bytes is None else self.space_bytes
            return DiskSpace(total, max(0, total - self._used_bytes()))

    def lock(self, path: str) -> MemoryLock:
        self.open(path, create=True)
        with self._operation("lock", path):
            if path in self._locks:
                raise BlockingIOError(errno.EAGAIN, "the lock is held", path)
            self._locks.add(path)
            return MemoryLock(self._locks, path)

    # What handles use.

    @contextmanager
    def operation(self, kind: str, path: str) -> Iterator[Fault | None]:
        """Hold the disk for one operation, which is to fail if there is a fault."""
        with self._lock:
            self.operations[kind] = self.operations.get(kind, 0) + 1
            happening = [fault for fault in self._faults if fault.happens(kind, path)]
            yield happening[0] if happening else None

    def write(self, content: Content, position: int, new: bytes) -> None:
        self._last_write = content, content.write(position, new)
        content.modified_ms = self._clock.now_ms()

    def missing_bytes(self, content: Content, size: int) -> int:
        """How many bytes the disk lacks for `content` to become `size` bytes long."""
        growth = size - len(content.data)
        if self.space_bytes is None or growth <= 0:
            return 0
        return max(0, growth - max(0, self.space_bytes - self._used_bytes()))

    @contextmanager
    def _operation(self, kind: str, path: str) -> Iterator[None]:
        with self.operation(kind, path) as fault:
            if fault is not None:
                raise fault.exception(path)
            yield

    def _used_bytes(self) -> int:
        return sum(len(content.data) for _, content in self._names.files())

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
