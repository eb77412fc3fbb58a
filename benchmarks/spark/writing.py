"""Batch writes: rows per second into a topic, with both connectors.

    python -m benchmarks.spark.writing [--rounds 3] [--long]

Values of 100 bytes from a cached table, to 6 partitions; the first write is not counted. Ours
writes in transactions; Spark's connector writes at least once, so ours is measured that way too.
"""

from __future__ import annotations

import time
from typing import Any

from benchmarks.end_to_end.brokers import running
from benchmarks.end_to_end.wire import create_topics, delete_topics
from benchmarks.report import OURS, options, show
from benchmarks.spark.connectors import FORMATS, report, spark_session
from benchmarks.spark.reading import MILLION

WAYS = {
    "with keys": (True, {}),
    "without keys": (False, {}),
    "without keys, lz4": (False, {"kafka.compression.type": "lz4"}),
}
OUR_WAYS = {"": {}, ", at least once": {"delivery": "at-least-once"}}


def main() -> None:
    asked = options(__doc__)
    rows = (8 if asked.is_long else 2) * MILLION
    rates = report("Batch write, 100 B", less_is_better=False, unit="thousand rows/s")
    with running([OURS]) as (broker,), spark_session() as spark:
        table = prepare(spark, rows)
        for number in range(asked.rounds + 1):
            for row, (has_keys, more) in WAYS.items():
                frame = table if has_keys else table.drop("key")
                for suffix, ours in OUR_WAYS.items():
                    for name in FORMATS:
                        wanted = {**more, **(ours if name == OURS else {})}
                        taken_s = write(frame, broker.bootstrap, name, wanted)
                        if number:
                            rates.add(row + suffix, name, rows / taken_s / 1e3)
    show(rates)


def prepare(spark: Any, rows: int) -> Any:
    """In memory, so that creating the rows is not measured."""
    value = "cast(rpad(cast(xxhash64(id) AS string), 100, 'ottla') AS binary) AS value"
    table = spark.range(0, rows, 1, 2).selectExpr("cast(id AS string) AS key", value).cache()
    table.count()
    return table


def write(frame: Any, bootstrap: str, name: str, more: dict[str, str]) -> float:
    create_topics(bootstrap, ["written"], 6)
    start = time.perf_counter()
    writer = frame.write.format(FORMATS[name]).option("kafka.bootstrap.servers", bootstrap)
    writer.options(topic="written", **more).mode("append").save()
    taken_s = time.perf_counter() - start
    delete_topics(bootstrap, ["written"])
    return taken_s


if __name__ == "__main__":
    main()
