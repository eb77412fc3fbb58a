"""Checking segments after an unclean stop, and rebuilding everything that is derived from records.

Owns      the decision where a log ends: at the first batch after the recovery point that is not
          complete and valid. Everything before the recovery point was synced, so an invalid batch
          there is damage: it is reported, kept and never served, and the batches after it are kept.
Promises  indexes, producer state, aborted transactions and leader epochs are those of the records.
Leaves    removing the dropped segments, and opening the log, to `recovery.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ottla.base.files.readers import BLOCKING
from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records.batch import BatchHeader
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.aborted_search import aborted_entry
from ottla.storage.log.leader_epochs import EpochEntry
from ottla.storage.producers.producer_replay import SnapshotFiles, marker_at
from ottla.storage.producers.producer_state import ProducerStates
from ottla.storage.segments.scanning import find_valid_batch, scan_checked
from ottla.storage.segments.segment import RELATIVE_OFFSET_MAX, Segment

logger = logging.getLogger(__name__)

OFFSET_MAX = 2**63 - 1
LONG_STEP = 2**30  # no crash loses so many records


@dataclass(slots=True)
class Recovered:
    """The result, from the first segment that was read on."""

    states: ProducerStates
    epochs: list[EpochEntry]
    end_offset: int
    kept: list[Segment] = field(default_factory=list)
    dropped: list[Segment] = field(default_factory=list)  # after the end of the log
    damage: list[CorruptLogError] = field(default_factory=list)
    has_gaps: bool = False  # between segments, after the recovery point


def recover_segments(
    segments: Sequence[Segment],
    recovery_point: int,
    is_compacted: bool,
    may_have_gaps: bool,
    states: ProducerStates,
    epochs: list[EpochEntry],
    snapshots: SnapshotFiles,
    progress: Callable[[int], None],
) -> Recovered:
    """Read `segments`, which reach the recovery point. `states` and `epochs` end where they begin,
    and are continued to the end of the log.

    Segments after the recovery point have no gaps between them, unless `may_have_gaps`: a gap means
    that the end of a segment was lost, and the segments after it are dropped.
    """
    result = Recovered(states, epochs, segments[0].base_offset)
    for at, segment in enumerate(segments):
        is_gap = at > 0 and not _follows(segment, result.end_offset)
        if is_gap and segment.base_offset > recovery_point:
            result.has_gaps = may_have_gaps
        if is_gap and segment.base_offset > recovery_point and not may_have_gaps:
            logger.warning(
                "%s: %d bytes after the lost end of the previous segment, at offset %d",
                segment.path, segment.size, result.end_offset,
            )  # fmt: skip
            result.dropped = list(segments[at:])
            break
        if at:
            result.end_offset = max(result.end_offset, segment.base_offset)
            states.end_offset = segment.base_offset
            snapshots.write(states, segment.base_offset, sync=False)
        following = segments[at + 1] if at + 1 < len(segments) else None
        scan = _Scan(segment, recovery_point, is_compacted, result, following)
        scan.run()
        result.kept.append(segment)
        progress(segment.size)
        if scan.is_cut:
            result.dropped = list(segments[at + 1 :])
            break
    return result


def _follows(segment: Segment, end_offset: int) -> bool:
    """A segment begins where the previous one ends, unless offsets have a very large gap."""
    return segment.base_offset == end_offset or segment.base_offset - end_offset > LONG_STEP


class _Scan:
    """One pass over one segment, which rebuilds everything that is derived from it."""

    def __init__(
        self,
        segment: Segment,
        recovery_point: int,
        is_compacted: bool,
        result: Recovered,
        following: Segment | None,
    ) -> None:
        self.is_cut = False
        self._segment = segment
        self._recovery_point = recovery_point
        self._is_gapless = not is_compacted  # or at least no gap is within the synced records
        self._result = result
        self._has_following = following is not None
        self._next_base_offset = OFFSET_MAX if following is None else following.base_offset
        self._is_overlap = False
        self._next_offset = segment.base_offset
        self._end = 0  # of what stays in the file

    def run(self) -> None:
        segment = self._segment
        segment.indexes.drop_transactions()
        segment.rebuild_begins()
        last = segment.indexes.rebuild(self._batches(), segment.index_interval_bytes)
        if self._end < segment.size:
            logger.warning(
                "%s: truncated from %d to %d bytes", segment.path, segment.size, self._end
            )
            file = segment.open(BLOCKING)
            file.truncate(self._end)
            # Otherwise a power failure restores it, once the recovery point is past this segment.
            file.sync()
        segment.note_newest(*last.newest)
        segment.rebuilt(self._end, bytes_since_index=self._end - last.position)
        self._result.end_offset = self._next_offset

    def _batches(self) -> Iterator[tuple[int, BatchHeader]]:
        segment, start = self._segment, 0
        while start < segment.size:
            try:
                for position, header in scan_checked(segment.open(BLOCKING), start, segment.size):
                    self._take_over(position, header)
                    yield position, header
                return
            except CorruptLogError as error:
                following = self._position_after(error)
                if following is None:
                    return
                start = following

    def _take_over(self, position: int, header: BatchHeader) -> None:
        segment, result = self._segment, self._result
        self._check_order(position, header)
        try:
            marker = marker_at(BLOCKING, segment.open(BLOCKING), position, header)
        except InvalidBatch as error:
            raise CorruptLogError(segment.path, position, error.message) from error
        completed = result.states.apply(header, marker)
        if completed is not None and completed.is_aborted:
            segment.indexes.transactions.append(aborted_entry(completed))
        epoch = header.partition_leader_epoch
        if epoch >= 0 and (not result.epochs or epoch > result.epochs[-1].epoch):
            result.epochs.append(EpochEntry(epoch, header.base_offset))
        self._next_offset = header.next_offset
        self._end = position + header.size_bytes
        segment.verified.add(position, self._end)

    def _check_order(self, position: int, header: BatchHeader) -> None:
        """Check what a checksum does not cover: whether this batch follows the previous one."""
        wrong = None
        if header.last_offset >= self._next_base_offset:
            self._is_overlap = self._next_base_offset > self._recovery_point
            wrong = (
                f"offset {header.last_offset} though a segment begins at {self._next_base_offset}"
            )
        elif self._next_offset < self._recovery_point < header.base_offset and self._is_gapless:
            wrong = f"offset {header.base_offset}, though {self._recovery_point} was synced"
        elif header.base_offset < self._next_offset:
            wrong = f"offset {header.base_offset} below {self._next_offset}"
        elif header.last_offset - self._segment.base_offset > RELATIVE_OFFSET_MAX:
            wrong = f"offset {header.last_offset} is too far from the segment's base"
        elif header.base_offset >= self._recovery_point and self._result.epochs:
            last = self._result.epochs[-1].epoch
            if 0 <= header.partition_leader_epoch < last:
                # Older records, restored because a truncation never reached the disk.
                wrong = f"leader epoch {header.partition_leader_epoch} after {last}"
        if wrong is not None:
            raise CorruptLogError(self._segment.path, position, wrong)

    def _position_after(self, error: CorruptLogError) -> int | None:
        """The position after an invalid batch at which to continue; None if the segment ends."""
        segment = self._segment
        if self._is_overlap:
            # The log was truncated here before the next segment was created, and the truncation
            # never reached the disk.
            return None
        if self._next_offset < self._recovery_point:
            self._result.damage.append(error)
            logger.error("damaged records: %s", error)
            limit = self._next_base_offset
            found = find_valid_batch(
                segment.open(BLOCKING), error.position + 1, segment.size, self._next_offset, limit
            )
            if found is not None and found[1].base_offset <= self._recovery_point:
                self._next_offset = found[1].base_offset
                return found[0]
            if self._has_following and limit <= self._recovery_point:
                self._end, self._next_offset = (
                    segment.size,
                    limit,
                )  # it cannot be read, but it is not missing
                return None
        self.is_cut = True
        return None
