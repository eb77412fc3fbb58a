"""Parquet files written by the tasks themselves: a stream of files, in a real session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from confluent_kafka import Producer
from tests.integration.spark.queries import run_query
from tests.integration.spark.source.dataframes import (
    expected_rows,
    read,
    read_stream,
)
from tests.support.transactions import wait_until_stable

from ottla.testing import Kafka

pytestmark = pytest.mark.xdist_group("spark")


def test_a_stream_of_files_holds_every_record_once(
    spark: Any, kafka: Kafka, tmp_path: Path
) -> None:
    topic = kafka.topic("t", partitions=2)
    kafka.produce(topic, [(f"k{number}", f"v{number}") for number in range(250)])
    files = read_stream(
        spark,
        kafka,
        topic,
        startingOffsets="earliest",
        maxOffsetsPerTrigger=100,
        filesTo=tmp_path / "lake",
    )
    stream = (
        files.writeStream.format("json")
        .option("path", str(tmp_path / "manifest"))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
    )
    run_query(stream.start)
    reported = spark.read.schema(files.schema).json(str(tmp_path / "manifest")).collect()
    expected = expected_rows(kafka, topic)
    assert sum(row.rows for row in reported) == len(expected) == 250
    assert {row.path for row in reported if row.rows} == {
        str(path) for path in (tmp_path / "lake").iterdir()
    }
    assert sorted(written_in(reported)) == sorted(
        (row[0], row[1], row[3], row[4]) for row in expected
    )
    assert offsets_reported_in(reported) == {(row[3], row[4]) for row in expected}


def written_in(reported: list[Any]) -> list[tuple[bytes, bytes, int, int]]:
    tables = [pq.read_table(row.path) for row in reported if row.rows]
    return [
        (row["key"], row["value"], row["partition"], row["offset"])
        for table in tables
        for row in table.to_pylist()
    ]


def offsets_reported_in(reported: list[Any]) -> set[tuple[int, int]]:
    return {
        (row.partition, offset)
        for row in reported
        for offset in range(row.startOffset, row.endOffset)
    }


def test_a_range_without_records_has_a_row_without_a_file(
    spark: Any, kafka: Kafka, tmp_path: Path
) -> None:
    topic = kafka.topic("t")
    abort_a_record(kafka, topic)
    frame = read(
        spark, kafka, topic, filesTo=tmp_path, **{"kafka__isolation__level": "read_committed"}
    )
    (row,) = frame.collect()
    assert (row.path, row.rows, row.startOffset, row.endOffset) == (None, 0, 0, 2)
    assert list(tmp_path.iterdir()) == []


def abort_a_record(kafka: Kafka, topic: str) -> None:
    producer = Producer(
        {"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": kafka.name("aborting")}
    )
    producer.init_transactions(120)
    producer.begin_transaction()
    producer.produce(topic, b"never seen")
    producer.flush(120)
    producer.abort_transaction(120)
    wait_until_stable(kafka.bootstrap_servers, topic)


def test_a_schema_of_records_is_refused_where_rows_are_files(
    spark: Any, kafka: Kafka, tmp_path: Path
) -> None:
    topic = kafka.topic("t")
    with pytest.raises(Exception, match="Option filesTo"):
        read(spark, kafka, topic, "value binary", filesTo=tmp_path).collect()
