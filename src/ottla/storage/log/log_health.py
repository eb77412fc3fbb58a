"""The health of a log: that of its directory, and whether the log itself is in use.

Owns      whether the log is in use, is to be deleted, or is closed.
Promises  an error in a file of a log that is deleted or closed does not take the directory offline:
          the operation, which may run in another thread, is refused.
Leaves    everything else to `DirectoryHealth`, which all logs of a directory share.
"""

from __future__ import annotations

from ottla.storage.files.directory_health import DirectoryHealth, StorageUnavailable


class LogHealth:
    __slots__ = ("_directory", "is_closed", "is_in_use")

    def __init__(self, directory: DirectoryHealth) -> None:
        self._directory = directory
        self.is_closed = False
        self.is_in_use = True  # False once it is to be deleted

    def begin_use(self) -> None:
        self.is_in_use = True

    def end_use(self) -> None:
        """From now on the log is to be deleted."""
        self.is_in_use = False

    def close(self) -> None:
        self.is_closed = True

    @property
    def is_discarded(self) -> bool:
        """Deleted or closed: its files may be removed at any moment."""
        return self.is_closed or not self.is_in_use

    @property
    def error(self) -> OSError | None:
        return self._directory.error

    @property
    def is_online(self) -> bool:
        return self._directory.is_online

    def check(self) -> None:
        self._directory.check()

    def failed(self, operation: str, error: OSError) -> StorageUnavailable:
        return self._of_discarded(operation, error) or self._directory.failed(operation, error)

    def refused(self, operation: str, error: OSError) -> StorageUnavailable:
        return self._of_discarded(operation, error) or self._directory.refused(operation, error)

    def unsynced(self, operation: str, error: OSError) -> StorageUnavailable:
        return self._of_discarded(operation, error) or self._directory.unsynced(operation, error)

    def _of_discarded(self, operation: str, error: OSError) -> StorageUnavailable | None:
        return StorageUnavailable(f"{operation}: {error}") if self.is_discarded else None
