"""What compaction needs of a log: a summary for the plan, a request for a round.

Promises  reads no records, and timestamps only where a setting asks for them: most logs have no
          compaction lag, and then no file is opened for the choice.
Leaves    the choice to `plan.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from ottla.base.files.readers import Reader
from ottla.base.scheduling.steps import PAUSE, Steps
from ottla.config.options import INT64_MAX
from ottla.protocol.records.compression import DECOMPRESSED_BYTES_MAX
from ottla.storage.compaction.plan import Cleanable, LogSummary, SegmentSummary
from ottla.storage.compaction.request import CleaningLimits, CleanRequest, ProducerLastBatch
from ottla.storage.errors import CorruptLogError
from ottla.storage.indexes.transaction_index import AbortedTransaction
from ottla.storage.log.aborted_search import check_transactions
from ottla.storage.log.admission import decompressed_bytes_max
from ottla.storage.log.log import Log
from ottla.storage.producers.producer_state import ProducerStates
from ottla.storage.segments.segment import Segment
from ottla.storage.segments.segment_search import largest_timestamp

PREPARED_AT_ONCE = 50  # segments: some milliseconds
Sources = Mapping[Segment, tuple[SegmentSummary, int]]  # each with the segment's generation


def may_be_dirty(log: Log, checkpoint: int | None) -> bool:
    """Whether a survey is worth its time: most logs have nothing new since they were cleaned."""
    if checkpoint is None or not log.log_start_offset <= checkpoint <= log.log_end_offset:
        return True
    return checkpoint < log.segments.active.base_offset


def summarise(reader: Reader, log: Log, checkpoint: int | None) -> LogSummary:
    has_least_lag = log.config.min_compaction_lag_ms > 0
    has_largest_lag = log.config.max_compaction_lag_ms < INT64_MAX
    return LogSummary(
        partition=log.partition,
        config=log.config,
        segments=[
            SegmentSummary(
                base_offset=segment.base_offset,
                size_bytes=segment.size,
                largest_timestamp=largest_timestamp(reader, segment) if has_least_lag else -1,
                first_timestamp=segment.first_timestamp(reader) if has_largest_lag else -1,
            )
            for segment in log.segments
        ],
        log_start_offset=log.log_start_offset,
        log_end_offset=log.log_end_offset,
        last_stable_offset=log.last_stable_offset(reader),
        checkpoint=checkpoint,
    )


def _source(reader: Reader, segment: Segment) -> SegmentSummary:
    return SegmentSummary(
        base_offset=segment.base_offset,
        size_bytes=segment.size,
        offset_index_bytes=segment.indexes.offsets.size_bytes(reader),
        time_index_bytes=segment.indexes.times.size_bytes(reader),
    )


def reading_sources(reader: Reader, log: Log) -> Steps[Sources]:
    """What `request_for` needs of the segments, in slices: there may be very many. It reads those
    that are missing: a segment may be new, or cannot be read, which it reports."""
    sources: dict[Segment, tuple[SegmentSummary, int]] = {}
    segments = list(log.segments)
    for first in range(0, len(segments), PREPARED_AT_ONCE):
        if log.is_discarded:
            break
        some = segments[first : first + PREPARED_AT_ONCE]
        try:
            if len(segments) > PREPARED_AT_ONCE:
                _expect_indexes(reader, log, some)
            for segment in some:
                sources[segment] = _source(reader, segment), segment.generation
                if not segment.has_checked_transactions:
                    check_transactions(reader, log, segment)
        except (CorruptLogError, OSError):
            break
        yield PAUSE
    return sources


def _expect_indexes(reader: Reader, log: Log, segments: Sequence[Segment]) -> None:
    """A look-up starts again after each part that a thread has read: so these are one part."""
    first, *following = (path for each in segments for path in each.indexes.paths())
    reader.expect(log.context.files, first, lambda: following)


def request_for(
    reader: Reader,
    log: Log,
    cleanable: Cleanable,
    limits: CleaningLimits,
    now_ms: int,
    known: Sources = MappingProxyType({}),
) -> CleanRequest:
    end = cleanable.first_uncleanable_offset
    closed = [segment for segment in log.segments if segment.base_offset < end]
    return CleanRequest(
        partition=log.partition,
        directory=log.path,
        config=log.config,
        segments=tuple(_known_source(reader, each, known) for each in closed),
        first_dirty_offset=cleanable.first_dirty_offset,
        first_uncleanable_offset=end,
        now_ms=now_ms,
        aborted=tuple(_aborted_before(reader, log, end)),
        last_batches=_last_batches(log.producers.load(reader)),
        limits=_limits_for(log, limits),
    )


def _known_source(reader: Reader, segment: Segment, known: Sources) -> SegmentSummary:
    found = known.get(segment)
    if found is None or found[1] != segment.generation or found[0].size_bytes != segment.size:
        return _source(reader, segment)
    return found[0]


def _limits_for(log: Log, limits: CleaningLimits) -> CleaningLimits:
    """The limits: whatever producers were allowed to send can be decompressed."""
    largest = decompressed_bytes_max(log.config)
    if largest == DECOMPRESSED_BYTES_MAX:
        return limits
    return replace(limits, decompressed_bytes_max=max(limits.decompressed_bytes_max, largest))


def _aborted_before(reader: Reader, log: Log, end_offset: int) -> list[AbortedTransaction]:
    """All aborted transactions with records below `end_offset`; their markers may be later."""
    found = []
    for segment in log.segments:
        if not segment.has_checked_transactions:
            check_transactions(reader, log, segment)
        search = segment.indexes.transactions.aborted_between(reader, 0, end_offset)
        found += search.transactions
        if search.is_complete:
            break
    return found


def _last_batches(states: ProducerStates) -> dict[int, ProducerLastBatch]:
    return {
        producer_id: ProducerLastBatch(entry.last_offset, entry.epoch)
        for producer_id, entry in states.producers.items()
    }
