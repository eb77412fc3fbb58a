"""Folding a range of a partition's log into sums, from encoded batches.

Owns      fetching one range and adding up its records, committed and aborted apart.
Promises  control records are not counted; memory is bounded by the fetch sizes of the client;
          offsets that retention deletes meanwhile are reported, not taken for empty.
Leaves    which ranges to `fold_plan.py`, the loops to `protocol.records`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ottla.base.ids import TopicPartition
from ottla.base.uuids import uuid_from_text
from ottla.client.admin.list_offsets import earliest_offsets
from ottla.client.cluster.cluster import Cluster
from ottla.client.errors import OffsetOutOfRange
from ottla.client.fetching.aborted_transactions import aborted_batches
from ottla.client.fetching.fetcher import FetchedRecords, fetch_range
from ottla.client.settings import READ_COMMITTED
from ottla.pipelines.audit.fold_plan import FoldedRange, FoldRange
from ottla.pipelines.sums.record_sums import BUCKET_MS, Book, add_to, book_of
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records import native
from ottla.protocol.records.arrow import segments_of
from ottla.protocol.records.batch import BatchHeader, has_valid_checksum, iterate_headers
from ottla.protocol.records.column_layout import RecordSegment
from ottla.protocol.records.compression import DECOMPRESSED_BYTES_MAX
from ottla.protocol.records.reading import open_body


def fold_range(cluster: Cluster, wanted: FoldRange) -> FoldedRange:
    """Records that retention deletes before they are read are not in the sums; `log_start` shows
    it."""
    committed: Book = {}
    aborted: Book = {}
    try:
        for fetched in _fetch(cluster, wanted):
            _fold_fetched(wanted, fetched, committed, aborted)
    except OffsetOutOfRange:
        log_start = _log_start(cluster, wanted)
        if log_start <= wanted.start:
            raise
        return _after_hole(cluster, wanted, log_start)
    return FoldedRange(wanted, committed, aborted, wanted.start)


def _after_hole(cluster: Cluster, wanted: FoldRange, log_start: int) -> FoldedRange:
    """Only what retention has left: the offsets before it are a gap, whether or not they had been
    read in time."""
    end = min(log_start, wanted.end)
    rest = FoldRange(wanted.topic, wanted.partition_id, end, wanted.end)
    found = fold_range(cluster, rest) if end < wanted.end else FoldedRange(rest, {}, {}, end)
    return FoldedRange(wanted, found.committed, found.aborted, max(end, found.log_start))


def _fetch(cluster: Cluster, wanted: FoldRange) -> Iterator[FetchedRecords]:
    return fetch_range(
        cluster,
        TopicPartition(wanted.topic, wanted.partition_id.partition),
        wanted.start,
        wanted.end,
        topic_id=uuid_from_text(wanted.partition_id.topic_id),
        isolation_level=READ_COMMITTED,
    )


def _log_start(cluster: Cluster, wanted: FoldRange) -> int:
    at = TopicPartition(wanted.topic, wanted.partition_id.partition)
    return earliest_offsets(cluster, [at])[at]


def _fold_fetched(
    wanted: FoldRange, fetched: FetchedRecords, committed: Book, aborted: Book
) -> None:
    left_out = aborted_batches(fetched.data, fetched.aborted_transactions)
    start = max(wanted.start, fetched.start_offset)
    end = min(wanted.end, fetched.end_offset)

    def is_committed(header: BatchHeader) -> bool:
        return header.base_offset not in left_out

    add_to(committed, _fold(wanted, _segments(fetched, start, end, is_committed)))
    if left_out:
        others = _segments(fetched, start, end, lambda each: not is_committed(each))
        add_to(aborted, _fold(wanted, others))


def _fold(wanted: FoldRange, segments: Iterator[RecordSegment]) -> Book:
    topic_id = uuid_from_text(wanted.partition_id.topic_id)
    found = native.fold_segments(segments, topic_id, wanted.partition_id.partition, BUCKET_MS)
    return book_of(found, *wanted.partition_id)


def _segments(
    fetched: FetchedRecords, start: int, end: int, is_wanted: Callable[[BatchHeader], bool]
) -> Iterator[RecordSegment]:
    for position, header in iterate_headers(fetched.data):
        if header.last_offset < start or header.base_offset >= end or header.is_control:
            continue
        if not is_wanted(header):
            continue
        if not has_valid_checksum(fetched.data, position, header):
            where = f"{fetched.partition}, batch at offset {header.base_offset}"
            raise InvalidBatch(ErrorCode.CORRUPT_MESSAGE, f"{where}: wrong checksum")
        body = open_body(fetched.data, position, header, DECOMPRESSED_BYTES_MAX)
        yield from segments_of(header, body, start, end)
