"""Log directories that a broker had before, by directory id.

Owns      which of them are missing. While one is, a partition without a log may have it there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from functools import partial

from ottla.base.uuids import uuid_to_text
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.files.cluster_mark import ClusterMark

logger = logging.getLogger(__name__)


class ExpectedDirectories:
    def __init__(self, directories: list[LogDirectory]) -> None:
        self._directories = directories
        self._missing_ids: frozenset[bytes] = frozenset()

    @property
    def has_missing(self) -> bool:
        return bool(self._missing_ids)

    @property
    def ids(self) -> tuple[bytes, ...]:
        present = {each.directory_id for each in self._directories if each.directory_id is not None}
        return tuple(sorted(present | self._missing_ids))

    def expect(self, ids: Iterable[bytes]) -> None:
        """These directories belong to the broker."""
        present = {each.directory_id for each in self._directories if each.health.is_online}
        self._missing_ids = frozenset(ids) - present

    def settle(self, lost: Collection[tuple[str, int]]) -> None:
        """All partitions were placed, and these have no log. If there are none, the missing
        directories have nothing that is needed, and are not expected any more."""
        is_used = [each for each in self._directories if not each.is_withheld]
        if not self._missing_ids or any(not each.health.is_online for each in is_used):
            return
        if not lost:
            self._missing_ids = frozenset()
            return
        logger.error(
            "log directories of this broker are missing (directory.id %s), and %d partitions have "
            "no log: they are offline, and no new log is created for them. Restore the directories "
            "and start again, or delete the topics (docs/guides/recovering.md)",
            ", ".join(sorted(map(uuid_to_text, self._missing_ids))),
            len(lost),
        )

    def mark_jobs(
        self, cluster_id: str, offset: int, controller_epoch: int
    ) -> list[tuple[LogDirectory, Callable[[], None]]]:
        """Writes of `ottla.properties`, for a thread."""
        ids = self.ids
        return [
            (each, partial(each.ownership.write_mark, mark))
            for each in self._directories
            if each.health.is_online and each.directory_id is not None
            for mark in [ClusterMark(cluster_id, offset, controller_epoch, each.directory_id, ids)]
        ]
