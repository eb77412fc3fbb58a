"""A writing process and its broker, killed again and again at random moments.

    python -m tests.integration.spark.sink.random_deaths [--node kafka] [--seed 1] [--batches 100]

The named points of `crashes.py` are those we thought of; this looks for the others. It takes the
small job instead of Spark, so a death costs a second and not half a minute. Exit code 1 if the
topic does not hold every row once.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.integration.spark.sink.committed_records import committed_values
from tests.integration.spark.sink.crashes import NODES, ROOT, Node
from tests.integration.spark.sink.small_job import TASKS, values_of
from tests.support.waiting import wait_until

from ottla.client.admin.topics import NewTopic, create_topics
from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import ClientSettings

JOB = "tests.integration.spark.sink.small_job"
TOPIC = "written"
PATIENCE_S = 120.0
LIFE_S_MAX = 0.6  # after the first batch of a life
BROKER_CHANCE = 0.4


@dataclass
class Chaos:
    node: Node
    checkpoint: Path
    batches: int
    chance: random.Random
    job_deaths: int = 0
    broker_deaths: int = 0

    def run(self) -> None:
        while self._live_and_die() != 0:
            pass

    def _live_and_die(self) -> int | None:
        """One life of the job: 0 if it came to its end."""
        before = self._position()
        job = subprocess.Popen(
            [sys.executable, "-m", JOB, self.node.bootstrap_servers, TOPIC, str(self.checkpoint),
             str(self.batches)],
            cwd=ROOT,
        )  # fmt: skip
        try:
            wait_until(
                lambda: job.poll() is not None or self._position() != before,
                "the job gets on", PATIENCE_S,
            )  # fmt: skip
            if job.poll() is None and self.chance.random() < BROKER_CHANCE:
                self._kill_broker()
            return self._wait_a_moment(job)
        finally:
            job.kill()
            job.wait()

    def _wait_a_moment(self, job: subprocess.Popen[bytes]) -> int | None:
        try:
            code = job.wait(self.chance.random() * LIFE_S_MAX)
        except subprocess.TimeoutExpired:
            self.job_deaths += 1
            return None
        assert code == 0, f"the job ended with {code} although it was not killed"
        return code

    def _kill_broker(self) -> None:
        time.sleep(self.chance.random() * LIFE_S_MAX / 2)
        os.kill(self.node.pid, signal.SIGKILL)
        self.broker_deaths += 1
        wait_until(lambda: not self.node.is_running(), "the broker is dead")
        self.node.start()

    def _position(self) -> str:
        return self.checkpoint.read_text() if self.checkpoint.exists() else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--node", choices=NODES, default="ottla")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batches", type=int, default=100)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ottla-chaos-") as name:
        node = NODES[arguments.node](Path(name) / "node")
        node.start()
        try:
            with Cluster(ClientSettings(node.bootstrap_servers)) as cluster:
                create_topics(cluster, [NewTopic(TOPIC, 3)])
            chance = random.Random(arguments.seed)
            chaos = Chaos(node, Path(name) / "checkpoint", arguments.batches, chance)
            chaos.run()
            found = committed_values(node.bootstrap_servers, TOPIC)
        finally:
            node.close()
    tasks = [(batch, task) for batch in range(arguments.batches) for task in range(TASKS)]
    expected = sorted(value for place in tasks for value in values_of(*place))
    lost, twice = len(set(expected) - set(found)), len(found) - len(set(found))
    print(
        f"{chaos.job_deaths} deaths of the job, {chaos.broker_deaths} of the broker: "
        f"expected {len(expected)}, found {len(found)}, lost {lost}, duplicated {twice}"
    )
    return 0 if found == expected else 1


if __name__ == "__main__":
    sys.exit(main())
