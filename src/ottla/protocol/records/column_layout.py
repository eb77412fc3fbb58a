"""The shapes in which columns of records pass between Python and the record loops.

Owns      names for those tuples; columns are laid out as Apache Arrow lays them out, so that no
          byte is copied between here and a table.
Leaves    filling and reading them to the loops, and Arrow's own objects to `arrow.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from ottla.protocol.records.batch import Buffer

INT64_MAX = 2**63 - 1


class RecordSegment(NamedTuple):
    """Records that lie together: those of one batch, or some of them."""

    data: Buffer
    position: int  # where the first one begins
    end: int  # where the batch's last one ends
    first: int  # the number of the first one in its batch
    records_count: int
    is_last: bool  # no more of this batch follow
    base_offset: int
    base_timestamp: int
    append_time: int | None  # instead of the records' own times
    from_offset: int = 0  # earlier records are left out
    end_offset: int = INT64_MAX  # from this offset on, too


# A column of byte strings that was filled: int32 offsets (one more than rows), validity bits or
# None where there are no nulls, the bytes, the number of nulls.
FilledStrings = tuple[Buffer, Buffer | None, Buffer, int]

# List offsets (int32, one more than rows), the number of headers, their keys, their values.
FilledHeaders = tuple[Buffer, int, FilledStrings, FilledStrings]

# Rows, offsets (int64), timestamps (int64), keys, values, headers.
FilledColumns = tuple[int, Buffer, Buffer, FilledStrings, FilledStrings, FilledHeaders | None]


class StringColumn(NamedTuple):
    """A column of byte strings to read from."""

    data: Buffer
    ends: Buffer  # offsets, one more than rows
    is_large: bool  # of 64 bits each, not 32
    valid: Buffer | None  # bits
    shift: int  # the row of the buffers at which this column begins
    rows: int


class ListColumn(NamedTuple):
    """Which headers belong to which row."""

    ends: Buffer
    is_large: bool
    valid: Buffer | None
    shift: int
    rows: int


class HeaderColumns(NamedTuple):
    lists: ListColumn
    keys: StringColumn
    values: StringColumn
