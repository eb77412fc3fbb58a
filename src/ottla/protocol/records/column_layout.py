"""The data structures for columns of records, between Python and the record loops.

Owns      these tuples; columns have the layout of Apache Arrow, so that nothing is copied between
          them and a table.
Leaves    filling and reading them to the loops, Arrow objects to `arrow.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from ottla.protocol.records.batch import Buffer

INT64_MAX = 2**63 - 1
UINT64_MAX = 2**64 - 1


class RecordSegment(NamedTuple):
    """Consecutive records: those of one batch, or some of them."""

    data: Buffer
    position: int  # start of the first record
    end: int  # end of the last record of the batch
    first: int  # number of the first record in its batch
    records_count: int
    is_last: bool  # the last segment of its batch
    base_offset: int
    base_timestamp: int
    append_time: int | None  # overrides the timestamps of the records
    from_offset: int = 0  # earlier records are skipped
    end_offset: int = INT64_MAX  # records from this offset on are skipped


# A filled column of byte strings: int32 offsets (one more than rows), validity bits or None if
# there are no nulls, the bytes, the number of nulls.
FilledStrings = tuple[Buffer, Buffer | None, Buffer, int]

# List offsets (int32, one more than rows), the number of headers, their keys, their values.
FilledHeaders = tuple[Buffer, int, FilledStrings, FilledStrings]

# Rows, offsets (int64), timestamps (int64), keys, values, headers.
FilledColumns = tuple[int, Buffer, Buffer, FilledStrings, FilledStrings, FilledHeaders | None]


class StringColumn(NamedTuple):
    """A column of byte strings as input."""

    data: Buffer
    ends: Buffer  # offsets, one more than rows
    is_large: bool  # 64-bit offsets instead of 32-bit ones
    valid: Buffer | None  # bits
    shift: int  # first row of the column in the buffers
    rows: int


class ListColumn(NamedTuple):
    """The headers of each row."""

    ends: Buffer
    is_large: bool
    valid: Buffer | None
    shift: int
    rows: int


class HeaderColumns(NamedTuple):
    lists: ListColumn
    keys: StringColumn
    values: StringColumn


class BucketSums(NamedTuple):
    """The sums of the records of one partition in one time bucket; hashes are 64-bit numbers,
    added (mod 2**64) and combined by exclusive or. `_plain_sums.py` has their definition."""

    bucket: int
    records: int
    size: int  # of keys, values and headers
    content_sum: int
    content_xor: int
    place_sum: int
    place_xor: int
    row_sum: int
    row_xor: int
    min_timestamp: int
    max_timestamp: int
    first_offset: int
    last_offset: int

    def merged(self, other: BucketSums) -> BucketSums:
        """The sums of both. Merging is commutative and associative."""
        return BucketSums(
            self.bucket,
            self.records + other.records,
            self.size + other.size,
            self.content_sum + other.content_sum & UINT64_MAX,
            self.content_xor ^ other.content_xor,
            self.place_sum + other.place_sum & UINT64_MAX,
            self.place_xor ^ other.place_xor,
            self.row_sum + other.row_sum & UINT64_MAX,
            self.row_xor ^ other.row_xor,
            min(self.min_timestamp, other.min_timestamp),
            max(self.max_timestamp, other.max_timestamp),
            min(self.first_offset, other.first_offset),
            max(self.last_offset, other.last_offset),
        )
