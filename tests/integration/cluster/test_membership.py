"""Brokers come, go, hang and return; so does ZooKeeper."""

from __future__ import annotations

import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from tests.integration.cluster.conftest import SESSION_MS
from tests.integration.cluster.harness import (
    ask,
    controller_of,
    create_topic,
    measured,
    metadata,
    others,
    running,
    stored_image,
)
from tests.integration.cluster.traffic import QUIET, traffic
from tests.support.waiting import wait_until

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.describe_cluster_request import DescribeClusterRequest
from ottla.protocol.messages.unregister_broker_request import UnregisterBrokerRequest
from ottla.testing.broker import RunningBroker
from ottla.testing.cluster import RunningCluster

pytestmark = pytest.mark.xdist_group("cluster-membership")
PATIENCE_S = 60.0
BEYOND_THE_SESSION = "paused beyond the session"
RECOVERED = 0  # a leader that was elected cleanly, or has recovered since


@pytest.fixture(scope="module", autouse=True)
def _topics(cluster: RunningCluster) -> None:
    create_topic(cluster, "data", [1, 2, 3])


@pytest.fixture(autouse=True)
def _all_running(cluster: RunningCluster) -> None:
    """Whatever the test before has left."""
    for broker_id, broker in cluster.brokers.items():
        if not broker.is_running:
            cluster.start(broker_id)
        elif broker.is_paused:
            cluster.resume(broker_id)
    for broker_id in cluster.ids:
        wait_for_leader(cluster, broker_id, broker_id)


def new_topic(name: str) -> CreateTopicsRequest:
    return CreateTopicsRequest([CreatableTopic(name, 1, 1)], timeout_ms=30_000)


def create(cluster: RunningCluster, broker_id: int, name: str) -> int:
    code: int = ask(cluster, broker_id, new_topic(name)).topics[0].error_code
    return code


def leader(cluster: RunningCluster, asked: int, partition: int) -> int:
    (topic,) = metadata(cluster, asked, "data").topics
    found = {each.partition_index: each.leader_id for each in topic.partitions}
    return int(found[partition])


def wait_for_leader(cluster: RunningCluster, broker_id: int, wanted: int) -> None:
    """All running brokers say that the partition on `broker_id` is led by `wanted`."""

    def is_so() -> bool:
        return all(leader(cluster, each, broker_id - 1) == wanted for each in running(cluster))

    wait_until(is_so, f"partition {broker_id - 1} is led by {wanted}")


def produce(cluster: RunningCluster, value: str) -> None:
    """To every partition; all must be acknowledged."""
    failed = []
    producer = Producer({**QUIET, "bootstrap.servers": cluster.bootstrap_servers})
    for partition in range(3):
        producer.produce(
            "data",
            value,
            partition=partition,
            on_delivery=lambda error, _: failed.append(error) if error else None,
        )
    assert producer.flush(PATIENCE_S) == 0
    assert failed == []


def values(cluster: RunningCluster) -> list[list[str]]:
    """Of every partition."""
    consumer = Consumer(
        {**QUIET, "bootstrap.servers": cluster.bootstrap_servers, "group.id": "reader"}
    )
    found = []
    for partition in range(3):
        start = TopicPartition("data", partition, 0)
        _, end = consumer.get_watermark_offsets(start, PATIENCE_S)
        consumer.assign([start])
        read: list[str] = []
        while len(read) < end:
            message = consumer.poll(PATIENCE_S)
            assert message is not None
            assert message.error() is None
            read.append((message.value() or b"").decode())
        found.append(read)
    consumer.close()
    return found


def recovery(cluster: RunningCluster, topic: str) -> list[int]:
    return [each.leader_recovery for each in stored_image(cluster).topics[topic].partitions]


