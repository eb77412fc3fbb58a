"""Finding records of a batch by timestamp, for ListOffsets.

Owns      the first record at or after a timestamp.
Leaves    finding the batch to the log, decompression to `reading.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from ottla.protocol.records.batch import Buffer
from ottla.protocol.records.compression import DECOMPRESSED_BYTES_MAX
from ottla.protocol.records.record_index import iterate_indexes


class FoundRecord(NamedTuple):
    timestamp: int
    offset: int


def find_timestamp(
    batch: Buffer,
    position: int,
    timestamp: int,
    *,
    from_offset: int = 0,
    decompressed_bytes_max: int = DECOMPRESSED_BYTES_MAX,
) -> FoundRecord | None:
    """The first record of the batch at `position` that is at or after both `timestamp` and
    `from_offset`."""
    for index in iterate_indexes(batch, position, decompressed_bytes_max):
        for found, offset in zip(index.timestamps, index.offsets, strict=True):
            if found >= timestamp and offset >= from_offset:
                return FoundRecord(found, offset)
    return None
