"""A partition is moved with Kafka's own tool, throttled: it waits until the throttle is raised."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from tests.integration.cluster.harness import BROKER, TOPIC, settings_of
from tests.integration.cluster.test_replication import Replicated
from tests.integration.cluster.traffic import QUIET
from tests.support.java_clients import run_tool
from tests.support.oracle import Oracle
from tests.support.waiting import wait_until

from ottla.testing.cluster import RunningCluster

pytestmark = pytest.mark.java
TOOL = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
MIB = 1 << 20
SIZE_MIB = 6
LOW, HIGH = 1000, 1000 * MIB  # bytes a second: more than an hour, and no time
WINDOWS = 2  # of a second: so much may be copied before the throttle counts


@pytest.fixture(scope="module")
def cluster() -> Iterator[RunningCluster]:
    config = {
        "zookeeper.session.timeout.ms": 4000,
        "auto.create.topics.enable": False,
        "replication.quota.window.num": WINDOWS,
    }
    with RunningCluster(config=config) as running:
        yield running


class Moves:
    """Reassignments of a topic with one partition, with Kafka's tool."""

    def __init__(self, topic: Replicated, oracle: Oracle, plan: Path) -> None:
        self.topic = topic
        self._oracle = oracle
        self._plan = plan

    def plan(self, replicas: list[int]) -> None:
        moved = {"topic": self.topic.name, "partition": 0, "replicas": replicas}
        self._plan.write_text(json.dumps({"version": 1, "partitions": [moved]}))

    def run(self, *words: str) -> str:
        where = ("--bootstrap-server", self.topic.cluster.bootstrap_servers)
        file = ("--reassignment-json-file", str(self._plan))
        printed = run_tool(self._oracle, TOOL, *where, *file, *words)
        assert printed.status == 0, printed
        return printed.text

    @property
    def is_completed(self) -> bool:
        return f"partition {self.topic.name}-0 is completed" in self.run("--verify")

    def throttles(self) -> list[dict[str, str | None]]:
        """Settings of the topic and of the brokers that concern throttles."""
        cluster = self.topic.cluster
        named: list[tuple[int, str]] = [(TOPIC, self.topic.name)]
        named += [(BROKER, str(each)) for each in cluster.ids]
        found: list[dict[str, Any]] = [
            settings_of(cluster, int(name) if kind == BROKER else 1, kind, name)
            for kind, name in named
        ]
        return [{name: each[name] for name in each if "throttled" in name} for each in found]


@pytest.fixture
def moves(cluster: RunningCluster, oracle: Oracle, tmp_path: Path) -> Moves:
    topic = Replicated(cluster, replicas=1)
    producer = Producer({**QUIET, "bootstrap.servers": cluster.bootstrap_servers})
    for number in range(SIZE_MIB * 16):
        producer.produce(topic.name, bytes([number]) * (MIB // 16))
    assert producer.flush(60) == 0
    return Moves(topic, oracle, tmp_path / "plan.json")


def test_a_throttled_move_waits_until_the_rate_is_raised(
    cluster: RunningCluster, moves: Moves
) -> None:
    (first,) = moves.topic.partition().replica_nodes
    second = next(each for each in cluster.ids if each != first)
    other = Replicated(cluster)  # in sync, on the same brokers
    moves.plan([second, first])
    moves.run("--execute", "--throttle", str(LOW))
    wait_until(lambda: all(moves.throttles()[:1]), "the throttle is known")
    with other.producing():
        other.wait_for_more(100)
    assert second not in moves.topic.partition().isr_nodes
    assert not moves.is_completed
    moves.run("--execute", "--additional", "--throttle", str(HIGH))
    wait_until(lambda: moves.is_completed, "the move is completed")
    assert list(moves.topic.partition().replica_nodes) == [second, first]
    wait_until(lambda: not any(moves.throttles()), "--verify removes throttles")
    other.check()
    other.wait_until_in_sync()


def test_a_throttled_move_is_cancelled(cluster: RunningCluster, moves: Moves) -> None:
    (first,) = moves.topic.partition().replica_nodes
    second = next(each for each in cluster.ids if each != first)
    moves.plan([second])
    moves.run("--execute", "--throttle", str(LOW))
    assert not moves.is_completed
    moves.run("--cancel")
    wait_until(lambda: list(moves.topic.partition().replica_nodes) == [first], "cancelled")
    wait_until(lambda: not any(moves.throttles()), "--cancel removes throttles")
    directory = Path(cluster.brokers[second].data) / f"{moves.topic.name}-0"
    wait_until(lambda: not directory.exists(), "the partial copy is deleted")
    assert len(moves.topic.values()) == SIZE_MIB * 16
