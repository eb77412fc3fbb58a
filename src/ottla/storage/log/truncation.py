"""Taking records away from the end of a log, or all of them.

Owns      the order of a truncation, which is safe against a power cut at every step: recovery
          point and log start go down first, then later segments go, durably, the newest first;
          only then is the remaining one cut. So what is left is always the beginning of what was
          there.
Promises  the log ends at a batch boundary at or before the offset asked for. Offsets above it
          (high watermark, log start) go down with it; producers and epochs are those of what is
          left.
Leaves    finding the offset by comparing epochs with the leader to replication.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ottla.base.files.readers import WAIT
from ottla.storage.files.file_names import DELETED_SUFFIX
from ottla.storage.log.deletion import Removal
from ottla.storage.log.leader_epochs import UNDEFINED_OFFSET, EpochEndOffset
from ottla.storage.log.rolling import new_segment
from ottla.storage.segments.segment import Segment
from ottla.storage.segments.segment_search import find_batch, last_before

if TYPE_CHECKING:
    from ottla.storage.log.log import Log


def truncate_to(log: Log, offset: int) -> bool:
    """Forget every record at or after `offset`; False if there are none."""
    if offset < 0:
        raise ValueError(f"{log.partition}: cannot be cut to offset {offset}")
    log.health.check()
    if offset >= log.log_end_offset:
        # A leader that wrote nothing may have noted its epoch: the next leader's starts here too.
        log.forget_epochs_from(log.log_end_offset)
        return False
    try:
        log.finish_swap()
        if offset < log.segments[0].base_offset:
            truncate_fully(log, offset)
        else:
            _cut(log, offset)
    except OSError as error:
        raise log.health.failed(f"cutting {log.path} to {offset}", error) from error
    return True


def truncate_fully(log: Log, offset: int, log_start_offset: int | None = None) -> None:
    """Forget all records, and go on at `offset`, be it before or behind them."""
    log.health.check()
    if log_start_offset is None:
        log_start_offset = offset
    try:
        log.finish_swap()
        lower_offsets(log, offset, log_start_offset)
        doomed = list(log.segments)
        retire(log, doomed[::-1])
        log.segments.replace(doomed, [new_segment(log, offset)])
        log.context.files.sync_directory(log.path)
        log.has_unsynced_names = False
        log.snapshots.remove(log.snapshots.offsets())
        log.load_epochs(WAIT).clear()
    except OSError as error:
        raise log.health.failed(f"emptying {log.path}", error) from error
    log.log_start_offset = log_start_offset
    log.high_watermark = offset
    _now_ends_at(log, offset)


def truncate_to_epoch(log: Log, leader_end: EpochEndOffset) -> int:
    """Cut to where this log and the leader's agree, as far as one answer of the leader tells.

    `leader_end` is the leader's end offset for an epoch of ours. Returns the new end; replication
    asks again for the epoch that is then the last, until nothing more is cut (KIP-101, KIP-279).
    """
    ours = log.load_epochs(WAIT).end_offset_for(leader_end.epoch, log.log_end_offset)
    if ours.end_offset == UNDEFINED_OFFSET:
        truncate_to(log, min(leader_end.end_offset, log.log_end_offset))
    else:
        truncate_to(log, min(leader_end.end_offset, ours.end_offset))
    return log.log_end_offset


def retire(log: Log, doomed: Sequence[Segment]) -> None:
    """Take files of segments out of use, in this order, and queue them for deletion."""
    due_ms = log.clock.now_ms() + log.config.file_delete_delay_ms
    for segment in doomed:
        segment.rename(DELETED_SUFFIX)
        log.has_unsynced_names = True
        removal = Removal(log.context.files, segment.paths(), close=segment.close)
        log.context.deletions.add(removal, due_ms)


def retire_snapshots(log: Log, offsets: Iterable[int]) -> None:
    """Take producer snapshots out of use, and queue them for deletion."""
    paths = log.snapshots.retire(offsets)
    if paths:
        log.has_unsynced_names = True
        removal = Removal(log.context.files, paths)
        log.context.deletions.add(removal, log.clock.now_ms() + log.config.file_delete_delay_ms)


def lower_offsets(log: Log, recovery_point: int, log_start_offset: int) -> None:
    """Say on disk what may no longer be believed, before any record goes."""
    if recovery_point < log.recovery_point or log_start_offset < log.log_start_offset:
        log.recovery_point = min(log.recovery_point, recovery_point)
        log.log_start_offset = min(log.log_start_offset, log_start_offset)
        log.context.write_checkpoints(log)


def _cut(log: Log, offset: int) -> None:
    segment = log.segments.floor(offset)
    assert segment is not None, "the caller has compared with the first base offset"
    found = find_batch(WAIT, segment, offset) if segment.size else None
    # Within a batch only the whole of it can go, and offsets may have gaps: the log will end where
    # its last batch does, be that before the offset.
    last = last_before(WAIT, segment, offset) if segment.size else None
    end_offset = segment.base_offset if last is None else last.next_offset
    # Until the next sync a power cut may undo the cut, so recovery must look at this segment.
    synced_end = end_offset if found is None else segment.base_offset
    lower_offsets(log, synced_end, end_offset)
    doomed = [each for each in log.segments if each.base_offset > segment.base_offset]
    if doomed:
        retire(log, doomed[::-1])
        log.context.files.sync_directory(log.path)
        log.has_unsynced_names = False
        log.segments.replace(doomed, ())
    if found is not None:
        segment.cut(found[0], found[1].base_offset)
    log.snapshots.remove(each for each in log.snapshots.offsets() if each > end_offset)
    log.high_watermark = min(log.high_watermark, end_offset)
    _now_ends_at(log, end_offset)


def _now_ends_at(log: Log, offset: int) -> None:
    log.cuts += 1
    log.has_unsynced_cut = True
    log.log_end_offset = offset
    log.forget_producer_states()
    log.forget_epochs_from(offset)
    log.context.truncated(log)
