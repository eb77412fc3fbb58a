"""A Spark job that writes what lies in a directory to a topic, exactly once, and ends.

    python -m tests.integration.spark.sink.job --input DIR --bootstrap HOST:PORT ...

It says `ready` when the session is up, and `batch N` after each batch. With `local-cluster` it puts
the number of an executor's process into a file, for those who mean to kill it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.integration.spark.queries import run_query

from ottla.base.fault_points import ONCE, VARIABLE, VICTIM, java_above

TASKS = 3


def main() -> int:
    arguments = parsed()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = session(arguments.master)
    if arguments.executor_file:
        # Only a moment after it has served a task: until then there may be none.
        pids = spark.sparkContext.parallelize(range(2), 2).mapPartitions(java_pids).collect()
        arguments.executor_file.write_text(str(pids[0]))
    print("ready", flush=True)
    query = run_query(lambda: write(spark, arguments))
    for progress in query.recentProgress:
        print("batch", progress["batchId"], progress["numInputRows"], flush=True)
    spark.stop()
    return 0


def java_pids(_rows: Iterable[int]) -> Iterator[int]:
    yield java_above(os.getpid())


def session(master: str) -> Any:
    from pyspark.sql import SparkSession

    builder = (
        SparkSession.builder.master(master)
        .config("spark.driver.memory", "512m")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.adaptive.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "200")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .config("spark.executor.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    )
    for name in (VARIABLE, VICTIM, ONCE, "PYTHONPATH"):
        if name in os.environ:
            builder = builder.config(f"spark.executorEnv.{name}", os.environ[name])
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def write(spark: Any, arguments: argparse.Namespace) -> Any:
    from pyspark.sql import functions as F  # noqa: N812

    rows = (
        spark.readStream.schema("key string, sequence long, payload string")
        .option("maxFilesPerTrigger", 1)
        .json(str(arguments.input))
    )
    # Spread at random: a batch that runs again has other rows in its tasks.
    records = rows.repartition(TASKS, F.rand()).select(
        "key", F.concat_ws(" ", "key", "sequence", "payload").alias("value")
    )
    return (
        records.writeStream.format("ottla")
        .option("kafka.bootstrap.servers", arguments.bootstrap)
        .option("topic", arguments.topic)
        .option("chunkBytes", 16_000)
        .option("checkpointLocation", str(arguments.checkpoint))
        .trigger(availableNow=True)
        .start()
    )


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--topic", required=True)
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--executor-file", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
