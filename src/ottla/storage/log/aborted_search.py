"""Which transactions were aborted in a range of offsets: their records are not for consumers that
read committed data.

Owns      the search over the transaction indexes of a log, and the check of an index against the
          records when it is first used: its entries have no checksum, and a wrong one would show
          aborted records, or hide committed ones.
Promises  a damaged index is rebuilt from the records.
Leaves    the format to `transaction_index.py`.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from ottla.base.files.readers import BLOCKING, Reader
from ottla.protocol.records.batch import BatchHeader
from ottla.storage.errors import CorruptLogError
from ottla.storage.indexes.transaction_index import (
    AbortedSearch,
    AbortedTransaction,
    TransactionIndex,
)
from ottla.storage.producers.open_transactions import CompletedTransaction
from ottla.storage.producers.producer_replay import load_states, marker_at
from ottla.storage.segments.scanning import fetch_headers, scan_headers
from ottla.storage.segments.segment import Segment
from ottla.storage.segments.segment_search import bound_after, find_batch

if TYPE_CHECKING:
    from ottla.storage.log.log import Log

logger = logging.getLogger(__name__)

EXPECTED_AT_ONCE = 100  # indexes, of which most have no file
ENTRIES_HERE_MAX = 1000  # of an index that is read through on the event loop
CHECKED_AT_ONCE = 10  # entries, against the records: one or two milliseconds
CHECK = -1


def find_aborted(
    reader: Reader, log: Log, segment: Segment, offset: int, end_position: int
) -> list[AbortedTransaction]:
    """The aborted transactions with records from `offset` on, up to a position of the segment.

    The entry is in the segment of the marker, which may be a later one than that of the records.
    """
    found: list[AbortedTransaction] = []
    end_offset = None  # found only if there is an aborted transaction, which is rare
    segments = log.segments.reaching(segment.base_offset)
    for at, each in enumerate(segments):
        if not each.has_checked_transactions:
            _expect_indexes(reader, log, segments, at)
            check_transactions(reader, log, each)
        index = each.indexes.transactions
        if not index.count(reader):
            continue
        if end_offset is None:
            end_offset = _end_offset(reader, log, segment, end_position)
        search = _search(reader, index, offset, end_offset)
        found += search.transactions
        if search.is_complete:
            break
    return found


def _search(reader: Reader, index: TransactionIndex, offset: int, end_offset: int) -> AbortedSearch:
    if index.count(reader) <= ENTRIES_HERE_MAX:
        return index.aborted_between(reader, offset, end_offset)
    work = partial(index.aborted_between, BLOCKING, offset, end_offset)
    return reader.compute(index.path, offset, end_offset, work, keeps=True)


def _expect_indexes(reader: Reader, log: Log, segments: list[Segment], at: int) -> None:
    def following() -> list[str]:
        some = segments[at + 1 : at + EXPECTED_AT_ONCE]
        return [
            each.indexes.transactions.path for each in some if not each.has_checked_transactions
        ]

    reader.expect(log.context.files, segments[at].indexes.transactions.path, following)


def _end_offset(reader: Reader, log: Log, segment: Segment, end_position: int) -> int:
    """An offset after all batches that begin before a position of the segment."""
    bound = bound_after(reader, segment, end_position)
    return log.segments.end_of(segment, log.log_end_offset) if bound is None else bound


def check_transactions(reader: Reader, log: Log, segment: Segment) -> None:
    """Compare every entry with the records, once."""
    index = segment.indexes.transactions
    try:
        count = index.count(reader)
        if count <= ENTRIES_HERE_MAX:
            index.check(reader)
        elif not segment.checked_transactions:
            reader.compute(index.path, CHECK, count, partial(index.check, BLOCKING), keeps=True)
        first = segment.checked_transactions
        for number, entry in enumerate(index.iterate(reader, first), first + 1):
            _check_entry(reader, log, segment, entry)
            segment.transactions_checked(number)
            if number % CHECKED_AT_ONCE == 0:
                reader.pause(index.path, number)
    except CorruptLogError as error:
        logger.warning("rebuilding an index of aborted transactions: %s", error)
        rebuild_transactions(reader, log, segment)
    segment.all_transactions_checked()


def rebuild_transactions(reader: Reader, log: Log, segment: Segment) -> None:
    states = load_states(
        reader, log.snapshots, log.segments, segment.base_offset, log.context.producers
    )
    file, end = segment.open(reader), segment.size
    reader.prefetch(file.path, 0, end, lambda: fetch_headers(file, 0, end))
    found = []
    for position, header in scan_headers(BLOCKING, file, 0, end):
        completed = states.apply(header, marker_at(BLOCKING, file, position, header))
        if completed is not None and completed.is_aborted:
            found.append(aborted_entry(completed))
    segment.indexes.drop_transactions()
    for entry in found:
        segment.indexes.transactions.append(entry)
    # Synced: entries lost in a power failure would not be noticed by any later check.
    segment.indexes.transactions.sync()
    log.context.files.sync_directory(log.path)


def aborted_entry(completed: CompletedTransaction) -> AbortedTransaction:
    return AbortedTransaction(
        completed.producer_id,
        completed.first_offset,
        completed.last_offset,
        completed.last_stable_offset,
    )


def _check_entry(reader: Reader, log: Log, segment: Segment, entry: AbortedTransaction) -> None:
    """The entry gives the first record and the marker, unless compaction has removed them."""
    marker = find_batch(reader, segment, entry.last_offset)
    first = None
    if entry.first_offset >= log.log_start_offset:
        holder = log.segments.floor(entry.first_offset)
        first = None if holder is None else find_batch(reader, holder, entry.first_offset)
    may_be_compacted = log.config.is_compacted
    is_right = (
        entry.last_stable_offset <= entry.last_offset + 1
        and entry.last_offset < log.segments.end_of(segment, log.log_end_offset)
        and (
            may_be_compacted
            if marker is None
            else _is_marker(reader, segment, *marker, entry, may_be_compacted)
        )
        and (first is None or _is_first(first[1], entry, may_be_compacted))
    )
    if not is_right:
        raise CorruptLogError(segment.indexes.transactions.path, 0, f"{entry} fits no records")


def _is_marker(
    reader: Reader,
    segment: Segment,
    position: int,
    header: BatchHeader,
    entry: AbortedTransaction,
    may_be_compacted: bool,
) -> bool:
    if header.base_offset > entry.last_offset:
        return may_be_compacted
    if header.producer_id != entry.producer_id or not header.is_control:
        return False
    marker = marker_at(reader, segment.open(reader), position, header)
    return marker is None or not marker.is_commit


def _is_first(header: BatchHeader, entry: AbortedTransaction, may_be_compacted: bool) -> bool:
    if header.base_offset > entry.first_offset:
        return may_be_compacted
    return header.base_offset == entry.first_offset and header.producer_id == entry.producer_id
