"""Consumers read from the replica in their rack (KIP-392), with clients of others.

Where records come from is shown by what each broker's process has written, as the kernel counts it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from tests.integration.cluster.test_replication import Replicated
from tests.integration.cluster.traffic import QUIET
from tests.support.java_clients import JavaClients
from tests.support.oracle import Oracle
from tests.support.waiting import wait_until

from ottla.config.replication_options import RACK_AWARE
from ottla.testing.cluster import RunningCluster

pytestmark = pytest.mark.ci

VALUES = [b"%06d" % number * 1000 for number in range(1000)]  # 6 MB
ALL_BYTES = sum(map(len, VALUES))
FEW_BYTES = ALL_BYTES // 10


@pytest.fixture(scope="module")
def cluster() -> Iterator[RunningCluster]:
    config = {
        "replica.selector.class": RACK_AWARE,
        "zookeeper.session.timeout.ms": 4000,
        "auto.create.topics.enable": False,
    }

    def rack(broker_id: int) -> dict[str, Any]:
        return {"broker.rack": rack_of(broker_id)}

    with RunningCluster(config=config, config_of=rack) as running:
        yield running


def rack_of(broker_id: int) -> str:
    return f"rack-{broker_id}"


@pytest.fixture(scope="module")
def topic(cluster: RunningCluster) -> Replicated:
    topic = Replicated(cluster)
    producer = Producer({**QUIET, "bootstrap.servers": cluster.bootstrap_servers})
    for value in VALUES:
        producer.produce(topic.name, value)
    assert producer.flush(60) == 0
    topic.wait_until_in_sync()
    topic.wait_until_equal()
    return topic


class Sent:
    """How many bytes each broker has written since, to sockets and files."""

    def __init__(self, cluster: RunningCluster) -> None:
        self._cluster = cluster
        self._before = {each: self._written(each) for each in cluster.ids}

    def _written(self, broker_id: int) -> int:
        text = Path(f"/proc/{self._cluster.brokers[broker_id].pid}/io").read_text()
        return int(dict(line.split(": ") for line in text.splitlines())["wchar"])

    def by(self, broker_id: int) -> int:
        return self._written(broker_id) - self._before[broker_id]


def consumer_in(topic: Replicated, rack: str) -> Consumer:
    settings = {
        **QUIET,
        "bootstrap.servers": topic.cluster.bootstrap_servers,
        "group.id": "unused",
        "client.rack": rack,
    }
    consumer = Consumer(settings)
    consumer.assign([TopicPartition(topic.name, 0, 0)])
    return consumer


def read(consumer: Consumer, count: int) -> list[bytes]:
    found: list[bytes] = []
    while len(found) < count:
        message = consumer.poll(60)
        assert message is not None, f"nothing after {len(found)} of {count} records"
        assert message.error() is None
        found.append(message.value() or b"")
    return found


def check_who_sent(topic: Replicated, sent: Sent, near: int) -> None:
    assert sent.by(near) > ALL_BYTES
    for other in topic.cluster.ids:
        if other != near:
            assert sent.by(other) < FEW_BYTES, f"broker {other} instead of {near}"


def test_librdkafka_reads_from_the_follower_in_its_rack(topic: Replicated) -> None:
    for near in topic.cluster.ids:  # one of them is the leader
        sent = Sent(topic.cluster)
        consumer = consumer_in(topic, rack_of(near))
        assert read(consumer, len(VALUES)) == VALUES
        consumer.close()
        check_who_sent(topic, sent, near)


@pytest.mark.java
def test_kafkas_own_consumer_reads_from_the_follower_in_its_rack(
    topic: Replicated, oracle: Oracle
) -> None:
    java = JavaClients(oracle, topic.cluster.bootstrap_servers)
    near = topic.followers[0]
    sent = Sent(topic.cluster)
    found = java.consume(topic.name, configs={"client.rack": rack_of(near)})
    assert [each.value for each in found] == VALUES
    check_who_sent(topic, sent, near)


def test_a_consumer_continues_when_its_follower_ends(topic: Replicated) -> None:
    cluster, near = topic.cluster, topic.followers[0]
    consumer = consumer_in(topic, rack_of(near))
    assert read(consumer, len(VALUES)) == VALUES
    cluster.kill(near)
    wait_until(lambda: near not in topic.partition().isr_nodes, "it is not in sync")
    producer = Producer({**QUIET, "bootstrap.servers": cluster.bootstrap_servers})
    producer.produce(topic.name, b"after the end")
    assert producer.flush(60) == 0
    assert read(consumer, 1) == [b"after the end"]
    consumer.close()
    cluster.start(near)
    topic.wait_until_in_sync()
