"""A stream into Parquet files: rows per second of an AvailableNow run, by both connectors.

    python -m benchmarks.spark.streaming [--rounds 3] [--long]

Values of 100 bytes, 6 partitions, a million rows a batch, the first run not counted.
With filesTo the tasks write the files themselves, and Spark keeps the list of them.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from benchmarks.end_to_end.brokers import running
from benchmarks.report import OURS, options, show
from benchmarks.spark.connectors import FORMATS, report, spark_session
from benchmarks.spark.reading import MILLION, fill

BATCH_ROWS = MILLION
FILES_ROW = "by pyarrow inside the tasks (filesTo), beside Spark's writer there"


def main() -> None:
    asked = options(__doc__)
    rows = (10 if asked.is_long else 4) * MILLION
    rates = report("Stream to Parquet, 100 B", less_is_better=False, unit="thousand rows/s")
    with running([OURS]) as (broker,), spark_session() as spark:
        fill(broker.bootstrap, "stream", 6, rows)
        for number in range(asked.rounds + 1):
            for name in FORMATS:
                rate = rows / stream_to_parquet(spark, broker.bootstrap, name, rows) / 1e3
                if number:
                    rates.add("Spark's Parquet writer", name, rate)
                    if name != OURS:
                        rates.add(FILES_ROW, name, rate)
            rate = rows / stream_to_parquet(spark, broker.bootstrap, OURS, rows, True) / 1e3
            if number:
                rates.add(FILES_ROW, OURS, rate)
    show(rates)


def stream_to_parquet(
    spark: Any, bootstrap: str, name: str, rows: int, writes_files: bool = False
) -> float:
    directory = Path(tempfile.mkdtemp(prefix="ottla-benchmark-"))
    try:
        start = time.perf_counter()
        more = {"filesTo": str(directory / "lake")} if writes_files else {}
        query = (
            spark.readStream.format(FORMATS[name])
            .option("kafka.bootstrap.servers", bootstrap)
            .option("subscribe", "stream")
            .option("startingOffsets", "earliest")
            .option("maxOffsetsPerTrigger", BATCH_ROWS)
            .options(**more)
            .load()
            .writeStream.format("json" if writes_files else "parquet")
            .option("path", str(directory / ("manifest" if writes_files else "lake")))
            .option("checkpointLocation", str(directory / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        taken_s = time.perf_counter() - start
        written = sum(pq.read_metadata(path).num_rows for path in directory.rglob("lake/*.parquet"))
        assert written == rows + 6, f"{name}: {written} of {rows} rows"
        return taken_s
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
