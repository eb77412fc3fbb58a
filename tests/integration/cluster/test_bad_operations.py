"""What an operator can do wrong in a cluster, and the codes that Kafka answers with."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)
from tests.integration.cluster.harness import BROKER, ask, metadata, settings_of
from tests.integration.cluster.test_reassignment import wait_until_moved
from tests.integration.cluster.test_replication import Replicated
from tests.integration.cluster.traffic import QUIET
from tests.support.waiting import wait_until

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.protocol.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from ottla.protocol.messages.elect_leaders_request import ElectLeadersRequest
from ottla.testing.cluster import RunningCluster

pytestmark = pytest.mark.ci


@pytest.fixture
def admin(cluster: RunningCluster) -> AdminClient:
    return AdminClient({**QUIET, "bootstrap.servers": cluster.bootstrap_servers})


@pytest.fixture(autouse=True)
def all_running(cluster: RunningCluster) -> Iterator[None]:
    yield
    for each, broker in cluster.brokers.items():
        if not broker.is_running:
            cluster.start(each)


def reassigned(topic: Replicated, replicas: list[int] | None) -> Any:
    """The answer for its partition."""
    request = AlterPartitionReassignmentsRequest(
        30_000, topics=[ReassignableTopic(topic.name, [ReassignablePartition(0, replicas)])]
    )
    answer = ask(topic.cluster, topic.leader, request)
    assert answer.error_code == 0, answer
    return answer.responses[0].partitions[0]


def test_more_replicas_than_brokers(cluster: RunningCluster, admin: AdminClient) -> None:
    with pytest.raises(KafkaException) as refused:
        admin.create_topics([NewTopic("wide", 1, 4)])["wide"].result()
    assert refused.value.args[0].code() == KafkaError.INVALID_REPLICATION_FACTOR
    assert "wide" not in admin.list_topics(timeout=30).topics


def test_a_replica_on_a_broker_that_does_not_exist(cluster: RunningCluster) -> None:
    assignment = [CreatableReplicaAssignment(0, [1, 9])]
    request = CreateTopicsRequest([CreatableTopic("nowhere", -1, -1, assignment)], 30_000)
    (answer,) = ask(cluster, 1, request).topics
    assert answer.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert "9" in answer.error_message
    topic = Replicated(cluster, replicas=2)
    before = list(topic.partition().replica_nodes)
    for replicas in ([1, 9], [1, 1], []):
        assert reassigned(topic, replicas).error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert reassigned(topic, None).error_code == ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
    assert list(topic.partition().replica_nodes) == before


def test_too_few_replicas_in_sync_refuse_acks_all_and_lose_nothing(
    cluster: RunningCluster, admin: AdminClient
) -> None:
    topic = Replicated(cluster)  # min.insync.replicas is 2
    with topic.producing():
        topic.wait_for_more()
    stopped = topic.followers
    for each in stopped:
        cluster.kill(each)
    wait_until(lambda: len(topic.partition().isr_nodes) == 1, "one is in sync")
    producer = Producer(
        {
            **QUIET,
            "bootstrap.servers": cluster.bootstrap_servers,
            "acks": "all",
            "retries": 0,
        }
    )
    codes: list[int] = []
    producer.produce(
        topic.name, b"x", partition=0, on_delivery=lambda error, _: codes.append(error.code())
    )
    assert producer.flush(60) == 0
    assert codes == [KafkaError.NOT_ENOUGH_REPLICAS]
    assert topic.values() == topic.acknowledged
    for each in stopped:
        cluster.start(each)
    topic.wait_until_in_sync()
    with topic.producing():
        topic.wait_for_more()
    topic.check()


def test_a_reassignment_to_a_dead_broker_waits_for_it(cluster: RunningCluster) -> None:
    """As in Kafka: a broker that is registered may be a target, and all continues meanwhile."""
    topic = Replicated(cluster, replicas=2)
    first, second = topic.partition().replica_nodes
    (dead,) = set(cluster.ids) - {first, second}
    with topic.producing():
        topic.wait_for_more()
        cluster.kill(dead)
        wait_until(lambda: dead in fenced(cluster, first), "fenced")
        assert reassigned(topic, [first, dead]).error_code == ErrorCode.NONE
        topic.wait_for_more()
        assert set(topic.partition().isr_nodes) == {first, second}
        assert reassigned(topic, None).error_code == ErrorCode.NONE  # cancelled
        wait_until(lambda: set(topic.partition().replica_nodes) == {first, second}, "as before")
        assert reassigned(topic, [first, dead]).error_code == ErrorCode.NONE
        topic.wait_for_more()
        cluster.start(dead)
        wait_until_moved(topic, [first, dead])
        topic.wait_for_more()
    topic.check()


def fenced(cluster: RunningCluster, asked: int) -> set[int]:
    """Brokers that a living one does not name."""
    return set(cluster.ids) - {each.node_id for each in metadata(cluster, asked).brokers}


def test_a_throttle_of_zero_stops_moves_and_nothing_else(
    cluster: RunningCluster, admin: AdminClient
) -> None:
    """As in Kafka, which accepts it: replicas that are in sync are not throttled."""
    topic = Replicated(cluster, replicas=2)
    first, second = topic.partition().replica_nodes
    (new,) = set(cluster.ids) - {first, second}
    throttled = ("leader.replication.throttled", "follower.replication.throttled")
    with topic.producing():
        topic.wait_for_more()
        change(admin, topic.name, {f"{each}.replicas": "*" for each in throttled})
        for each in cluster.ids:
            change(admin, each, {f"{name}.rate": "0" for name in throttled})
        wait_until(lambda: rates(cluster, new) == {"0"}, "the rate is known")
        assert reassigned(topic, [first, second, new]).error_code == ErrorCode.NONE
        wait_until(lambda: new in topic.partition().replica_nodes, "it is added")
        topic.wait_for_more(200)
        assert new not in topic.partition().isr_nodes
        for each in cluster.ids:
            change(admin, each, {f"{name}.rate": None for name in throttled})
        wait_until_moved(topic, [first, second, new])
    topic.check()


def change(admin: AdminClient, named: str | int, settings: Mapping[str, str | None]) -> None:
    """Settings of a topic, by its name, or of a broker, by its id; None removes one."""
    kind = ResourceType.BROKER if isinstance(named, int) else ResourceType.TOPIC
    remove, put = AlterConfigOpType.DELETE, AlterConfigOpType.SET
    entries = [
        ConfigEntry(name, value or "", incremental_operation=remove if value is None else put)
        for name, value in settings.items()
    ]
    resource = ConfigResource(kind, str(named), incremental_configs=entries)
    admin.incremental_alter_configs([resource])[resource].result()


def rates(cluster: RunningCluster, broker_id: int) -> set[str | None]:
    found = settings_of(cluster, broker_id, BROKER, str(broker_id))
    return {value for name, value in found.items() if "throttled.rate" in name}


def test_a_follower_with_a_longer_log_than_its_leader_is_truncated(
    cluster: RunningCluster, admin: AdminClient
) -> None:
    """Only an unclean election, which the topic allows, can elect a leader that lacks records."""
    name = "unclean"
    config = {"unclean.leader.election.enable": "true", "min.insync.replicas": "1"}
    topic = Replicated(cluster, topic=NewTopic(name, 1, replica_assignment=[[1, 2]], config=config))
    produce(cluster, name, b"both", 10)
    wait_until(lambda: len(topic.partition().isr_nodes) == 2, "both are in sync")
    topic.wait_until_equal(1, 2)
    cluster.kill(2)
    wait_until(lambda: list(topic.partition().isr_nodes) == [1], "one is in sync")
    produce(cluster, name, b"only the first", 20)
    cluster.kill(1)
    cluster.start(2)
    topic.outdated = 1
    wait_until(lambda: topic.partition().leader_id == 2, "the second one leads, uncleanly")
    produce(cluster, name, b"after", 5)
    cluster.start(1)
    wait_until(lambda: set(topic.partition().isr_nodes) == {1, 2}, "both are in sync again")
    topic.wait_until_equal(1, 2)
    assert topic.values() == [b"both"] * 10 + [b"after"] * 5


def produce(cluster: RunningCluster, topic: str, value: bytes, count: int) -> None:
    producer = Producer({**QUIET, "bootstrap.servers": cluster.bootstrap_servers})
    failures: list[str] = []
    for _ in range(count):
        producer.produce(
            topic,
            value,
            partition=0,
            on_delivery=lambda error, _: failures.append(str(error)) if error else None,
        )
    assert producer.flush(120) == 0
    assert not failures


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "small"
    path.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(path)]
    if os.getuid() != 0 or subprocess.run(words, capture_output=True).returncode != 0:
        pytest.skip("a small file system cannot be mounted here")
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)


def test_a_full_disk_on_one_of_three_stops_and_loses_nothing(small_disk: Path) -> None:
    """Others lead what it led, and continue without it; it catches up when there is room."""
    config = {
        "zookeeper.session.timeout.ms": 4000,
        "auto.create.topics.enable": False,
        "replica.lag.time.max.ms": 300_000,  # longer than any test
        "auto.leader.rebalance.enable": False,
        "log.segment.delete.delay.ms": 500,
    }

    def directories(broker_id: int) -> dict[str, Any]:
        return {"log.dirs": str(small_disk / "data")} if broker_id == 3 else {}

    with RunningCluster(config=config, config_of=directories) as cluster:
        led, followed, large = (
            Replicated(cluster, topic=NewTopic(name, 1, replica_assignment=[replicas]))
            for name, replicas in (
                ("led", [3, 1, 2]),
                ("followed", [1, 2, 3]),
                ("large", [1, 2, 3]),
            )
        )
        with led.producing(), followed.producing():
            led.wait_for_more()
            produce(cluster, "large", os.urandom(500_000), 40)
            wait_until(lambda: led.partition().leader_id != 3, "another one leads")
            for each in (led, followed):
                wait_until(lambda each=each: 3 not in each.partition().isr_nodes, "it has left")  # type: ignore[misc]
                each.wait_for_more(200)
            assert "Traceback" not in cluster.brokers[3].log
            delete(cluster, large.name)
            for each in (led, followed):
                wait_until(lambda each=each: 3 in each.partition().isr_nodes, "it is back")  # type: ignore[misc]
            elect_preferred(cluster)
            wait_until(lambda: led.partition().leader_id == 3, "it leads again")
            led.wait_for_more()
            followed.wait_for_more()
        led.check()
        followed.check()


def test_the_only_replica_on_a_full_disk_is_read_and_waits_for_room(small_disk: Path) -> None:
    config = {
        "zookeeper.session.timeout.ms": 4000,
        "auto.create.topics.enable": False,
        "log.segment.delete.delay.ms": 500,
    }

    def directories(broker_id: int) -> dict[str, Any]:
        return {"log.dirs": str(small_disk / "data")} if broker_id == 3 else {}

    with RunningCluster(config=config, config_of=directories) as cluster:
        alone = Replicated(cluster, topic=NewTopic("alone", 1, replica_assignment=[[3]]))
        large = Replicated(cluster, topic=NewTopic("large", 1, replica_assignment=[[1, 2, 3]]))
        produce(cluster, "alone", b"before", 10)
        produce(cluster, "large", os.urandom(500_000), 40)
        wait_until(lambda: 3 not in large.partition().isr_nodes, "there is no room")
        assert list(alone.partition().isr_nodes) == [3]
        assert alone.values() == [b"before"] * 10
        delete(cluster, large.name)
        produce(cluster, "alone", b"after", 10)
        assert alone.values() == [b"before"] * 10 + [b"after"] * 10


def delete(cluster: RunningCluster, topic: str) -> None:
    admin = AdminClient({**QUIET, "bootstrap.servers": cluster.bootstrap_servers})
    admin.delete_topics([topic])[topic].result()


def elect_preferred(cluster: RunningCluster) -> None:
    ask(cluster, 1, ElectLeadersRequest(0, None, 30_000))
