"""The two brokers that random requests are sent to: a client can observe the order of requests.

With one thread for requests Kafka handles them in the order in which they came, and without a
delay before it writes, a late answer is one that waits for another request.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.compatibility.differential.cluster_nodes import kafka_cluster, our_cluster
from tests.compatibility.differential.cluster_running import make_cluster_ready
from tests.compatibility.differential.nodes import kafka_node, our_broker
from tests.compatibility.differential.readiness import make_ready
from tests.compatibility.random_requests.execution import Brokers
from tests.support.apache_kafka import ApacheKafka

from ottla.testing.broker import RunningBroker

# The assignor that goes by the names of members: the other leaves to Kafka's hash table who gets
# one partition more than others.
SETTINGS = {"group.consumer.assignors": "range,uniform"}
KAFKAS_ORDER = {"num.io.threads": "1", "group.coordinator.append.linger.ms": "0"}
ONLY_KAFKAS = {**KAFKAS_ORDER, "transaction.state.log.num.partitions": "1"}


@contextmanager
def running_kafka() -> Iterator[str]:
    with kafka_node({**SETTINGS, **ONLY_KAFKAS}) as node:
        make_ready(node.bootstrap)
        yield node.bootstrap


@contextmanager
def running_ottla() -> Iterator[RunningBroker]:
    """It must not have met a bug when it is left."""
    with our_broker(SETTINGS) as broker:
        make_ready(broker.bootstrap_servers)
        yield broker
        assert "Traceback" not in broker.log, broker.log[-20_000:]


@contextmanager
def both_brokers() -> Iterator[Brokers]:
    with running_kafka() as kafka, running_ottla() as ours:
        yield Brokers(kafka, ours.bootstrap_servers)


@contextmanager
def both_clusters() -> Iterator[Brokers]:
    """Three brokers each."""
    with kafka_cluster({**SETTINGS, **KAFKAS_ORDER}) as kafka, our_cluster(SETTINGS) as ours:
        make_cluster_ready(kafka)
        make_cluster_ready(ours)
        yield Brokers(kafka.addresses, ours.addresses)


@contextmanager
def both_nodes() -> Iterator[tuple[ApacheKafka, RunningBroker]]:
    """As processes that can be stopped and started."""
    with kafka_node({**SETTINGS, **ONLY_KAFKAS}) as kafka, running_ottla() as ours:
        make_ready(kafka.bootstrap)
        yield kafka, ours
