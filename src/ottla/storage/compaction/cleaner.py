"""Cleaning one log: from closed segments to `.cleaned` files, in two passes.

The first pass reads the dirty part and notes the newest offset of each key. The second reads
over everything up to the end of what was noted and copies what is still needed.

Owns      the two passes. Reads the old segments, writes only `.cleaned` files.
Promises  bounded memory; a map that is full ends the round early, and the next one continues there.
          Damage of any kind ends the round with an error: what cannot be read is never dropped.
          Groups are produced in the order of the log. They must be swapped in in that order: an old
          value must be removed before its tombstone.
Leaves    the choice of the range to `plan.py`, swapping to `swapping.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ottla.base.files.filesystem import FileSystem
from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records.batch import BatchHeader
from ottla.protocol.records.control import EndMarker, read_end_marker
from ottla.storage.compaction.batch_decisions import BatchRules, decide_data, decide_marker
from ottla.storage.compaction.batch_rewriting import BatchIndex, BatchRewriter
from ottla.storage.compaction.batch_source import Batch, walk_batches
from ottla.storage.compaction.cleaned_segment import CleanedSegment
from ottla.storage.compaction.key_map import KeyMap, new_key_map
from ottla.storage.compaction.plan import SegmentSummary, group_segments, segments_between
from ottla.storage.compaction.request import (
    CleanedGroup,
    CleaningCounts,
    CleanRequest,
    CleanSummary,
)
from ottla.storage.compaction.throttle import Throttle
from ottla.storage.compaction.transactions import SeenTransactions
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.file_names import LOG_SUFFIX, segment_file_name

MapMaker = Callable[[int, int, float, int, bytes], KeyMap]


def clean(
    request: CleanRequest,
    files: FileSystem,
    throttle: Throttle,
    secret: bytes,
    make_map: MapMaker = new_key_map,
) -> Iterator[CleanedGroup | CleanSummary]:
    """The new segments, one by one as they are ready, then the summary.

    CorruptLogError where a segment is damaged, OSError where the disk refuses. Files of the group
    in progress are then removed, those of earlier groups are left to the caller.
    """
    return Cleaning(request, files, throttle, secret, make_map).run()


class Cleaning:
    """One round over one log."""

    def __init__(
        self,
        request: CleanRequest,
        files: FileSystem,
        throttle: Throttle,
        secret: bytes,
        make_map: MapMaker,
    ) -> None:
        self._request = request
        self._files = files
        self._throttle = throttle
        self._counts = CleaningCounts()
        self._index = BatchIndex(request.limits.decompressed_bytes_max)
        span = request.first_uncleanable_offset - request.first_dirty_offset
        limits = request.limits
        self._keys = make_map(
            max(span, 1),
            limits.map_bytes_max,
            limits.map_load_factor,
            request.first_dirty_offset,
            secret,
        )

    def run(self) -> Iterator[CleanedGroup | CleanSummary]:
        request = self._request
        end_offset = self._note_keys()
        self._counts.keys = len(self._keys)
        self._counts.map_bytes = self._keys.size_bytes
        if end_offset > request.first_dirty_offset:
            segments = segments_between(request.segments, 0, end_offset)
            groups = group_segments(segments, request.config, request.first_uncleanable_offset)
            yield from self._clean_groups(groups, end_offset)
        yield CleanSummary(end_offset, self._counts)

    # The first pass

    def _note_keys(self) -> int:
        """Fill the map; the end of what was noted, which is how far this round can clean."""
        request = self._request
        start, end = request.first_dirty_offset, request.first_uncleanable_offset
        transactions = SeenTransactions(request.aborted)
        for segment in segments_between(request.segments, start, end):
            for position, header, batch in self._walk(segment, start):
                self._counts.bytes_mapped += len(batch)
                full_at = self._note_batch(segment, position, header, batch, transactions)
                if full_at is not None:
                    return full_at
        return end

    def _note_batch(
        self,
        segment: SegmentSummary,
        position: int,
        header: BatchHeader,
        batch: memoryview,
        transactions: SeenTransactions,
    ) -> int | None:
        """Note the keys of a batch; the first offset for which the map had no room."""
        if header.is_control:
            self._see_marker(segment, position, header, batch, transactions)
            return None
        if transactions.see_data(header) or not header.records_count:
            return None
        index, count = self._index, header.records_count
        self._open(segment, position, header, batch)
        taken = self._keys.note(
            index.body, 0, count, index.numbers, index.places, self._request.first_dirty_offset
        )
        return None if taken == count else index.numbers[taken]

    # The second pass

    def _clean_groups(
        self, groups: list[list[SegmentSummary]], end_offset: int
    ) -> Iterator[CleanedGroup]:
        request = self._request
        transactions = SeenTransactions(request.aborted)
        rules = BatchRules(request.now_ms, end_offset, request.last_batches)
        rewriter = BatchRewriter(
            self._keys, end_offset, request.now_ms, request.config.delete_retention_ms, self._index
        )
        for group in groups:
            cleaned = CleanedSegment(
                self._files, request.directory, group[0].base_offset, request.config,
                request.now_ms, request.limits.read_bytes,
            )  # fmt: skip
            try:
                has_changed = self._clean_group(cleaned, group, transactions, rules, rewriter)
                if has_changed:
                    self._wrote(cleaned.finish())
                else:
                    cleaned.discard()  # the old segment is equal, and in the page cache
            except BaseException:
                cleaned.discard()
                raise
            self._counts.records_kept += cleaned.records_count
            if has_changed:
                yield CleanedGroup(cleaned.base_offset, tuple(each.base_offset for each in group))

    def _clean_group(
        self,
        cleaned: CleanedSegment,
        group: list[SegmentSummary],
        transactions: SeenTransactions,
        rules: BatchRules,
        rewriter: BatchRewriter,
    ) -> bool:
        """Fill the new segment; False if it equals the only old one."""
        last = [each.base_offset for each in group if each.size_bytes][-1:]
        has_changed = len(group) > 1
        for segment in group:
            is_last = segment.base_offset in last
            has_changed |= self._clean_into(
                cleaned, segment, is_last, transactions, rules, rewriter
            )
        return has_changed

    def _clean_into(
        self,
        cleaned: CleanedSegment,
        segment: SegmentSummary,
        is_last_segment: bool,
        transactions: SeenTransactions,
        rules: BatchRules,
        rewriter: BatchRewriter,
    ) -> bool:
        """Copy what stays of an old segment; True if that differs from all of it."""
        has_changed = False
        for position, header, batch in self._walk(segment, 0):
            is_last = is_last_segment and position + len(batch) == segment.size_bytes
            self._counts.bytes_read += len(batch)
            self._counts.records_read += header.records_count
            if header.is_control:
                aborted = transactions.aborted_by(header)
                is_idle = self._see_marker(segment, position, header, batch, transactions)
                if aborted is not None and not is_idle:
                    cleaned.append_aborted(aborted)
                decision = decide_marker(header, is_idle, is_last, rules)
            else:
                decision = decide_data(header, transactions.see_data(header), is_last, rules)
            try:
                left = rewriter.rewrite(batch, header, decision)
            except InvalidBatch as error:
                raise self._damage(segment, position, error) from error
            has_changed |= left is not batch
            if left is not None:
                self._wrote(cleaned.append(left))
        return has_changed

    # Both

    def _walk(self, segment: SegmentSummary, from_offset: int) -> Iterator[Batch]:
        read_bytes = self._request.limits.read_bytes
        path = self._path(segment)
        for item in walk_batches(self._files, path, segment.size_bytes, from_offset, read_bytes):
            self._throttle.count(len(item[2]))
            yield item

    def _see_marker(
        self,
        segment: SegmentSummary,
        position: int,
        header: BatchHeader,
        batch: memoryview,
        transactions: SeenTransactions,
    ) -> bool:
        marker: EndMarker | None = None
        aborted = transactions.aborted_by(header)
        try:
            if header.records_count:
                marker = read_end_marker(batch)
        except InvalidBatch as error:
            raise self._damage(segment, position, error) from error
        is_idle = transactions.see_marker(header, marker)
        if marker is not None and not marker.is_commit and aborted is None and not is_idle:
            # If its records counted as committed, they could replace records that were committed.
            raise CorruptLogError(
                self._path(segment),
                position,
                f"producer {header.producer_id} aborts a transaction that no index has",
            )
        return is_idle

    def _open(
        self, segment: SegmentSummary, position: int, header: BatchHeader, batch: memoryview
    ) -> None:
        try:
            self._index.open(batch, header)
        except InvalidBatch as error:
            raise self._damage(segment, position, error) from error

    def _wrote(self, size: int) -> None:
        self._counts.bytes_written += size
        if size:
            self._throttle.count(size)

    def _damage(
        self, segment: SegmentSummary, position: int, error: InvalidBatch
    ) -> CorruptLogError:
        return CorruptLogError(self._path(segment), position, error.message)

    def _path(self, segment: SegmentSummary) -> str:
        name = segment_file_name(segment.base_offset, LOG_SUFFIX)
        return f"{self._request.directory}/{name}"
