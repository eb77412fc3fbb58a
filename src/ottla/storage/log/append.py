"""Appending to a log, as the leader of its partition or as a follower.

Owns      the order of an append: decide, note the epoch, write the records, index aborted
          transactions, apply. Everything that can fail comes before anything becomes visible.
Promises  one write for what goes into one segment. An append that fails leaves the end of the log
          where it was; bytes that reached the disk are truncated, or the directory goes offline.
Leaves    the checks of a batch to `admission.py`, when to create a segment to `segment.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ottla.base.files.filesystem import Buffer
from ottla.base.files.readers import BLOCKING
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError, InvalidBatch
from ottla.protocol.records.batch import (
    CONTROL_BIT,
    NO_PRODUCER_ID,
    NO_TIMESTAMP,
    BatchHeader,
    stamp_single_batch,
)
from ottla.protocol.records.control import EndMarker, read_end_marker
from ottla.storage.errors import IndexAppendError
from ottla.storage.files.directory_health import is_out_of_descriptors
from ottla.storage.log.aborted_search import aborted_entry
from ottla.storage.log.admission import admit_internal, admit_produced, check_replicated
from ottla.storage.log.leader_epochs import EpochEntry
from ottla.storage.log.preparation import Prepared
from ottla.storage.producers.append_decisions import ACCEPTED, AppendOrigin
from ottla.storage.producers.open_transactions import CompletedTransaction
from ottla.storage.producers.producer_entry import WrittenBatch
from ottla.storage.producers.producer_state import ProducerStates
from ottla.storage.producers.transaction_verification import NO_GUARD
from ottla.storage.segments.segment import RELATIVE_OFFSET_MAX, Segment
from ottla.storage.segments.segment_search import prepare

if TYPE_CHECKING:
    from ottla.storage.log.log import Log

PRODUCE_VERSION_LATEST = 13
_CLIENT = AppendOrigin.CLIENT
_new = tuple.__new__  # a NamedTuple's own constructor costs twice as much


class Appended(NamedTuple):
    """The offsets of the records; for a repeated batch, those of the first time."""

    first_offset: int
    last_offset: int
    log_append_time_ms: int = NO_TIMESTAMP
    is_duplicate: bool = False
    must_flush: bool = False  # before it is acknowledged: flush.messages is reached


class ProducedBy(NamedTuple):
    """The origin of a batch, and the result of its verification (KIP-890)."""

    origin: AppendOrigin = AppendOrigin.CLIENT
    produce_version: int = PRODUCE_VERSION_LATEST
    guard: int = NO_GUARD
    transaction_version: int = 0


ANY_CLIENT = ProducedBy()


def append_as_leader(
    log: Log, data: Buffer | Prepared, leader_epoch: int, by: ProducedBy
) -> Appended:
    """Assign the next offsets to one batch, and write it. `data` is changed in place if possible.

    BrokerError with the code for the producer if it is refused. For a repeated batch, the offsets
    of the first time are returned.
    """
    health = log.context.health
    if health.error is not None:
        health.check()
    now_ms = log.context.clock.now_ms()
    marker = None
    if isinstance(data, Prepared):
        data, header = data.finish(log.rules, now_ms)
    elif by.origin is _CLIENT:
        data, header = admit_produced(data, log.rules, by.produce_version, now_ms)
    else:
        data, header = admit_internal(data, log.rules, now_ms)
        if header.attributes & CONTROL_BIT:
            marker = read_end_marker(data)
    states = log.producers.in_memory or log.producers.load(BLOCKING)
    if header.producer_id != NO_PRODUCER_ID:
        repeated = _decide(log, states, header, marker, by)
        if repeated is not None:
            return Appended(
                repeated.base_offset, repeated.last_offset, repeated.timestamp, is_duplicate=True
            )
    if len(data) > log.config.segment_bytes:
        raise InvalidBatch(
            ErrorCode.RECORD_LIST_TOO_LARGE, f"{len(data)} bytes do not fit into a segment"
        )
    offsets = log.offsets
    first_offset = offsets.end
    if leader_epoch != log.epochs.latest_noted:
        log.epochs.note([EpochEntry(leader_epoch, first_offset)])
    header = stamp_single_batch(data, header, first_offset, leader_epoch)
    segment = _segment_for(log, header, now_ms)
    position = _write(log, segment, data)
    _apply(log, segment, position, header, marker, states)
    segment.verified.add(position, segment.size)
    append_time_ms = now_ms if log.rules.is_log_append_time else NO_TIMESTAMP
    end_offset = offsets.end
    must_flush = end_offset - offsets.recovery_point >= log.config.flush_messages
    return _new(Appended, (first_offset, end_offset - 1, append_time_ms, False, must_flush))


def append_as_follower(log: Log, data: Buffer) -> Appended:
    """Write batches that a leader has checked and numbered; the last may be incomplete.

    UnexpectedOffset if they do not begin at the end of the log, InvalidBatch if they are damaged;
    then nothing was written. A disk that fails in between leaves complete batches.
    """
    log.health.check()
    states = log.producers.load(BLOCKING)
    offsets = log.offsets
    batches = check_replicated(data, offsets.end)
    first_offset = batches[0][1].base_offset if batches else offsets.end
    markers = {
        position: read_end_marker(data, position)
        for position, header in batches
        if header.attributes & CONTROL_BIT
    }
    log.epochs.note(_epochs_of(batches, log.epochs.latest_noted))
    view, now_ms = memoryview(data), log.context.clock.now_ms()
    while batches:
        segment = _segment_for(log, batches[0][1], now_ms)
        count = _count_fitting(segment, batches, log.config.segment_bytes)
        start, (last_position, last) = batches[0][0], batches[count - 1]
        written = _write(log, segment, view[start : last_position + last.size_bytes])
        for position, header in batches[:count]:
            file_position = written + position - start
            _apply(log, segment, file_position, header, markers.get(position), states)
        segment.verified.add(written, segment.size)
        batches = batches[count:]
    must_flush = offsets.end - offsets.recovery_point >= log.config.flush_messages
    return Appended(first_offset, offsets.end - 1, must_flush=must_flush)


def _decide(
    log: Log, states: ProducerStates, header: BatchHeader, marker: EndMarker | None, by: ProducedBy
) -> WrittenBatch | None:
    """The batch that this one repeats, if it does; BrokerError if the producer may not write it."""
    if marker is not None:
        decision = states.decide_marker(header, marker, by.transaction_version)
    else:
        decision = states.decide_append(
            header, by.origin, by.guard, verification_enabled=log.context.has_verification
        )
    if decision is ACCEPTED:
        return None
    if decision.duplicate is None:
        raise BrokerError(decision.code, f"{log.partition}: {decision.message}")
    return decision.duplicate


def _segment_for(log: Log, header: BatchHeader, now_ms: int) -> Segment:
    """The segment for the batch: the active one, or a new one."""
    segment = log.segments.active
    if not segment.is_prepared:
        prepare(BLOCKING, segment)
    return log.roll(header) if segment.should_roll(log.config, header, now_ms) else segment


def _count_fitting(
    segment: Segment, batches: list[tuple[int, BatchHeader]], segment_bytes: int
) -> int:
    """How many of the batches fit into the segment: at least the first."""
    count, size = 1, segment.size + batches[0][1].size_bytes
    for _, header in batches[1:]:
        size += header.size_bytes
        if size > segment_bytes or header.last_offset - segment.base_offset > RELATIVE_OFFSET_MAX:
            break
        count += 1
    return count


def _write(log: Log, segment: Segment, data: Buffer) -> int:
    try:
        return segment.write(data)
    except OSError as error:
        if not is_out_of_descriptors(error):  # else nothing was written
            _undo_write(log, segment)
        raise log.health.refused(f"appending to {log.path}", error) from error


def _undo_write(log: Log, segment: Segment) -> None:
    try:
        segment.undo_write()
    except OSError as error:
        raise log.health.failed(f"undoing an append to {log.path}", error) from error


def _apply(
    log: Log,
    segment: Segment,
    position: int,
    header: BatchHeader,
    marker: EndMarker | None,
    states: ProducerStates,
) -> None:
    """Make a written batch part of the log: first what can fail, then the rest."""
    completed = states.apply(header, marker)
    if completed is not None and completed.is_aborted:
        _index_aborted(log, segment, completed)
    segment.note(position, header)
    log.offsets.advance_end(header.base_offset + header.last_offset_delta + 1)


def _index_aborted(log: Log, segment: Segment, completed: CompletedTransaction) -> None:
    entry = aborted_entry(completed)
    log.unsynced.names_changed()  # the first entry creates the file
    try:
        try:
            segment.indexes.transactions.append(entry)
        except IndexAppendError:  # entries of records that were truncated
            segment.indexes.transactions.truncate_to(completed.last_offset)
            segment.indexes.transactions.append(entry)
    except OSError as error:
        # Without this entry consumers would read aborted records as committed. So the marker is
        # not appended, and the producer state, which includes it, is read again.
        log.producers.unload()
        _undo_write(log, segment)
        raise log.health.refused(f"appending to {log.path}", error) from error


def _epochs_of(batches: list[tuple[int, BatchHeader]], last: int) -> list[EpochEntry]:
    """Where the batches change from one leader epoch to the next, after epoch `last`."""
    entries = []
    for _, header in batches:
        if header.partition_leader_epoch not in (last, -1):
            last = header.partition_leader_epoch
            entries.append(EpochEntry(last, header.base_offset))
    return entries
