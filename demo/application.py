"""The Spark application of the demo: one process, three queries over the reports.

    python -m demo.application --bootstrap HOST:PORT --lake DIR --checkpoints DIR \\
        --temporary DIR [--seed 7 ...]

    lake     every report, as Parquet files
    latest   each truck's latest position, in a compacted topic
    alerts   trucks that were driven for too long, in a topic: windows of fleet time in SQL

Promises  after a restart with the same checkpoints it continues where it stopped, however it ended:
          nothing is lost or duplicated. A query that fails is restarted a few times. Exits with
          code 1 if that does not help, and when its standard input is closed.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from demo import scenario as scenarios
from demo.parent_pipe import listen
from demo.scenario import ALERTS_TOPIC, LATEST_TOPIC, QUERIES, REPORTS_TOPIC, Scenario
from demo.services import FAILED, READY
from demo.transforms import driving_too_long, latest_per_truck, parsed_reports

LOOK_S = 0.2
FAILURES_MAX = 5
END_S = 10.0

SETTINGS = {
    "spark.master": "local[2]",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",  # two cores, two hundred trucks
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.streaming.minBatchesToRetain": "1000",  # the orchestrator reads them all at the end
}


class Application:
    def __init__(self, spark: SparkSession, arguments: argparse.Namespace) -> None:
        self._spark = spark
        self._bootstrap = arguments.bootstrap
        self._lake: Path = arguments.lake
        self._checkpoints: Path = arguments.checkpoints
        self._scenario: Scenario = scenarios.from_arguments(arguments)
        self._running: dict[str, StreamingQuery] = {}
        self._failures = 0

    def start(self) -> None:
        for name in QUERIES:
            self._start_query(name)

    def _start_query(self, name: str) -> None:
        starters = {
            "lake": self._start_lake,
            "latest": self._start_latest,
            "alerts": self._start_alerts,
        }
        self._running[name] = starters[name]()

    def restart_failed(self) -> bool:
        """Restart failed queries from their checkpoints. False if they failed too often.

        On an overloaded machine Spark gives up on a Python worker after ten seconds.
        """
        for name, query in list(self._running.items()):
            if query.isActive:
                continue
            print(f"{FAILED} {name}: {query.exception()}", file=sys.stderr, flush=True)
            self._failures += 1
            if self._failures > FAILURES_MAX:
                return False
            self._start_query(name)
        return True

    def stop(self) -> None:
        for query in self._running.values():
            query.stop()

    def _start_lake(self) -> StreamingQuery:
        reports = self._reports("lake")
        return self._writer(reports, "lake", "2 seconds").format("parquet").start(str(self._lake))

    def _start_latest(self) -> StreamingQuery:
        writer = self._writer(self._reports("latest"), "latest", "1 second")
        return writer.foreachBatch(self._write_latest).start()

    def _write_latest(self, reports: DataFrame, batch_id: int) -> None:
        """A batch that is repeated after a crash has the same number and is written once."""
        (
            latest_per_truck(reports)
            .write.format("ottla")
            .option("kafka.bootstrap.servers", self._bootstrap)
            .option("topic", LATEST_TOPIC)
            .option("txnAppId", "fleet-latest")
            .option("txnVersion", batch_id)
            .mode("append")
            .save()
        )

    def _start_alerts(self) -> StreamingQuery:
        alerts = driving_too_long(self._reports("alerts"), self._scenario.watermark_ms)
        writer = self._writer(alerts, "alerts", "2 seconds").format("ottla")
        return (
            writer.option("kafka.bootstrap.servers", self._bootstrap)
            .option("topic", ALERTS_TOPIC)
            .start()
        )

    def _reports(self, query: str) -> DataFrame:
        records = (
            self._spark.readStream.format("ottla")
            .option("kafka.bootstrap.servers", self._bootstrap)
            .option("kafka.group.id", f"fleet-{query}")
            .option("subscribe", REPORTS_TOPIC)
            .option("startingOffsets", "earliest")
            .load()
        )
        return parsed_reports(records)

    def _writer(self, rows: DataFrame, query: str, every: str) -> DataStreamWriter:
        return (
            rows.writeStream.queryName(query)
            .option("checkpointLocation", str(self._checkpoints / query))
            .trigger(processingTime=every)
        )


def settings(temporary: Path) -> dict[str, str]:
    """Settings for a short run on a small machine: fast start, no files outside the directory."""
    java = f"-Djava.io.tmpdir={temporary} -XX:-UsePerfData -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
    places = {
        "spark.local.dir": str(temporary),
        "spark.sql.warehouse.dir": str(temporary / "warehouse"),
        "spark.driver.extraJavaOptions": java,
    }
    return SETTINGS | places


def open_session(temporary: Path) -> SparkSession:
    builder = SparkSession.builder.appName("fleet")
    for name, value in settings(temporary).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    return spark


def stop_at_end_of_input() -> threading.Event:
    """An event that is set when standard input is closed. The process then has some seconds to
    stop."""
    unwanted = threading.Event()

    def end() -> None:
        unwanted.set()
        time.sleep(END_S)
        os._exit(1)  # the JVM exits too: its standard input is closed

    listen(on_end=end)
    return unwanted


def watch(application: Application, unwanted: threading.Event) -> int:
    """Wait until this process is to stop (0) or queries fail too often (1)."""
    while not unwanted.wait(LOOK_S):
        if not application.restart_failed():
            return 1
    application.stop()
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--lake", required=True, type=Path)
    parser.add_argument("--checkpoints", required=True, type=Path)
    parser.add_argument("--temporary", required=True, type=Path)
    scenarios.add_arguments(parser)
    arguments = parser.parse_args()
    unwanted = stop_at_end_of_input()
    spark = open_session(arguments.temporary)
    application = Application(spark, arguments)
    application.start()
    print(READY, flush=True)
    code = watch(application, unwanted)
    spark.stop()
    return code


if __name__ == "__main__":
    sys.exit(main())
