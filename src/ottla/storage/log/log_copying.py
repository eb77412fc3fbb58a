"""Copying a log to another one, batch by batch, while records are appended to the first.

Promises  every batch is checked. If the source was truncated, or its oldest records deleted, so is
          the copy.
Threads   that of the log; reads are jobs for another thread.
"""

from __future__ import annotations

from ottla.base.files.readers import BLOCKING, Reader
from ottla.base.scheduling.steps import Steps, looking_up
from ottla.protocol.records.batch import read_header
from ottla.storage.log.flushing import flush
from ottla.storage.log.leader_epochs import UNDEFINED, EpochEndOffset
from ottla.storage.log.log import Log
from ottla.storage.log.read_range import ReadRange
from ottla.storage.log.snapshotting import take_snapshot

CHUNK_BYTES = 1024 * 1024
REST_BYTES_MAX = 8 * 1024 * 1024  # a few milliseconds' work


def copying_some(source: Log, target: Log) -> Steps[int]:
    """Append the next batches of the source; how many bytes, 0 if the target has all of them."""
    truncations = source.offsets.truncations
    found = yield from looking_up(lambda reader: find_next(reader, source, target))
    if found is None or not len(found.records):
        return 0
    if found.check is not None:
        yield found.check.run
    data: bytes = yield found.records.read
    if source.offsets.truncations != truncations:
        target.truncate_fully_and_start_at(source.log_start_offset)
        return len(data)
    if found.check is not None:
        found.check.confirm()
    append_copied(target, data)
    return len(data)


def find_next(reader: Reader, source: Log, target: Log) -> ReadRange | None:
    """What to copy next; None if the source was deleted or closed."""
    if source.is_discarded:
        return None
    follow_source(reader, source, target)
    return source.read(reader, target.log_end_offset, CHUNK_BYTES, source.log_end_offset)


def is_at_end(source: Log, target: Log) -> bool:
    """Whether only the active segment is left: one read ends with its segment."""
    return target.log_end_offset >= source.segments.active.base_offset


def append_copied(target: Log, data: bytes) -> None:
    """The source may start within a batch; the copy has the complete batch."""
    first_offset = read_header(data).base_offset
    if first_offset < target.log_end_offset == target.segments[0].base_offset:
        target.truncate_fully_and_start_at(first_offset)
    target.append_as_follower(data)


def copy_rest(source: Log, target: Log) -> bool:
    """Append the last batches without yielding; False if they are too many for that."""
    follow_source(BLOCKING, source, target)
    copied = 0
    while target.log_end_offset < source.log_end_offset:
        found = source.read(BLOCKING, target.log_end_offset, CHUNK_BYTES, source.log_end_offset)
        copied += len(found.records)
        if copied > REST_BYTES_MAX or found.check is not None:
            return False
        append_copied(target, found.records.read())
    return True


def follow_source(reader: Reader, source: Log, target: Log) -> None:
    """Remove from the copy what the source does not have. It may have been truncated since the last
    read, and have other records from there on: leader epochs show that, also after a restart."""
    follow_beginning(source, target)
    while (end := _find_divergence(reader, source, target)) is not None:
        before = target.log_end_offset
        if end != UNDEFINED:
            target.truncate_to_epoch(end)
        if target.log_end_offset == before:
            target.truncate_fully_and_start_at(source.log_start_offset)
        follow_beginning(source, target)


def _find_divergence(reader: Reader, source: Log, target: Log) -> EpochEndOffset | None:
    """Where the last epoch of the copy ends in the source, if that is before the end of the copy or
    of an earlier epoch."""
    epoch = target.epochs.load(reader).latest_epoch
    if epoch is None:
        return None
    end = source.epochs.load(reader).end_offset_for(epoch, source.log_end_offset)
    is_same = end.epoch == epoch and end.end_offset >= target.log_end_offset
    return None if is_same else end


def follow_beginning(source: Log, target: Log) -> None:
    """Start again at the log start of the source if it does not have the end of the copy."""
    if not source.log_start_offset <= target.log_end_offset <= source.log_end_offset:
        target.truncate_fully_and_start_at(source.log_start_offset)


def prepare_to_replace(source: Log, target: Log, flushed_to: int) -> None:
    """Copy what is not in the records, and sync as far as the source is synced."""
    target.update_config(source.config)
    target.update_high_watermark(source.high_watermark)
    target.advance_log_start(source.log_start_offset)
    known = target.epochs.load(BLOCKING).latest_epoch
    entries = source.epochs.load(BLOCKING).entries
    target.epochs.note(each for each in entries if known is None or each.epoch > known)
    # The source has the state of producers whose records were deleted; the copy has not. So a
    # segment begins here: after a crash recovery uses only the snapshot at the start of a segment.
    target.producers.take_over(source.producers)
    target.roll()
    take_snapshot(target, target.log_end_offset, sync=True)
    if target.recovery_point < max(source.recovery_point, min(flushed_to, source.log_end_offset)):
        flush(target)
    if target.log_start_offset > target.segments[0].base_offset:
        # The checkpoint of the source is removed with it: deleted records must not reappear.
        target.context.checkpoints.write_with(target)
