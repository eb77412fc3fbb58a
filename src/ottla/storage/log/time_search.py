"""Finding offsets by timestamp, for ListOffsets.

Owns      the search by the time index and batch headers down to a single record.
Promises  the first record at or after a timestamp, also inside compressed batches, which are
          decompressed by the bounded decoder after their checksum was verified. However many
          batches are read, the search yields to other work; large and compressed ones are opened
          in a thread. If the log changes during the search, it starts again.
Leaves    limiting the result (high watermark, last stable offset) to the callers.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ottla.base.files.filesystem import File
from ottla.base.files.readers import BLOCKING, LookUpReader, NotCached, Reader
from ottla.base.memory.stored_errors import without_traceback
from ottla.base.scheduling.steps import PAUSE, Job, Steps, looking_up_in_steps
from ottla.protocol.records.batch import CODEC_MASK, BatchHeader, has_valid_checksum
from ottla.protocol.records.searching import FoundRecord, find_timestamp
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.files.file_names import DELETED_SUFFIX
from ottla.storage.log.admission import decompressed_bytes_max
from ottla.storage.segments.segment import Segment
from ottla.storage.segments.segment_search import (
    IndexDamage,
    check_time_entry,
    find_batch,
    largest_timestamp,
    prepare,
    repair_index,
    scan_from,
)

if TYPE_CHECKING:
    from ottla.storage.log.log import Log

HEADERS_PER_STEP = 200  # a few hundred microseconds
OPENED_HERE_BYTES_MAX = 16 * 1024  # uncompressed: less work than a thread costs


class FoundTime(NamedTuple):
    timestamp: int
    offset: int
    leader_epoch: int  # -1 if the batch has none


class LogChanged(Exception):
    """Segments were truncated or deleted during the search."""


# Up to which offset of a segment there is no result, by its base offset and generation. A search
# that has to start again continues there.
Passed = dict[tuple[int, int], int]


def finding_by_timestamp(log: Log, timestamp: int) -> Steps[FoundTime | None]:
    """The first record at or after `timestamp`, from the log start on."""
    passed: Passed = {}

    def attempting(reader: LookUpReader) -> Steps[FoundTime | None]:
        while True:
            try:
                return (yield from _finding(reader, log, timestamp, passed))
            except LogChanged:
                passed.clear()

    return (yield from looking_up_in_steps(attempting))


def finding_max_timestamp(log: Log) -> Steps[FoundTime | None]:
    """The record with the largest timestamp; the first of them, if there are several.

    As on Kafka it may be one before the start of the log, while its segment is there.
    """

    def attempting(reader: LookUpReader) -> Steps[FoundTime | None]:
        while True:
            try:
                return (yield from _finding_max(reader, log))
            except LogChanged:
                continue

    return (yield from looking_up_in_steps(attempting))


def _check_open(log: Log) -> None:
    if log.is_closed:
        raise StorageUnavailable(f"{log.partition} was closed during a search")


def _finding(
    reader: LookUpReader, log: Log, timestamp: int, passed: Passed
) -> Steps[FoundTime | None]:
    _check_open(log)
    for segment in log.segments.reaching(log.log_start_offset):
        watch = _Watch(log, segment)
        if not segment.is_prepared:
            yield from _preparing(reader, segment, watch)
        watch.check_segment()  # other work may have run since the list was made
        if segment.size and largest_timestamp(reader, segment) >= timestamp:
            start = log.log_start_offset
            found = yield from _finding_in(reader, segment, watch, timestamp, start, passed)
            if found is not None:
                return found
    return None


def _finding_max(reader: LookUpReader, log: Log) -> Steps[FoundTime | None]:
    _check_open(log)
    filled = [segment for segment in log.segments.reaching(log.log_start_offset) if segment.size]
    for segment in filled:
        if not segment.is_prepared:
            yield from _preparing(reader, segment, _Watch(log, segment))
            prepare(reader, segment)
    if not filled:
        return None
    for segment in filled:
        _Watch(log, segment).check_segment()
    # If no record has a timestamp, the result is the first of them, with the timestamp it has.
    newest = max(filled, key=lambda segment: segment.max_timestamp)
    found = find_batch(reader, newest, newest.max_timestamp_offset)
    if found is None or found[1].max_timestamp != newest.max_timestamp:
        return None
    watch = _Watch(log, newest)
    opened = _Opened(reader, newest, watch, *found, newest.max_timestamp, start_offset=0)
    return (yield from opened.finding(reader))


def _preparing(reader: LookUpReader, segment: Segment, watch: _Watch) -> Steps[None]:
    """`prepare`, unless it is damaged. There may be very many segments: if this one is not in the
    page cache, the search does not start again with those before it."""
    step: int | Job = PAUSE
    while not segment.is_prepared:
        yield step
        watch.check()
        try:
            prepare(reader, segment)
        except NotCached as error:
            step = partial(reader.fetch, [without_traceback(error)])
        except CorruptLogError:
            return


class _Watch:
    """Whether a segment is unchanged after other work has run."""

    def __init__(self, log: Log, segment: Segment) -> None:
        self._log = log
        self._segment = segment
        self._generation = segment.generation
        self.decompressed_bytes_max = decompressed_bytes_max(log.config)

    def check(self) -> None:
        _check_open(self._log)
        self.check_segment()

    def check_segment(self) -> None:
        """LogChanged unless it is in the log, unchanged: otherwise its files may be removed."""
        segment = self._segment
        if segment.generation != self._generation or segment.state == DELETED_SUFFIX:
            raise LogChanged


def _finding_in(
    reader: Reader,
    segment: Segment,
    watch: _Watch,
    timestamp: int,
    start_offset: int,
    passed: Passed,
) -> Steps[FoundTime | None]:
    try:
        return (yield from _scanning(reader, segment, watch, timestamp, start_offset, passed))
    except (IndexDamage, CorruptLogError) as error:
        passed.clear()
        repair_index(reader, segment, error)
    try:
        return (yield from _scanning(reader, segment, watch, timestamp, start_offset, passed))
    except IndexDamage as error:
        raise CorruptLogError(
            segment.path, 0, f"the index does not match the records: {error}"
        ) from error


def _scanning(
    reader: Reader,
    segment: Segment,
    watch: _Watch,
    timestamp: int,
    start_offset: int,
    passed: Passed,
) -> Steps[FoundTime | None]:
    """Open every batch whose largest timestamp reaches the wanted one, until a record does."""
    # Up to the offset of an entry no timestamp is larger than its own.
    entry = segment.indexes.times.lookup(reader, timestamp - 1)
    if entry.timestamp >= 0:
        check_time_entry(reader, segment, *entry)
    version = segment.base_offset, segment.generation
    passed_offset = passed.get(version, -1)
    first_offset = max(entry.offset, start_offset, passed_offset)
    first = segment.indexes.offsets.lookup(reader, first_offset)
    batches = scan_from(reader, segment, first)
    for count, (position, header) in enumerate(batches, 1):
        last_offset = header.last_offset
        is_new = last_offset >= start_offset and last_offset > passed_offset
        if is_new and header.max_timestamp >= timestamp:
            # The header may have a larger timestamp than the records, or only records before the
            # log start have it: then the next batch is opened.
            opened = _Opened(reader, segment, watch, position, header, timestamp, start_offset)
            found = yield from opened.finding(reader)
            if found is not None:
                return found
        passed[version] = last_offset
        if count % HEADERS_PER_STEP == 0:
            yield PAUSE
            watch.check()
    return None


class _Opened:
    """One batch, and the timestamp to find in it."""

    def __init__(
        self,
        reader: Reader,
        segment: Segment,
        watch: _Watch,
        position: int,
        header: BatchHeader,
        timestamp: int,
        start_offset: int,
    ) -> None:
        self._file: File = segment.open(reader)
        self._bytes_max = watch.decompressed_bytes_max
        self._path = segment.path
        self._watch = watch
        self._position = position
        self._header = header
        self._timestamp = timestamp
        self._start_offset = start_offset

    def finding(self, reader: Reader) -> Steps[FoundTime | None]:
        header, watch = self._header, self._watch
        found: FoundRecord | None
        if header.attributes & CODEC_MASK or header.size_bytes > OPENED_HERE_BYTES_MAX:
            try:
                found = yield self._search_elsewhere
            except Exception:
                watch.check()  # a file that was removed is not damaged
                raise
            watch.check()
        else:
            found = self._search(reader)
        if found is None:
            return None
        return FoundTime(*found, header.partition_leader_epoch)

    def _search_elsewhere(self) -> FoundRecord | None:
        """Runs in a thread."""
        try:
            return self._search(BLOCKING)
        except Exception as error:
            raise without_traceback(error) from None  # its frames hold the decompressed batch

    def _search(self, reader: Reader) -> FoundRecord | None:
        size = self._header.size_bytes
        data = reader.read(self._file, self._position, size)
        if len(data) < size or not has_valid_checksum(data, 0, self._header):
            raise CorruptLogError(self._path, self._position, "wrong checksum")
        return find_timestamp(
            data,
            0,
            self._timestamp,
            from_offset=self._start_offset,
            decompressed_bytes_max=self._bytes_max,
        )
