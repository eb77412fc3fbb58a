"""The positions of the records of a batch as arrays, for compaction and search by timestamp.

Owns      index arrays over decompressed records: offsets, timestamps, positions of keys and values.
Promises  one pass over the bytes, without an object per record; memory is bounded by `records_max`,
          however many records a batch has.
Leaves    decompression to `reading.py`, the loops to `native.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ottla.protocol.records import native
from ottla.protocol.records.batch import BatchHeader, Buffer, read_header
from ottla.protocol.records.compression import DECOMPRESSED_BYTES_MAX
from ottla.protocol.records.reading import append_time_of, open_body

INDEX_RECORDS_MAX = 65_536  # 48 bytes each
RECORD_BYTES_MIN = 7


@dataclass(frozen=True, slots=True)
class RecordIndex:
    """Arrays with one entry per record. Starts are positions in `body`; a length of -1 is null."""

    body: Buffer
    offsets: memoryview  # int64, like the next one
    timestamps: memoryview
    starts: memoryview  # int32, like all that follow
    ends: memoryview
    key_starts: memoryview
    key_lengths: memoryview
    value_starts: memoryview
    value_lengths: memoryview
    header_starts: memoryview
    header_counts: memoryview
    end: int  # start of the next record

    def __len__(self) -> int:
        return len(self.offsets)

    def keys(self) -> list[bytes | None]:
        return native.slices(self.body, self.key_starts, self.key_lengths)

    def values(self) -> list[bytes | None]:
        return native.slices(self.body, self.value_starts, self.value_lengths)


def index_records(
    body: Buffer,
    count: int,
    *,
    position: int = 0,
    first: int = 0,
    is_last: bool = True,
    base_offset: int = 0,
    base_timestamp: int = 0,
    append_time: int | None = None,
) -> RecordIndex:
    """Index `count` records of a decompressed body from `position` on.

    `first` is the number of the first one in its batch; with `is_last` the body must end with them.
    """
    # not by the claimed count
    rows = max(0, min(count, (len(body) - position) // RECORD_BYTES_MIN))
    numbers, places = memoryview(bytearray(16 * rows)), memoryview(bytearray(32 * rows))
    end = native.index(
        body, position, len(body), first, count, is_last,
        base_offset, base_timestamp, append_time, numbers, places,
    )  # fmt: skip
    wide, narrow = numbers.cast("q"), places.cast("i")

    def numbers_of(column: int) -> memoryview:
        return narrow[column * rows : (column + 1) * rows]

    return RecordIndex(
        body=body,
        offsets=wide[:rows],
        timestamps=wide[rows:],
        starts=numbers_of(0),
        ends=numbers_of(1),
        key_starts=numbers_of(2),
        key_lengths=numbers_of(3),
        value_starts=numbers_of(4),
        value_lengths=numbers_of(5),
        header_starts=numbers_of(6),
        header_counts=numbers_of(7),
        end=end,
    )


def iterate_indexes(
    batch: Buffer,
    position: int = 0,
    decompressed_bytes_max: int = DECOMPRESSED_BYTES_MAX,
    records_max: int = INDEX_RECORDS_MAX,
) -> Iterator[RecordIndex]:
    """The records of the batch at `position`, in indexes of at most `records_max` records."""
    header = read_header(batch, position)
    body = open_body(batch, position, header, decompressed_bytes_max)
    yield from iterate_body_indexes(header, body, records_max)


def iterate_body_indexes(
    header: BatchHeader, body: Buffer, records_max: int = INDEX_RECORDS_MAX
) -> Iterator[RecordIndex]:
    """The same for a decompressed body."""
    first, position, count = 0, 0, header.records_count
    while True:
        step = min(records_max, count - first)
        found = index_records(
            body,
            step,
            position=position,
            first=first,
            is_last=first + step == count,
            base_offset=header.base_offset,
            base_timestamp=header.base_timestamp,
            append_time=append_time_of(header),
        )
        yield found
        first, position = first + step, found.end
        if first == count:
            return
