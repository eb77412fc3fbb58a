"""Partitions that share a task, on both brokers, with readers asked as Spark asks them."""

from __future__ import annotations

import socket
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable
from tests.integration.spark.source.dataframes import (
    Row,
    delete_before,
    expected_rows,
    options_of,
    write_transaction,
)

from ottla.base.ids import TopicPartition
from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import ClientSettings
from ottla.config.addresses import Address
from ottla.spark.data_source import batch_reader, stream_reader
from ottla.spark.errors import DataLoss
from ottla.spark.planning.range_packing import TASKS_MIN
from ottla.spark.planning.read_tasks import KnownLeaders, TaskRanges
from ottla.spark.records.schema import full_schema
from ottla.spark.source import task_planning
from ottla.spark.source.parquet_files import FILE_ROWS
from ottla.spark.source.record_sizes import RecordSizes
from ottla.testing import Kafka

pytestmark = pytest.mark.xdist_group("apache-kafka")

PARTITIONS = 20
SCHEMA = full_schema(with_headers=False)


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_planning, "cores_here", lambda: 2)


@pytest.fixture
def topic(either_kafka: Kafka) -> str:
    """Twenty partitions with a few records each, some with none, one with an aborted one."""
    topic = either_kafka.topic("t", partitions=PARTITIONS)
    either_kafka.produce(topic, [(f"k{number % 60}", f"v{number}") for number in range(300)])
    write_transaction(either_kafka, topic, [b"never was"], commit=False, partition=3)
    return topic


def read_all(reader: Any, tasks: Any) -> list[Row]:
    """In the order in which Spark gets them."""
    tables = [pa.Table.from_batches(batches) for each in tasks if (batches := [*reader.read(each)])]
    return [
        (
            row["key"], row["value"], row["topic"], row["partition"], row["offset"],
            round(row["timestamp"].timestamp() * 1000), row["timestampType"],
        )
        for table in tables
        for row in table.to_pylist()
    ]  # fmt: skip


def by_log(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row[2:5])


def test_batches_and_streams_read_every_record_once_and_in_order(
    either_kafka: Kafka, topic: str
) -> None:
    options = options_of(either_kafka, topic, {"kafka__isolation__level": "read_committed"})
    expected = expected_rows(either_kafka, topic, isolation="read_committed")
    batch = batch_reader(options, SCHEMA)
    stream = stream_reader(options | {"startingOffsets": "earliest"}, SCHEMA)
    start = stream.initialOffset()
    end = stream.latestOffset(start, ReadAllAvailable())
    for reader, tasks in ((batch, batch.partitions()), (stream, stream.partitions(start, end))):
        assert len(tasks) == TASKS_MIN
        rows = read_all(reader, tasks)
        offsets = defaultdict(list)
        for row in rows:
            offsets[row[3]].append(row[4])
        assert all(found == sorted(found) for found in offsets.values())
        assert by_log(rows) == expected
    stream.stop()


def test_a_task_for_each_partition_where_that_is_asked_for(either_kafka: Kafka, topic: str) -> None:
    for asked in ({"packPartitions": "false"}, {"minPartitions": PARTITIONS}):
        reader = batch_reader(options_of(either_kafka, topic, asked), SCHEMA)
        assert all(len(task.ranges) == 1 for task in reader.partitions())


def test_files_have_the_records_of_one_partition_each(
    either_kafka: Kafka, topic: str, tmp_path: Path
) -> None:
    reader = batch_reader(options_of(either_kafka, topic, {"filesTo": tmp_path}), FILE_ROWS)
    tasks = reader.partitions()
    reported = [row for task in tasks for batch in reader.read(task) for row in batch.to_pylist()]
    assert len(tasks) < len(reported)
    planned = [each for task in tasks for each in task.ranges]
    assert [(row["partition"], row["startOffset"], row["endOffset"]) for row in reported] == [
        (each.partition.partition, each.start, each.end) for each in planned
    ]
    written = []
    for row in reported:
        found = pq.read_table(row["path"]).to_pylist()
        assert {each["partition"] for each in found} == {row["partition"]}
        written += [(each["partition"], each["offset"], each["value"]) for each in found]
    expected = expected_rows(either_kafka, topic)
    aborted = [each for each in written if each[2] == b"never was"]
    assert len(aborted) == 1, "read_uncommitted, with another client's row for it"
    assert sorted(written) == [(row[3], row[4], row[1]) for row in expected]


def test_what_is_lost_in_one_partition_does_not_touch_the_others(
    either_kafka: Kafka, topic: str
) -> None:
    expected = expected_rows(either_kafka, topic)
    lost = max((row[3] for row in expected), key=[row[3] for row in expected].count)
    places = [row[4] for row in expected if row[3] == lost]
    lenient = batch_reader(options_of(either_kafka, topic, {"failOnDataLoss": "false"}), SCHEMA)
    strict = batch_reader(options_of(either_kafka, topic, {}), SCHEMA)
    tasks = lenient.partitions()
    delete_before(either_kafka, topic, {lost: places[2]})
    kept = [row for row in expected if row[3] != lost or row[4] >= places[2]]
    assert by_log(read_all(lenient, tasks)) == kept
    with pytest.raises(DataLoss, match=f"topic {topic}, partition {lost}, offset 0"):
        read_all(strict, tasks)


def test_leaders_that_have_moved_since_the_planning_are_found(
    either_kafka: Kafka, topic: str
) -> None:
    reader = batch_reader(options_of(either_kafka, topic, {}), SCHEMA)
    tasks = reader.partitions()
    with socket.socket() as held:  # no process listens there, and none can
        held.bind(("127.0.0.1", 0))
        nowhere = Address("127.0.0.1", held.getsockname()[1])
        moved = [TaskRanges(task.ranges, moved_to(nowhere, task.leaders)) for task in tasks]
        assert all(task.leaders.leaders for task in moved)
        rows = read_all(reader, moved)
    assert by_log(rows) == expected_rows(either_kafka, topic)


def moved_to(address: Address, known: KnownLeaders) -> KnownLeaders:
    return KnownLeaders(known.leaders, dict.fromkeys(known.brokers, address))


def test_brokers_report_the_size_of_records(either_kafka: Kafka) -> None:
    topic = either_kafka.topic("large", partitions=2)
    either_kafka.produce(topic, [(f"k{number}", "x" * 10_000) for number in range(20)])
    with Cluster(ClientSettings(either_kafka.bootstrap_servers)) as cluster:
        found = RecordSizes().of(cluster, [TopicPartition(topic, 0), TopicPartition(topic, 1)])
    assert 10_000 <= found[topic] < 11_000
