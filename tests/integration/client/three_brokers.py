"""A cluster of three brokers, Ottla's or Apache Kafka's, behind the same few methods.

Each broker has a rack of its own, and leaders send consumers to the replica in theirs. Broker 1 is
never killed: with Apache Kafka it is the controller.
"""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from confluent_kafka import ElectionType, Producer
from confluent_kafka import TopicPartition as ForeignPartition
from confluent_kafka.admin import AdminClient, NewTopic
from tests.support.apache_kafka import AFTER_KILL
from tests.support.apache_kafka_cluster import ApacheKafkaCluster
from tests.support.waiting import wait_until

from ottla.client.cluster.cluster import Cluster
from ottla.client.cluster.routed_requests import PartResult, send_to_controller
from ottla.client.cluster.topology import PartitionDescription
from ottla.client.errors import code_of
from ottla.client.settings import ClientSettings
from ottla.config.replication_options import RACK_AWARE
from ottla.protocol.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.testing.cluster import RunningCluster

IDS = (1, 2, 3)
PATIENCE_MS = 300_000
UNCLEAN = {"unclean.leader.election.enable": "true", "min.insync.replicas": "1"}
_numbers = itertools.count()

COMMON = {
    "replica.selector.class": RACK_AWARE,
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "false",
}
OF_APACHE_KAFKA = {
    **AFTER_KILL,
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.num.partitions": "6",
    "transaction.state.log.min.isr": "2",
    "unclean.leader.election.interval.ms": "1000",
}


def rack_of(broker_id: int) -> str:
    return f"rack-{broker_id}"


