"""Rows by the hour of their event time.

Promises  rows without an event time are apart, in the hour None; rows keep their order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc

HOUR_US = 3_600_000_000
NO_HOUR = "none"  # for people
NULL_HOUR = "__HIVE_DEFAULT_PARTITION__"  # as Hive names it, and every reader of directories


def split_by_hour(
    rows: pa.RecordBatch, times: pa.Array
) -> Iterator[tuple[int | None, pa.RecordBatch]]:
    """Hours since 1970, and their rows. `times` are timestamps in microseconds."""
    hours = hours_of(times)
    found = pc.unique(hours).to_pylist()
    if len(found) == 1:
        yield found[0], rows
        return
    for hour in found:
        mask = pc.is_null(hours) if hour is None else pc.fill_null(pc.equal(hours, hour), False)
        yield hour, rows.filter(mask)


def hours_of(times: pa.Array) -> pa.Array:
    """Hours since 1970, or null."""
    hours = pc.floor(pc.divide(times.cast(pa.int64()).cast(pa.float64()), HOUR_US))
    return hours.cast(pa.int64())


def is_in_hours(times: pa.Array, hours: Collection[str | None]) -> pa.Array:
    """A mask of the rows of these hours."""
    found = pc.is_in(hours_of(times), pa.array([hour_number(each) for each in hours], pa.int64()))
    return found if None in hours else pc.and_(found, pc.is_valid(times))


def hour_number(text: str | None) -> int | None:
    """Hours since 1970; ValueError if it is no hour such as `2026-03-01-10`."""
    if text is None:
        return None
    at = datetime.strptime(text, "%Y-%m-%d-%H").replace(tzinfo=UTC)
    return int(at.timestamp()) // 3600


def hour_text(hour: int | None) -> str | None:
    """`2026-03-01-10`; a text, because readers infer types from directory names."""
    if hour is None:
        return None
    at = datetime.fromtimestamp(hour * 3600, UTC)
    return f"{at:%Y-%m-%d-%H}"


def hour_name(hour: str | None) -> str:
    """As people write it: rows without an event time have the hour `none`."""
    return NO_HOUR if hour is None else hour


def hour_directory(hour: str | None) -> str:
    return f"hour={NULL_HOUR if hour is None else hour}"


def hour_of_directory(name: str) -> str | None:
    """The other way round; ValueError if it is none."""
    key, _, hour = name.partition("=")
    if key != "hour":
        raise ValueError(f"{name} is no directory of an hour")
    if hour == NULL_HOUR:
        return None
    hour_number(hour)
    return hour


def newest_us(times: pa.Array) -> int | None:
    found = pc.max(times).cast(pa.int64()).as_py() if len(times) else None
    return None if found is None else int(found)
