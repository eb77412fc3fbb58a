"""Requests for the controller, sent to other brokers: the broker that was asked shows the change in
its next response; errors are those of the controller itself."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pytest
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin import NewTopic as AioTopic
from confluent_kafka.admin import AdminClient, NewTopic
from tests.compatibility.clients.cluster import Cluster
from tests.integration.cluster.harness import (
    BROKER,
    BROKER_LOGGER,
    TOPIC,
    ask,
    controller_of,
    create_topic,
    metadata,
    others,
    plain,
    running,
    settings_of,
)
from tests.support.raw_client import RawClient
from tests.support.waiting import wait_until

from ottla.protocol.api_keys import APIS, ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.message import Message
from ottla.protocol.messages.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from ottla.protocol.messages.alter_configs_request import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from ottla.protocol.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.protocol.messages.api_versions_request import ApiVersionsRequest
from ottla.protocol.messages.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from ottla.protocol.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from ottla.protocol.messages.describe_client_quotas_request import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from ottla.protocol.messages.describe_cluster_request import DescribeClusterRequest
from ottla.protocol.messages.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from ottla.protocol.messages.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from ottla.protocol.messages.incremental_alter_configs_request import (
    AlterableConfig as Change,
)
from ottla.protocol.messages.incremental_alter_configs_request import (
    AlterConfigsResource as Changed,
)
from ottla.protocol.messages.incremental_alter_configs_request import (
    IncrementalAlterConfigsRequest,
)
from ottla.protocol.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from ottla.protocol.messages.unregister_broker_request import UnregisterBrokerRequest
from ottla.protocol.messages.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from ottla.testing.cluster import RunningCluster

pytestmark = pytest.mark.xdist_group("cluster-administration")
SET, DELETE = 0, 1
EXACT = 0
NO_BROKER = 77  # no broker has this id
TOPIC_STATES_FROM = 6  # of DeleteTopics
Make = Callable[[str], Message]
# Where these are set, their versions are those that have the field.
FIRST_VERSIONS = {"unknown election": 1, "feature downgrade": 1}


def versions(key: ApiKey) -> range:
    return APIS[key].stable_versions


# Requests whose answers do not depend on what earlier tests have done, `name` apart.


def topic(name: str, **fields: object) -> CreatableTopic:
    return CreatableTopic(name, **{"num_partitions": 1, "replication_factor": 1, **fields})  # type: ignore[arg-type]


def create(*topics: CreatableTopic, only_check: bool = False) -> Message:
    return CreateTopicsRequest(list(topics), timeout_ms=30_000, validate_only=only_check)


def changed(kind: int, name: str, key: str, value: str | None, operation: int = SET) -> Message:
    return IncrementalAlterConfigsRequest([Changed(kind, name, [Change(key, operation, value)])])


def replaced(kind: int, name: str, key: str, value: str | None) -> Message:
    return AlterConfigsRequest([AlterConfigsResource(kind, name, [AlterableConfig(key, value)])])


def quota(kind: str, name: str | None, key: str, value: float, *, remove: bool = False) -> Message:
    return AlterClientQuotasRequest(
        [EntryData([EntityData(kind, name)], [OpData(key, value, remove)])]
    )


def moved(name: str, replicas: list[int] | None, index: int = 0) -> Message:
    partition = ReassignablePartition(index, replicas)
    return AlterPartitionReassignmentsRequest(topics=[ReassignableTopic(name, [partition])])


def deleted(name: str, version: int) -> Message:
    if version < TOPIC_STATES_FROM:
        return DeleteTopicsRequest(topic_names=[name], timeout_ms=30_000)
    return DeleteTopicsRequest([DeleteTopicState(name)], timeout_ms=30_000)


def feature(name: str, level: int, kind: int = 1) -> Message:
    return UpdateFeaturesRequest(feature_updates=[FeatureUpdateKey(name, level, False, kind)])


ANSWERS: dict[str, Make] = {
    "topic made": lambda name: create(topic(name)),
    "topic made twice in one request": lambda name: create(topic(name), topic(name)),
    "topic exists": lambda _: create(topic("existing")),
    "topic name": lambda _: create(topic("a b")),
    "no partitions": lambda name: create(topic(name, num_partitions=0)),
    "too many copies": lambda name: create(topic(name, replication_factor=9)),
    "unknown replica": lambda name: create(
        topic(
            name,
            num_partitions=-1,
            replication_factor=-1,
            assignments=[CreatableReplicaAssignment(0, [NO_BROKER])],
        )
    ),
    "topic setting": lambda name: create(
        topic(name, configs=[CreatableTopicConfig("retention.ms", "x")])
    ),
    "checked only": lambda name: create(topic(name), only_check=True),
    "fewer partitions": lambda _: CreatePartitionsRequest(
        [CreatePartitionsTopic("existing", 1, None)], 30_000
    ),
    "partitions of no topic": lambda name: CreatePartitionsRequest(
        [CreatePartitionsTopic(f"no-{name}", 3, None)], 30_000
    ),
    "setting of no topic": lambda name: changed(TOPIC, f"no-{name}", "retention.ms", "1"),
    "unknown setting": lambda _: changed(TOPIC, "existing", "no.such.setting", "1"),
    "value of a setting": lambda _: changed(TOPIC, "existing", "retention.ms", "x"),
    "append to no list": lambda _: changed(TOPIC, "existing", "retention.ms", "1", 2),
    "read-only setting": lambda _: changed(BROKER, "", "node.id", "1"),
    "broker value": lambda _: changed(BROKER, "", "num.io.threads", "x"),
    "unknown kind": lambda _: changed(99, "x", "a", "b"),
    "replaced setting of no topic": lambda name: replaced(TOPIC, f"no-{name}", "a", "b"),
    "replaced by a wrong value": lambda _: replaced(TOPIC, "existing", "retention.ms", "x"),
    "quota": lambda _: quota("client-id", "somebody", "producer_byte_rate", 1e6),
    "unknown quota": lambda _: quota("client-id", "somebody", "no_such_rate", 1e6),
    "quota of no kind": lambda _: quota("planet", "earth", "producer_byte_rate", 1e6),
    "negative quota": lambda _: quota("user", None, "producer_byte_rate", -1.0),
    "no election needed": lambda _: ElectLeadersRequest(0, [TopicPartitions("existing", [0, 1])]),
    "election of no topic": lambda name: ElectLeadersRequest(
        0, [TopicPartitions(f"no-{name}", [0])]
    ),
    "unknown election": lambda _: ElectLeadersRequest(7, [TopicPartitions("existing", [0])]),
    "all elections": lambda _: ElectLeadersRequest(0, None),
    "nothing to cancel": lambda _: moved("existing", None),
    "moved to nobody": lambda _: moved("existing", [NO_BROKER]),
    "moved partition of no topic": lambda name: moved(f"no-{name}", [1]),
    "unknown feature": lambda _: feature("no.such.feature", 1),
    "feature level": lambda _: feature("metadata.version", 9999),
    "feature downgrade": lambda _: feature("metadata.version", 1, 2),
    "unknown broker": lambda _: UnregisterBrokerRequest(NO_BROKER),
}


@pytest.fixture(scope="module", autouse=True)
def existing(cluster: RunningCluster) -> None:
    create_topic(cluster, "existing", [1, 2, 3])


@pytest.mark.parametrize("case", ANSWERS)
def test_every_broker_answers_as_the_controller_does(cluster: RunningCluster, case: str) -> None:
    make = ANSWERS[case]
    controller = controller_of(cluster)
    clients = {each: RawClient(cluster.brokers[each].bootstrap_servers) for each in cluster.ids}
    for version in versions(ApiKey(make("").API_KEY)):  # type: ignore[attr-defined]
        if version < FIRST_VERSIONS.get(case, 0):
            continue
        answers = {}
        for broker_id, client in clients.items():
            name = f"{case.replace(' ', '-')}-{version}-{broker_id}"
            given = client.ask(make(name), version)

            def same_name(text: str, name: str = name) -> str:
                return text.replace(name, "NAME").replace(f"controller {controller}", "controller")

            answers[broker_id] = plain(given, same_name)
        assert answers[1] == answers[2] == answers[3], version
    for client in clients.values():
        client.close()


# What was changed is seen at once by the broker that was asked


def test_topics_are_seen_by_the_broker_that_was_asked(cluster: RunningCluster) -> None:
    controller = controller_of(cluster)
    for broker_id in others(cluster):
        with RawClient(cluster.brokers[broker_id].bootstrap_servers) as client:
            for version in versions(ApiKey.CREATE_TOPICS):
                name = f"seen-{broker_id}-{version}"
                assert client.ask(create(topic(name)), version).topics[0].error_code == 0
                (found,) = metadata(cluster, broker_id, name).topics
                assert (found.error_code, len(found.partitions)) == (0, 1)
            for version in versions(ApiKey.CREATE_PARTITIONS):
                name = f"seen-{broker_id}-{2 + version}"
                request = CreatePartitionsRequest([CreatePartitionsTopic(name, 3, None)], 30_000)
                assert client.ask(request, version).results[0].error_code == 0
                assert len(metadata(cluster, broker_id, name).topics[0].partitions) == 3
            for version in versions(ApiKey.DELETE_TOPICS):
                name = f"seen-{broker_id}-{1 + version}"
                (answer,) = client.ask(deleted(name, version), version).responses
                assert answer.error_code == 0
                (again,) = client.ask(deleted(name, version), version).responses
                (same,) = ask(cluster, controller, deleted(name, version), version).responses
                assert plain(again) == plain(same)
                assert again.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                (found,) = metadata(cluster, broker_id, name).topics
                assert found.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("kind", ["topic", "broker", "cluster"])
def test_settings_are_seen_by_the_broker_that_was_asked(cluster: RunningCluster, kind: str) -> None:
    for broker_id in others(cluster):
        resource, name, key = {
            "topic": (TOPIC, "existing", "retention.ms"),
            "broker": (BROKER, str(broker_id), "log.cleaner.backoff.ms"),
            "cluster": (BROKER, "", "log.retention.ms"),
        }[kind]
        for version in versions(ApiKey.INCREMENTAL_ALTER_CONFIGS):
            value = str(100_000 + 10 * broker_id + version)
            answer = ask(cluster, broker_id, changed(resource, name, key, value), version)
            assert answer.responses[0].error_code == 0, answer
            assert settings_of(cluster, broker_id, resource, name)[key] == value
        for version in versions(ApiKey.ALTER_CONFIGS) if kind != "cluster" else ():
            value = str(200_000 + 10 * broker_id + version)
            answer = ask(cluster, broker_id, replaced(resource, name, key, value), version)
            assert answer.responses[0].error_code == 0, answer
            assert settings_of(cluster, broker_id, resource, name)[key] == value
        answer = ask(cluster, broker_id, changed(resource, name, key, None, DELETE))
        assert answer.responses[0].error_code == 0, answer
        assert key not in settings_of(cluster, broker_id, resource, name)


def test_quotas_are_seen_by_the_broker_that_was_asked(cluster: RunningCluster) -> None:
    for broker_id in others(cluster):
        for version in versions(ApiKey.ALTER_CLIENT_QUOTAS):
            name = f"reader-{broker_id}-{version}"
            wanted = DescribeClientQuotasRequest([ComponentData("client-id", EXACT, name)])
            request = quota("client-id", name, "consumer_byte_rate", 5e6)
            assert ask(cluster, broker_id, request, version).entries[0].error_code == 0
            (entry,) = ask(cluster, broker_id, wanted).entries
            assert [(each.key, each.value) for each in entry.values] == [
                ("consumer_byte_rate", 5e6)
            ]
            request = quota("client-id", name, "consumer_byte_rate", 0.0, remove=True)
            assert ask(cluster, broker_id, request, version).entries[0].error_code == 0
            assert not ask(cluster, broker_id, wanted).entries


def test_reassignments_are_seen_by_the_broker_that_was_asked(cluster: RunningCluster) -> None:
    for broker_id in others(cluster):
        name = f"moved-{broker_id}"
        create_topic(cluster, name, [1])
        wanted = ListPartitionReassignmentsRequest(
            topics=[ListPartitionReassignmentsTopics(name, [0])]
        )
        for version in versions(ApiKey.ALTER_PARTITION_REASSIGNMENTS):
            answer = ask(cluster, broker_id, moved(name, [1, 2]), version)
            assert (answer.error_code, answer.responses[0].partitions[0].error_code) == (0, 0)
            found = metadata(cluster, broker_id, name).topics[0].partitions[0]
            assert sorted(found.replica_nodes) == [1, 2]
            listed = ask(cluster, broker_id, wanted).topics
            # Replication may have ended it already.
            assert not listed or listed[0].partitions[0].adding_replicas == [2]
            assert ask(cluster, broker_id, moved(name, [1]), version).error_code == 0
            found = metadata(cluster, broker_id, name).topics[0].partitions[0]
            assert found.replica_nodes == [1]


def test_features_are_seen_by_the_broker_that_was_asked(cluster: RunningCluster) -> None:
    for broker_id in others(cluster):
        with RawClient(cluster.brokers[broker_id].bootstrap_servers) as client:
            announced = client.ask(ApiVersionsRequest("test", "1"), 4)
            level = max(each.max_version for each in announced.supported_features)
            assert level > 0
            for version in versions(ApiKey.UPDATE_FEATURES):
                named = announced.finalized_features[0]
                request = feature(named.name, named.max_version_level)
                answer = client.ask(request, version)
                assert answer.error_code == 0, answer
                after = client.ask(ApiVersionsRequest("test", "1"), 4)
                assert plain(after.finalized_features) == plain(announced.finalized_features)
                assert after.finalized_features_epoch > announced.finalized_features_epoch
                announced = after


# What belongs to one broker


def test_settings_of_another_broker_are_refused(cluster: RunningCluster) -> None:
    for broker_id in running(cluster):
        for other in running(cluster):
            for request in (
                changed(BROKER, str(other), "log.cleaner.backoff.ms", "20000"),
                replaced(BROKER, str(other), "log.cleaner.backoff.ms", "20000"),
            ):
                (answer,) = ask(cluster, broker_id, request).responses
                if other == broker_id:
                    assert answer.error_code == 0, answer
                else:
                    what = f"Unexpected broker id, expected {broker_id}, but received {other}"
                    assert answer.error_code == ErrorCode.INVALID_REQUEST
                    assert answer.error_message == what


def test_levels_of_loggers_are_changed_in_the_broker_that_was_asked(
    cluster: RunningCluster,
) -> None:
    logger = "ottla.broker"
    for broker_id in running(cluster):
        request = IncrementalAlterConfigsRequest(
            [
                Changed(BROKER_LOGGER, str(broker_id), [Change(logger, SET, "DEBUG")]),
                Changed(TOPIC, "existing", [Change("retention.ms", SET, str(1000 + broker_id))]),
            ]
        )
        assert [each.error_code for each in ask(cluster, broker_id, request).responses] == [0, 0]
        assert level_of(cluster, broker_id, logger) == "DEBUG"
        found = settings_of(cluster, broker_id, TOPIC, "existing")["retention.ms"]
        assert found == str(1000 + broker_id)
        for other in set(running(cluster)) - {broker_id}:
            assert level_of(cluster, other, logger) != "DEBUG"
        back = changed(BROKER_LOGGER, str(broker_id), logger, "INFO")
        assert ask(cluster, broker_id, back).responses[0].error_code == 0


def level_of(cluster: RunningCluster, broker_id: int, logger: str) -> str | None:
    resource = DescribeConfigsResource(BROKER_LOGGER, str(broker_id), None)
    (answer,) = ask(cluster, broker_id, DescribeConfigsRequest([resource])).results
    return next((each.value for each in answer.configs if each.name == logger), None)


# Quotas


@contextmanager
def with_quota(cluster: RunningCluster, kind: str, name: str, rate: float) -> Iterator[None]:
    def change(*, remove: bool) -> None:
        request = quota(kind, name, "controller_mutation_rate", rate, remove=remove)
        assert ask(cluster, 1, request).entries[0].error_code == 0

    change(remove=False)
    yield
    change(remove=True)


def test_changes_are_charged_to_the_client_that_asked_for_them(cluster: RunningCluster) -> None:
    with with_quota(cluster, "client-id", "busy", 0.1):
        for broker_id in others(cluster):
            address = cluster.brokers[broker_id].bootstrap_servers
            codes = []
            for at in range(4):
                # A new connection each time: the others are not read until the throttle time is up.
                with RawClient(address, "busy") as busy:
                    wanted = topic(f"busy-{broker_id}-{at}", num_partitions=3)
                    codes.append(busy.ask(create(wanted), 6).topics[0].error_code)
            assert ErrorCode.THROTTLING_QUOTA_EXCEEDED in codes
            with RawClient(address, "calm") as calm:
                answer = calm.ask(create(topic(f"calm-{broker_id}", num_partitions=3)), 6)
                assert (answer.topics[0].error_code, answer.throttle_time_ms) == (0, 0)


def test_one_quota_holds_for_all_brokers_together(cluster: RunningCluster) -> None:
    with with_quota(cluster, "client-id", "everywhere", 0.1):
        codes = []
        for at in range(2):
            for broker_id in running(cluster):
                address = cluster.brokers[broker_id].bootstrap_servers
                with RawClient(address, "everywhere") as client:
                    wanted = topic(f"everywhere-{broker_id}-{at}", num_partitions=3)
                    codes.append(client.ask(create(wanted), 6).topics[0].error_code)
        # The rate allows one of them; after it, whichever broker is asked refuses.
        assert codes[0] == 0
        assert set(codes[1:]) == {ErrorCode.THROTTLING_QUOTA_EXCEEDED}


# Brokers themselves


def test_a_running_broker_is_not_unregistered(cluster: RunningCluster) -> None:
    before = {each.broker_id for each in ask(cluster, 1, DescribeClusterRequest()).brokers}
    for broker_id in running(cluster):
        answers = [
            ask(cluster, each, UnregisterBrokerRequest(broker_id)) for each in running(cluster)
        ]
        assert [each.error_code for each in answers] == [ErrorCode.INVALID_REQUEST] * 3, answers
    for broker_id in running(cluster):
        answer = ask(cluster, broker_id, DescribeClusterRequest())
        assert {each.broker_id for each in answer.brokers} == before


def test_a_malformed_request_ends_its_own_connection_only(cluster: RunningCluster) -> None:
    for broker_id in running(cluster):
        host, port = cluster.brokers[broker_id].bootstrap_servers.rsplit(":", 1)
        with socket.create_connection((host, int(port)), 10) as connection:
            began_s = time.monotonic()
            header = struct.pack(">hhih", ApiKey.CREATE_TOPICS, 2, 7, -1)
            frame = header + struct.pack(">i", 1_000_000)  # topics, none of which follow
            connection.sendall(struct.pack(">i", len(frame)) + frame)
            assert connection.recv(1) == b""
        # Passed on, it would be repeated until the request times out.
        assert time.monotonic() - began_s < 10
        assert (
            ask(cluster, broker_id, create(topic(f"after-{broker_id}"))).topics[0].error_code == 0
        )


# Other people's clients, each with one broker to begin with


@pytest.mark.parametrize("client", ["librdkafka", "kafka-python", "aiokafka"])
def test_foreign_clients_administer_through_every_broker(
    cluster: RunningCluster, client: str
) -> None:
    for broker_id in running(cluster):
        foreign = Cluster(cluster.brokers[broker_id].bootstrap_servers)
        name = f"{client}-{broker_id}"
        if client == "librdkafka":
            made = [NewTopic(name, 2, 1)]
            foreign.ask_librdkafka(partial(AdminClient.create_topics, new_topics=made))
        elif client == "kafka-python":
            with foreign.kafka_python_admin() as admin:
                admin.create_topics({name: {"num_partitions": 2, "replication_factor": 1}})
        else:
            foreign.ask_aiokafka(
                partial(AIOKafkaAdminClient.create_topics, new_topics=[AioTopic(name, 2, 1)])
            )
        # The client may have asked any of them; the others follow.
        wait_until(partial(is_everywhere, cluster, name), f"{name} is known to all brokers")
        foreign.ask_librdkafka(partial(AdminClient.delete_topics, topics=[name]))


def is_everywhere(cluster: RunningCluster, name: str) -> bool:
    return all(len(metadata(cluster, each, name).topics[0].partitions) == 2 for each in cluster.ids)
