"""Applies what a leader has sent for one partition to the log of its follower.

Promises  records are appended in the order of the leader's log, or not at all; what diverges from
          it is removed first (KIP-101, KIP-320). The event loop is blocked for a few milliseconds
          at a time, however many batches there are.
Leaves    asking again, and errors, to `leader_fetcher.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ottla.base.files.filesystem import Buffer
from ottla.base.scheduling.steps import PAUSE, Steps, looking_up
from ottla.protocol.messages.fetch_response import PartitionData
from ottla.replication.following.replica_session import ReplicaPosition
from ottla.replication.partition import Partition
from ottla.storage.log.admission import UnexpectedOffset
from ottla.storage.log.append import Appended
from ottla.storage.log.leader_epochs import UNDEFINED_EPOCH, EpochEndOffset
from ottla.storage.log.log import Log

BATCHES_AT_ONCE = 200
BYTES_AT_ONCE = 1024 * 1024
BATCH_START_BYTES = 12  # base offset, and length of the rest


def locating(partition: Partition) -> Steps[ReplicaPosition]:
    """The position to fetch from. Reads what later appends need, too."""
    log = partition.log
    yield from looking_up(log.epochs.load)
    yield from looking_up(log.producers.load)
    if not partition.is_leader:  # by now; a leader has noted its epoch there
        log.epochs.truncate_from_end(log.offsets.end)  # one that this broker led without appending
    return position_of(partition)


def position_of(partition: Partition) -> ReplicaPosition:
    """The same, once it is in memory."""
    log = partition.log
    return ReplicaPosition(
        log.offsets.end, partition.leader_epoch, last_epoch_of(log), log.offsets.start
    )


def last_epoch_of(log: Log) -> int:
    """The epoch of the last record, as far as it is known."""
    latest = log.epochs.latest_in_memory
    return UNDEFINED_EPOCH if latest is None else latest


class FetchedContent(NamedTuple):
    """The content of a response."""

    has_content: bool  # records, or where the logs diverge: the leader must get an acknowledgement
    must_flush: bool  # before the next fetch


def taking(
    partition: Partition, answer: PartitionData, is_current: Callable[[], bool]
) -> Steps[FetchedContent | None]:
    """Apply a response without an error; None if it is of another leader epoch by now."""
    if answer.diverging_epoch is not None:
        yield from partition.truncating(truncating(partition, answer))
        # The high watermark comes with the next response: what is left may diverge, too.
        return FetchedContent(has_content=True, must_flush=False) if is_current() else None
    size, must_flush = len(answer.records or b""), False
    if answer.records:
        must_flush = yield from appending(partition, answer.records, is_current)
    if not is_current():
        return None
    partition.follow_leader(answer.high_watermark, answer.log_start_offset, size)
    return FetchedContent(size > 0, must_flush)


def appending(partition: Partition, data: Buffer, is_current: Callable[[], bool]) -> Steps[bool]:
    """Append the batches of a response; whether they must be synced before they count. Ends if
    this broker follows another leader by now, or leads itself: its log may have changed."""
    must_flush = False
    for some in cut_into_pieces(data):
        if _append(partition.log, some).must_flush:
            must_flush = True
            partition.replica.note_sync_required()  # whatever role it has after the pause
        yield PAUSE
        if not is_current():
            break
    return must_flush


def _append(log: Log, data: Buffer) -> Appended:
    try:
        return log.append_as_follower(data)
    except UnexpectedOffset as error:
        # The leader's log start may be inside of a batch, which is sent as a whole.
        first_offset = error.first_offset
        if log.offsets.start != log.offsets.end or first_offset > log.offsets.end:
            raise
    log.truncate_fully_and_start_at(first_offset)
    return log.append_as_follower(data)


def cut_into_pieces(data: Buffer) -> Iterator[memoryview]:
    """Pieces of several batches each; the last batch of the last piece may be incomplete."""
    view = memoryview(data)
    start = position = batches = 0
    while position + BATCH_START_BYTES <= len(view):
        length = int.from_bytes(view[position + 8 : position + BATCH_START_BYTES], "big")
        position += BATCH_START_BYTES + max(0, length)
        batches += 1
        if batches == BATCHES_AT_ONCE or position - start >= BYTES_AT_ONCE:
            yield view[start:position]
            start, batches = position, 0
    if start < len(view):
        yield view[start:]


def truncating(partition: Partition, answer: PartitionData) -> Steps[None]:
    """Remove what the leader does not have, as far as its answer shows."""
    diverging = answer.diverging_epoch
    assert diverging is not None
    end = EpochEndOffset(diverging.epoch, diverging.end_offset)
    yield from partition.log.truncating_to_epoch(end)
