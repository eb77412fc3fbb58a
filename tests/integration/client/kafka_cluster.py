"""An Apache Kafka of two brokers, so that partitions can change their leaders."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.apache_kafka import ApacheKafka

PROPERTIES = {
    "default.replication.factor": "2",
    "auto.leader.rebalance.enable": "false",
    "broker.session.timeout.ms": "4000",
    "broker.heartbeat.interval.ms": "1000",
}


class SecondBroker(ApacheKafka):
    """A broker without a controller of its own: it belongs to the first one's cluster."""

    def __init__(self, directory: Path, first: ApacheKafka) -> None:
        super().__init__(directory, {**PROPERTIES, "process.roles": "broker", "node.id": "2"})
        self.cluster_id = first.cluster_id
        self._first = first

    def _places(self) -> dict[str, str]:
        return {
            "controller.quorum.voters": self._first._places()["controller.quorum.voters"],
            "listeners": f"PLAINTEXT://{self.bootstrap}",
            "advertised.listeners": f"PLAINTEXT://{self.bootstrap}",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": str(self.log_directory),
        }


@contextmanager
def two_brokers(directory: Path) -> Iterator[tuple[ApacheKafka, SecondBroker]]:
    with (
        ApacheKafka(directory / "1", PROPERTIES) as first,
        SecondBroker(directory / "2", first) as second,
    ):
        yield first, second