def test_another_controller_is_elected_after_a_kill(cluster: RunningCluster) -> None:
    produce(cluster, "before the controller was killed")
    old = controller_of(cluster)
    asked = others(cluster)
    cluster.kill(old)
    for each in asked:
        with measured(f"topic created at broker {each} after kill -9 of the controller"):
            assert create(cluster, each, f"without-{old}-{each}") == 0
    new = controller_of(cluster, besides=old)
    assert new in asked
    wait_for_leader(cluster, old, -1)
    with measured("start after kill -9"):
        cluster.start(old)
    wait_for_leader(cluster, old, old)
    assert controller_of(cluster) == new
    assert create(cluster, old, f"again-{old}") == 0
    produce(cluster, "after it")
    assert all(each[-2:] == ["before the controller was killed", "after it"]
               for each in values(cluster))  # fmt: skip


def test_a_killed_broker_comes_back_with_its_records(cluster: RunningCluster) -> None:
    produce(cluster, "before the kill")
    killed = others(cluster)[0]
    create_topic(cluster, "unclean", [killed])
    with measured("fenced after kill -9"):
        cluster.kill(killed)
        wait_for_leader(cluster, killed, -1)
    cluster.start(killed)
    wait_for_leader(cluster, killed, killed)
    # Elected although its last records may be lost, and then recovered.
    wait_until(lambda: recovery(cluster, "unclean") == [RECOVERED], "recovered")
    produce(cluster, "after the kill")
    assert all(each[-2:] == ["before the kill", "after the kill"] for each in values(cluster))


def test_a_broker_that_restarts_at_once_loses_no_record(cluster: RunningCluster) -> None:
    """Its successor registers before the controller may have seen the end of the old process."""
    killed = others(cluster)[0]
    for at in range(3):
        produce(cluster, f"round {at}")
        cluster.kill(killed)
        cluster.start(killed)
        wait_for_leader(cluster, killed, killed)
    assert all(each[-3:] == ["round 0", "round 1", "round 2"] for each in values(cluster))


@pytest.mark.parametrize("is_controller", [False, True], ids=["other broker", "controller"])
def test_a_broker_that_hangs_is_fenced_and_returns(
    cluster: RunningCluster, *, is_controller: bool
) -> None:
    produce(cluster, "before the pause")
    paused = controller_of(cluster) if is_controller else others(cluster)[0]
    with measured(f"fenced after SIGSTOP, with a session timeout of {SESSION_MS} ms"):
        cluster.pause(paused)
        wait_for_leader(cluster, paused, -1)
    for each in running(cluster):
        assert create(cluster, each, f"paused-{is_controller}-{each}") == 0
    cluster.resume(paused)
    with measured("leads again after SIGCONT"):
        wait_for_leader(cluster, paused, paused)
    assert cluster.brokers[paused].is_running
    assert create(cluster, paused, f"resumed-{is_controller}-{paused}") == 0
    produce(cluster, "after the pause")
    assert all(each[-2:] == ["before the pause", "after the pause"] for each in values(cluster))


@pytest.mark.parametrize("is_controller", [False, True], ids=["other broker", "controller"])
def test_a_broker_that_is_stopped_leaves_cleanly(
    cluster: RunningCluster, *, is_controller: bool
) -> None:
    produce(cluster, "before the stop")
    stopped = controller_of(cluster) if is_controller else others(cluster)[0]
    create_topic(cluster, f"clean-{is_controller}", [stopped])
    with measured("stop"):
        assert cluster.stop(stopped) == 0
    broker = cluster.brokers[stopped]
    assert (broker.data / ".kafka_cleanshutdown").exists()
    wait_for_leader(cluster, stopped, -1)
    cluster.start(stopped)
    wait_for_leader(cluster, stopped, stopped)
    (topic,) = metadata(cluster, stopped, "data").topics
    found = {each.partition_index: each for each in topic.partitions}[stopped - 1]
    assert found.isr_nodes == [stopped]
    assert recovery(cluster, f"clean-{is_controller}") == [RECOVERED]
    produce(cluster, "after the stop")
    assert all(each[-2:] == ["before the stop", "after the stop"] for each in values(cluster))


