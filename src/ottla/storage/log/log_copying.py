"""Copying a log into another one, batch for batch, while the first is written to.

Promises  every byte is checked on the way. Where the source was cut or lost its beginning
          meanwhile, the copy follows.
Threads   the log's, except for reading, which is handed out.
"""

from __future__ import annotations

from ottla.base.files.readers import WAIT, Reader
from ottla.base.scheduling.steps import Steps, looking_up
from ottla.protocol.records.batch import read_header
from ottla.storage.log.flushing import flush
from ottla.storage.log.log import Log
from ottla.storage.log.reading import ReadRange
from ottla.storage.log.snapshotting import take_snapshot

CHUNK_BYTES = 1024 * 1024
REST_BYTES_MAX = 8 * 1024 * 1024  # a few milliseconds' work


def copying_some(source: Log, target: Log) -> Steps[int]:
    """Append the next batches of the source; how many bytes, 0 where the target has them all."""
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
    """What to copy next; None where the source is gone."""
    if source.is_gone:
        return None
    follow_beginning(source, target)
    return source.read(reader, target.log_end_offset, CHUNK_BYTES, source.log_end_offset)


def is_at_end(source: Log, target: Log) -> bool:
    """Whether only the active segment is left to be copied: one read ends with its segment."""
    return target.log_end_offset >= source.segments.active.base_offset


def append_copied(target: Log, data: bytes) -> None:
    """The source may begin in the middle of a batch; the copy begins with the whole of it."""
    first_offset = read_header(data).base_offset
    if first_offset < target.log_end_offset == target.segments[0].base_offset:
        target.truncate_fully_and_start_at(first_offset)
    target.append_as_follower(data)


def copy_rest(source: Log, target: Log) -> bool:
    """Append the last batches, here and now; False where they are too many for that."""
    follow_beginning(source, target)
    copied = 0
    while target.log_end_offset < source.log_end_offset:
        found = source.read(WAIT, target.log_end_offset, CHUNK_BYTES, source.log_end_offset)
        copied += len(found.records)
        if copied > REST_BYTES_MAX or found.check is not None:
            return False
        append_copied(target, found.records.read())
    return True


def follow_beginning(source: Log, target: Log) -> None:
    """What the source has forgotten, or never had, is not copied."""
    if not source.log_start_offset <= target.log_end_offset <= source.log_end_offset:
        target.truncate_fully_and_start_at(source.log_start_offset)


def prepare_to_replace(source: Log, target: Log, flushed_to: int) -> None:
    """Give a copy what is not in the records, and make it as safe as the source is."""
    target.update_config(source.config)
    target.update_high_watermark(source.high_watermark)
    target.advance_log_start(source.log_start_offset)
    known = target.epochs.load(WAIT).latest_epoch
    entries = source.epochs.load(WAIT).entries
    target.epochs.note(each for each in entries if known is None or each.epoch > known)
    # Of producers whose records are gone the source still knows; the copy has not seen them. So a
    # segment begins here: after a crash recovery believes only the snapshot at a segment's start.
    target.producers.take_over(source.producers)
    target.roll()
    take_snapshot(target, target.log_end_offset, sync=True)
    if target.recovery_point < max(source.recovery_point, min(flushed_to, source.log_end_offset)):
        flush(target)
    if target.log_start_offset > target.segments[0].base_offset:
        # The checkpoint of the source goes with it: what was deleted must not come back.
        target.context.checkpoints.write_with(target)
