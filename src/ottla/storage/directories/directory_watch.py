"""Detecting files that another process has removed or replaced.

A write to a file that was removed succeeds, and is lost. So several times a second the broker
checks that each log directory is the one that was opened, and that the active segment of each log
that was appended to has its name, at least its size, and what was its last batch a round earlier.
Idle logs are checked in rotation.

Owns      which logs are checked next.
Promises  the checks run in a thread. What they find is checked again on the event loop, so that a
          segment that the broker itself has closed or renamed does not count.
Leaves    the consequences to the log manager: a missing directory fails, a missing log alone
          goes offline.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from typing import NamedTuple

from ottla.base.files.filesystem import ExpectedFile, File
from ottla.base.files.readers import BLOCKING
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.directories.log_manager import LogManager
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.directory_health import is_out_of_descriptors
from ottla.storage.log.log import Log
from ottla.storage.segments.scanning import scan_checked
from ottla.storage.segments.segment import Segment

COMPARED_MAX = 1_000  # logs in one round: was it appended to since the last one?
OFFSET_BYTES, PROBE_BYTES = 8, 4  # a batch begins with its offset and its length
# Before the end of a batch: of its last record, or of what it was compressed to. The last bytes of
# all are often zero: no headers, or the end mark of LZ4.
TAIL_BYTES = 8
WRITTEN_MAX = 250  # of those that were: each costs about ten microseconds in a thread
AT_REST_MAX = 50  # of idle logs


# How often a log was truncated, and its active segment: a truncation has both steps, with a sync in
# between.
Cuts = tuple[int, int]


def cuts_of(log: Log) -> Cuts:
    return log.offsets.truncations, log.segments.active.generation


class Seen(NamedTuple):
    """A log when it was last checked."""

    end_offset: int
    segment: Segment
    cuts: Cuts
    size: int
    last_batch_at: int | None  # where the batch begins that ends there, if it is known


class LastBatch(NamedTuple):
    """The last batch in a file at the last round. A file that was truncated in or before it, and
    then written to, has zeros from there to what was written."""

    position: int | None
    end: int

    @property
    def data_at(self) -> int:
        """A position at which four bytes are nearly never all zero."""
        return OFFSET_BYTES if self.position is None else self.end - TAIL_BYTES

    def is_in(self, file: File) -> bool:
        if any(file.read_at(self.data_at, PROBE_BYTES)):
            return True
        if self.position is None:
            return False
        try:
            return any(True for _ in scan_checked(file, self.position, self.end))
        except CorruptLogError:
            return False


class Watched(NamedTuple):
    log: Log
    segment: Segment
    size: int
    cuts: Cuts
    is_written: bool  # since the last round; otherwise the file need not be open
    last_batch: LastBatch | None = None  # if more was written since

    def check(self) -> None:
        """OSError if the file is not the one that was opened, or was truncated."""
        path = self.segment.path
        if not self.is_written:
            size: int | None = self.log.context.files.size(path)
        else:
            size = self.segment.open(BLOCKING).size_in_place()
        if size is None:
            what = "the file was removed or replaced while it was in use"
            raise OSError(errno.ESTALE, what, path)
        if size < self.size:
            what = f"the file has {size} bytes, but {self.size} were written"
            raise OSError(errno.ESTALE, what, path)
        if self.last_batch is not None and not self.last_batch.is_in(self.segment.open(BLOCKING)):
            end = self.last_batch.end
            what = f"the records before byte {end} were truncated while the file was in use"
            raise OSError(errno.ESTALE, what, path)

    def expected(self) -> ExpectedFile:
        """The same as `check`, for all files together."""
        data_at = None if self.last_batch is None else self.last_batch.data_at
        file = self.segment.open(BLOCKING) if self.is_written else None
        return ExpectedFile(self.segment.path, self.size, file, data_at)


class DirectoryCheck:
    """One round for one directory. `run` may be called in a thread."""

    def __init__(self, directory: LogDirectory) -> None:
        self.directory = directory
        self.watched: list[Watched] = []
        self.suspects: list[Watched] = []

    def run(self) -> None:
        """OSError if the directory itself is missing."""
        self.directory.ownership.check_in_place()
        for each in self._unexpected():
            try:
                each.check()
            except OSError:
                self.suspects.append(each)

    def _unexpected(self) -> Iterator[Watched]:
        """The files that must be checked one by one."""
        known = []
        for each in self.watched:
            try:
                known.append((each, each.expected()))
            except OSError:  # it cannot be opened
                yield each
        found = self.directory.context.files.are_as_expected([file for _, file in known])
        for (each, _), is_expected in zip(known, found, strict=True):
            if not is_expected:
                yield each


class DirectoryWatch:
    def __init__(self, logs: LogManager) -> None:
        self._logs = logs
        self._waiting: list[Log] = []
        # In the last pass, and in this one: so that no pass begins with a look at all logs.
        self._seen_before: dict[Log, Seen] = {}
        self._seen: dict[Log, Seen] = {}
        self._removed: dict[Log, Seen] = {}  # of logs that are not open: dropped a few a round
        self._passes = 0  # over all logs

    def checks(self) -> list[DirectoryCheck]:
        """What to check now, by directory. The next round continues where this one ends."""
        checks = {id(each.context): DirectoryCheck(each) for each in self._logs.online}
        if not self._waiting:
            self._begin_pass()
        for _ in range(min(WRITTEN_MAX, len(self._removed))):
            self._removed.popitem()
        at_rest = written = 0
        for _ in range(min(COMPARED_MAX, len(self._waiting))):
            log = self._waiting.pop()
            seen = self._seen_before.pop(log, None)
            check = checks.get(id(log.context))
            if check is None or log.is_discarded:
                continue
            is_written = seen is None or seen.end_offset != log.log_end_offset
            if is_written or at_rest < AT_REST_MAX:
                check.watched.append(self._watched(log, seen, is_written))
                at_rest += not is_written
                written += is_written
                if written == WRITTEN_MAX:
                    break
            elif seen is not None:
                self._seen[log] = seen
        return list(checks.values())

    def _begin_pass(self) -> None:
        """Over all logs, each time from another one on: of idle logs the first are checked."""
        logs = self._logs.logs
        first = self._passes * AT_REST_MAX % max(1, len(logs))
        self._passes += 1
        self._waiting = logs[first:] + logs[:first]
        self._removed.update(self._seen_before)
        self._seen_before, self._seen = self._seen, {}

    def _watched(self, log: Log, seen: Seen | None, is_written: bool) -> Watched:
        active, cuts, last_batch = log.segments.active, cuts_of(log), None
        if is_written and seen is not None and seen.segment is active and seen.cuts == cuts:
            last_batch = LastBatch(seen.last_batch_at, seen.size) if seen.size else None
        self._seen[log] = Seen(
            log.log_end_offset, active, cuts, active.size, active.last_batch_position
        )
        return Watched(log, active, active.size, cuts, is_written, last_batch)

    def finish(self, check: DirectoryCheck) -> bool:
        """Apply the result of a round, on the event loop. Returns whether a log was lost."""
        has_lost = False
        for each in check.suspects:
            log, segment = each.log, each.segment
            if log.is_discarded or log.segments.active is not segment or cuts_of(log) != each.cuts:
                continue  # the broker itself has changed it; the next round checks again
            try:
                each.check()
            except OSError as error:
                if not is_out_of_descriptors(error):  # then nothing was checked
                    self._logs.lose(log, error)
                    has_lost = True
        return has_lost
