"""The compared brokers: Ottla and Apache Kafka, each in its own process.

Promises  both have their default configuration: Kafka runs with the JVM options of its start
          script, Ottla as `ottla up` runs it. Differences are in `SETTINGS`, the same for both.
"""

from __future__ import annotations

import compileall
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from benchmarks.report import BESIDE, OURS, THEIRS
from tests.support.kafka_jars import class_path

import ottla
from ottla.base.uuids import random_uuid, uuid_to_text
from ottla.testing.broker import RunningBroker
from ottla.testing.ports import non_ephemeral_port, non_ephemeral_ports

# One broker can hold one replica; deleted files are removed soon, so that runs do not fill the
# disk; the first member of a group does not wait for others.
SETTINGS = {
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "log.segment.delete.delay.ms": "1000",
    "log.cleaner.backoff.ms": "1000",
    "group.initial.rebalance.delay.ms": "0",
}
# The options that kafka-server-start and kafka-run-class pass to the JVM.
JVM_OPTIONS = (
    "-Xms1G",
    "-Xmx1G",
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-XX:MaxInlineLevel=15",
    "-Djava.awt.headless=true",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
)


class BrokerProcess(Protocol):
    name: str
    log_directory: Path

    @property
    def bootstrap(self) -> str: ...

    @property
    def pid(self) -> int: ...

    def start(self) -> None:
        """Returns when it serves requests."""

    def kill(self) -> None: ...

    def stop(self) -> None: ...

    def close(self) -> None: ...


class Ottla:
    def __init__(self, checkout: Path | None = None) -> None:
        """Of this project, or of another checkout of it, in which `make setup` was run."""
        self.name = OURS if checkout is None else BESIDE
        source = Path(ottla.__path__[0]) if checkout is None else checkout / "src" / "ottla"
        # As after an installation, even if the environment disables writing bytecode.
        compileall.compile_dir(source, quiet=1)
        self.log_directory = Path(tempfile.mkdtemp(prefix="ottla-benchmark-"))
        self._broker = RunningBroker(
            config=SETTINGS,
            data=self.log_directory,
            port=non_ephemeral_port(),
            environment={"PYTHONPATH": str(source.parent)},
        )

    @property
    def bootstrap(self) -> str:
        return self._broker.bootstrap_servers

    @property
    def pid(self) -> int:
        return self._broker.pid

    def start(self) -> None:
        self._broker.start()

    def kill(self) -> None:
        self._broker.kill()

    def stop(self) -> None:
        self._broker.stop()

    def close(self) -> None:
        if self._broker.is_running:
            self._broker.kill()
        shutil.rmtree(self.log_directory, ignore_errors=True)


class Kafka:
    name = THEIRS

    def __init__(self) -> None:
        self._directory = Path(tempfile.mkdtemp(prefix="kafka-benchmark-"))
        self.log_directory = self._directory / "logs"
        broker, controller = (f"127.0.0.1:{port}" for port in non_ephemeral_ports(2))
        self.bootstrap = broker
        self._cluster_id = uuid_to_text(random_uuid())
        self._properties = self._directory / "server.properties"
        settings = {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.voters": f"1@{controller}",
            "listeners": f"PLAINTEXT://{broker},CONTROLLER://{controller}",
            "log.dirs": str(self.log_directory),
            "share.coordinator.state.topic.replication.factor": "1",
            "share.coordinator.state.topic.min.isr": "1",
            **SETTINGS,
        }
        self._properties.write_text("".join(f"{a}={b}\n" for a, b in settings.items()))
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        return self._running.pid

    @property
    def _running(self) -> subprocess.Popen[bytes]:
        assert self._process is not None
        return self._process

    def start(self) -> None:
        words = ["interop.KafkaNode", str(self._properties), self._cluster_id]
        with (self._directory / "kafka.log").open("ab") as log:
            self._process = subprocess.Popen(
                ["java", *JVM_OPTIONS, "-cp", class_path(), *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        assert self._process.stdout is not None
        if self._process.stdout.readline().strip() != b"READY":
            raise RuntimeError((self._directory / "kafka.log").read_text()[-4000:])

    def kill(self) -> None:
        self._running.kill()
        self._end()

    def stop(self) -> None:
        self._running.terminate()
        self._end()

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.kill()
        shutil.rmtree(self._directory, ignore_errors=True)

    def _end(self) -> None:
        self._running.wait()
        for pipe in (self._running.stdin, self._running.stdout):
            assert pipe is not None
            pipe.close()


def broker_called(name: str) -> BrokerProcess:
    """`name` is `ottla`, `kafka`, or the path of another checkout of this project."""
    match name:
        case "ottla":
            return Ottla()
        case "kafka":
            return Kafka()
        case path:
            return Ottla(Path(path))


@contextmanager
def running(names: list[str]) -> Iterator[list[BrokerProcess]]:
    """Started brokers of these kinds; stopped and removed at the end."""
    with built(names) as brokers:
        for broker in brokers:
            broker.start()
        yield brokers


def in_turn(brokers: Sequence[BrokerProcess], number: int) -> Iterator[BrokerProcess]:
    """Each first as often as last: earlier runs affect later ones."""
    return iter(brokers) if number % 2 else reversed(brokers)


@contextmanager
def built(names: list[str]) -> Iterator[list[BrokerProcess]]:
    """The same, not started."""
    brokers: list[BrokerProcess] = [broker_called(name) for name in names]
    try:
        yield brokers
    finally:
        for broker in brokers:
            broker.close()


# Resources of a process

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def cpu_s(pid: int) -> float:
    """The processor time of the process, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


def memory_mb(pid: int) -> float:
    """Resident memory."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"process {pid} has no resident memory")
