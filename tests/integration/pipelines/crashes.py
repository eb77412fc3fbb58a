"""kill -9 of a pipeline's driver, JVM, executor and task, at every point of a batch.

    python -m tests.integration.pipelines.crashes [--node kafka] [--format delta]
        [--victim driver] [--point pipeline-decided]

For each point: orders are produced, a process dies in the middle of the second batch, the pipeline
runs again where the whole run died, and table and topics are compared with what was produced. Exit
code 1 if anything differs, or if nothing died.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.integration.pipelines.orders import Orders, ids, pipeline_file, produce
from tests.integration.spark.sink.committed_records import committed
from tests.support.apache_kafka import ApacheKafka
from tests.support.kafka_jars import ROOT
from tests.support.spark_jvm import use_archive

from ottla.base.fault_points import JAVA, ONCE, VARIABLE, VICTIM, PipelinePoint
from ottla.pipelines.declaration.tree import Lake
from ottla.pipelines.lake.opening import open_table
from ottla.testing import Kafka
from ottla.testing.broker import RunningBroker
from ottla.testing.cluster import RunningCluster

FORMATS = ("parquet", "delta", "iceberg")
PATIENCE_S = 600.0
DRIVER, JVM, EXECUTOR, WORKER = "driver", "jvm", "executor", "worker"
VICTIMS = (DRIVER, JVM, EXECUTOR, WORKER)
NODES = ("ottla", "cluster", "kafka")
RUN = "tests.integration.pipelines.watched_run"


class Case(NamedTuple):
    form: str
    victim: str
    point: PipelinePoint

    def __str__(self) -> str:
        return f"{self.form:8} {self.victim:8} {self.point.value:24}"

    @property
    def is_possible(self) -> bool:
        """Tasks have one point, drivers have the others; and only Parquet is published by parts."""
        in_task = self.point is PipelinePoint.TASK_WRITTEN
        if self.point is PipelinePoint.HALF_PUBLISHED and self.form != "parquet":
            return False
        return self.victim == EXECUTOR or in_task == (self.victim == WORKER)

    @property
    def master(self) -> str:
        return "local-cluster[2,1,1024]" if self.victim == EXECUTOR else "local[2]"

    def variables(self, directory: Path) -> dict[str, str]:
        victim = str(directory / f"{self.victim}.pid")
        if self.point is PipelinePoint.TASK_WRITTEN:
            victim = JAVA if self.victim == EXECUTOR else ""
        return {
            # A task is a process of its own, and counts its own passes.
            VARIABLE: self.point.value + ("" if self.point is PipelinePoint.TASK_WRITTEN else ":2"),
            VICTIM: "" if self.victim == DRIVER else victim,
            ONCE: str(directory / "died"),
        }


def run_pipeline(directory: Path, path: Path, variables: Mapping[str, str] | None = None) -> int:
    """The exit code of `ottla pipeline run --once`."""
    done = subprocess.run(
        [sys.executable, "-m", RUN, str(directory), str(path)],
        cwd=ROOT,
        env={**os.environ, **(variables or {})},
        timeout=PATIENCE_S,
        stdout=subprocess.DEVNULL,
        check=False,
    )
    return done.returncode


def crash(servers: str, topic: str, directory: Path, case: Case) -> list[str]:
    """What differs afterwards."""
    orders = Orders()
    path = pipeline_file(directory, servers, topic, case.form, master=case.master)
    produce(servers, topic, range(3000), orders)
    problems = []
    code = run_pipeline(directory, path, case.variables(directory))
    if not (directory / "died").exists():
        problems.append("nothing died")
    if case.victim in (EXECUTOR, WORKER) and code != 0:
        problems.append(f"the run did not survive: it ended with {code}")
    produce(servers, topic, range(3000, 3500), orders, late_at=40)
    if (code := run_pipeline(directory, path)) != 0:
        problems.append(f"the next run ended with {code}")
    return problems + found_problems(servers, topic, directory, case.form, orders)


def found_problems(
    servers: str, topic: str, directory: Path, form: str, orders: Orders
) -> list[str]:
    lake = Lake(str(directory / "lake" / "orders_lake"), format=form, hourly="at")
    table = open_table(lake, "orders_lake")
    problems = differences(servers, topic, ids(table.rows()), orders)
    return problems + strange_files(Path(lake.lake), table.files())


def race(servers: str, topic: str, directory: Path, form: str) -> list[str]:
    """Two drivers of one pipeline, with one state, at the same time: the later one fences the
    other, or they run one after the other."""
    orders = Orders()
    path = pipeline_file(directory, servers, topic, form)
    produce(servers, topic, range(3000), orders)
    words = [sys.executable, "-m", RUN, str(directory), str(path)]
    both = [
        subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        for _ in range(2)
    ]
    codes = [each.wait(PATIENCE_S) for each in both]
    problems = [] if 0 in codes else [f"both drivers failed: {codes}"]
    if (code := run_pipeline(directory, path)) != 0:
        problems.append(f"the next run ended with {code}")
    return problems + found_problems(servers, topic, directory, form, orders)


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


def strange_files(lake: Path, known: list[str]) -> list[str]:
    """What readers of a directory would see, and is in no commit."""
    found = {str(path.relative_to(lake)) for path in lake.glob("hour=*/*.parquet")} - set(known)
    return [f"{len(found)} files that no commit names: {min(found)}"] if found else []


@contextmanager
def opened_node(kind: str) -> Iterator[str]:
    """The bootstrap servers of one broker, or of a cluster of three."""
    if kind == "cluster":
        with RunningCluster() as cluster:
            yield cluster.bootstrap_servers
        return
    if kind == "ottla":
        with RunningBroker() as broker:
            yield broker.bootstrap_servers
        return
    with TemporaryDirectory() as directory:
        node = ApacheKafka(Path(directory))
        node.start()
        try:
            yield node.bootstrap
        finally:
            node.close()


def cases(arguments: argparse.Namespace) -> list[Case]:
    points = [PipelinePoint(each) for each in arguments.point or ()] or list(PipelinePoint)
    found = [
        Case(form, victim, point)
        for form in arguments.format or FORMATS
        for victim in arguments.victim or VICTIMS
        for point in points
    ]
    return [case for case in found if case.is_possible]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--node", choices=NODES, default="ottla")
    parser.add_argument("--format", choices=FORMATS, action="append")
    parser.add_argument("--victim", choices=VICTIMS, action="append")
    parser.add_argument("--point", choices=[each.value for each in PipelinePoint], action="append")
    arguments = parser.parse_args()
    use_archive()
    failed = 0
    chosen: list[tuple[str, Callable[[str, str, Path], list[str]]]] = [
        (str(case), partial(crash, case=case)) for case in cases(arguments)
    ]
    if not arguments.point and not arguments.victim:
        forms = arguments.format or FORMATS
        chosen += [(f"{form:8} two drivers", partial(race, form=form)) for form in forms]
    with opened_node(arguments.node) as servers:
        kafka = Kafka(servers)
        for number, (name, play) in enumerate(chosen):
            topic = kafka.topic(f"orders-{number}", partitions=3)
            started_s = time.monotonic()
            with TemporaryDirectory() as directory:
                found = play(servers, topic, Path(directory))
            failed += bool(found)
            took_s = time.monotonic() - started_s
            print(f"{name:42} {took_s:5.1f} s  {'; '.join(found) or 'right'}", flush=True)
        kafka.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
