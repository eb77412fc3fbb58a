"""The health of a log's directory, as one of its logs sees it.

Owns      whether the log is still in use, or waits to be deleted, or is closed.
Promises  trouble with the files of a log that is deleted or closed is no failing disk: whoever was
          still busy with them, in another thread perhaps, is refused, and the directory serves on.
Leaves    everything else to `DirectoryHealth`, which all logs of a directory share.
"""

from __future__ import annotations

from ottla.storage.files.directory_health import DirectoryHealth, StorageUnavailable


class LogHealth:
    __slots__ = ("_directory", "is_closed", "is_in_use")

    def __init__(self, directory: DirectoryHealth) -> None:
        self._directory = directory
        self.is_closed = False
        self.is_in_use = True  # not while it only waits to be deleted

    def begin_use(self) -> None:
        self.is_in_use = True

    def end_use(self) -> None:
        """From now on the log only waits to be deleted."""
        self.is_in_use = False

    def close(self) -> None:
        self.is_closed = True

    @property
    def is_gone(self) -> bool:
        """Deleted or closed: its files may be gone at any moment."""
        return self.is_closed or not self.is_in_use

    @property
    def error(self) -> OSError | None:
        return self._directory.error

    @property
    def is_online(self) -> bool:
        return self._directory.is_online

    def check(self) -> None:
        self._directory.check()

    def failed(self, doing: str, error: OSError) -> StorageUnavailable:
        return self._of_gone(doing, error) or self._directory.failed(doing, error)

    def refused(self, doing: str, error: OSError) -> StorageUnavailable:
        return self._of_gone(doing, error) or self._directory.refused(doing, error)

    def unsynced(self, doing: str, error: OSError) -> StorageUnavailable:
        return self._of_gone(doing, error) or self._directory.unsynced(doing, error)

    def _of_gone(self, doing: str, error: OSError) -> StorageUnavailable | None:
        return StorageUnavailable(f"{doing}: {error}") if self.is_gone else None
