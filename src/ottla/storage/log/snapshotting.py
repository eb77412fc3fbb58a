"""Writing producer snapshots, from which recovery continues.

Promises  a snapshot that cannot be written stops nothing: without it recovery reads more records.
          Very many producers are encoded in a thread.
Leaves    the files to `SnapshotFiles`, their format to `producers/producer_snapshot.py`.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from ottla.base.files.readers import BLOCKING
from ottla.base.scheduling.steps import Steps
from ottla.storage.errors import CorruptLogError
from ottla.storage.producers.producer_snapshot import encode_snapshot
from ottla.storage.producers.producer_state import ProducerStates

if TYPE_CHECKING:
    from ottla.storage.log.log import Log

logger = logging.getLogger(__name__)

ENCODED_HERE_MAX = 1000  # producers: one or two milliseconds
ENCODINGS_MAX = 2  # snapshots of one log that threads encode: each holds a copy of the producers


def take_snapshot(log: Log, offset: int, *, sync: bool = False) -> None:
    """Write the producer state at `offset`. Neither a full disk, nor a damaged log, nor a lack of
    file descriptors is an error."""
    try:
        states = log.producers.load(BLOCKING)
        states.end_offset = offset
        if sync or states.count <= ENCODED_HERE_MAX:
            log.snapshots.write(states, offset, sync=sync)
        else:
            log.context.start(encoding(log, states, offset))
    except (OSError, CorruptLogError) as error:
        _report_missing(log, offset, error)


def encoding(log: Log, states: ProducerStates, offset: int) -> Steps[None]:
    """Encode a copy of the producers in a thread, then write the file if the log was not truncated.
    Segments that are closed faster than that get no snapshot."""
    if log.producers.encodings >= ENCODINGS_MAX:
        return
    log.producers.encoding_begins()
    producers, truncations = states.freeze(), log.offsets.truncations
    try:
        data: bytes = yield partial(encode_snapshot, producers)
    finally:
        states.thaw()
        log.producers.encoding_ended()
    is_same = log.offsets.truncations == truncations
    if not log.is_discarded and is_same and offset >= log.segments[0].base_offset:
        _write_late(log, offset, data)


def _write_late(log: Log, offset: int, data: bytes) -> None:
    """A sync may have passed the offset of the snapshot without it: the next one includes it."""
    try:
        log.snapshots.write_encoded(data, offset, sync=False)
    except OSError as error:
        _report_missing(log, offset, error)
        return
    log.unsynced.add_snapshot(offset)
    log.context.listener.log_needs_sync(log)


def _report_missing(log: Log, offset: int, error: Exception) -> None:
    if isinstance(error, OSError):
        refused = log.health.refused(f"writing a snapshot of {log.path}", error)
        if not log.health.is_online:
            raise refused from error
    logger.warning("%s: no producer snapshot at %d: %s", log.path, offset, error)