def test_a_broker_whose_id_was_taken_meanwhile_ends(cluster: RunningCluster) -> None:
    """The other process has none of its records, and does not lead."""
    produce(cluster, "before the id was taken")
    paused, asked = others(cluster)
    cluster.pause(paused)
    wait_for_leader(cluster, paused, -1)
    config = {"node.id": paused, "zookeeper.connect": cluster.zookeeper_connect}
    broker = cluster.brokers[paused]
    with RunningBroker(config=config) as other:
        wait_until(lambda: paused in broker_ids(cluster, asked), "it is registered")
        before = len(broker.log)
        cluster.resume(paused)
        assert broker.wait_for_end(PATIENCE_S) == 1
        assert f"/brokers/ids/{paused} belongs to {other.bootstrap_servers}" in broker.log[before:]
        assert "node.id" in broker.log[before:]
        wait_for_leader(cluster, paused, -1)
    cluster.start(paused)
    wait_for_leader(cluster, paused, paused)
    produce(cluster, "after it")
    wanted = ["before the id was taken", "after it"]
    assert all(each[-2:] == wanted for each in values(cluster))


def test_a_stopped_broker_is_unregistered_and_registers_again(cluster: RunningCluster) -> None:
    produce(cluster, "before it was unregistered")
    stopped, asked = others(cluster)
    assert cluster.stop(stopped) == 0
    assert ask(cluster, asked, UnregisterBrokerRequest(stopped)).error_code == ErrorCode.NONE
    assert stopped not in broker_ids(cluster, asked)
    cluster.start(stopped)
    wait_for_leader(cluster, stopped, stopped)
    assert all(stopped in broker_ids(cluster, each) for each in cluster.ids)
    produce(cluster, "after it")
    wanted = ["before it was unregistered", "after it"]
    assert all(each[-2:] == wanted for each in values(cluster))


def broker_ids(cluster: RunningCluster, asked: int) -> list[int]:
    """With those that are fenced."""
    answer = ask(cluster, asked, DescribeClusterRequest(include_fenced_brokers=True), 2)
    return [each.broker_id for each in answer.brokers]


@pytest.mark.parametrize(
    ("fault", "protocol"),
    [
        ("stopped", "classic"),
        ("killed", "consumer"),
        ("paused", "classic"),
        (BEYOND_THE_SESSION, "classic"),
    ],
)
def test_records_and_groups_go_on_without_zookeeper(
    cluster: RunningCluster, fault: str, protocol: str
) -> None:
    zookeeper = cluster.zookeeper
    before = controller_of(cluster)
    name = f"without-zookeeper-{fault}-{protocol}".replace(" ", "-")
    create_topic(cluster, name, [1, 2, 3])
    with traffic(cluster.bootstrap_servers, name, name, protocol) as going_on, measured(fault):
        if fault in ("stopped", "killed"):
            zookeeper.signal(signal.SIGTERM if fault == "stopped" else signal.SIGKILL)
            zookeeper.wait()
        else:
            zookeeper.signal(signal.SIGSTOP)
        with ThreadPoolExecutor(3) as threads:
            waiting = [
                threads.submit(create, cluster, each, f"{name}-{each}") for each in cluster.ids
            ]
            pause_s = SESSION_MS / 1000 + 1 if fault == BEYOND_THE_SESSION else 1.0
            end_s = time.monotonic() + pause_s
            while time.monotonic() < end_s:
                going_on.wait_for_more()
            assert not any(each.done() for each in waiting)
            if fault in ("stopped", "killed"):
                zookeeper.start()
            else:
                zookeeper.signal(signal.SIGCONT)
            with measured("administration continues"):
                codes = {each.result(PATIENCE_S) for each in waiting}
        # A controller that resigns may have been successful: the next one is asked again.
        repeated = {ErrorCode.TOPIC_ALREADY_EXISTS} if fault == BEYOND_THE_SESSION else set()
        assert codes <= {ErrorCode.NONE, *repeated}
        going_on.wait_for_more()
    for each in cluster.ids:
        (found,) = metadata(cluster, each, f"{name}-{each}").topics
        assert found.error_code == ErrorCode.NONE
    print("controller before and after:", before, controller_of(cluster))
    for each in cluster.ids:
        wait_for_leader(cluster, each, each)


def test_the_log_of_brokers_has_no_traceback(cluster: RunningCluster) -> None:
    for broker in cluster.brokers.values():
        assert "Traceback" not in broker.log, broker.log
