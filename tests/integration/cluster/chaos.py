"""Random faults in a cluster that administers topics, settings and quotas, produces, consumes in
groups, and commits transactions. Brokers, the controller and the leader of three ZooKeeper servers
are killed, paused and cut off. Afterwards nothing acknowledged is lost or doubled, and all brokers
have the metadata that is in ZooKeeper.

    python -m tests.integration.cluster.chaos --seconds 600 --seed 7
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import select
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition
from tests.integration.cluster.faults import Faults
from tests.integration.cluster.harness import (
    TOPIC,
    all_metadata,
    ask,
    create_topic,
    running,
    settings_of,
    stored_image,
)
from tests.integration.cluster.networked import NetworkedCluster
from tests.integration.cluster.traffic import QUIET, Traffic
from tests.integration.cluster.transactions import PARTITIONS, end, new_producer, read_committed
from tests.support.raw_client import RawClient
from tests.support.waiting import wait_until

from ottla.metadata.image import Image
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from ottla.protocol.messages.describe_client_quotas_request import DescribeClientQuotasRequest
from ottla.protocol.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.testing.cluster import RunningCluster

SESSION_MS = 4000
CONFIG = {"zookeeper.session.timeout.ms": SESSION_MS, "auto.create.topics.enable": False}
RETRY_S = 0.05
PATIENCE_S = 120.0
HUNG_S = 75.0  # longer than the default time of a request
# While brokers and the controller are away.
RETRIED = {
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.NOT_CONTROLLER,
    ErrorCode.INVALID_REPLICATION_FACTOR,  # no broker is unfenced
}


class Administration:
    """One client that changes topics, settings and quotas, each at a random broker, and repeats
    each change until it is acknowledged: `topics`, `retention` and `quotas` are what was."""

    def __init__(self, cluster: RunningCluster, name: str, rng: random.Random) -> None:
        self._cluster = cluster
        self._name = name
        self._rng = rng
        self._made = 0
        self.topics: dict[str, bytes | None] = {}  # the id, if the response had it
        self.retention: dict[str, str] = {}
        self.quotas: dict[str, float] = {}
        self.deleted: set[str] = set()
        self.changes = 0
        self.errors: list[str] = []

    def run(self, stopping: threading.Event) -> None:
        while not stopping.is_set():
            self._rng.choice([self._create, self._create, self._delete, self._set, self._limit])()
            self.changes += 1

    def _create(self) -> None:
        name, self._made = f"{self._name}-{self._made}", self._made + 1
        request = CreateTopicsRequest([CreatableTopic(name, 2, 1)], timeout_ms=30_000)
        answer = self._until(request, 7, lambda it: it.topics[0], ErrorCode.TOPIC_ALREADY_EXISTS)
        self.topics[name] = answer.topic_id if answer.error_code == ErrorCode.NONE else None

    def _delete(self) -> None:
        if not self.topics:
            return
        name = self._rng.choice(sorted(self.topics))
        request = DeleteTopicsRequest([DeleteTopicState(name)], timeout_ms=30_000)
        gone = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        self._until(request, 6, lambda it: it.responses[0], gone)
        del self.topics[name]
        self.retention.pop(name, None)
        self.deleted.add(name)

    def _set(self) -> None:
        if not self.topics:
            return
        name, value = self._rng.choice(sorted(self.topics)), str(self._rng.randrange(10**6, 10**9))
        change = AlterableConfig("retention.ms", 0, value)
        request = IncrementalAlterConfigsRequest([AlterConfigsResource(TOPIC, name, [change])])
        self._until(request, 1, lambda it: it.responses[0])
        self.retention[name] = value

    def _limit(self) -> None:
        name, value = f"{self._name}-{self._rng.randrange(5)}", float(self._rng.randrange(1, 10**9))
        entry = EntryData([EntityData("client-id", name)], [OpData("producer_byte_rate", value)])
        self._until(AlterClientQuotasRequest([entry]), 1, lambda it: it.entries[0])
        self.quotas[name] = value

    def _until(
        self, request: Any, version: int, item: Callable[[Any], Any], *accepted: ErrorCode
    ) -> Any:
        """The answer of the first broker that has one. `accepted` are errors of a change that was
        made by an attempt without an answer."""
        end_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < end_s:
            broker = self._cluster.brokers[self._rng.choice(self._cluster.ids)]
            try:
                with RawClient(broker.bootstrap_servers, self._name) as client:
                    answer = item(client.ask(request, version))
            except OSError:
                time.sleep(RETRY_S)
                continue
            if answer.error_code in (ErrorCode.NONE, *accepted):
                return answer
            if answer.error_code not in RETRIED:
                self.errors.append(f"{request}: {answer}")
            time.sleep(RETRY_S)
        raise TimeoutError(f"no broker has answered {request}")


class Transactions:
    """A producer of transactions over all partitions; each third one is aborted."""

    def __init__(self, cluster: RunningCluster, topic: str) -> None:
        self._cluster = cluster
        self._topic = topic
        self.committed: list[int] = []
        self.aborted: list[int] = []
        self.unknown: list[int] = []

    def run(self, stopping: threading.Event) -> None:
        producer, number = None, 0
        while not stopping.is_set():
            number += 1
            try:
                producer = producer or new_producer(self._cluster, self._topic)
                producer.begin_transaction()
                for partition in range(PARTITIONS):
                    producer.produce(self._topic, f"{number}-{partition}", partition=partition)
                is_committed = end(producer, commits=number % 3 != 0)
                (self.committed if is_committed else self.aborted).append(number)
            except KafkaException:
                self.unknown.append(number)  # the next producer has aborted it, unless it was over
                producer = None

    def check(self) -> None:
        found = read_committed(self._cluster, self._topic)
        doubled = {value: count for value, count in found.items() if count > 1}
        assert not doubled, doubled
        by_number = Counter(int(value.split("-")[0]) for value in found)
        partial = {each: count for each, count in by_number.items() if count != PARTITIONS}
        assert not partial, f"transactions that are seen in part: {partial}"
        lost = set(self.committed) - by_number.keys()
        assert not lost, f"committed, but not seen: {lost}"
        wrong = by_number.keys() & set(self.aborted)
        assert not wrong, f"aborted, but seen: {wrong}"


class Rebalances:
    """Consumers that join a group and leave it, in a process of their own. `committed` is the
    largest offset that was acknowledged, `tried` was sent; `hung` are processes that were ended."""

    def __init__(self, cluster: RunningCluster, topic: str) -> None:
        self._settings = {
            **QUIET,
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": "rebalanced",
            "enable.auto.commit": False,
            "session.timeout.ms": 6000,
        }
        self._topic = topic
        self.rebalances = self.committed = self.tried = self.hung = 0

    def run(self, stopping: threading.Event) -> None:
        while not stopping.is_set():
            words = [json.dumps(self._settings), self._topic, str(self.tried + 1)]
            members = subprocess.Popen(
                [sys.executable, "-m", "tests.integration.cluster.group_members", *words],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            )  # fmt: skip
            try:
                self._follow(members, stopping)
            finally:
                members.kill()
                code = members.wait()
            assert code in (0, -signal.SIGKILL), f"the process of the members ended with {code}"

    def _follow(self, members: subprocess.Popen[bytes], stopping: threading.Event) -> None:
        """Until the process ends, or prints nothing for longer than any request may take."""
        assert members.stdin is not None
        assert members.stdout is not None
        with members.stdin as orders, members.stdout as output:
            readable = select.poll()
            readable.register(output)
            quiet_since_s = time.monotonic()
            while time.monotonic() < quiet_since_s + HUNG_S:
                if stopping.is_set() and not orders.closed:
                    orders.close()
                if readable.poll(100):
                    # Unbuffered: a line that waits in a buffer would not be polled.
                    if not (data := os.read(output.fileno(), 65536)):
                        return
                    for line in data.decode().splitlines():
                        self._note(line)
                    quiet_since_s = time.monotonic()
            self.hung += 1

    def _note(self, line: str) -> None:
        match line.split():
            case ["assigned"]:
                self.rebalances += 1
            case ["trying", offset]:
                self.tried = int(offset)
            case ["committed", offset]:
                self.committed = int(offset)

    def check(self) -> None:
        consumer = Consumer(self._settings)
        (found,) = consumer.committed([TopicPartition(self._topic, 0)], PATIENCE_S)
        consumer.close()
        assert self.committed <= max(found.offset, 0) <= self.tried, (found, self.committed)


def run(seed: int, seconds: float) -> None:
    print(f"seed {seed}, {seconds:g} s", flush=True)
    rng = random.Random(seed)
    with NetworkedCluster(config=CONFIG) as cluster:
        create_topic(cluster, "records", [1, 2, 3])
        create_topic(cluster, "transactions", [1, 2, 3])
        clients = [
            Administration(cluster, f"client{at}", random.Random(rng.random())) for at in range(2)
        ]
        transactions = Transactions(cluster, "transactions")
        rebalances = Rebalances(cluster, "records")
        traffic = Traffic(cluster.bootstrap_servers, "records", "readers", "consumer")
        faults = Faults(cluster, rng, SESSION_MS / 1000 + 1)
        work = [*(each.run for each in clients), transactions.run, rebalances.run]
        _break(faults, work, traffic, seconds)
        for broker_id in cluster.ids:
            wait_until(lambda at=broker_id: _leads(cluster, at), f"{broker_id} leads")  # type: ignore[misc]
        print("faults:", dict(faults.done), "changes:", [each.changes for each in clients])
        print("records:", len(traffic.acknowledged), "errors of its clients:", len(traffic.errors))
        print("rebalances:", rebalances.rebalances, "offsets committed:", rebalances.committed,
              "members that hung:", rebalances.hung)  # fmt: skip
        print("transactions committed, aborted, unknown:", len(transactions.committed),
              len(transactions.aborted), len(transactions.unknown), flush=True)  # fmt: skip
        assert [each.errors for each in clients] == [[], []]
        transactions.check()
        rebalances.check()
        check_metadata(cluster, clients)


def _break(
    faults: Faults,
    work: Sequence[Callable[[threading.Event], None]],
    traffic: Traffic,
    seconds: float,
) -> None:
    stopping = threading.Event()
    failed: list[BaseException] = []

    def guarded(each: Callable[[threading.Event], None]) -> None:
        try:
            each(stopping)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=guarded, args=(each,), daemon=True) for each in work]
    for thread in threads:
        thread.start()
    traffic.start()
    try:
        traffic.wait_for_more()
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s and not failed:
            faults.one()
            time.sleep(0.2)
        traffic.wait_for_more()  # all that was acknowledged until here is read
    finally:
        stopping.set()
        for thread in threads:
            thread.join(PATIENCE_S)
        traffic.stop()
    assert not failed, failed
    assert not any(thread.is_alive() for thread in threads)


def _leads(cluster: RunningCluster, broker_id: int) -> bool:
    """Whether every broker reports it."""
    return all(
        broker_id in {part.leader_id for topic in all_metadata(cluster, each).topics
                      if topic.name == "records" for part in topic.partitions}
        for each in running(cluster)
    )  # fmt: skip


# All brokers have what is in ZooKeeper, and that is what was acknowledged.


def check_metadata(cluster: RunningCluster, clients: list[Administration]) -> None:
    image = stored_image(cluster)
    digests = {each: image_digest(cluster, each, image) for each in cluster.ids}
    assert len(set(digests.values())) == 1, f"brokers have different metadata: {digests}"
    print("metadata of every broker:", digests.popitem()[1])
    for client in clients:
        own = {name for name in image.topics if name.startswith(f"{client._name}-")}
        lost, unexpected = client.topics.keys() - own, own - client.topics.keys()
        assert not lost, f"acknowledged, but gone: {lost}"
        assert not unexpected, (
            f"{unexpected}; acknowledged deletions: {unexpected & client.deleted}"
        )
        for name, topic_id in client.topics.items():
            assert topic_id in (None, image.topics[name].id), f"{name} was made twice"
    for broker_id in cluster.ids:
        check_topics(cluster, broker_id, image)
        for client in clients:
            for name, value in client.retention.items():
                found = settings_of(cluster, broker_id, TOPIC, name)
                assert found["retention.ms"] == value
        wanted = {name: value for client in clients for name, value in client.quotas.items()}
        assert quotas(cluster, broker_id) == wanted


def image_digest(cluster: RunningCluster, broker_id: int, image: Image) -> str:
    """Of what a broker answers about all topics, partitions, settings, quotas and brokers."""
    every = all_metadata(cluster, broker_id)
    brokers = sorted((each.node_id, each.host, each.port) for each in every.brokers)
    topics = sorted(every.topics, key=lambda each: each.name or "")
    settings = {name: settings_of(cluster, broker_id, TOPIC, name) for name in sorted(image.topics)}
    shown = [brokers, topics, settings, sorted(quotas(cluster, broker_id).items())]
    return hashlib.sha256(repr(shown).encode()).hexdigest()[:16]


def check_topics(cluster: RunningCluster, broker_id: int, image: Image) -> None:
    found = {topic.name: topic for topic in all_metadata(cluster, broker_id).topics}
    assert found.keys() == image.topics.keys()
    for name, topic in image.topics.items():
        assert found[name].topic_id == topic.id
        answered = {each.partition_index: each for each in found[name].partitions}
        for index, part in enumerate(topic.partitions):
            here = answered[index]
            assert (here.leader_id, here.leader_epoch) == (part.leader, part.leader_epoch)
            assert tuple(here.replica_nodes) == tuple(part.replicas)
            assert tuple(here.isr_nodes) == tuple(part.in_sync_replicas)


def quotas(cluster: RunningCluster, broker_id: int) -> dict[str, float]:
    answer = ask(cluster, broker_id, DescribeClientQuotasRequest([]))
    return {
        each.entity[0].entity_name: value.value for each in answer.entries for value in each.values
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    arguments = parser.parse_args()
    run(arguments.seed, arguments.seconds)


if __name__ == "__main__":
    main()
