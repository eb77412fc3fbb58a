"""Groups and transactions whose coordinator, members and partitions are on different brokers."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from aiokafka import AIOKafkaProducer
from confluent_kafka import Consumer, Producer
from tests.compatibility.clients.foreign.kafka_python import KafkaConsumer
from tests.compatibility.clients.foreign.kafka_python import TopicPartition as PythonPartition
from tests.integration.cluster.harness import (
    ask,
    controller_of,
    create_topic,
    measured,
    running,
)
from tests.integration.cluster.traffic import QUIET
from tests.integration.cluster.transactions import (
    PARTITIONS,
    PATIENCE_S,
    end,
    new_producer,
    read_committed,
)
from tests.support.waiting import wait_until

from ottla.protocol.messages.elect_leaders_request import ElectLeadersRequest
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from ottla.testing.cluster import RunningCluster

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("cluster-coordinators")]
GROUP, TRANSACTION = 0, 1


def coordinators(cluster: RunningCluster, asked: int, kind: int, keys: list[str]) -> list[int]:
    """-1 for those that are not available."""
    request = FindCoordinatorRequest(key_type=kind, coordinator_keys=keys)
    found = {each.key: each.node_id for each in ask(cluster, asked, request, 4).coordinators}
    return [found[each] for each in keys]


def coordinator(cluster: RunningCluster, kind: int, key: str) -> int:
    """That all running brokers name, once there is one."""
    found = set[int]()

    def is_known() -> bool:
        found.clear()
        for each in running(cluster):
            found.update(coordinators(cluster, each, kind, [key]))
        return len(found) == 1 and -1 not in found

    wait_until(is_known, f"a coordinator of {key}")
    return found.pop()


def key_at(cluster: RunningCluster, kind: int, broker_id: int, prefix: str) -> str:
    """A group, or a transactional id, that this broker coordinates."""
    keys = [f"{prefix}-{at}" for at in range(40)]
    coordinator(cluster, kind, keys[0])  # its topic exists
    found: list[int] = []

    def is_found() -> bool:
        elect_preferred_leaders(cluster)  # a broker that was killed leads nothing at first
        found[:] = coordinators(cluster, running(cluster)[0], kind, keys)
        return broker_id in found

    wait_until(is_found, f"broker {broker_id} coordinates something")
    return keys[found.index(broker_id)]


def elect_preferred_leaders(cluster: RunningCluster) -> None:
    ask(cluster, running(cluster)[0], ElectLeadersRequest(0, None, 30_000))


@pytest.mark.parametrize("kind", [GROUP, TRANSACTION], ids=["groups", "transactions"])
def test_all_brokers_name_the_same_coordinators(cluster: RunningCluster, kind: int) -> None:
    keys = [f"key-{at}" for at in range(30)]
    for each in keys:
        coordinator(cluster, kind, each)
    found = [coordinators(cluster, each, kind, keys) for each in cluster.ids]
    assert found[0] == found[1] == found[2]
    assert set(found[0]) == set(cluster.ids)


def fill(cluster: RunningCluster, topic: str, count: int) -> None:
    producer = Producer({**QUIET, "bootstrap.servers": cluster.bootstrap_servers})
    for partition in range(PARTITIONS):
        for at in range(count):
            producer.produce(topic, f"{partition}-{at}", partition=partition)
    assert producer.flush(PATIENCE_S) == 0


def read_as_group(
    cluster: RunningCluster, topic: str, group: str, protocol: str, count: int
) -> list[str]:
    consumer = Consumer(
        {
            **QUIET,
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": group,
            "group.protocol": protocol,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([topic])
    found: list[str] = []
    while len(found) < count:
        message = consumer.poll(PATIENCE_S)
        assert message is not None, found
        assert message.error() is None, message.error()
        found.append((message.value() or b"").decode())
    consumer.commit(asynchronous=False)
    consumer.close()
    return found


def test_an_abort_right_after_a_commit_is_no_error(cluster: RunningCluster) -> None:
    """librdkafka aborts what it began to add, and fails permanently if nothing was added.
    Partitions are added once the markers of the last transaction are written."""
    create_topic(cluster, "aborts", [1, 2, 3])
    producer = new_producer(cluster, "aborting")
    for at in range(60):
        producer.begin_transaction()
        for partition in range(PARTITIONS):
            producer.produce("aborts", str(at), partition=partition)
        producer.poll(at % 6 * 0.002)
        end(producer, commits=at % 2 == 0)
    committed = {str(at): PARTITIONS for at in range(0, 60, 2)}
    assert read_committed(cluster, "aborts") == Counter(committed)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_commits_survive_a_kill_of_the_coordinator(cluster: RunningCluster, protocol: str) -> None:
    topic = f"commits-{protocol}"
    create_topic(cluster, topic, [1, 2, 3])
    fill(cluster, topic, 5)
    for broker_id in cluster.ids:
        group = key_at(cluster, GROUP, broker_id, f"{protocol}-{broker_id}")
        assert len(set(read_as_group(cluster, topic, group, protocol, 15))) == 15
        if broker_id != 1 and protocol == "classic":
            continue  # each broker coordinates; one of them is killed
        cluster.kill(broker_id)
        cluster.start(broker_id)
        coordinator(cluster, GROUP, group)
        wait_until(lambda group=group: ends(cluster, topic, group) == [5, 5, 5], "commits")  # type: ignore[misc]
    fill(cluster, topic, 1)
    assert len(read_as_group(cluster, topic, group, protocol, 3)) == 3


def ends(cluster: RunningCluster, topic: str, group: str) -> list[int]:
    """What kafka-python says was committed."""
    consumer = KafkaConsumer(bootstrap_servers=cluster.bootstrap_servers.split(","), group_id=group)
    try:
        return [consumer.committed(PythonPartition(topic, at)) or -1 for at in range(PARTITIONS)]
    finally:
        consumer.close(autocommit=False)


# Transactions


def expected(rounds: list[int]) -> Counter[str]:
    return Counter(f"{at}-{partition}" for at in rounds for partition in range(PARTITIONS))


@pytest.mark.parametrize("victim", ["coordinator", "leader", "controller"])
def test_transactions_survive_a_kill(cluster: RunningCluster, victim: str) -> None:
    topic = f"transactions-{victim}"
    create_topic(cluster, topic, [1, 2, 3])
    controller = controller_of(cluster)
    # Three different brokers where that is possible.
    at = next(each for each in cluster.ids if each != controller)
    leader = next(each for each in cluster.ids if each not in (controller, at))
    killed = {"coordinator": at, "leader": leader, "controller": controller}[victim]
    producer = new_producer(cluster, key_at(cluster, TRANSACTION, at, topic))
    committed = []
    for number in range(6):
        producer.begin_transaction()
        for partition in range(PARTITIONS):
            producer.produce(topic, f"{number}-{partition}", partition=partition)
        if number in (2, 3):  # one that commits, and one that aborts
            assert producer.flush(PATIENCE_S) == 0
            cluster.kill(killed)
            cluster.start(killed)
        with measured(f"transaction {number}, kill of the {victim}"):
            if end(producer, commits=number % 2 == 0):
                committed.append(number)
    assert {0, 4} <= set(committed)
    assert read_committed(cluster, topic) == expected(committed)


def test_transactions_of_aiokafka_over_all_brokers(cluster: RunningCluster) -> None:
    create_topic(cluster, "aio", [1, 2, 3])

    async def story() -> None:
        for broker_id in cluster.ids:
            producer = AIOKafkaProducer(
                bootstrap_servers=cluster.bootstrap_servers,
                transactional_id=key_at(cluster, TRANSACTION, broker_id, "aio"),
            )
            await producer.start()
            for number, commits in ((broker_id, True), (10 + broker_id, False)):
                await producer.begin_transaction()
                for partition in range(PARTITIONS):
                    value = f"{number}-{partition}".encode()
                    await producer.send_and_wait("aio", value, partition=partition)
                await (producer.commit_transaction() if commits else producer.abort_transaction())
            await producer.stop()

    asyncio.run(story())
    assert read_committed(cluster, "aio") == expected([1, 2, 3])
