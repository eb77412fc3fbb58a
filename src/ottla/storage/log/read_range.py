"""Reading from a log: which bytes of which file hold the records from an offset on.

Owns      the bounds of a read: by bytes, by an end offset (high watermark, last stable offset or
          log end, as the caller may see), by segment; and what readers of committed data skip.
Promises  a range never reaches behind its bounds and, if anything may be read at all, holds at
          least one whole batch (KIP-74). Bytes that were not verified since the segment was opened
          come with a check that must pass before they are served.
Leaves    sending to the network, running the check in a thread to the broker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ottla.base.files.readers import BLOCKING, Reader
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.records.batch import BatchHeader
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.file_names import DELETED_SUFFIX
from ottla.storage.files.file_range import FileRange
from ottla.storage.indexes.transaction_index import AbortedTransaction
from ottla.storage.log.aborted_search import find_aborted
from ottla.storage.log.epoch_replay import epoch_at
from ottla.storage.segments.scanning import CHECK_READ_BYTES, HEADER_READ_BYTES, scan_checked
from ottla.storage.segments.segment import Segment
from ottla.storage.segments.segment_search import locate

if TYPE_CHECKING:
    from ottla.storage.log.log import Log


class RangeCheck:
    """The check of a range that is not verified yet.

    `run` reads only the file, so it may run in a thread; `confirm` runs in the thread of the log.
    """

    __slots__ = (
        "_end",
        "_end_offset",
        "_epochs",
        "_generation",
        "_log",
        "_segment",
        "_segment_size",
        "_start",
        "verified_end",
    )

    def __init__(self, reader: Reader, log: Log, segment: Segment, start: int, end: int) -> None:
        self._log = log
        self._segment = segment
        self._generation = segment.generation
        self._start = start
        self._end = end
        self._end_offset = log.segments.end_of(segment, log.offsets.end)
        # Both are current: what is appended during the check is after this end offset.
        self._segment_size = segment.size
        self._epochs = log.epochs.load(reader).entries
        self.verified_end = start
        segment.open(reader).size()  # opens the file here, before another thread uses it

    @property
    def is_current(self) -> bool:
        """Whether the range is unchanged: not after the log was truncated or deleted."""
        segment = self._segment
        is_same = self._generation == segment.generation and segment.state != DELETED_SUFFIX
        return is_same and not self._log.is_discarded

    def run(self) -> None:
        """Read and check every batch of the range. CorruptLogError if one must not be served.

        If it is raised and the check is not current any more, the range is read again instead.
        """
        segment = self._segment
        read_bytes = min(CHECK_READ_BYTES, self._end - self._start + HEADER_READ_BYTES)
        for position, header in scan_checked(
            segment.open(BLOCKING), self._start, self._segment_size, read_bytes=read_bytes
        ):
            self._check_offset_and_epoch(position, header)
            if (
                position >= self._end
            ):  # one more batch: its offset shows whether the last one is right
                return
            self.verified_end = position + header.size_bytes

    def _check_offset_and_epoch(self, position: int, header: BatchHeader) -> None:
        """Offset and leader epoch, which the checksum does not cover."""
        epoch = header.partition_leader_epoch
        expected = epoch_at(self._epochs, header.base_offset)
        is_wrong = epoch not in (-1, expected) and expected is not None
        if header.last_offset >= self._end_offset or is_wrong:
            raise CorruptLogError(
                self._segment.path,
                position,
                f"offset {header.last_offset} of epoch {epoch} where epoch {expected} is, and "
                f"{self._end_offset} the end",
            )

    def confirm(self) -> bool:
        """Note that the range is valid; False if the log was truncated: then read again."""
        if not self.is_current:
            return False
        self._segment.verified.add(self._start, self.verified_end)
        return True


class ReadRange(NamedTuple):
    records: FileRange
    check: RangeCheck | None = None  # must succeed before the records are served
    aborted: list[AbortedTransaction] | None = None  # only for consumers of committed data


def read(
    reader: Reader,
    log: Log,
    offset: int,
    bytes_max: int,
    end_offset: int,
    *,
    at_least_one: bool = True,
    with_aborted: bool = False,
) -> ReadRange:
    """The records from `offset` on, below `end_offset`, of at most `bytes_max` bytes."""
    start, end = log.offsets.start, log.offsets.end
    if not start <= offset <= end:
        raise BrokerError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"{log.partition}: offset {offset} is not between {start} and {end}",
        )
    end_offset = min(end_offset, end)
    segment = log.segments.floor(offset) or log.segments[0]
    if bytes_max <= 0 and not at_least_one:
        end_offset = offset  # the response is full
    while offset < end_offset:
        batch = locate(reader, segment, offset) if segment.size else None
        if batch is not None:
            limit = _limit(reader, log, segment, end_offset)
            size = _size(batch.position, limit, bytes_max, batch.size, at_least_one)
            return _range(reader, log, segment, offset, batch.position, size, with_aborted)
        following = log.segments.after(segment)
        if following is None or following.base_offset >= end_offset:
            break
        segment = following
    records = FileRange(segment.open(reader), segment.size, 0)
    return ReadRange(records, aborted=[] if with_aborted else None)


def _limit(reader: Reader, log: Log, segment: Segment, end_offset: int) -> int:
    """The position in the segment where the records below `end_offset` end."""
    if end_offset >= log.segments.end_of(segment, log.offsets.end):
        return segment.size
    batch = locate(reader, segment, end_offset)
    return segment.size if batch is None else batch.position


def _size(position: int, limit: int, bytes_max: int, first_size: int, at_least_one: bool) -> int:
    if position + first_size > limit:
        return 0  # the end offset is within the batch
    if first_size > bytes_max:
        return first_size if at_least_one else 0
    return min(limit - position, bytes_max)


def _range(
    reader: Reader,
    log: Log,
    segment: Segment,
    offset: int,
    position: int,
    size: int,
    with_aborted: bool,
) -> ReadRange:
    end = position + size
    check = None
    if size and not segment.verified.covers(position, end):
        start = segment.verified.unverified_from(position)
        check = RangeCheck(reader, log, segment, start, end)
    aborted = find_aborted(reader, log, segment, offset, end) if with_aborted else None
    return ReadRange(FileRange(segment.open(reader), position, size), check, aborted)
