"""Brokers that end or return in other ways than by a kill: what the cluster does about it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from tests.integration.cluster.conftest import SESSION_MS
from tests.integration.cluster.harness import (
    ask,
    controller_of,
    create_topic,
    is_led,
    kazoo_client,
    metadata,
    others,
    running,
    stored_image,
)
from tests.support.waiting import wait_until

from ottla.metadata.records import RECOVERING, PartitionChanged, Record
from ottla.metadata.zookeeper.batch_znode import decode_batch, decode_header
from ottla.metadata.zookeeper.layout import LOG
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from ottla.protocol.messages.describe_quorum_request import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from ottla.testing.broker import RunningBroker
from ottla.testing.cluster import RunningCluster

pytestmark = pytest.mark.ci
REPLICAS = {0: [1, 2, 3], 1: [2, 3, 1], 2: [3, 1, 2]}


@pytest.fixture(scope="module")
def cluster() -> Iterator[RunningCluster]:
    """Leaders return to the first replica as soon as it is in sync again."""
    config = {
        "zookeeper.session.timeout.ms": SESSION_MS,
        "leader.imbalance.check.interval.seconds": 1,
        "replica.lag.time.max.ms": 2000,
    }
    with RunningCluster(config=config) as started:
        assignments = [CreatableReplicaAssignment(*item) for item in REPLICAS.items()]
        request = CreateTopicsRequest([CreatableTopic("t", -1, -1, assignments)], timeout_ms=30_000)
        assert ask(started, 1, request).topics[0].error_code == ErrorCode.NONE
        yield started


@pytest.fixture(autouse=True)
def _all_in_sync(cluster: RunningCluster) -> None:
    for broker_id in cluster.ids:
        cluster.start(broker_id)
    wait_until(lambda: leaders(cluster) == [1, 2, 3], "preferred leaders lead")
    wait_until(lambda: all(len(each) == 3 for each in in_sync(cluster)), "in sync")


def leaders(cluster: RunningCluster) -> list[int]:
    """As one of the running brokers knows them."""
    (topic,) = metadata(cluster, running(cluster)[0], "t").topics
    return [each.leader_id for each in sorted(topic.partitions, key=lambda it: it.partition_index)]


def in_sync(cluster: RunningCluster) -> list[list[int]]:
    (topic,) = metadata(cluster, running(cluster)[0], "t").topics
    return [sorted(each.isr_nodes) for each in topic.partitions]


def test_leaders_return_to_the_first_replica_by_themselves(cluster: RunningCluster) -> None:
    """`auto.leader.rebalance.enable`, which is the default: no request asks for an election."""
    killed = others(cluster)[0]
    cluster.kill(killed)
    wait_until(lambda: killed not in leaders(cluster), "others lead")
    cluster.start(killed)
    wait_until(lambda: leaders(cluster) == [1, 2, 3], "it leads again")


@pytest.mark.parametrize("is_clean", [True, False], ids=["stopped", "killed"])
def test_a_registration_shows_whether_the_last_stop_was_clean(
    cluster: RunningCluster, *, is_clean: bool
) -> None:
    """A replica without others leads again in both cases: after a kill as one that may lack records
    that it had acknowledged."""
    broker_id = others(cluster)[0]
    name = f"single-{is_clean}"
    create_topic(cluster, name, [broker_id])
    topic_id = stored_image(cluster).topics[name].id
    end_offset = stored_image(cluster).offset
    if is_clean:
        cluster.stop(broker_id)
    else:
        cluster.kill(broker_id)
    cluster.start(broker_id)
    wait_until(lambda: is_led(cluster, broker_id, name), "it leads again")
    changes = [
        each.leader_recovery
        for each in records_from(cluster, end_offset)
        if isinstance(each, PartitionChanged) and each.topic_id == topic_id
    ]
    assert (RECOVERING in changes) == (not is_clean)


def records_from(cluster: RunningCluster, offset: int) -> list[Record]:
    """All records of the metadata log from an offset on, as they are in ZooKeeper."""
    with kazoo_client(cluster.zookeeper_connect) as client:
        names = [each for each in sorted(client.get_children(LOG)) if int(each) >= offset]
        batches = [decode_batch(*decode_header(client.get(f"{LOG}/{each}")[0])) for each in names]
    return [record for batch in batches for record in batch.records]


def test_every_broker_names_the_controller_as_the_leader_of_the_quorum(
    cluster: RunningCluster,
) -> None:
    request = DescribeQuorumRequest([TopicData("__cluster_metadata", [PartitionData(0)])])

    def described(broker_id: int) -> tuple[int, int, list[int]]:
        (found,) = ask(cluster, broker_id, request).topics[0].partitions
        return (
            found.leader_id,
            found.leader_epoch,
            [each.replica_id for each in found.current_voters],
        )

    first = controller_of(cluster)
    epoch = stored_image(cluster).controller_epoch
    assert {described(each)[:2] for each in cluster.ids} == {(first, epoch)}
    assert all(described(each)[2] == [first] for each in cluster.ids)
    cluster.kill(first)
    second = controller_of(cluster, besides=first)

    def is_described() -> bool:
        """The epoch is that of its first decision, which is to fence the killed broker."""
        found = [described(each) for each in running(cluster)]
        return all(each[0] == second and each[1] > epoch for each in found)

    wait_until(is_described, "the next controller is described")


class BlockedBroker(RunningBroker):
    def _program(self) -> list[str]:
        return ["tests.integration.cluster.blocked_broker", "up", "--stop-with-stdin"]


def test_a_broker_whose_event_loop_hangs_ends_itself(cluster: RunningCluster) -> None:
    """A thread continues to keep its ZooKeeper session alive: the cluster would wait forever."""
    config = {
        "node.id": 9,
        "zookeeper.connect": cluster.zookeeper_connect,
        "zookeeper.session.timeout.ms": SESSION_MS,
    }
    with BlockedBroker(config=config, arguments=["--loop", "asyncio"]) as blocked:
        os.kill(blocked.pid, signal.SIGUSR1)
        assert blocked.wait_for_end() == 1
        assert "the event loop was blocked for 4 s: this process ends" in blocked.log
        assert "in stand_still" in blocked.log
        wait_until(lambda: stored_image(cluster).brokers[9].is_fenced, "the cluster knows it")
