"""A real Apache Kafka node for tests: started, stopped in order, killed, started again.

Owns      one folder: its properties, its log directory, what it printed.
Promises  `start` returns once it serves; nothing survives `close` or the end of this process.
Leaves    jars to `kafka_jars.py`, what to say to it to `oracle.py` (Java clients and tools).
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Self

from tests.support.class_archive import archive_of, option_of
from tests.support.java_process import JavaProcess
from tests.support.kafka_jars import class_path

from ottla.base.uuids import random_uuid, uuid_to_text
from ottla.testing.ports import non_ephemeral_ports

START_S = 300.0  # of a busy machine
STARTS_MAX = 3
CONTROLLER_ID = 1  # of the node that is broker and controller

PROPERTIES: Mapping[str, str] = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "auto.create.topics.enable": "false",
    "num.partitions": "1",
    "num.network.threads": "1",
    "num.io.threads": "2",
    "background.threads": "2",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    # One that cannot send heartbeats on a busy machine leads nothing until it can.
    "broker.session.timeout.ms": "60000",
    "broker.heartbeat.interval.ms": "2000",
    "log.cleaner.dedupe.buffer.size": "4194304",
    "log.cleaner.backoff.ms": "100",
    # Where logs start is written down soon, so that a killed node knows it again.
    "log.initial.task.delay.ms": "100",
    "log.flush.start.offset.checkpoint.interval.ms": "100",
}
# A node that was killed is registered again once its old session is over.
AFTER_KILL: Mapping[str, str] = {
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "1000",
}


class KafkaDidNotStart(Exception):
    """What the node printed before it gave up."""


class ApacheKafka:
    """One node, broker and controller in one, with its files below `directory`."""

    def __init__(
        self,
        directory: Path,
        properties: Mapping[str, str] | None = None,
        *,
        cluster_id: str | None = None,
        controller: str | None = None,
        archive_option: str = "",
    ) -> None:
        """With `controller`, the address of another node's, it is a broker of that cluster."""
        self.directory = directory
        self._controller = controller
        self._archive_option = archive_option
        self.log_directory = directory / "logs"
        self.cluster_id = cluster_id or uuid_to_text(random_uuid())
        self._properties = dict(properties or {})
        self._is_in_order = True  # not killed, when it ran last
        self._ports = non_ephemeral_ports(2)
        self._process: JavaProcess | None = None
        directory.mkdir(parents=True, exist_ok=True)

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self._ports[0]}"

    @property
    def controller(self) -> str:
        return self._controller or f"127.0.0.1:{self._ports[1]}"

    def start(self) -> None:
        for _ in range(STARTS_MAX):
            process = self._launch()
            if _is_ready(process):
                self._process = process
                self._is_in_order = False
                return
            printed = process.log_tail()
            process.close()
            if "Address already in use" not in printed:
                break
            self._ports = non_ephemeral_ports(2)
        raise KafkaDidNotStart(printed)

    def stop(self) -> None:
        """End in order: every log is flushed and the clean-shutdown file written."""
        self._running.terminate()
        self._is_in_order = True
        self.close()

    def kill(self) -> None:
        self._running.kill()
        self.close()

    def close(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None

    @property
    def pid(self) -> int:
        return self._running.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.is_running

    @property
    def _running(self) -> JavaProcess:
        assert self._process is not None, "the node is not running"
        return self._process

    def _launch(self) -> JavaProcess:
        path = self.directory / "server.properties"
        session = {} if self._is_in_order else AFTER_KILL
        properties = {**PROPERTIES, **session, **self._properties, **self._places()}
        path.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
        return JavaProcess(
            "interop.KafkaNode",
            [str(path), self.cluster_id],
            log_path=self.directory / "kafka.log",
            heap_mb=512,
            log_level="info",
            options=[self._archive_option or option_of(_archive())],
        )

    def _places(self) -> dict[str, str]:
        listeners = f"PLAINTEXT://{self.bootstrap}"
        places = {
            "controller.quorum.voters": f"{CONTROLLER_ID}@{self.controller}",
            "listeners": listeners,
            "log.dirs": str(self.log_directory),
        }
        if self._controller is not None:
            return {**places, "process.roles": "broker"}
        return {**places, "listeners": f"{listeners},CONTROLLER://{self.controller}"}

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


@cache
def _archive() -> Path:
    """Of the classes that a node has loaded when it serves and stops."""

    def train(option: str) -> None:
        with tempfile.TemporaryDirectory(prefix="kafka-training-") as folder:
            node = ApacheKafka(Path(folder), archive_option=option)
            node.start()
            node.stop()

    return archive_of("kafka-node", [class_path()], train)


def _is_ready(process: JavaProcess) -> bool:
    """Wait for its word, or for its end: one that says nothing for too long is ended."""
    deadline = threading.Timer(START_S, process.kill)
    deadline.start()
    try:
        return process.stdout.readline().strip() == b"READY"
    finally:
        deadline.cancel()
        deadline.join()
