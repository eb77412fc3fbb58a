"""What filters allow to leave out."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
    Not,
    StringStartsWith,
)

from ottla.base.ids import TopicPartition
from ottla.spark.planning.pushed_filters import Bounds, gather
from ottla.spark.records.row_filter import filter_rows

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(microseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=microseconds)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (EqualTo(("partition",), 3), Bounds(partitions=frozenset({3}))),
        (In(("partition",), (1, 2)), Bounds(partitions=frozenset({1, 2}))),
        (GreaterThan(("partition",), 3), Bounds(partition_min=4)),
        (LessThanOrEqual(("partition",), 3), Bounds(partition_end=4)),
        (EqualTo(("offset",), 3), Bounds(offset_min=3, offset_end=4)),
        (In(("offset",), (9, 3)), Bounds(offset_min=3, offset_end=10)),
        (GreaterThanOrEqual(("offset",), 3), Bounds(offset_min=3)),
        (LessThan(("offset",), 3), Bounds(offset_end=3)),
        (GreaterThan(("timestamp",), moment(5)), Bounds(timestamp_min=6)),
        (EqualTo(("timestamp",), moment(5)), Bounds(timestamp_min=5, timestamp_end=6)),
        (EqualTo(("topic",), "t"), Bounds(topics=frozenset({"t"}))),
        (In(("topic",), ("t", None)), Bounds()),
        (LessThan(("topic",), "t"), Bounds()),
        (EqualTo(("partition",), None), Bounds()),
        (In(("partition",), (1, None)), Bounds()),
        (In(("partition",), ()), Bounds()),
        (EqualTo(("offset",), "3"), Bounds()),
        (GreaterThan(("timestamp",), datetime(2024, 1, 1)), Bounds()),
        (EqualTo(("value", "partition"), 3), Bounds()),
        (EqualTo(("key",), b"k"), Bounds()),
        (Not(EqualTo(("partition",), 3)), Bounds()),
        (IsNotNull(("partition",)), Bounds()),
        (StringStartsWith(("topic",), "t"), Bounds()),
    ],
)
def test_a_filter_becomes_a_bound_or_says_nothing(condition: Filter, expected: Bounds) -> None:
    assert gather([condition]) == expected


def test_filters_are_joined_by_and() -> None:
    conditions: list[Any] = [
        GreaterThan(("offset",), 3),
        GreaterThan(("offset",), 9),
        LessThan(("offset",), 20),
        LessThan(("offset",), 30),
        In(("partition",), (1, 2)),
        In(("partition",), (2, 3)),
    ]
    bounds = gather(conditions)
    assert bounds == Bounds(partitions=frozenset({2}), offset_min=10, offset_end=20)
    assert bounds.narrowed(0, 100) == (10, 20)
    assert bounds.narrowed(15, 100) == (15, 20)
    assert bounds.narrowed(50, 100) == (50, 50)
    assert bounds.may_hold(TopicPartition("t", 2))
    assert not bounds.may_hold(TopicPartition("t", 1))


@pytest.mark.parametrize(
    ("microseconds", "expected_ms"),
    [(None, None), (-5, None), (0, None), (1, 1), (1000, 1), (1001, 2)],
)
def test_a_search_by_time_begins_at_the_first_whole_millisecond(
    microseconds: int | None, expected_ms: int | None
) -> None:
    assert Bounds(timestamp_min=microseconds).search_ms == expected_ms


def test_rows_are_kept_by_their_time() -> None:
    times = pa.array([1, 2, 3, 4], pa.timestamp("ms", "UTC"))
    table = pa.record_batch({"timestamp": times, "n": pa.array([1, 2, 3, 4])})
    kept = filter_rows(table, Bounds(timestamp_min=1001, timestamp_end=3001))
    assert kept.column("n").to_pylist() == [2, 3]
    assert filter_rows(table, Bounds()) is table
