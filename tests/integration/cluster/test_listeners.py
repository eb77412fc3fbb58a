"""Three listeners of a broker: for clients, for brokers, and for clients of another network, with
addresses of its own. One broker lacks the last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from tests.chaos.network.network import Network
from tests.integration.cluster.harness import controller_of, create_topic, metadata, newest
from tests.integration.cluster.test_coordinators import GROUP, key_at
from tests.support.raw_client import RawClient

from ottla.base.ports import non_ephemeral_ports
from ottla.handlers.serving.served_apis import INTER_BROKER
from ottla.network.channel.channel import SOFTWARE_NAME as BROKER_SOFTWARE
from ottla.protocol.api_keys import APIS, ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.message import Message
from ottla.protocol.messages import request_class
from ottla.protocol.messages.api_versions_request import ApiVersionsRequest
from ottla.protocol.messages.describe_cluster_request import DescribeClusterRequest
from ottla.protocol.messages.describe_topic_partitions_request import (
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from ottla.testing.cluster import RunningCluster

pytestmark = pytest.mark.ci
HOST = "127.0.0.1"
CLIENTS, BROKERS, OUTSIDE = "CLIENTS", "BROKERS", "OUTSIDE"
INSIDE_ONLY = 3  # the broker without the listener OUTSIDE
PATIENCE_S = 60.0
REPLICAS = ([1, 2, 3], [2, 3, 1], [3, 1, 2])


class ListeningCluster(RunningCluster):
    def __init__(self) -> None:
        self.network = Network()
        free = non_ephemeral_ports(12)
        self.ports = {
            each: {name: free.pop() for name in (CLIENTS, BROKERS, OUTSIDE)} for each in (1, 2, 3)
        }
        self.doors = {each: free.pop() for each in (1, 2)}
        config = {
            "listener.security.protocol.map": ",".join(
                f"{name}:PLAINTEXT" for name in (CLIENTS, BROKERS, OUTSIDE)
            ),
            "inter.broker.listener.name": BROKERS,
        }
        super().__init__(config=config, config_of=self._listeners)

    def _listeners(self, broker_id: int) -> Mapping[str, Any]:
        """The door of another network is what OUTSIDE advertises."""
        bound = dict(self.ports[broker_id])
        if broker_id == INSIDE_ONLY:
            del bound[OUTSIDE]
        advertised = {**bound}
        if OUTSIDE in bound:
            advertised[OUTSIDE] = self.doors[broker_id]
            self.network.add(f"outside-{broker_id}", self.doors[broker_id], bound[OUTSIDE])
        return {"listeners": listed(bound), "advertised.listeners": listed(advertised)}

    def address(self, broker_id: int, listener: str) -> str:
        """The address that clients of the listener receive."""
        port = self.ports[broker_id][listener]
        return f"{HOST}:{self.doors[broker_id] if listener == OUTSIDE else port}"

    def ask(self, broker_id: int, listener: str, request: Message, version: int = -1) -> Any:
        with RawClient(self.address(broker_id, listener)) as client:
            return client.ask(request, newest(request) if version < 0 else version)


def listed(ports: Mapping[str, int]) -> str:
    return ",".join(f"{name}://{HOST}:{port}" for name, port in ports.items())


@pytest.fixture(scope="module")
def cluster() -> Iterator[ListeningCluster]:
    running = ListeningCluster()
    running.network.start()
    try:
        with running:
            create_topic(running, "single", [1, 2, 3])
            yield running
    finally:
        running.network.close()


def addresses(brokers: Any) -> dict[int, str]:
    return {each.node_id: f"{each.host}:{each.port}" for each in brokers}


@pytest.mark.parametrize("listener", [CLIENTS, BROKERS, OUTSIDE])
def test_every_answer_has_the_addresses_of_the_clients_listener(
    cluster: ListeningCluster, listener: str
) -> None:
    asked = [each for each in cluster.ids if listener != OUTSIDE or each != INSIDE_ONLY]
    wanted = {each: cluster.address(each, listener) for each in asked}
    groups = {each: key_at(cluster, GROUP, each, f"group-{listener}") for each in asked}
    for broker_id in asked:
        for version in APIS[ApiKey.METADATA].stable_versions:
            found = cluster.ask(broker_id, listener, MetadataRequest([]), version)
            assert addresses(found.brokers) == wanted
        found = cluster.ask(broker_id, listener, DescribeClusterRequest())
        assert {each.broker_id: f"{each.host}:{each.port}" for each in found.brokers} == wanted
        request = FindCoordinatorRequest("", GROUP, [*groups.values()])
        coordinators = cluster.ask(broker_id, listener, request).coordinators
        assert addresses(coordinators) == wanted


def test_a_leader_without_the_clients_listener_is_named_as_such(cluster: ListeningCluster) -> None:
    topics = [MetadataRequestTopic(name="single")]
    for version in APIS[ApiKey.METADATA].stable_versions:
        code = ErrorCode.LISTENER_NOT_FOUND if version >= 6 else ErrorCode.LEADER_NOT_AVAILABLE
        for _ in range(2):  # the second answer is one that was kept
            found = cluster.ask(1, OUTSIDE, MetadataRequest(topics), version).topics[0].partitions
            shown = {each.partition_index: (each.error_code, each.leader_id) for each in found}
            assert shown == {0: (0, 1), 1: (0, 2), 2: (code, -1)}
            if version >= 5:
                assert [list(each.offline_replicas) for each in found] == [[], [], [INSIDE_ONLY]]
            inside = cluster.ask(1, CLIENTS, MetadataRequest(topics), version).topics[0].partitions
            assert [(each.error_code, each.leader_id) for each in inside] == [
                (0, 1),
                (0, 2),
                (0, 3),
            ]
    request = DescribeTopicPartitionsRequest([TopicRequest("single")], 2000, None)
    for listener, leader, offline in ((OUTSIDE, -1, [INSIDE_ONLY]), (CLIENTS, INSIDE_ONLY, [])):
        (topic,) = cluster.ask(1, listener, request).topics
        last = topic.partitions[INSIDE_ONLY - 1]
        assert (last.leader_id, list(last.offline_replicas)) == (leader, offline)


def test_requests_between_brokers_are_served_on_their_listener_only(
    cluster: ListeningCluster,
) -> None:
    controller = controller_of(cluster)
    hello = ApiVersionsRequest(BROKER_SOFTWARE, "1")
    for broker_id in cluster.ids:
        for listener in (CLIENTS, BROKERS):
            announced = {each.api_key for each in cluster.ask(broker_id, listener, hello).api_keys}
            assert set(INTER_BROKER) <= announced if listener == BROKERS else True
            assert not set(INTER_BROKER) & announced if listener == CLIENTS else True
    for key, served in INTER_BROKER.items():
        request = request_class(key)()
        for listener in (CLIENTS, OUTSIDE):
            with pytest.raises(ConnectionError):
                cluster.ask(1, listener, request, served.versions[-1])
    assert controller_of(cluster) == controller
    assert all("Traceback" not in each.log for each in cluster.brokers.values())


def test_clients_of_the_other_network_write_and_read_what_they_reach(
    cluster: ListeningCluster,
) -> None:
    """librdkafka, which starts with one of the addresses and receives the others."""
    servers = cluster.address(1, OUTSIDE)
    failed: list[Any] = []
    producer = Producer({"bootstrap.servers": servers, "log_level": 0})
    for partition in (0, 1):
        producer.produce(
            "single", f"to {partition}", partition=partition,
            on_delivery=lambda error, _: failed.append(error) if error else None,
        )  # fmt: skip
    assert producer.flush(PATIENCE_S) == 0
    assert failed == []
    group = key_at(cluster, GROUP, 2, "outside")
    consumer = Consumer(
        {"bootstrap.servers": servers, "group.id": group, "auto.offset.reset": "earliest",
         "log_level": 0}
    )  # fmt: skip
    consumer.subscribe(["single"])
    values = set[str]()
    while len(values) < 2:
        message = consumer.poll(PATIENCE_S)
        assert message is not None
        if message.error() is None:
            values.add((message.value() or b"").decode())
    consumer.close()
    assert values == {"to 0", "to 1"}
    assert len(metadata(cluster, 1).brokers) == 3
