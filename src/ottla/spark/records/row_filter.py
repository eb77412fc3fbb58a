"""Removes records that pushed filters exclude, before a table is sent to Spark."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from ottla.spark.planning.pushed_filters import Bounds


def filter_rows(table: pa.RecordBatch, bounds: Bounds) -> pa.RecordBatch:
    """By timestamp: bounds on offsets, partitions and topics were applied when the read was
    planned."""
    if bounds.timestamp_min is None and bounds.timestamp_end is None:
        return table
    times_ms = table.column("timestamp").cast(pa.int64())
    kept = None
    if bounds.timestamp_min is not None:
        kept = pc.greater_equal(times_ms, -(-bounds.timestamp_min // 1000))
    if bounds.timestamp_end is not None:
        earlier = pc.less(times_ms, -(-bounds.timestamp_end // 1000))
        kept = earlier if kept is None else pc.and_(kept, earlier)
    return table.filter(kept)
