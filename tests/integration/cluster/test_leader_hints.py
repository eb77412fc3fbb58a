"""A producer that waits for a follower when its leader stops: the response names the new leader."""

from __future__ import annotations

from tests.integration.cluster.harness import controller_of
from tests.integration.cluster.test_replication import Replicated
from tests.support.raw_client import RawClient

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record
from ottla.testing.cluster import RunningCluster


def test_the_answer_of_a_leader_that_stops_names_the_next(cluster: RunningCluster) -> None:
    topic = Replicated(cluster)
    topic.wait_until_in_sync()
    leader, controller = topic.leader, controller_of(cluster)
    follower = next(each for each in topic.followers if each != controller)
    cluster.pause(follower)
    data = PartitionProduceData(0, build_batch([Record(0, 0, b"k", b"v", ())]))
    request = ProduceRequest(
        None, -1, 60_000, [TopicProduceData(topic.name, partition_data=[data])]
    )
    with RawClient(cluster.brokers[leader].bootstrap_servers) as client:
        client.send(request, 12)
        topic.outdated = follower
        cluster.stop(leader)
        response = client.receive(request, 12)
    cluster.restore()
    (answer,) = response.responses[0].partition_responses
    assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    (endpoint,) = response.node_endpoints
    assert endpoint.node_id == answer.current_leader.leader_id != leader
    assert endpoint.port == int(
        cluster.brokers[endpoint.node_id].bootstrap_servers.rsplit(":", 1)[1]
    )
    topic.wait_until_in_sync()
