"""Whether a log directory is online, and the errors of its partitions once it is not.

Promises  the first failure is final: a disk that lost a write or a sync cannot restore it, so
          nothing is tried again before the process restarts.
Leaves    what happens to the partitions to `on_failure`, which is called once.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable

from ottla.base.clock import SystemClock
from ottla.base.log_messages.sparse_log import SparseLog
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.storage.errors import StorageError

log = logging.getLogger(__name__)


class StorageUnavailable(StorageError, BrokerError):
    """The disk failed; the client gets KAFKA_STORAGE_ERROR and may try another replica."""

    def __init__(self, message: str) -> None:
        BrokerError.__init__(self, ErrorCode.KAFKA_STORAGE_ERROR, message)


class OutOfResources(StorageUnavailable):
    """The disk is full, or no descriptor is left: nothing was lost, and a retry may succeed."""


class DirectoryHealth:
    __slots__ = (
        "_full",
        "_monotonic_s",
        "_no_descriptor",
        "_not_empty",
        "_on_failure",
        "error",
        "path",
    )

    def __init__(
        self,
        path: str,
        on_failure: Callable[[str], None],
        monotonic_s: Callable[[], float] = SystemClock.monotonic_s,
    ) -> None:
        self.path = path
        self._on_failure = on_failure
        self._monotonic_s = monotonic_s
        # Every request may fail on a full disk: log messages must not fill it further.
        self._full = SparseLog(log, logging.WARNING)
        self._not_empty = SparseLog(log, logging.WARNING)
        self._no_descriptor = SparseLog(log, logging.WARNING)
        self.error: OSError | None = None

    @property
    def is_online(self) -> bool:
        return self.error is None

    def check(self) -> None:
        """StorageUnavailable once the directory has failed."""
        if self.error is not None:
            raise StorageUnavailable(f"log directory {self.path} is offline: {self.error}")

    def failed(self, operation: str, error: OSError) -> StorageUnavailable:
        """Take the directory offline; the exception to raise instead of `error`."""
        if self.error is None:
            self.error = error
            log.error("log directory %s goes offline: %s: %s", self.path, operation, error)
            self._on_failure(self.path)
        return StorageUnavailable(f"{operation}: {error}")

    def refused(self, operation: str, error: OSError) -> StorageUnavailable:
        """As `failed`, unless nothing was lost and the next try may succeed.

        A full disk can still be read, and space may be freed; a process that has no file
        descriptor left has not used the disk; a directory that is not empty can be removed later.
        """
        now_s = self._monotonic_s()
        if is_full(error):
            self._full.write(now_s, "log directory %s is full: %s", self.path, operation)
            return OutOfResources(f"{operation}: {error}")
        if error.errno == errno.ENOTEMPTY:
            self._not_empty.write(now_s, "log directory %s: %s: %s", self.path, operation, error)
            return StorageUnavailable(f"{operation}: {error}")
        return self.unsynced(operation, error)

    def unsynced(self, operation: str, error: OSError) -> StorageUnavailable:
        """As `failed`, unless the sync did not begin, for lack of a file descriptor.

        A sync that fails on a full disk has lost what it was to sync.
        """
        if is_out_of_descriptors(error):
            self._no_descriptor.write(
                self._monotonic_s(),
                "no file can be opened in %s: %s: %s",
                self.path,
                operation,
                error.strerror,
            )
            return OutOfResources(f"{operation}: {error}")
        return self.failed(operation, error)


def is_full(error: OSError) -> bool:
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def is_out_of_descriptors(error: OSError) -> bool:
    """The process, or the machine: nothing was opened, so nothing was read or written."""
    return error.errno in (errno.EMFILE, errno.ENFILE)
