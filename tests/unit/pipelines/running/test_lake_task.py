"""A task of a lake, without Spark: records in, files and a report out."""

from __future__ import annotations

import errno
import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.types import StructType

from ottla.pipelines.declaration.tree import Value
from ottla.pipelines.declaration.value_schema import value_struct
from ottla.pipelines.errors import LakeUnavailable, PipelineError
from ottla.pipelines.lake.columns import HEADERS, TIME, lake_columns
from ottla.pipelines.lake.file_writing import FilePlan
from ottla.pipelines.running.classify import OUT_OF_RANGE, classify
from ottla.pipelines.running.side_records import origin_of, side_records
from ottla.pipelines.running.tasks import (
    LakePlan,
    LakeTask,
    TaskReport,
    without_empty_headers,
)
from ottla.pipelines.sums.record_sums import decode_book, fold_arrow, merge_books
from ottla.spark.records.value_types import arrow_schema

TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
VALUE = Value(json="id bigint, at timestamp")
HOUR_US = 3_600_000_000
FIRST_MS = 1_772_359_200_000  # 2026-03-01T10:00:00Z


def records(values: Sequence[bytes | None], first: int = 0) -> pa.RecordBatch:
    count = len(values)
    offsets = list(range(first, first + count))
    times = pa.array([(FIRST_MS + each) * 1000 for each in offsets], pa.int64()).cast(TIME)
    headers = [[{"key": "h", "value": b"1"}] if each % 2 else None for each in offsets]
    return pa.record_batch(
        {
            "key": pa.array([f"k{each}".encode() for each in offsets], pa.binary()),
            "value": pa.array(values, pa.binary()),
            "headers": pa.array(headers, HEADERS),
            "topic": pa.repeat("orders", count),
            "partition": pa.repeat(pa.scalar(0, pa.int32()), count),
            "offset": pa.array(offsets, pa.int64()),
            "timestamp": times,
        }
    )


def order(number: int, at: str | None = "2026-03-01T10:00:00Z") -> bytes:
    return json.dumps({"id": number, "at": at}).encode()


def plan(tmp_path: Path, **more: object) -> LakePlan:
    struct: StructType = value_struct(VALUE)
    fields: dict[str, object] = {
        "pipeline": "orders_lake",
        "files": FilePlan(str(tmp_path), "query", 0, True, 2**30),
        "columns": lake_columns(struct, ("key",)),
        "event_time": "at",
        "topic_ids": {"orders": TOPIC_ID},
        "keep": ("key",),
        "value_format": "json",
        "value_schema": VALUE.schema,
        "value_type": pa.struct(list(arrow_schema(struct))),
        **more,
    }
    return LakePlan(**fields)  # type: ignore[arg-type]


def rows_of(tmp_path: Path, report: TaskReport) -> pa.Table:
    paths = [tmp_path / (file.staged or file.path) for file in report.files]
    return pa.concat_tables(pq.read_table(path, partitioning=None) for path in paths)


def test_rows_have_the_fields_of_the_value_and_where_they_come_from(tmp_path: Path) -> None:
    batch = records([order(7), None])
    report = LakeTask(plan(tmp_path)).run(iter([batch]))
    assert report.counts.numbers() == (2, 2, 0, 0, 0)
    first, tombstone = sorted(rows_of(tmp_path, report).to_pylist(), key=lambda row: row["offset"])
    assert (first["id"], first["topic"], first["topic_id"]) == (7, "orders", TOPIC_ID)
    assert (first["partition"], first["offset"], first["record_key"]) == (0, 0, b"k0")
    assert (tombstone["id"], tombstone["offset"]) == (None, 1)


def test_each_hour_has_its_file_and_no_time_is_an_hour_of_its_own(tmp_path: Path) -> None:
    values = [
        order(0), order(1, "2026-03-01T11:59:59.999999Z"), order(2, "2026-03-01T12:00:00Z"),
        order(3, None), order(4),
    ]  # fmt: skip
    report = LakeTask(plan(tmp_path)).run(iter([records(values)]))
    assert {file.hour: file.rows for file in report.files} == {
        "2026-03-01-10": 2, "2026-03-01-11": 1, "2026-03-01-12": 1, None: 1,
    }  # fmt: skip
    assert report.newest_us == (FIRST_MS + 2 * 3_600_000) * 1000


