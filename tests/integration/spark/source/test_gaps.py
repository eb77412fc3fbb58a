"""Offsets that compaction took are no loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable
from tests.integration.spark.source.dataframes import expected_rows, options_of
from tests.support.waiting import wait_until

from ottla.spark.data_source import batch_reader, stream_reader
from ottla.spark.records.schema import full_schema
from ottla.testing import Broker, Kafka

pytestmark = pytest.mark.xdist_group("apache-kafka")

COMPACTED = {
    "cleanup.policy": "compact", "segment.ms": "50", "min.cleanable.dirty.ratio": "0.01",
    "max.compaction.lag.ms": "100",
}  # fmt: skip
SCHEMA = full_schema(with_headers=False)


@pytest.fixture(params=["ottla", pytest.param("apache-kafka", marks=pytest.mark.java)])
def compacting_kafka(request: pytest.FixtureRequest) -> Iterator[Kafka]:
    if request.param == "ottla":
        with Broker(config={"log.cleaner.backoff.ms": "100"}) as broker:
            yield Kafka(broker.bootstrap_servers)
    else:
        kafka = Kafka(request.getfixturevalue("apache_kafka").bootstrap)
        yield kafka
        kafka.close()


def compact(kafka: Kafka, topic: str) -> None:
    """Write the same keys again and again until offsets are missing."""
    written = 0

    def has_gaps() -> bool:
        nonlocal written
        kafka.produce(topic, [(f"key {n % 3}", f"value {n}") for n in range(20)])
        written += 20
        found = expected_rows(kafka, topic)
        offsets = [row[4] for row in found]
        return len(found) < written and offsets[0] > 0

    wait_until(has_gaps, "compaction")


def values_of(reader: Any, partitions: Any) -> list[Any]:
    tables = [table for each in partitions for table in reader.read(each)]
    return pa.Table.from_batches(tables).column("value").to_pylist() if tables else []


def test_compacted_offsets_are_passed_over(compacting_kafka: Kafka) -> None:
    topic = compacting_kafka.topic("t", config=COMPACTED)
    compact(compacting_kafka, topic)
    options = options_of(compacting_kafka, topic, {"startingOffsets": "earliest"})
    batch = batch_reader(options, SCHEMA)
    stream = stream_reader(options, SCHEMA)
    start: dict[str, Any] = {topic: {"0": 0}}
    end = stream.latestOffset(start, ReadAllAvailable())
    # More may be compacted between one reading and the next: what is last of its key stays.
    last = {row[0]: row[1] for row in expected_rows(compacting_kafka, topic)}
    for values in (
        values_of(batch, batch.partitions()),
        values_of(stream, stream.partitions(start, end)),
    ):
        assert set(last.values()) <= set(values)
        assert len(values) < end[topic]["0"]
    stream.stop()
