"""One Spark session with both connectors: format("ottla"), and Spark's own.

Owns      the connector's jars in `.cache/spark-connector/`, downloaded once with Maven.
Promises  both run alternately in the same session, on the same broker.

Not every release of the connector is complete in every copy of Maven's repository. This set is
complete and runs in Spark 4.3; the token provider is needed only for its classes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.report import OURS, THEIRS, Report

CONNECTOR_VERSION = "4.2.0"
ARTIFACTS = [
    f"org.apache.spark:spark-sql-kafka-0-10_2.13:{CONNECTOR_VERSION}",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.2",
    "org.apache.commons:commons-pool2:2.12.1",
]
JARS = Path(__file__).parents[2] / ".cache" / "spark-connector"
FORMATS = {OURS: "ottla", THEIRS: "kafka"}
HEADS = ("ottla", "JVM connector")


def connector_jars() -> str:
    if not JARS.is_dir():
        partial = JARS.with_name("spark-connector.partial")
        shutil.rmtree(partial, ignore_errors=True)
        for artifact in ARTIFACTS:
            words = ["dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={partial}"]
            subprocess.run(["mvn", "--quiet", "--batch-mode", *words], check=True)
        partial.rename(JARS)
    return ",".join(map(str, sorted(JARS.glob("*.jar"))))


@contextmanager
def spark_session(**settings: str) -> Iterator[Any]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("benchmark")
    wanted = {
        "spark.jars": connector_jars(),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "2g",
        "spark.sql.shuffle.partitions": "2",
        "spark.log.level": "ERROR",
        **settings,
    }
    for name, value in wanted.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    versions = f"Spark {session.version}, JVM connector {CONNECTOR_VERSION}, kafka-clients 3.9.2"
    print(f"{versions}, Python {sys.version.split()[0]}", file=sys.stderr)
    try:
        yield session
    finally:
        session.stop()


def report(title: str, *, less_is_better: bool, unit: str, digits: int = 0) -> Report:
    return Report(title, less_is_better, unit, digits, HEADS)