def test_sums_are_those_of_the_records_that_were_written(tmp_path: Path) -> None:
    batches = [records([order(0), order(1)]), records([order(2)], first=2)]
    report = LakeTask(plan(tmp_path)).run(iter(batches))
    booked = merge_books(decode_book(file.sums) for file in report.files)
    whole = pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
    expected = fold_arrow(whole, topic_id=TOPIC_ID)
    assert booked.keys() == expected.keys()
    for key, sums in booked.items():
        assert (sums.count, sums.place) == (expected[key].count, expected[key].place)
        assert (sums.content, sums.bytes) == (expected[key].content, expected[key].bytes)
        assert sums.rows is not None


def test_without_a_topic_for_them_a_bad_record_stops_the_pipeline(tmp_path: Path) -> None:
    task = LakeTask(plan(tmp_path))
    reported = "topic orders, partition 0, offset 6 cannot be decoded: not JSON"
    with pytest.raises(PipelineError, match=reported):
        task.run(iter([records([order(0), b"garbage"], first=5)]))
    assert list(tmp_path.rglob("*.parquet")) == []


def test_a_full_disk_is_named_with_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object, **_named: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", fail)
    task = LakeTask(plan(tmp_path))
    message = f"{tmp_path} cannot be written: No space left on device; nothing was committed"
    with pytest.raises(LakeUnavailable, match=message):
        task.run(iter([records([order(0)])]))
    assert list(tmp_path.rglob("*.parquet")) == []


def test_bad_and_late_rows_are_counted_and_not_written(tmp_path: Path) -> None:
    values = [order(0), b"garbage", order(2, "2026-03-01T02:00:00Z"), b'{"id": "x"}', order(4)]
    wanted = plan(
        tmp_path,
        late_before_us=FIRST_MS * 1000 - 2 * HOUR_US,
        bad_topic="orders.bad",
        late_topic="orders.late",
    )
    task = LakeTask(wanted)
    report = task.run(iter([records(values)]))
    assert report.counts.numbers() == (5, 2, 0, 2, 1)
    assert rows_of(tmp_path, report).column("id").to_pylist() == [0, 4]


def test_fields_that_the_schema_lacks_are_counted(tmp_path: Path) -> None:
    values = [order(0), b'{"id": 1, "colour": "red"}', b'{"colour": "blue", "size": 3}', b"garbage"]
    report = LakeTask(plan(tmp_path, bad_topic="orders.bad")).run(iter([records(values)]))
    assert report.unknown_fields == {"colour": 2, "size": 1}


def test_classes_do_not_overlap() -> None:
    times = pa.array([0, 10, None, -5, 10**17, 3], pa.int64()).cast(TIME)
    found = classify(times, {1: "odd"}, late_before_us=4)
    assert found.bad == {1: "odd", 3: OUT_OF_RANGE, 4: OUT_OF_RANGE}
    assert found.late is not None
    assert found.late.to_pylist() == [True, False, False, False, False, True]
    assert found.good is not None
    assert found.good.to_pylist() == [False, False, True, False, False, False]


def test_a_side_record_keeps_everything_and_says_where_it_comes_from() -> None:
    batch = records([b"a", b"b", b"c"], first=40)
    ids = {"orders": TOPIC_ID}
    (made,) = side_records(batch, [1], ["not JSON"], "orders.bad", "orders_lake", ids).to_pylist()
    assert (made["key"], made["value"], made["topic"]) == (b"k41", b"b", "orders.bad")
    assert made["headers"][0] == {"key": "h", "value": b"1"}
    assert origin_of(made["headers"]) == {
        "pipeline": "orders_lake", "topic": "orders", "topic-id": TOPIC_ID, "partition": "0",
        "offset": "41", "timestamp": str(FIRST_MS + 41), "reason": "not JSON",
    }  # fmt: skip


def test_headers_that_are_empty_for_spark_are_none_again() -> None:
    batch = records([order(each) for each in range(4)])
    position = batch.schema.names.index("headers")
    lists = [each or [] for each in batch.column("headers").to_pylist()]
    given = batch.set_column(position, "headers", pa.array(lists, HEADERS))
    assert without_empty_headers(given).equals(batch)
    none = batch.set_column(position, "headers", pa.array([[]] * 4, HEADERS))
    assert without_empty_headers(none).column("headers").null_count == 4
    assert without_empty_headers(batch).equals(batch)
