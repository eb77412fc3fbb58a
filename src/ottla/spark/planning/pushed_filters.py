"""Filters that Spark passes to a batch read, and the bounds that follow from them.

Owns      bounds on topic, partition, offset and timestamp.
Promises  only records that cannot satisfy the filters are excluded. Every filter is returned to
          Spark, which applies it again: reading unneeded records costs time, nothing else.
Leaves    looking up offsets by time to `source/position_lookup.py`.

Every record before the first one with timestamp T or later is older than T, so a lower bound on
the timestamp moves the start. Timestamps need not be sorted: an older record may follow a newer
one, so an upper bound cannot move the end. Both bounds are applied to each record in the task,
before it is sent to Spark.
"""

from __future__ import annotations

import calendar
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    LessThan,
    LessThanOrEqual,
)

from ottla.base.ids import TopicPartition

Value = int | str
Bound = int | None


@dataclass(frozen=True)
class Bounds:
    """`_min` is included, `_end` is not; None means no bound. Timestamps in microseconds."""

    topics: frozenset[str] | None = None
    partitions: frozenset[int] | None = None
    partition_min: Bound = None
    partition_end: Bound = None
    offset_min: Bound = None
    offset_end: Bound = None
    timestamp_min: Bound = None
    timestamp_end: Bound = None

    def may_hold(self, partition: TopicPartition) -> bool:
        return (
            (self.topics is None or partition.topic in self.topics)
            and (self.partitions is None or partition.partition in self.partitions)
            and (self.partition_min is None or partition.partition >= self.partition_min)
            and (self.partition_end is None or partition.partition < self.partition_end)
        )

    def narrowed(self, start: int, end: int) -> tuple[int, int]:
        """The part of a range of offsets that may satisfy the filters."""
        start = start if self.offset_min is None else max(start, self.offset_min)
        end = end if self.offset_end is None else min(end, self.offset_end)
        return start, max(start, end)

    @property
    def search_ms(self) -> int | None:
        """The time in ms of which to look up the first record; nothing before it is needed."""
        if self.timestamp_min is None:
            return None
        time_ms = -(-self.timestamp_min // 1000)
        # Times below have a special meaning in ListOffsets; -1 is a record without a timestamp.
        return time_ms if time_ms > 0 else None


NO_BOUNDS = Bounds()


def gather(filters: Iterable[Filter]) -> Bounds:
    """Filters are combined with AND; those on other columns are ignored."""
    bounds = Bounds()
    for each in filters:
        bounds = _with(bounds, each)
    return bounds


def _with(bounds: Bounds, condition: Filter) -> Bounds:
    column = _column_of(condition)
    value = getattr(condition, "value", None)
    if column is None:
        return bounds
    if isinstance(condition, EqualTo | In):
        values: Any = value if isinstance(condition, In) else (value,)
        return _among(bounds, column, [_comparable(column, each) for each in values])
    number = _comparable(column, value)
    if not isinstance(number, int):
        return bounds
    match condition:
        case GreaterThan():
            return _bounded(bounds, column, number + 1, None)
        case GreaterThanOrEqual():
            return _bounded(bounds, column, number, None)
        case LessThan():
            return _bounded(bounds, column, None, number)
        case LessThanOrEqual():
            return _bounded(bounds, column, None, number + 1)
    return bounds


def _column_of(condition: Filter) -> str | None:
    attribute = getattr(condition, "attribute", None)
    if not isinstance(attribute, tuple) or len(attribute) != 1:
        return None
    return attribute[0] if attribute[0] in ("topic", "partition", "offset", "timestamp") else None


def _comparable(column: str, value: Any) -> Value | None:
    """The value in the type of the column; None if it has another type."""
    if column == "topic":
        return value if isinstance(value, str) else None
    if column == "timestamp":
        return _microseconds(value) if isinstance(value, datetime) else None
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole else None


def _microseconds(moment: datetime) -> int | None:
    """Since 1970. None for a time without a zone: the session's time zone is not known here."""
    if moment.tzinfo is None:
        return None
    moment = moment.astimezone(UTC)
    return calendar.timegm(moment.timetuple()) * 1_000_000 + moment.microsecond


def _among(bounds: Bounds, column: str, values: list[Value | None]) -> Bounds:
    """One of the values. A value of another type makes the filter unusable."""
    numbers = [each for each in values if isinstance(each, int)]
    if column == "topic":
        topics = frozenset(each for each in values if isinstance(each, str))
        if len(topics) != len(set(values)):
            return bounds
        return replace(bounds, topics=topics if bounds.topics is None else bounds.topics & topics)
    if len(numbers) != len(values) or not numbers:
        return bounds
    if column == "partition":
        known = frozenset(numbers)
        both = known if bounds.partitions is None else bounds.partitions & known
        return replace(bounds, partitions=both)
    return _bounded(bounds, column, min(numbers), max(numbers) + 1)


def _bounded(bounds: Bounds, column: str, least: Bound, end: Bound) -> Bounds:
    if column == "topic":
        return bounds
    low, high = f"{column}_min", f"{column}_end"
    changes: dict[str, Any] = {
        low: _tighter(max, getattr(bounds, low), least),
        high: _tighter(min, getattr(bounds, high), end),
    }
    return replace(bounds, **changes)


def _tighter(choose: Any, one: Bound, other: Bound) -> Bound:
    given = [each for each in (one, other) if each is not None]
    return choose(given) if given else None
