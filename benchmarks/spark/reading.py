"""Batch reads: rows per second of a count and a sum of lengths, with both connectors.

    python -m benchmarks.spark.reading [--rounds 3] [--long]

Values of 100 bytes. The first pass of each connector is not counted: the JVM compiles its code. The
last rows read one million records from a log ten times as long, and from ten and forty times as
many partitions: neither should cost more.
"""

from __future__ import annotations

import os
import time
from typing import Any

from benchmarks.end_to_end.brokers import running
from benchmarks.end_to_end.librdkafka import produce
from benchmarks.end_to_end.wire import create_topics
from benchmarks.report import OURS, options, show
from benchmarks.spark.connectors import FORMATS, report, spark_session

MILLION = 1_000_000
# Records are assigned in runs of a thousand: the same number to each of six partitions.
LONG_ROWS, LAST_ROWS = 10_002_000, 996_000
SETTINGS = {"acks": "1", "linger.ms": 5, "batch.size": 256 * 1024}
SUM = "count(1) AS rows", "sum(length(value)) AS bytes"
SUBSET = "value binary"


def main() -> None:
    asked = options(__doc__)
    rows = (10 if asked.is_long else 4) * MILLION
    rates = report("Batch read, 100 B", less_is_better=False, unit="thousand rows/s")
    with running([OURS]) as (broker,), spark_session() as spark:
        fill(broker.bootstrap, "six", 6, rows)
        fill(broker.bootstrap, "lz4", 6, rows, {"compression.type": "lz4"})
        fill(broker.bootstrap, "short", 6, MILLION)
        fill(broker.bootstrap, "long", 6, LONG_ROWS)
        fill(broker.bootstrap, "60", 60, MILLION)
        fill(broker.bootstrap, "240", 240, MILLION)
        for number in range(asked.rounds + 1):
            for name in FORMATS:
                warm_up = report("warm-up", less_is_better=False, unit="")
                # Spark may have ended its Python workers while the other connector ran.
                Reader(spark, broker.bootstrap, name, warm_up).measure("", "short", MILLION)
                read = Reader(spark, broker.bootstrap, name, rates if number else warm_up)
                read.measure("all columns, 6 partitions", "six", rows)
                read.measure("all columns, 6 partitions, lz4", "lz4", rows)
                read.measure("value alone, 6 partitions", "six", rows, SUBSET)
                read.measure("1 M in 6 partitions", "short", MILLION)
                read.measure("the last 1 M of 10 M in 6 partitions", "long", LAST_ROWS)
                read.measure("1 M in 60 partitions", "60", MILLION)
                read.measure("1 M in 240 partitions", "240", MILLION)
    show(rates)


class Reader:
    def __init__(self, spark: Any, bootstrap: str, name: str, rates: Any) -> None:
        self._spark, self._bootstrap, self._name, self._rates = spark, bootstrap, name, rates

    def measure(self, row: str, topic: str, rows: int, schema: str | None = None) -> None:
        start = time.perf_counter()
        reader = self._spark.read.format(FORMATS[self._name])
        reader = reader.option("kafka.bootstrap.servers", self._bootstrap)
        reader = reader.option("subscribe", topic)
        if rows == LAST_ROWS:
            reader = reader.option("startingOffsets", last_offsets(topic))
        if schema is not None and self._name == OURS:  # Spark prunes its own columns by itself
            reader = reader.schema(schema)
        found = reader.load().selectExpr(*columns(schema)).selectExpr(*SUM).collect()[0]
        taken_s = time.perf_counter() - start
        # One more record in each partition: `create_topics` writes one to test it.
        more = int(topic) if topic.isdecimal() else 6
        assert found.rows == rows + more, f"{self._name}, {row}: {found.rows} of {rows} rows"
        self._rates.add(row, self._name, rows / taken_s / 1e3)


def columns(schema: str | None) -> list[str]:
    """Without a subset every column is used, so that none is pruned."""
    if schema is not None:
        return ["value"]
    sizes = "length(topic) + partition + offset + timestampType + unix_micros(timestamp)"
    return [f"if({sizes} + coalesce(length(key), 0) < 0, null, value) AS value"]


def last_offsets(topic: str) -> str:
    start = (LONG_ROWS - LAST_ROWS) // 6
    each = ", ".join(f'"{partition}": {start}' for partition in range(6))
    return f'{{"{topic}": {{{each}}}}}'


def fill(
    bootstrap: str, topic: str, partitions: int, rows: int, more: dict[str, str] | None = None
) -> None:
    create_topics(bootstrap, [topic], partitions)
    values = [os.urandom(50) + bytes(50) for _ in range(100)]
    produce(bootstrap, topic, partitions, values, rows, {**SETTINGS, **(more or {})})


if __name__ == "__main__":
    main()
