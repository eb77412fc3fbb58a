"""The two clusters that are compared: three brokers each, with the same settings."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from tests.compatibility.differential.nodes import LIMITS, our_properties
from tests.support.apache_kafka_cluster import ApacheKafkaCluster

from ottla.testing.cluster import RunningCluster

SETTINGS: Mapping[str, str] = {
    **LIMITS,
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "false",
    "default.replication.factor": "1",
    "min.insync.replicas": "1",
}


class ThreeBrokers(Protocol):
    @property
    def addresses(self) -> Mapping[int, str]: ...
    def start(self, broker_id: int, /) -> Any: ...
    def stop(self, broker_id: int, /) -> Any: ...


class OurCluster:
    def __init__(self, cluster: RunningCluster) -> None:
        self.cluster = cluster
        self.start, self.stop = cluster.start, cluster.stop

    @property
    def addresses(self) -> Mapping[int, str]:
        brokers = self.cluster.brokers.items()
        return {broker_id: broker.bootstrap_servers for broker_id, broker in brokers}


def rack_of(broker_id: int) -> dict[str, str]:
    return {"broker.rack": f"rack-{broker_id}"}


@contextmanager
def kafka_cluster(more: Mapping[str, str] | None = None) -> Iterator[ApacheKafkaCluster]:
    with (
        tempfile.TemporaryDirectory(prefix="kafka-", ignore_cleanup_errors=True) as folder,
        ApacheKafkaCluster(Path(folder), {**SETTINGS, **(more or {})}, rack_of) as cluster,
    ):
        yield cluster


@contextmanager
def our_cluster(more: Mapping[str, str] | None = None) -> Iterator[OurCluster]:
    """None of its brokers may have met a bug when it is left."""
    reported = {**our_properties(), **SETTINGS, **(more or {})}
    reported = {name: value for name, value in reported.items() if name != "node.id"}
    with RunningCluster(config=reported, config_of=rack_of, log_level="WARNING") as cluster:
        yield OurCluster(cluster)
        for broker in cluster.brokers.values():
            assert "Traceback" not in broker.log, broker.log[-20_000:]
