"""Removing records from the end of a log, or all of them.

Owns      the order of a truncation, which is safe against a power failure at every step: recovery
          point and log start are lowered first, on disk too; then later segments are renamed, the
          newest first, and their names synced; only then is the remaining one truncated. So the
          rest is always a prefix of what was there.
Promises  the log ends at a batch boundary at or before the requested offset.
Leaves    lowering the offsets and what is derived from the records to `log.py`; finding the offset
          by comparing epochs with the leader to replication.
"""

from __future__ import annotations

from dataclasses import dataclass

from ottla.base.files.readers import Reader
from ottla.config.topic_options import TopicConfig
from ottla.storage.log.leader_epochs import UNDEFINED_OFFSET, EpochEndOffset, LeaderEpochs
from ottla.storage.log.log_files import LogFiles
from ottla.storage.segments.segment import Segment
from ottla.storage.segments.segment_search import find_batch, last_before
from ottla.storage.segments.segments import Segments


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a log is to end, and what is removed for that."""

    end_offset: int
    recovery_point: int  # at most, until the next sync
    segment: Segment  # the last one that stays
    position: int | None  # of the first batch in it that is removed; None if there is none
    removed_offset: int  # where that batch begins
    later: tuple[Segment, ...]  # removed as a whole


def decide_cut(reader: Reader, segments: Segments, offset: int) -> Cut:
    """What must be removed so that the log ends at `offset` or before. Changes nothing."""
    segment = segments.floor(offset)
    assert segment is not None, "the caller has compared with the first base offset"
    if offset == segment.base_offset:
        return _cut_whole(segments, segment)
    found = find_batch(reader, segment, offset) if segment.size else None
    # A batch is removed as a whole, and offsets may have gaps: the log ends where the batch before
    # the offset does.
    last = last_before(reader, segment, offset) if segment.size else None
    end_offset = segment.base_offset if last is None else last.next_offset
    return Cut(
        end_offset,
        # Until the next sync a power failure may undo the cut, so recovery must read this segment.
        recovery_point=end_offset if found is None else segment.base_offset,
        segment=segment,
        position=None if found is None else found[0],
        removed_offset=end_offset if found is None else found[1].base_offset,
        later=_later(segments, segment),
    )


def _cut_whole(segments: Segments, segment: Segment) -> Cut:
    """All records of the segment, without reading them: they may be damaged."""
    start = segment.base_offset
    position = 0 if segment.size else None
    return Cut(start, start, segment, position, start, _later(segments, segment))


def _later(segments: Segments, segment: Segment) -> tuple[Segment, ...]:
    return tuple(each for each in segments if each.base_offset > segment.base_offset)


def remove_later(cut: Cut, files: LogFiles, config: TopicConfig) -> None:
    """Take what is removed as a whole out of use. The names must be synced before `cut_last`."""
    if cut.later:
        files.retire(cut.later[::-1], config.file_delete_delay_ms)
        files.segments.replace(cut.later, ())
    snapshots = files.snapshots
    snapshots.remove(each for each in snapshots.offsets() if each > cut.end_offset)


def cut_last(cut: Cut) -> None:
    """Shorten the segment that stays. Its file must be synced afterwards."""
    if cut.position is not None:
        cut.segment.cut(cut.position, cut.removed_offset)


def remove_all(files: LogFiles, config: TopicConfig, offset: int) -> None:
    """Replace all segments by an empty one at `offset`."""
    removed = list(files.segments)
    files.retire(removed[::-1], config.file_delete_delay_ms)
    files.segments.replace(removed, [files.create_segment(offset, config)])
    files.sync_names()
    files.snapshots.remove(files.snapshots.offsets())


def agreed_end(epochs: LeaderEpochs, leader_end: EpochEndOffset, log_end_offset: int) -> int:
    """Where a log and the leader's agree, as far as one answer of the leader shows.

    `leader_end` is the leader's end offset for an epoch of this log.
    """
    own_end = epochs.end_offset_for(leader_end.epoch, log_end_offset).end_offset
    if own_end == UNDEFINED_OFFSET:
        own_end = log_end_offset
    return min(leader_end.end_offset, own_end)
