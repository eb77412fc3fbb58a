"""Lakes by the hour: rows per second from a topic to a table, and what the verbs cost.

    python -m benchmarks.spark.pipelines [--rounds 3] [--long] [--only ottla]

Values of 100 bytes in six partitions. Ours is `ottla pipeline run --once`: an hourly table with
counts and sums of every file, committed once. The other is Spark's connector and Spark's Parquet
sink, in folders by hour, with a checkpoint. Both run alternately in one session, and the first run
of each is not counted. Then, in seconds: from the start of the command to its first commit, and the
backfill of one file that was removed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.end_to_end.brokers import running
from benchmarks.report import OURS, THEIRS, Options, options, show
from benchmarks.spark.connectors import report, spark_session
from benchmarks.spark.reading import MILLION, fill

from ottla.pipelines.declaration.loading import load
from ottla.pipelines.declaration.tree import Lake
from ottla.pipelines.lake.opening import open_table
from ottla.pipelines.running.service import PipelineService
from ottla.pipelines.verbs.backfill import backfill

TOPIC = "six"


def main() -> None:
    asked = options(__doc__)
    measure(asked, (20 if asked.is_long else 6) * MILLION)


def measure(asked: Options, rows: int) -> None:
    rates = report("Lake by the hour, 100 B", less_is_better=False, unit="thousand rows/s")
    times = report("Verbs of pipelines", less_is_better=True, unit="s", digits=2)
    with running([OURS]) as (broker,), tempfile.TemporaryDirectory() as place:
        fill(broker.bootstrap, TOPIC, 6, rows)
        directory = Path(place)
        with spark_session() as spark:
            for number in range(asked.rounds + 1):
                for form in ("parquet", "delta"):
                    taken_s = ours(spark, broker.bootstrap, directory, form)
                    if number:
                        rates.add(f"{form}, hourly, with counts", OURS, rows / taken_s / 1e3)
                if THEIRS in asked.brokers:
                    taken_s = theirs(spark, broker.bootstrap, directory)
                    if number:
                        for form in ("parquet", "delta"):  # what both are compared with
                            row = f"{form}, hourly, with counts"
                            rates.add(row, THEIRS, rows / taken_s / 1e3)
            times.add("backfill of one file", OURS, repaired(spark, broker.bootstrap, directory))
        times.add("start to the end of --once", OURS, started(broker.bootstrap, directory))
    show(rates)
    show(times)


def pipeline_file(bootstrap: str, directory: Path, form: str, topic: str = TOPIC) -> Path:
    """A new one, whose table and state do not exist."""
    for name in ("state", "lake"):
        shutil.rmtree(directory / name, ignore_errors=True)
    path = directory / f"{form}.yaml"
    path.write_text(
        f"""\
spark: {{master: "local[2]", driver.memory: 2g}}
clusters: {{main: "{bootstrap}"}}
state: {directory}/state
pipelines:
  bench:
    from: {{topics: [{topic}]}}
    to: {{lake: {directory}/lake, format: {form}}}
    batch_records: 100000000
"""
    )
    return path


def ours(spark: Any, bootstrap: str, directory: Path, form: str) -> float:
    declared = load(str(pipeline_file(bootstrap, directory, form)))
    start = time.perf_counter()
    service = PipelineService(spark, declared, ["bench"], once=True, on_report=lambda _: None)
    assert service.run(), service.running["bench"].failure
    return time.perf_counter() - start


def theirs(spark: Any, bootstrap: str, directory: Path) -> float:
    for name in ("checkpoint", "their-lake"):
        shutil.rmtree(directory / name, ignore_errors=True)
    start = time.perf_counter()
    records = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .options(subscribe=TOPIC, startingOffsets="earliest")
        .load()
    )
    rows = records.selectExpr(
        "value", "topic", "partition", "offset", "timestamp",
        "date_format(timestamp, 'yyyy-MM-dd-HH') AS hour",
    )  # fmt: skip
    query = (
        rows.writeStream.format("parquet")
        .partitionBy("hour")
        .option("checkpointLocation", str(directory / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(directory / "their-lake"))
    )
    query.awaitTermination()
    return time.perf_counter() - start


def repaired(spark: Any, bootstrap: str, directory: Path) -> float:
    """Of a table with the files of one batch."""
    ours(spark, bootstrap, directory, "parquet")
    declared = load(str(directory / "parquet.yaml"))
    pipeline = declared.pipelines["bench"]
    assert isinstance(pipeline.to, Lake)
    table = open_table(pipeline.to, "bench")
    (Path(table.directory) / table.files()[0]).unlink()
    start = time.perf_counter()
    done = backfill(declared, pipeline, [], lambda: spark)
    assert done.added > 0
    return time.perf_counter() - start


def started(bootstrap: str, directory: Path) -> float:
    """A process of its own, for a topic with few records: almost all of it is the start."""
    fill(bootstrap, "few", 1, 1000)
    path = pipeline_file(bootstrap, directory, "parquet", "few")
    start = time.perf_counter()
    words = [sys.executable, "-m", "ottla.cli.main", "pipeline", "run", "--once", str(path)]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
