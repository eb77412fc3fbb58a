"""Micro-batches at a low rate: their duration by phase, with both connectors.

    python -m benchmarks.spark.microbatches [--rounds 3] [--long]

Ten records a second into six partitions, a stream without a trigger interval into the noop sink.
Spark reports the duration of each batch and its phases: planning, offsets, tasks, checkpoint logs.
The first ten batches are not counted.
"""

from __future__ import annotations

import tempfile
import threading
import time
from statistics import median
from typing import Any

from benchmarks.end_to_end.brokers import running
from benchmarks.end_to_end.wire import create_topics
from benchmarks.report import OURS, options, show
from benchmarks.spark.connectors import FORMATS, report, spark_session
from confluent_kafka import Producer

PARTS = (
    "triggerExecution",
    "addBatch",
    "queryPlanning",
    "latestOffset",
    "walCommit",
    "commitOffsets",
)
WARM_UP_BATCHES = 10


def main() -> None:
    asked = options(__doc__, rounds=2)
    batches = 150 if asked.is_long else 50
    times = report("A micro-batch of a few rows, median", less_is_better=True, unit="ms")
    with running([OURS]) as (broker,), spark_session() as spark:
        create_topics(broker.bootstrap, ["trickle"], 6)
        with Trickle(broker.bootstrap):
            for _ in range(asked.rounds):
                for name in FORMATS:
                    for part, value_ms in measure(spark, broker.bootstrap, name, batches).items():
                        times.add(part, name, value_ms)
    show(times)


class Trickle:
    """Ten records a second, until it is closed."""

    def __init__(self, bootstrap: str) -> None:
        self._producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0})
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="trickle")

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_exception: object) -> None:
        self._stop.set()
        self._thread.join()
        self._producer.flush(10)

    def _run(self) -> None:
        number = 0
        while not self._stop.wait(0.1):
            self._producer.produce("trickle", b"x" * 100, partition=number % 6)
            self._producer.poll(0)
            number += 1


def measure(spark: Any, bootstrap: str, name: str, batches: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="ottla-benchmark-") as checkpoint:
        query = (
            spark.readStream.format(FORMATS[name])
            .option("kafka.bootstrap.servers", bootstrap)
            .option("subscribe", "trickle")
            .option("startingOffsets", "latest")
            .load()
            .writeStream.format("noop")
            .option("checkpointLocation", checkpoint)
            .start()
        )
        found: dict[int, Any] = {}
        while len(found) < WARM_UP_BATCHES + batches and query.isActive:
            found |= {each.batchId: each for each in query.recentProgress if each.numInputRows}
            time.sleep(0.2)
        query.stop()
        if query.exception() is not None:
            raise RuntimeError(str(query.exception()))
    counted = [found[number] for number in sorted(found)[WARM_UP_BATCHES:]]
    return {part: median(each.durationMs.get(part, 0) for each in counted) for part in PARTS}


if __name__ == "__main__":
    main()
