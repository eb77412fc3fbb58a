"""The files of a log in use: segments and producer snapshots, in one directory.

Owns      the path of the directory, creating segments in it, and taking files out of use: they are
          renamed at once and removed after `file.delete.delay.ms`.
Promises  every change of a name is noted as unsynced.
Leaves    what is created and taken out of use to the operations on the log, and the removal to
          `deletion.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ottla.base.files.readers import BLOCKING
from ottla.config.topic_options import TopicConfig
from ottla.storage.files.file_names import CLEANED_SUFFIX, DELETED_SUFFIX
from ottla.storage.log.deletion import Removal
from ottla.storage.log.log_context import LogContext
from ottla.storage.log.unsynced import Unsynced
from ottla.storage.producers.producer_replay import SnapshotFiles, load_states
from ottla.storage.producers.producer_state import ProducerStates
from ottla.storage.segments.segment import Segment
from ottla.storage.segments.segment_files import create_segment, open_segment
from ottla.storage.segments.segments import Segments


class LogFiles:
    def __init__(
        self,
        context: LogContext,
        path: str,
        segments: Segments,
        snapshots: SnapshotFiles,
        unsynced: Unsynced,
    ) -> None:
        self.path = path
        self.segments = segments
        self.snapshots = snapshots
        self.unsynced = unsynced
        self._context = context

    def create_segment(self, base_offset: int, config: TopicConfig) -> Segment:
        self.unsynced.names_changed()
        return create_segment(
            self._context.files,
            self.path,
            base_offset,
            config,
            now_ms=self._context.clock.now_ms(),
            random=self._context.random,
        )

    def open_cleaned(self, base_offset: int, config: TopicConfig) -> Segment:
        """A segment that compaction wrote under `.cleaned` names, with its indexes by offset and by
        time."""
        return open_segment(
            self._context.files,
            self.path,
            base_offset,
            config,
            now_ms=self._context.clock.now_ms(),
            random=self._context.random,
            state=CLEANED_SUFFIX,
        )

    def retire(self, segments: Sequence[Segment], delay_ms: int) -> None:
        """Take files of segments out of use, in this order, and queue them for removal."""
        for segment in segments:
            segment.rename(DELETED_SUFFIX)
            self.unsynced.names_changed()
            removal = Removal(self._context.files, segment.paths(), close=segment.close)
            self._queue(removal, delay_ms)

    def retire_snapshots(self, offsets: Iterable[int], delay_ms: int) -> None:
        """Take producer snapshots out of use, and queue them for removal."""
        paths = self.snapshots.retire(offsets)
        if paths:
            self.unsynced.names_changed()
            self._queue(Removal(self._context.files, paths), delay_ms)

    def load_producers(self, end_offset: int) -> ProducerStates:
        """The producers of the records up to `end_offset`, from the files."""
        return load_states(
            BLOCKING, self.snapshots, self.segments, end_offset, self._context.producers
        )

    def sync_names(self) -> None:
        self._context.files.sync_directory(self.path)
        self.unsynced.names_synced()

    def moved(self, path: str) -> None:
        """The directory was renamed."""
        self.path = path
        self.snapshots.directory = path
        for segment in self.segments:
            segment.moved(path)

    def close(self) -> None:
        for segment in self.segments:
            segment.close()

    def _queue(self, removal: Removal, delay_ms: int) -> None:
        self._context.deletions.add(removal, self._context.clock.now_ms() + delay_ms)
