"""The compared clusters: three brokers of Ottla on ZooKeeper, and three of Apache Kafka (KRaft).

Promises  the same replication settings and the same disk. Nodes of Kafka are brokers and
          controllers in one, with the JVM options of Kafka's start script, but 512 MB of heap.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from benchmarks.end_to_end.brokers import JVM_OPTIONS
from benchmarks.report import OURS, THEIRS
from tests.support.kafka_jars import class_path

from ottla.base.uuids import random_uuid, uuid_to_text
from ottla.config.replicated_defaults import replicated_defaults
from ottla.testing.cluster import RunningCluster
from ottla.testing.ports import non_ephemeral_ports

BROKERS = 3
HEAP = ("-Xms512M", "-Xmx512M")


class ClusterProcesses(Protocol):
    name: str

    @property
    def bootstrap(self) -> str: ...

    @property
    def pids(self) -> dict[int, int]:
        """Of the brokers that run, by id."""

    def start_all(self) -> None: ...

    def kill(self, broker_id: int) -> None: ...

    def start(self, broker_id: int) -> None: ...

    def stop(self, broker_id: int) -> None: ...

    def close(self) -> None: ...


class OttlaCluster:
    name = OURS

    def __init__(self) -> None:
        self._cluster = RunningCluster(BROKERS)

    @property
    def bootstrap(self) -> str:
        return self._cluster.bootstrap_servers

    @property
    def pids(self) -> dict[int, int]:
        brokers = self._cluster.brokers.items()
        return {each: broker.pid for each, broker in brokers if broker.is_running}

    @property
    def zookeeper_pid(self) -> int:
        return self._cluster.zookeeper.pid

    def start_all(self) -> None:
        self._cluster.start_all()

    def start(self, broker_id: int) -> None:
        self._cluster.start(broker_id)

    def stop(self, broker_id: int) -> None:
        self._cluster.stop(broker_id)

    def kill(self, broker_id: int) -> None:
        self._cluster.kill(broker_id)

    def close(self) -> None:
        self._cluster.close()


class KafkaCluster:
    name = THEIRS

    def __init__(self) -> None:
        self._directory = Path(tempfile.mkdtemp(prefix="kafka-benchmark-"))
        self._cluster_id = uuid_to_text(random_uuid())
        ports = non_ephemeral_ports(2 * BROKERS)
        self._brokers = {at + 1: f"127.0.0.1:{ports[at]}" for at in range(BROKERS)}
        self._controllers = {at + 1: f"127.0.0.1:{ports[BROKERS + at]}" for at in range(BROKERS)}
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        for node_id in self._brokers:
            self._properties(node_id).parent.mkdir()
            self._properties(node_id).write_text(self._settings(node_id))

    def _properties(self, node_id: int) -> Path:
        return self._directory / str(node_id) / "server.properties"

    def _settings(self, node_id: int) -> str:
        voters = ",".join(f"{each}@{address}" for each, address in self._controllers.items())
        broker, controller = self._brokers[node_id], self._controllers[node_id]
        settings = {
            "process.roles": "broker,controller",
            "node.id": str(node_id),
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.voters": voters,
            "listeners": f"PLAINTEXT://{broker},CONTROLLER://{controller}",
            "log.dirs": str(self._directory / str(node_id) / "logs"),
            "group.initial.rebalance.delay.ms": "0",
            **replicated_defaults(BROKERS),
        }
        return "".join(f"{name}={value}\n" for name, value in settings.items())

    @property
    def bootstrap(self) -> str:
        return ",".join(self._brokers.values())

    @property
    def pids(self) -> dict[int, int]:
        return {node_id: process.pid for node_id, process in self._processes.items()}

    def start_all(self) -> None:
        for node_id in self._brokers:
            self._spawn(node_id)
        for node_id in self._brokers:
            self._wait_until_ready(node_id)

    def start(self, broker_id: int) -> None:
        self._spawn(broker_id)
        self._wait_until_ready(broker_id)

    def _spawn(self, node_id: int) -> None:
        words = ["interop.KafkaNode", str(self._properties(node_id)), self._cluster_id]
        options = [each for each in JVM_OPTIONS if not each.startswith("-Xm")]
        with (self._directory / f"{node_id}.log").open("ab") as log:
            self._processes[node_id] = subprocess.Popen(
                ["java", *HEAP, *options, "-cp", class_path(), *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )

    def _wait_until_ready(self, node_id: int) -> None:
        process = self._processes[node_id]
        assert process.stdout is not None
        if process.stdout.readline().strip() != b"READY":
            raise RuntimeError((self._directory / f"{node_id}.log").read_text()[-4000:])

    def kill(self, broker_id: int) -> None:
        self._end(broker_id, self._processes[broker_id].kill)

    def stop(self, broker_id: int) -> None:
        self._end(broker_id, self._processes[broker_id].terminate)

    def _end(self, broker_id: int, end: Callable[[], None]) -> None:
        end()
        process = self._processes.pop(broker_id)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()

    def close(self) -> None:
        for broker_id in list(self._processes):
            self.kill(broker_id)
        shutil.rmtree(self._directory, ignore_errors=True)


def cluster_called(name: str) -> ClusterProcesses:
    return OttlaCluster() if name == OURS else KafkaCluster()