class ThreeBrokers:
    def __init__(self, running: RunningCluster | ApacheKafkaCluster) -> None:
        self._paused: set[int] = set()
        self._nodes: dict[int, Any] = (
            running.nodes if isinstance(running, ApacheKafkaCluster) else running.brokers
        )
        if isinstance(running, ApacheKafkaCluster):
            self.bootstrap_servers = ",".join(running.addresses.values())
        else:
            self.bootstrap_servers = running.bootstrap_servers

    def kill(self, broker_id: int) -> None:
        self._nodes[broker_id].kill()

    def stop(self, broker_id: int) -> None:
        self._nodes[broker_id].stop()

    def pause(self, broker_id: int) -> None:
        """Connections stay open, nothing is answered."""
        os.kill(self._nodes[broker_id].pid, signal.SIGSTOP)
        self._paused.add(broker_id)

    def start(self, broker_id: int) -> None:
        if broker_id in self._paused:
            self._paused.remove(broker_id)
            os.kill(self._nodes[broker_id].pid, signal.SIGCONT)
        if not self._nodes[broker_id].is_running:
            self._nodes[broker_id].start()

    def start_all(self) -> None:
        for each in IDS:
            self.start(each)

    def written_bytes(self, broker_id: int) -> int:
        """By its process, to sockets and files, as the kernel counts it."""
        text = Path(f"/proc/{self._nodes[broker_id].pid}/io").read_text()
        return int(dict(line.split(": ") for line in text.splitlines())["wchar"])

    # Clients

    def client(self, **changes: Any) -> Cluster:
        patience = {"default_api_timeout_ms": PATIENCE_MS, "delivery_timeout_ms": PATIENCE_MS}
        settings = {**patience, "retry_backoff_ms": 20, **changes}
        return Cluster(ClientSettings(self.bootstrap_servers, **settings))

    def topic(self, replicas: Sequence[Sequence[int]], **configs: str) -> str:
        """A new one, with these replicas of each partition; the first of them lead."""
        name = f"three-{os.getpid()}-{next(_numbers)}"
        admin = AdminClient({"bootstrap.servers": self.bootstrap_servers, "log_level": 0})
        settings = {key.replace("_", "."): value for key, value in configs.items()}
        wanted = NewTopic(name, len(replicas), replica_assignment=replicas, config=settings)
        admin.create_topics([wanted])[name].result(120)
        for number, each in enumerate(replicas):
            self.wait_in_sync(name, each, number)
            self._prefer(admin, name, each[0], number)
        return name

    def _prefer(self, admin: AdminClient, topic: str, broker_id: int, number: int) -> None:
        """A broker that has just come back may not have been elected when the topic was made."""

        def is_led() -> bool:
            if self.partition(topic, number).leader == broker_id:
                return True
            wanted = [ForeignPartition(topic, number)]
            admin.elect_leaders(ElectionType.PREFERRED, wanted).result(120)
            return False

        wait_until(is_led, f"{topic}-{number} is led by {broker_id}")

    def produce(self, topic: str, values: Iterable[bytes], partition: int = 0) -> None:
        """With librdkafka, in small batches; each is acknowledged."""
        producer = Producer({
            "bootstrap.servers": self.bootstrap_servers, "log_level": 0, "batch.num.messages": 10,
        })  # fmt: skip
        failures: list[Any] = []
        for value in values:
            producer.produce(
                topic, value, partition=partition,
                on_delivery=lambda error, _: failures.append(error) if error else None,
            )  # fmt: skip
            producer.poll(0)
        assert producer.flush(300) == 0
        assert not failures

    # State

    def partition(self, topic: str, number: int = 0) -> PartitionDescription:
        """As one of the living brokers sees it now, which may not know a new topic yet."""
        with self.client() as other:
            found = other.describe_topics([topic])
        if topic not in found:
            return PartitionDescription(number, leader=-1, leader_epoch=-1)
        return found[topic].partitions[number]

    def wait_led_by(self, topic: str, broker_id: int, number: int = 0) -> None:
        wait_until(
            lambda: self.partition(topic, number).leader == broker_id,
            f"{topic}-{number} is led by {broker_id}",
        )

    def wait_in_sync(self, topic: str, brokers: Iterable[int], number: int = 0) -> None:
        wanted = set(brokers)
        wait_until(
            lambda: set(self.partition(topic, number).in_sync_replicas) == wanted,
            f"{wanted} are in sync in {topic}-{number}",
        )

    def reassign(self, topic: str, replicas: Sequence[int], number: int = 0) -> None:
        """Returns once they are the only ones."""
        parts = [ReassignablePartition(number, list(replicas))]
        request = AlterPartitionReassignmentsRequest(
            60_000, topics=[ReassignableTopic(topic, parts)]
        )

        def problems(answer: Any) -> Iterator[PartResult]:
            yield PartResult(code_of(answer.error_code), "AlterPartitionReassignments")
            for each in answer.responses[0].partitions:
                yield PartResult(code_of(each.error_code), str(each.partition_index))

        with self.client() as other:
            send_to_controller(other, request, problems, "AlterPartitionReassignments")
        wait_until(
            lambda: self.partition(topic, number).replicas == tuple(replicas),
            f"{topic}-{number} is moved to {replicas}",
        )
        self.wait_in_sync(topic, replicas, number)

    def lose_records(
        self, lost: Mapping[str, Iterable[bytes]], instead: Mapping[str, Iterable[bytes]]
    ) -> Iterator[None]:
        """An unclean election in partition 0 of each topic, with brokers 2 (the leader) and 3.

        `lost` is acknowledged by the leader alone, and dies with it; `instead` is then written to
        the other one. Yields while the lost records can still be read, and ends when both brokers
        run again."""
        self.kill(3)
        for topic, values in lost.items():
            self.wait_in_sync(topic, [2])
            self.produce(topic, values)
        yield
        self.kill(2)
        self.start(3)
        for topic, values in instead.items():
            self.wait_led_by(topic, 3)
            self.produce(topic, values)
        self.start(2)
        for topic in instead:
            self.wait_in_sync(topic, [2, 3])


@contextmanager
def three_of_ottla() -> Iterator[ThreeBrokers]:
    config = {**COMMON, "zookeeper.session.timeout.ms": 4000}
    with RunningCluster(
        config=config, config_of=lambda each: {"broker.rack": rack_of(each)}
    ) as running:
        yield ThreeBrokers(running)


@contextmanager
def three_of_apache_kafka(directory: Path) -> Iterator[ThreeBrokers]:
    with ApacheKafkaCluster(
        directory,
        {**COMMON, **OF_APACHE_KAFKA},
        lambda each: {"broker.rack": rack_of(each)},
    ) as running:
        brokers = ThreeBrokers(running)
        with brokers.client() as client:
            wait_until(lambda: client.broker_ids() == list(IDS), "all brokers are registered")
        yield brokers
