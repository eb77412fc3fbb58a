"""Files that are out of use and are to be removed.

A segment that leaves the log is renamed to `.deleted` immediately and removed from disk after
`file.delete.delay.ms`: responses that contain a range of it can be sent.

Owns      the queue of what is to be removed, and when.
Promises  only files that were queued are removed; a file that does not exist is no error.
Leaves    running the removals, in a thread, to the broker.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from itertools import count

from ottla.base.files.filesystem import FileSystem
from ottla.storage.files.file_names import LOG_SUFFIX

TAKEN_AT_ONCE = 1000  # removals: a millisecond or two


class Removal:
    """Files or whole directories to remove. `run` may be called in any thread."""

    def __init__(
        self,
        files: FileSystem,
        paths: Sequence[str],
        *,
        close: Callable[[], None] | None = None,
        is_directory: bool = False,
    ) -> None:
        self.paths = tuple(paths)
        self._files = files
        self._close = close
        self._is_directory = is_directory

    def run(self) -> None:
        self._close_files()
        self._remove_files()
        # A sync, for example, may have opened a file again: as long as it is open, its disk space
        # is not freed. From now on it cannot be opened.
        self._close_files()

    def _close_files(self) -> None:
        if self._close is not None:
            self._close()

    def _remove_files(self) -> None:
        remove = self._remove_directory if self._is_directory else self._files.remove
        for path in self.paths:
            try:
                remove(path)
            except FileNotFoundError:
                pass

    def _remove_directory(self, path: str) -> None:
        """Records first: a directory that a crash leaves removed in part still has its topic id."""
        for name in self._files.list_directory(path):
            if name.endswith(LOG_SUFFIX):
                self._files.remove(f"{path}/{name}")
        self._files.remove_directory(path)


class DeletionQueue:
    def __init__(self) -> None:
        self._waiting: list[tuple[int, int, Removal]] = []
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, removal: Removal, due_ms: int) -> None:
        heapq.heappush(self._waiting, (due_ms, next(self._numbers), removal))

    def take_due(self, now_ms: int) -> list[Removal]:
        """Some of those that are due: of very many segments or partitions, all may be."""
        due: list[Removal] = []
        while self._waiting and self._waiting[0][0] <= now_ms and len(due) < TAKEN_AT_ONCE:
            due.append(heapq.heappop(self._waiting)[2])
        return due

    def take_all(self) -> list[Removal]:
        due = [removal for _, _, removal in sorted(self._waiting)]
        self._waiting.clear()
        return due
