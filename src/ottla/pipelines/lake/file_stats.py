"""Statistics of a Parquet file for the log of a Delta table: least and largest values, nulls.

Promises  the bounds hold for every row: where a value cannot be given exactly (times have
          milliseconds there), it is rounded outwards. Columns of other types have none.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

TEXT_MAX = 32


def stats_of(metadata: Any) -> dict[str, Any]:
    least: dict[str, Any] = {}
    largest: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    for column in range(metadata.num_columns):
        name = metadata.schema.column(column).path
        if "." in name:
            continue
        found = [
            metadata.row_group(each).column(column).statistics
            for each in range(metadata.num_row_groups)
        ]
        if any(each is None or not each.has_null_count for each in found):
            continue
        nulls[name] = sum(each.null_count for each in found)
        known = [each for each in found if each.has_min_max]
        full = [each for each in found if each.null_count < each.num_values + each.null_count]
        if not known or len(known) < len([each for each in full if each.num_values]):
            continue
        low = _low(min(each.min for each in known))
        high = _high(max(each.max for each in known))
        if low is not None and high is not None:
            least[name], largest[name] = low, high
    return {"minValues": least, "maxValues": largest, "nullCount": nulls}


def _low(value: Any) -> Any:
    if isinstance(value, datetime):
        return _time_text(value.replace(microsecond=value.microsecond // 1000 * 1000))
    return _plain(value)


def _high(value: Any) -> Any:
    if isinstance(value, datetime):
        up = -value.microsecond % 1000
        return _time_text(value + timedelta(microseconds=up))
    return _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, bool | bytes):
        return None
    if isinstance(value, str):
        return value if len(value) <= TEXT_MAX else None
    is_number = isinstance(value, int) or (isinstance(value, float) and value == value)
    return value if is_number else None


def _time_text(value: datetime) -> str:
    return f"{value:%Y-%m-%dT%H:%M:%S}.{value.microsecond // 1000:03}Z"
