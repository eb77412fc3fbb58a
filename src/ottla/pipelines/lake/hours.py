"""Rows by the hour of their event time.

Promises  rows without an event time are apart, in the hour None; rows keep their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc

HOUR_US = 3_600_000_000
NULL_HOUR = "__HIVE_DEFAULT_PARTITION__"  # as Hive names it, and every reader of directories


def split_by_hour(
    rows: pa.RecordBatch, times: pa.Array
) -> Iterator[tuple[int | None, pa.RecordBatch]]:
    """Hours since 1970, and their rows. `times` are timestamps in microseconds."""
    hours = pc.floor(pc.divide(times.cast(pa.int64()).cast(pa.float64()), HOUR_US))
    hours = hours.cast(pa.int64())
    found = pc.unique(hours).to_pylist()
    if len(found) == 1:
        yield found[0], rows
        return
    for hour in found:
        mask = pc.is_null(hours) if hour is None else pc.fill_null(pc.equal(hours, hour), False)
        yield hour, rows.filter(mask)


def hour_text(hour: int | None) -> str | None:
    """`2026-03-01-10`; a text, because readers of directories guess types."""
    if hour is None:
        return None
    at = datetime.fromtimestamp(hour * 3600, UTC)
    return f"{at:%Y-%m-%d-%H}"


def hour_directory(hour: str | None) -> str:
    return f"hour={NULL_HOUR if hour is None else hour}"


def newest_us(times: pa.Array) -> int | None:
    found = pc.max(times).cast(pa.int64()).as_py() if len(times) else None
    return None if found is None else int(found)
