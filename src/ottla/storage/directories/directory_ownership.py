"""Which broker uses a log directory: its lock, `meta.properties` and `ottla.properties`.

Owns      the lock while the broker runs, and both files.
Promises  nothing is written to a directory of another broker or cluster. A directory that was
          removed, replaced or unmounted while it was in use is detected by `check_in_place`.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Collection
from typing import NamedTuple

from ottla.base.files.filesystem import (
    FileLock,
    FileSystem,
    HeldDirectory,
    make_durable_directory,
)
from ottla.base.uuids import random_uuid
from ottla.storage.errors import CorruptLogError, StorageError
from ottla.storage.files.cluster_mark import ClusterMark, read_cluster_mark, write_cluster_mark
from ottla.storage.files.file_names import (
    CLUSTER_MARK_NAME,
    LOCK_NAME,
    META_PROPERTIES_NAME,
)
from ottla.storage.files.meta_properties import (
    MetaProperties,
    read_meta_properties,
    write_meta_properties,
)

logger = logging.getLogger(__name__)


class Owner(NamedTuple):
    """The broker that may use a directory."""

    cluster_id: str
    node_id: int


class WrongDirectory(StorageError):
    """The directory is another broker's, or is used by another process."""


class DirectoryOwnership:
    def __init__(self, files: FileSystem, path: str) -> None:
        self.directory_id: bytes | None = None  # from `open` on
        self._files = files
        self._path = path
        self._lock: FileLock | None = None
        self._held: HeldDirectory | None = None

    def take(self) -> None:
        """Lock the directory, and create it if necessary. WrongDirectory, or OSError."""
        if self._lock is not None:
            return
        make_durable_directory(self._files, self._path)
        try:
            self._lock = self._files.lock(f"{self._path}/{LOCK_NAME}")
            self._held = self._files.hold_directory(self._path)
        except BlockingIOError as error:
            raise WrongDirectory(f"{self._path} is in use: {error}") from error

    def open(self, owner: Owner) -> None:
        """Take the directory, and check that it belongs to `owner`, or to no broker yet."""
        self.take()
        try:
            self._check(owner)
        except BaseException:
            self.release()
            raise

    def _check(self, owner: Owner) -> None:
        path = f"{self._path}/{META_PROPERTIES_NAME}"
        found = read_meta_properties(self._files, path)
        if found is not None and found.cluster_id not in (None, owner.cluster_id):
            raise WrongDirectory(f"{path}: belongs to cluster {found.cluster_id}")
        if found is not None and found.node_id not in (None, owner.node_id):
            raise WrongDirectory(f"{path}: belongs to node {found.node_id}")
        directory_id = None if found is None else found.directory_id
        if directory_id is None and (mark := self.read_mark()) is not None:
            logger.warning("%s: the directory id is taken from %s", path, CLUSTER_MARK_NAME)
            directory_id = mark.directory_id
        if found is None or found.version == 0 or directory_id is None:
            directory_id = directory_id or random_uuid()
            properties = MetaProperties(owner.cluster_id, owner.node_id, directory_id)
            write_meta_properties(self._files, path, properties)
        self.directory_id = directory_id

    def is_unused(self, besides: Collection[str] = ()) -> bool:
        """Whether the directory has no files but these: it is new, or a disk should be mounted
        there."""
        return set(self._files.list_directory(self._path)) <= {LOCK_NAME, "lost+found", *besides}

    def check_in_place(self) -> None:
        """OSError if the directory was removed, renamed, replaced, mounted over or emptied. May run
        in any thread."""
        if self._held is None:
            return
        if not self._held.is_in_place():
            what = "the directory was removed, replaced or unmounted while it was in use"
            raise OSError(errno.ESTALE, what, self._path)
        names = (LOCK_NAME, META_PROPERTIES_NAME)
        if not any(self._files.exists(f"{self._path}/{name}") for name in names):
            raise OSError(errno.ESTALE, "the directory was emptied while it was in use", self._path)

    def read_mark(self) -> ClusterMark | None:
        """How much of the cluster's metadata the directory has seen; None if that is unknown."""
        try:
            return read_cluster_mark(self._files, f"{self._path}/{CLUSTER_MARK_NAME}")
        except CorruptLogError as error:
            logger.error("a damaged file will be replaced: %s", error)
            return None

    def write_mark(self, mark: ClusterMark) -> None:
        """May run in any thread."""
        self.check_in_place()
        write_cluster_mark(self._files, f"{self._path}/{CLUSTER_MARK_NAME}", mark)

    def release(self) -> None:
        if self._held is not None:
            self._held.close()
            self._held = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None
