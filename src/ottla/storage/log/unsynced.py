"""What of a log is not synced, and may be lost in a power failure.

Owns      which closed segments, producer snapshots and directory entries are not synced, and which
          of them a sync job has taken.
Promises  what a failed job had taken is unsynced again. While one job has directory entries to
          sync, every other job syncs them too: the first may not have done it yet.
Leaves    records of the active segment to the recovery point (`log_offsets.py`), the syncs to
          `flushing.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ottla.storage.segments.segment import Segment


@dataclass(frozen=True, slots=True)
class SyncWork:
    """What one sync job has to sync besides the active segment."""

    segments: tuple[Segment, ...]  # closed ones, with their indexes
    snapshots: tuple[int, ...]  # written after a sync had passed their offset
    has_names: bool  # entries of the log's directory
    has_directory: bool  # the directory itself, and the topic id in it


class Unsynced:
    __slots__ = ("_name_syncs", "has_cut", "has_directory", "has_names", "last_sync_ms", "segments",
                 "snapshots")  # fmt: skip

    def __init__(self, now_ms: int) -> None:
        self.segments: tuple[Segment, ...] = ()  # closed ones, with their indexes
        self.snapshots: tuple[int, ...] = ()  # offsets of those that a sync has passed
        self.has_names = False  # files were created, renamed or removed
        self.has_directory = False  # the directory itself and the topic id
        self.has_cut = False  # records were removed
        self.last_sync_ms = now_ms
        self._name_syncs = 0  # jobs that have directory entries to sync

    @classmethod
    def everything(cls, now_ms: int, segments: Iterable[Segment]) -> Unsynced:
        """For a log that was created or recovered just now, with these closed segments."""
        unsynced = cls(now_ms)
        unsynced.segments = tuple(segments)
        unsynced.has_names = unsynced.has_directory = unsynced.has_cut = True
        return unsynced

    @property
    def is_empty(self) -> bool:
        has_entries = self.has_names or self.has_directory or self.has_cut
        return not self.segments and not has_entries

    @property
    def name_syncs(self) -> int:
        """Jobs that have taken directory entries and have not ended."""
        return self._name_syncs

    def add_segment(self, segment: Segment) -> None:
        self.segments = (*self.segments, segment)

    def remove_segment(self, segment: Segment) -> None:
        self.segments = tuple(each for each in self.segments if each is not segment)

    def add_snapshot(self, offset: int) -> None:
        self.snapshots = (*self.snapshots, offset)
        self.has_names = True

    def names_changed(self) -> None:
        self.has_names = True

    def names_synced(self) -> None:
        self.has_names = False

    def records_removed(self) -> None:
        self.has_cut = True

    # Sync jobs

    def take(self, segments_max: int | None = None) -> SyncWork:
        """The work of a sync job that begins now, with this number of closed segments. `synced` or
        `failed` ends it."""
        has_names = self.has_names or self.has_directory or self._name_syncs > 0
        self.segments = tuple(each for each in self.segments if not each.state)  # not deleted
        taken = SyncWork(
            self.segments[:segments_max],
            self.snapshots,
            has_names,
            self.has_directory,
        )
        self._name_syncs += has_names
        self.snapshots = ()
        self.has_names = self.has_cut = False
        return taken

    def synced(self, taken: SyncWork, now_ms: int, *, is_current: bool) -> None:
        """The job has succeeded. Segments count only if the log was not truncated since."""
        self._name_syncs -= taken.has_names
        if is_current:
            synced_ids = set(map(id, taken.segments))
            self.segments = tuple(each for each in self.segments if id(each) not in synced_ids)
        if taken.has_directory:
            self.has_directory = False
        self.last_sync_ms = now_ms

    def failed(self, taken: SyncWork) -> None:
        self._name_syncs -= taken.has_names
        self.has_names = self.has_cut = True  # the job may have synced some; the next one syncs all
        self.snapshots += taken.snapshots
