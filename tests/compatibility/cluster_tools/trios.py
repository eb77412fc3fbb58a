"""The two clusters whose tools are compared: three brokers each, with the same settings."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from tests.support.apache_kafka_cluster import ApacheKafkaCluster

from ottla.testing.cluster import RunningCluster

BROKERS = (1, 2, 3)
# A killed broker is replaced within seconds, where the cluster waits for its session to end.
SESSION = {"broker.session.timeout.ms": "6000", "broker.heartbeat.interval.ms": "1000"}
SETTINGS: Mapping[str, str] = {
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "false",
    "num.partitions": "1",
    "default.replication.factor": "3",
    "min.insync.replicas": "1",
    "offsets.topic.num.partitions": "3",
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.num.partitions": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "group.initial.rebalance.delay.ms": "0",
}


class Trio(Protocol):
    """Three brokers with the ids 1, 2, 3. Broker 1 is never ended: it is Kafka's controller."""

    @property
    def addresses(self) -> Mapping[int, str]: ...
    def start(self, broker_id: int, /) -> None: ...
    def stop(self, broker_id: int, /) -> None: ...
    def kill(self, broker_id: int, /) -> None: ...
    def log_directory(self, broker_id: int, /) -> Path: ...


class KafkaTrio:
    def __init__(self, cluster: ApacheKafkaCluster) -> None:
        self._cluster = cluster

    @property
    def addresses(self) -> Mapping[int, str]:
        return self._cluster.addresses

    def start(self, broker_id: int) -> None:
        self._cluster.start(broker_id)

    def stop(self, broker_id: int) -> None:
        self._cluster.stop(broker_id)

    def kill(self, broker_id: int) -> None:
        self._cluster.nodes[broker_id].kill()

    def log_directory(self, broker_id: int) -> Path:
        return self._cluster.nodes[broker_id].log_directory


class OurTrio:
    def __init__(self, cluster: RunningCluster) -> None:
        self._cluster = cluster

    @property
    def addresses(self) -> Mapping[int, str]:
        brokers = self._cluster.brokers.items()
        return {broker_id: broker.bootstrap_servers for broker_id, broker in brokers}

    def start(self, broker_id: int) -> None:
        self._cluster.start(broker_id)

    def stop(self, broker_id: int) -> None:
        assert self._cluster.stop(broker_id) == 0

    def kill(self, broker_id: int) -> None:
        self._cluster.kill(broker_id)

    def log_directory(self, broker_id: int) -> Path:
        return self._cluster.brokers[broker_id].data


def rack_of(broker_id: int) -> dict[str, str]:
    return {"broker.rack": f"rack-{broker_id}"}


@contextmanager
def kafka_trio() -> Iterator[KafkaTrio]:
    with (
        tempfile.TemporaryDirectory(prefix="kafka-", ignore_cleanup_errors=True) as folder,
        ApacheKafkaCluster(Path(folder), {**SETTINGS, **SESSION}, rack_of) as cluster,
    ):
        yield KafkaTrio(cluster)


@contextmanager
def our_trio() -> Iterator[OurTrio]:
    """None of its brokers may have met a bug when it is left."""
    with RunningCluster(config=SETTINGS, config_of=rack_of) as cluster:
        yield OurTrio(cluster)
        for broker in cluster.brokers.values():
            assert "Traceback" not in broker.log, broker.log[-20_000:]
