"""The brokers, the generator and the pipelines, each in its own process.

Owns      starting, killing and stopping them, and their uptimes.
Promises  when it is closed, all of them have ended, whatever happened before.
Leaves    the sequence of events to `orchestrator.py`.
"""

from __future__ import annotations

import re
import sys
import time
from typing import Self

from demo.brokers import DemoBrokers
from demo.declaration import write_pipelines
from demo.directory import DemoDirectory
from demo.processes import Child, kill_one
from demo.replicas import ReplicaMonitor
from demo.scenario import QUERIES, REPORTS_TOPIC, Scenario

STARTED = "has started: "  # a line of `ottla pipeline run` for each pipeline
FAILED = re.compile(r"^(\w+) failed: (.*)")


class Services:
    def __init__(self, scenario: Scenario, directory: DemoDirectory, brokers: int) -> None:
        self._scenario = scenario
        self._directory = directory
        self.brokers = DemoBrokers(directory.broker, brokers)
        self.monitor: ReplicaMonitor | None = None
        self.generator: Child | None = None
        self.application: Child | None = None
        self.drivers = 0
        self.started_s = time.time()
        self.spans: dict[str, list[tuple[float, float]]] = {}  # (start, end), by name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        for child in (self.application, self.generator):
            if child is not None:
                child.kill()
        if self.monitor is not None:
            self.monitor.stop()
        self.brokers.close()

    def now_s(self) -> float:
        """Seconds since the start."""
        return time.time() - self.started_s

    # Starting

    @property
    def bootstrap_servers(self) -> str:
        return self.brokers.bootstrap_servers

    def start_brokers(self) -> None:
        for name in self.brokers.start():
            self._enters(name)

    def start_broker_again(self, name: str) -> None:
        self.brokers.start_again(name)
        self._enters(name)

    def start_monitor(self) -> None:
        """Of replicas, which a single broker does not have."""
        if self.brokers.count > 1:
            self.monitor = ReplicaMonitor(self.bootstrap_servers, REPORTS_TOPIC, self.now_s)
            self.monitor.start()

    def start_generator(self) -> None:
        arguments = ["--bootstrap", self.bootstrap_servers]
        arguments += ["--progress", str(self._directory.progress), *self._scenario.arguments()]
        log = self._directory.logs / "generator.log"
        self.generator = Child("demo.generator", arguments, log)
        self._enters("generator")

    def start_application(self) -> None:
        """`ottla pipeline run`, which continues from its state."""
        self.drivers += 1
        directory = self._directory
        write_pipelines(directory, self._scenario, self.bootstrap_servers)
        # Without the first variable, Spark's workers run the `python3` of the path.
        environment = {"PYSPARK_PYTHON": sys.executable, "TMPDIR": str(directory.temporary)}
        self.application = Child(
            "ottla.cli.main",
            ["pipeline", "run", str(directory.pipelines), "--stop-with-stdin"],
            directory.logs / f"pipelines-{self.drivers}.log",
            environment,
        )

    def application_is_ready(self) -> bool:
        """It needs some seconds; the uptime of its driver starts then."""
        is_ready = self.application is not None and all(
            self.application.said(f"{name} {STARTED}") for name in QUERIES
        )
        if is_ready and len(self.spans.get("driver", [])) < self.drivers:
            self._enters("driver")
        return is_ready

    def query_failures(self) -> list[str]:
        """The first line of each failure after which a pipeline was restarted."""
        logs = sorted(self._directory.logs.glob("pipelines-*.log"))
        lines = [line for log in logs for line in log.read_text(errors="replace").splitlines()]
        found = [FAILED.match(line) for line in lines]
        return [f"{each[1]}: {each[2]}" for each in found if each is not None]

    # Stopping

    def kill_driver(self) -> int | None:
        """SIGKILL for the JVM, then for its Python process, which cannot work without it."""
        assert self.application is not None
        jvm = self.application.find("java")
        if jvm is not None:
            kill_one(jvm)
        self._leaves("driver")
        self.application.kill()
        return jvm

    def kill_broker(self, name: str) -> int:
        pid = self.brokers.kill(name)
        self._leaves(name)
        return pid

    def end_application(self) -> int:
        assert self.application is not None
        code = self.application.end()
        self._leaves("driver")
        self.application = None
        return code

    def open_gate(self) -> None:
        """Let the generator continue to the next gate."""
        assert self.generator is not None
        self.generator.signal()

    def generator_is_done(self) -> None:
        self._leaves("generator")

    def find_failure(self) -> str | None:
        """A process that has ended unexpectedly, with the end of its log."""
        if (failure := self.brokers.find_failure()) is not None:
            return failure
        if self.application is not None and self.application.poll() is not None:
            return f"ottla pipeline run ended by itself:\n{self.application.last_words()}"
        if self.generator is not None and self.generator.poll():
            return f"the generator failed:\n{self.generator.last_words()}"
        return None

    def _enters(self, name: str) -> None:
        self.spans.setdefault(name, []).append((self.now_s(), float("inf")))

    def _leaves(self, name: str) -> None:
        entered_s, _ = self.spans[name][-1]
        self.spans[name][-1] = (entered_s, self.now_s())

    def uptimes(self) -> dict[str, list[tuple[float, float]]]:
        """Running processes count until now."""
        now_s = self.now_s()
        return {
            name: [(start_s, min(end_s, now_s)) for start_s, end_s in spans]
            for name, spans in self.spans.items()
        }
