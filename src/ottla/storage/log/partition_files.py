"""The files found in a partition directory, prepared before the log is opened.

Owns      finishing or undoing interrupted swaps, removing orphans, opening segments, building
          indexes that are missing.
Promises  a directory that needs no repair is listed once, and not changed.
Leaves    the rules about leftovers to `leftovers.py`, reading records to `recovery.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from ottla.base.files.readers import BLOCKING
from ottla.config.topic_options import TopicConfig
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.file_names import (
    CLEANED_SUFFIX,
    DELETED_SUFFIX,
    LOG_SUFFIX,
    OFFSET_INDEX_SUFFIX,
    SNAPSHOT_SUFFIX,
    SWAP_SUFFIX,
    TIME_INDEX_SUFFIX,
    TRANSACTION_INDEX_SUFFIX,
    SegmentFileName,
    parse_segment_file_name,
    segment_file_name,
)
from ottla.storage.files.leftovers import (
    SwapRange,
    replaced_names,
    sort_leftovers,
    swapped_segments,
)
from ottla.storage.log.deletion import Removal
from ottla.storage.log.log_context import LogContext
from ottla.storage.producers.producer_replay import SnapshotFiles
from ottla.storage.segments.scanning import scan_headers
from ottla.storage.segments.segment import Segment
from ottla.storage.segments.segment_files import create_segment, open_segment
from ottla.storage.segments.segment_search import rebuild_indexes

logger = logging.getLogger(__name__)

_STATES = (DELETED_SUFFIX, CLEANED_SUFFIX, SWAP_SUFFIX)
_INDEX_SUFFIXES = {OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX, TRANSACTION_INDEX_SUFFIX}


class PartitionFiles:
    def __init__(self, context: LogContext, path: str, config: TopicConfig) -> None:
        self.context = context
        self.path = path
        self.config = config
        self._files = context.files
        self._names = self._files.list_directory(path)
        self._parsed = parse_names(self._names)
        self._without_index: list[Segment] = []

    def finish_swaps(self) -> None:
        """Remove or rename what interrupted deletions and swaps have left."""
        if not any(name.endswith(_STATES) for name in self._names):
            return
        leftovers = sort_leftovers(self._names)
        self._remove(leftovers.remove)
        ranges = [self._swap_range(offset) for offset in swapped_segments(leftovers.swaps)]
        self._remove(replaced_names(self._names, ranges))
        for swap in leftovers.swaps:
            final = segment_file_name(swap.offset, swap.suffix)
            self._files.rename(f"{self.path}/{swap}", f"{self.path}/{final}")
        self._files.sync_directory(self.path)
        self._names = self._files.list_directory(self.path)
        self._parsed = parse_names(self._names)

    def open_segments(self) -> list[Segment]:
        """Every segment that has records, in order; indexes that have none are removed."""
        present = {file for file in self._parsed if not file.state}  # others were just removed
        bases = sorted(file.offset for file in present if file.suffix == LOG_SUFFIX)
        orphans = {file for file in present if file.suffix in _INDEX_SUFFIXES} - {
            SegmentFileName(base, suffix) for base in bases for suffix in _INDEX_SUFFIXES
        }
        if orphans:
            logger.warning("%s: removing indexes without records: %s", self.path, orphans)
            self._remove(map(str, orphans))
        return [self._open_segment(base, present) for base in bases]

    def rebuild_missing_indexes(self, segments: Iterable[Segment]) -> None:
        for segment in segments:
            if segment in self._without_index:
                try:
                    rebuild_indexes(BLOCKING, segment, f"{segment.path} has none")
                except CorruptLogError as error:
                    logger.error("no index for damaged records: %s", error)

    def first_damaged_transactions(self, segments: Iterable[Segment]) -> int | None:
        """The base offset of the first segment whose index of aborted transactions is damaged."""
        listed = {f.offset for f in self._parsed if f.suffix == TRANSACTION_INDEX_SUFFIX}
        for segment in segments:
            if segment.base_offset in listed:
                try:
                    segment.indexes.transactions.check(BLOCKING)
                except CorruptLogError as error:
                    logger.warning("rebuilding an index: %s", error)
                    return segment.base_offset
        return None

    def snapshots(self) -> SnapshotFiles:
        offsets = [file.offset for file in self._parsed if file.suffix == SNAPSHOT_SUFFIX]
        return SnapshotFiles(self._files, self.path, offsets)

    def new_segment(self, base_offset: int) -> Segment:
        return create_segment(
            self._files,
            self.path,
            base_offset,
            self.config,
            now_ms=self.context.clock.now_ms(),
            random=self.context.random,
        )

    def drop(self, segments: Iterable[Segment]) -> None:
        """Take segments after the end of the log out of use, the newest first."""
        due_ms = self.context.clock.now_ms() + self.config.file_delete_delay_ms
        dropped = list(segments)
        for segment in reversed(dropped):
            logger.warning("%s: dropped, with %d bytes", segment.path, segment.size)
            segment.rename(DELETED_SUFFIX)
            removal = Removal(self._files, segment.paths(), close=segment.close)
            self.context.deletions.add(removal, due_ms)
        if dropped:
            self._files.sync_directory(self.path)

    def _open_segment(self, base_offset: int, present: set[SegmentFileName]) -> Segment:
        needed = (OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX)
        has_index = all(SegmentFileName(base_offset, suffix) in present for suffix in needed)
        segment = open_segment(
            self._files,
            self.path,
            base_offset,
            self.config,
            now_ms=self.context.clock.now_ms(),
            random=self.context.random,
            create_index=not has_index,
        )
        if not has_index:
            self._without_index.append(segment)
        return segment

    def _swap_range(self, base_offset: int) -> SwapRange:
        """The offsets of the records in a `.swap` file, as far as they can be read."""
        path = f"{self.path}/{segment_file_name(base_offset, LOG_SUFFIX + SWAP_SUFFIX)}"
        file = self._files.open(path)
        end_offset = base_offset
        try:
            for _, header in scan_headers(BLOCKING, file, 0, file.size()):
                end_offset = header.next_offset
        except CorruptLogError as error:
            logger.error("a swapped segment is damaged: %s", error)
        finally:
            file.close()
        return SwapRange(base_offset, max(end_offset, base_offset + 1))

    def _remove(self, names: Iterable[str]) -> None:
        for name in names:
            self._files.remove(f"{self.path}/{name}")


def parse_names(names: Iterable[str]) -> list[SegmentFileName]:
    return [file for name in names if (file := parse_segment_file_name(name))]
