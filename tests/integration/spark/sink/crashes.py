"""Deaths of a driver, an executor and a broker at every named point of a write, one by one.

    python -m tests.integration.spark.sink.crashes [--node ottla|kafka] [--victim driver|...]
        [--point sink-decided ...]

Each step gives a job new rows, and kills the victim (kill -9) where the point is reached. A broker
that died is started again, a job that died too, without a fault. Then a separate process compares
the topic with what the seed says must be there. Exit code 1 if anything differed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tests.integration.spark.sink.scenario import FILES_PER_STEP, write_files
from tests.support.apache_kafka import ApacheKafka

from ottla.base.fault_points import JAVA, ONCE, VARIABLE, VICTIM, SinkPoint
from ottla.client.admin.topics import NewTopic, create_topics
from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import ClientSettings
from ottla.testing.broker import RunningBroker

ROOT = Path(__file__).parents[4]
JOB = "tests.integration.spark.sink.job"
CHECKER = "tests.integration.spark.sink.checker"
TOPIC = "written"
PARTITIONS = 4
JOB_S = 600.0
POLL_S = 0.1
DRIVER, EXECUTOR, BROKER = "driver", "executor", "broker"
LOCAL, CLUSTER = "local[2]", "local-cluster[2,1,1024]"
IN_TASKS = (SinkPoint.WRITING, SinkPoint.WRITTEN)


class Node(Protocol):
    """A broker that may be killed from outside, and is started again at the same address."""

    @property
    def bootstrap_servers(self) -> str: ...
    @property
    def pid(self) -> int: ...
    def start(self) -> None: ...
    def is_running(self) -> bool: ...
    def close(self) -> None: ...


class OttlaNode:
    def __init__(self, directory: Path) -> None:
        self._broker = RunningBroker(data=directory)

    @property
    def bootstrap_servers(self) -> str:
        return self._broker.bootstrap_servers

    @property
    def pid(self) -> int:
        return self._broker.pid

    def start(self) -> None:
        self._broker.start()

    def is_running(self) -> bool:
        return self._broker.is_running

    def close(self) -> None:
        self._broker.close()


class KafkaNode:
    def __init__(self, directory: Path) -> None:
        self._kafka = ApacheKafka(directory)

    @property
    def bootstrap_servers(self) -> str:
        return self._kafka.bootstrap

    @property
    def pid(self) -> int:
        return self._kafka.pid

    def start(self) -> None:
        self._kafka.close()
        self._kafka.start()

    def is_running(self) -> bool:
        return self._kafka.is_running

    def close(self) -> None:
        self._kafka.close()


NODES: dict[str, Callable[[Path], Node]] = {"ottla": OttlaNode, "kafka": KafkaNode}


@dataclass
class Outcome:
    """What a step came to: `trouble` is empty when all is well."""

    step: str
    took_s: float = 0.0
    jobs: int = 0
    found: str = ""
    trouble: str = ""

    def __str__(self) -> str:
        verdict = "FAILED" if self.trouble else "ok"
        reason = f"\n{self.trouble}" if self.trouble else ""
        result = f"{verdict:6} {self.step:40} {self.took_s:5.1f} s  {self.jobs} jobs  {self.found}"
        return f"{result}{reason}"


@dataclass
class Story:
    """One topic, one query, and all that happens to it."""

    node: Node
    directory: Path
    seed: int = 7
    files: int = 0
    deaths: int = 0
    outcomes: list[Outcome] = field(default_factory=list)

    def begin(self) -> None:
        with Cluster(ClientSettings(self.node.bootstrap_servers)) as cluster:
            create_topics(cluster, [NewTopic(TOPIC, PARTITIONS)])

    def step(self, point: SinkPoint | None, victim: str = DRIVER) -> Outcome:
        outcome = Outcome(f"{victim} at {point.value}" if point else "nothing dies")
        started_s = time.monotonic()
        self.files += FILES_PER_STEP
        write_files(self.directory / "input", self.seed, self.files)
        self._write(outcome, point, victim)
        if not outcome.trouble:
            code, outcome.found = self.check()
            outcome.trouble = outcome.found if code else ""
            outcome.found = outcome.found.partition("\n")[0]
        outcome.took_s = time.monotonic() - started_s
        self.outcomes.append(outcome)
        return outcome

    def _write(self, outcome: Outcome, point: SinkPoint | None, victim: str) -> None:
        master = CLUSTER if victim == EXECUTOR else LOCAL
        environment = self._fault(point, victim) if point else {}
        code, said = self._run_job(environment, master)
        outcome.jobs = 1
        if point and not Path(environment[ONCE]).exists():
            outcome.trouble = f"no process died: {point.value} was not reached\n{said}"
        elif code:
            code, said = self._run_job({}, master)
            outcome.jobs = 2
        if code:
            outcome.trouble = f"the job ended with {code} although nothing was killed\n{said}"

    def _fault(self, point: SinkPoint, victim: str) -> dict[str, str]:
        self.deaths += 1
        pid_file = self.directory / "victim.pid"
        if victim == BROKER:
            pid_file.write_text(str(self.node.pid))
        return {
            VARIABLE: point.value,
            VICTIM: JAVA if _has_java_above(point, victim) else str(pid_file),
            ONCE: str(self.directory / f"died-{self.deaths}"),
        }

    def _run_job(self, environment: Mapping[str, str], master: str) -> tuple[int, str]:
        """Its exit code and the end of what it said; the broker is kept alive meanwhile."""
        log_path = self.directory / "job.log"
        words = [
            sys.executable, "-m", JOB, "--bootstrap", self.node.bootstrap_servers,
            "--topic", TOPIC, "--input", str(self.directory / "input"),
            "--checkpoint", str(self.directory / "checkpoint"), "--master", master,
        ]  # fmt: skip
        if master == CLUSTER:
            words += ["--executor-file", str(self.directory / "victim.pid")]
        with open(log_path, "w") as log:
            job = subprocess.Popen(
                words, cwd=ROOT, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            )  # fmt: skip
            try:
                self._watch(job)
            finally:
                job.kill()
                job.wait()
        return job.returncode, log_path.read_text()[-4000:]

    def _watch(self, job: subprocess.Popen[bytes]) -> None:
        deadline_s = time.monotonic() + JOB_S
        while time.monotonic() < deadline_s:
            if not self.node.is_running():
                self.node.start()
            try:
                job.wait(POLL_S)
                return
            except subprocess.TimeoutExpired:
                pass

    def check(self) -> tuple[int, str]:
        words = ["--bootstrap", self.node.bootstrap_servers, "--topic", TOPIC]
        words += ["--seed", str(self.seed), "--files", str(self.files)]
        if not self.node.is_running():
            self.node.start()
        done = subprocess.run(
            [sys.executable, "-m", CHECKER, *words], cwd=ROOT, capture_output=True, text=True
        )
        return done.returncode, (done.stdout + done.stderr).strip()


def _has_java_above(point: SinkPoint, victim: str) -> bool:
    """Where the point is reached in the victim's own Python processes."""
    return victim == DRIVER or (victim == EXECUTOR and point in IN_TASKS)


def run(node_kind: str, victims: Sequence[str], points: Sequence[SinkPoint]) -> list[Outcome]:
    with tempfile.TemporaryDirectory(prefix="ottla-crashes-") as name:
        node = NODES[node_kind](Path(name) / "node")
        node.start()
        try:
            story = Story(node, Path(name))
            story.begin()
            for victim in victims:
                for point in points:
                    print(f"{node_kind:6}", story.step(point, victim), flush=True)
            return story.outcomes
        finally:
            node.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--node", choices=NODES, action="append")
    parser.add_argument("--victim", choices=[DRIVER, EXECUTOR, BROKER], action="append")
    parser.add_argument("--point", choices=[each.value for each in SinkPoint], action="append")
    arguments = parser.parse_args()
    points = [SinkPoint(each) for each in arguments.point or [each.value for each in SinkPoint]]
    outcomes = [
        outcome
        for kind in arguments.node or NODES
        for outcome in run(kind, arguments.victim or [DRIVER, EXECUTOR, BROKER], points)
    ]
    failed = sum(bool(each.trouble) for each in outcomes)
    print(f"{len(outcomes)} deaths, {failed} of them left something wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
