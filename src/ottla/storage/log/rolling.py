"""Closing the active segment of a log and beginning the next one.

Promises  where the disk is full the log goes on as it was; a half-made segment is overwritten by
          the next attempt.
Leaves    the decision to `segment.py`; syncing what was closed to `flushing.py`.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from ottla.base.files.readers import WAIT
from ottla.base.scheduling.steps import Steps
from ottla.protocol.records.batch import BatchHeader
from ottla.storage.errors import CorruptLogError
from ottla.storage.producers.producer_snapshot import encode_snapshot
from ottla.storage.producers.producer_state import ProducerStates
from ottla.storage.segments.segment import RELATIVE_OFFSET_MAX, Segment
from ottla.storage.segments.segment_files import create_segment

if TYPE_CHECKING:
    from ottla.storage.log.log import Log

logger = logging.getLogger(__name__)

ENCODED_HERE_MAX = 1000  # producers: one or two milliseconds
UNDER_WAY_MAX = 2  # snapshots of one log that threads encode: each holds a copy of the producers


def roll(log: Log, header: BatchHeader | None = None) -> Segment:
    """A new active segment, in which the batch with `header` has room; the active one, if it is
    still empty.

    It begins at the end of the log, so that after a crash a gap between two segments tells of a
    lost end. Only where offsets make a longer step than an index can hold it begins behind it.
    """
    active, base_offset = log.segments.active, log.log_end_offset
    if header is not None and header.last_offset - base_offset > RELATIVE_OFFSET_MAX:
        base_offset = header.base_offset
    if active.base_offset == base_offset:
        return active
    log.unsynced_segments.append(active)
    try:
        active.seal()
        if active.is_mended and log.checkpointed_point >= base_offset:
            # Otherwise a power cut might undo what was mended, and recovery would not look.
            log.context.write_checkpoints(log)
        segment = new_segment(log, base_offset)
    except OSError as error:
        log.unsynced_segments.pop()
        raise log.health.refused(f"beginning a segment in {log.path}", error) from error
    log.segments.replace((), (segment,))
    take_snapshot(log, base_offset)
    log.context.needs_sync(log)
    return segment


def new_segment(log: Log, base_offset: int) -> Segment:
    log.has_unsynced_names = True
    return create_segment(
        log.context.files,
        log.path,
        base_offset,
        log.config,
        now_ms=log.clock.now_ms(),
        random=log.context.random,
    )


def take_snapshot(log: Log, offset: int, *, sync: bool = False) -> None:
    """Keep the producer state at `offset`, from where recovery can go on.

    Done without one, it reads more; so neither a full disk, nor a damaged log, nor a want of
    descriptors is a reason to give up whatever it is for.
    """
    try:
        states = log.load_producers(WAIT)
        states.end_offset = offset
        if sync or states.count <= ENCODED_HERE_MAX:
            log.snapshots.write(states, offset, sync=sync)
        else:
            log.context.start(encoding(log, states, offset))
    except (OSError, CorruptLogError) as error:
        _note_missing(log, offset, error)


def _note_missing(log: Log, offset: int, error: Exception) -> None:
    if isinstance(error, OSError):
        refused = log.health.refused(f"writing a snapshot of {log.path}", error)
        if not log.health.is_online:
            raise refused from error
    logger.warning("%s: no producer snapshot at %d: %s", log.path, offset, error)


def encoding(log: Log, states: ProducerStates, offset: int) -> Steps[None]:
    """Very many producers are encoded in a thread, from a copy; the file is written here again, if
    the log is still what it was. Where segments are closed more quickly than that, some have no
    snapshot."""
    if log.snapshots_under_way >= UNDER_WAY_MAX:
        return
    log.snapshots_under_way += 1
    producers, cuts = states.freeze(), log.cuts
    try:
        data: bytes = yield partial(encode_snapshot, producers)
    finally:
        states.thaw()
        log.snapshots_under_way -= 1
    if not log.is_gone and log.cuts == cuts and offset >= log.segments[0].base_offset:
        write_late(log, offset, data)


def write_late(log: Log, offset: int, data: bytes) -> None:
    """A sync may have passed the snapshot's offset without it: the next one includes it."""
    try:
        log.snapshots.write_encoded(data, offset, sync=False)
    except OSError as error:
        _note_missing(log, offset, error)
        return
    log.late_snapshots.append(offset)
    log.has_unsynced_names = True
    log.context.needs_sync(log)
