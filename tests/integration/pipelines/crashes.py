"""kill -9 of the driver of pipelines at every point of a batch, for every format of tables.

    python -m tests.integration.pipelines.crashes [--format delta] [--point pipeline-decided]

For each point: orders are produced, a run dies in the middle of a batch, further runs finish, and
tables and topics are compared with what was produced. Exit code 1 if anything differs.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.integration.pipelines.orders import Orders, ids, pipeline_file, produce
from tests.integration.spark.sink.committed_records import committed
from tests.support.kafka_jars import ROOT
from tests.support.spark_jvm import use_archive

from ottla.base.fault_points import VARIABLE, PipelinePoint
from ottla.pipelines.declaration.tree import Lake
from ottla.pipelines.lake.opening import open_table
from ottla.testing import Kafka
from ottla.testing.broker import RunningBroker

FORMATS = ("parquet", "delta", "iceberg")
PATIENCE_S = 600.0


def run_pipeline(path: Path, variables: Mapping[str, str] | None = None) -> int:
    """The exit code of `ottla pipeline run --once`."""
    done = subprocess.run(
        [sys.executable, "-m", "ottla.cli.main", "pipeline", "run", "--once", str(path)],
        cwd=ROOT,
        env={**os.environ, **(variables or {})},
        timeout=PATIENCE_S,
        check=False,
    )
    return done.returncode


def crash(servers: str, topic: str, directory: Path, form: str, point: PipelinePoint) -> list[str]:
    """What differs afterwards."""
    orders = Orders()
    path = pipeline_file(directory, servers, topic, form)
    produce(servers, topic, range(3000), orders)
    code = run_pipeline(path, {VARIABLE: f"{point.value}:2"})  # in the second batch
    produce(servers, topic, range(3000, 3500), orders, late_at=40)
    problems = []
    expected = -signal.SIGKILL
    if code != expected and not (point is PipelinePoint.HALF_PUBLISHED and form != "parquet"):
        problems.append(f"the run ended with {code}, not with {expected}")
    if (code := run_pipeline(path)) != 0:
        problems.append(f"the next run ended with {code}")
    table = open_table(Lake(str(directory / "lake" / "orders_lake"), format=form, hourly="at"),
                       "orders_lake")  # fmt: skip
    return [*problems, *differences(servers, topic, ids(table.rows()), orders)]


def differences(servers: str, topic: str, found: list[int], orders: Orders) -> list[str]:
    problems = []
    if found != sorted(orders.good):
        lost, more = orders.good - set(found), len(found) - len(set(found))
        problems.append(f"the table lacks {len(lost)} orders and has {more} twice")
    bad = [int((each.value or "").split()[1]) for each in committed(servers, f"{topic}.bad")]
    if sorted(bad) != sorted(orders.bad):
        problems.append(f"bad records: {len(bad)} for {len(orders.bad)}")
    late = committed(servers, f"{topic}.late")
    if len(late) != len(orders.late):
        problems.append(f"late records: {len(late)} for {len(orders.late)}")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--format", choices=FORMATS, action="append")
    parser.add_argument("--point", choices=[each.value for each in PipelinePoint], action="append")
    arguments = parser.parse_args()
    points = [PipelinePoint(each) for each in arguments.point or ()] or list(PipelinePoint)
    use_archive()
    failed = 0
    with RunningBroker() as broker:
        kafka = Kafka(broker.bootstrap_servers)
        for form in arguments.format or FORMATS:
            for point in points:
                topic = kafka.topic("orders", partitions=3)
                with TemporaryDirectory() as directory:
                    found = crash(broker.bootstrap_servers, topic, Path(directory), form, point)
                failed += bool(found)
                print(f"{form:8} {point.value:24} {'; '.join(found) or 'right'}", flush=True)
        kafka.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
