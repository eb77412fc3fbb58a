"""Limits at the controller: the last value that is allowed, and the first that is not."""

from __future__ import annotations

import pytest
from tests.unit.controller.clusters import Cluster

from ottla.controller.alter_configs import DELETE, SET, decide_incremental_alter_configs
from ottla.controller.create_partitions import decide_create_partitions
from ottla.controller.create_topics import decide_create_topics
from ottla.metadata.records import ConfigResource, ResourceType
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages import incremental_alter_configs_request as incremental
from ottla.protocol.messages.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest

NONE = ErrorCode.NONE
GROUP, BROKER = 32, 4


def create(cluster: Cluster, *sizes: tuple[str, int]) -> list[int]:
    topics = [CreatableTopic(name, count, 1) for name, count in sizes]
    answer = cluster.carry_out(decide_create_topics(cluster.state, CreateTopicsRequest(topics)))
    return [each.error_code for each in answer.topics]


def extend(cluster: Cluster, name: str, total: int) -> int:
    request = CreatePartitionsRequest([CreatePartitionsTopic(name, total, None)])
    (answer,) = cluster.carry_out(decide_create_partitions(cluster.state, request)).results
    code: int = answer.error_code
    return code


def test_partitions_of_all_topics_are_counted_also_within_one_request() -> None:
    cluster = Cluster(properties=b"ottla.partitions.max=10")
    cluster.add_broker(1)
    codes = create(cluster, ("a", 6), ("b", 5), ("c", 4))
    assert [code == NONE for code in codes] == [True, False, True]
    assert cluster.image.partition_count == 10
    assert create(cluster, ("d", 1)) != [NONE]
    assert extend(cluster, "a", 7) != NONE
    assert cluster.image.partition_count == 10


def test_partitions_that_are_added_are_counted_too() -> None:
    cluster = Cluster(properties=b"ottla.partitions.max=10")
    cluster.add_broker(1)
    assert create(cluster, ("a", 6), ("b", 1)) == [NONE, NONE]
    assert extend(cluster, "a", 10) != NONE
    assert extend(cluster, "a", 9) == NONE
    assert cluster.image.partition_count == 10


def test_names_that_collide_within_one_request_are_refused() -> None:
    cluster = Cluster()
    cluster.add_broker(1)
    codes = create(cluster, ("a.b", 1), ("a_b", 1), ("a-b", 1))
    assert codes == [NONE, ErrorCode.INVALID_TOPIC_EXCEPTION, NONE]


def alter(cluster: Cluster, kind: int, name: str, operation: int, *change: str | None) -> int:
    key, value = (*change, None)[:2]
    config = incremental.AlterableConfig(key or "", operation, value)
    asked = incremental.AlterConfigsResource(kind, name, [config])
    request = incremental.IncrementalAlterConfigsRequest([asked])
    decision = decide_incremental_alter_configs(cluster.state, request, 1)
    (answer,) = cluster.carry_out(decision).responses
    code: int = answer.error_code
    return code


@pytest.mark.parametrize(
    ("name", "least", "greatest"),
    [
        ("consumer.session.timeout.ms", 45_000, 60_000),
        ("consumer.heartbeat.interval.ms", 5_000, 15_000),
    ],
)
def test_settings_of_a_group_stay_within_the_brokers_limits(
    name: str, least: int, greatest: int
) -> None:
    cluster = Cluster()
    answers = [
        alter(cluster, GROUP, "g", SET, name, str(value))
        for value in (least - 1, least, greatest, greatest + 1)
    ]
    assert [code == NONE for code in answers] == [False, True, True, False]
    resource = ConfigResource(ResourceType.GROUP, "g")
    assert cluster.image.config(resource) == {name: str(greatest)}
    assert alter(cluster, GROUP, "g", SET, "no.such", "1") == ErrorCode.INVALID_CONFIG
    assert alter(cluster, GROUP, "g", SET, name, "soon") == ErrorCode.INVALID_CONFIG
    assert alter(cluster, GROUP, "", SET, name, str(least)) == ErrorCode.INVALID_REQUEST
    assert alter(cluster, GROUP, "g", DELETE, name) == NONE
    assert cluster.image.config(resource) == {}


def test_a_session_must_outlast_a_heartbeat() -> None:
    properties = (
        b"group.consumer.min.session.timeout.ms=1000\n"
        b"group.consumer.max.heartbeat.interval.ms=50000\n"
    )
    cluster = Cluster(properties=properties)
    assert alter(cluster, GROUP, "g", SET, "consumer.heartbeat.interval.ms", "20000") == NONE
    session = "consumer.session.timeout.ms"
    assert alter(cluster, GROUP, "g", SET, session, "20000") == ErrorCode.INVALID_CONFIG
    assert alter(cluster, GROUP, "g", SET, session, "20001") == NONE


def test_the_least_number_of_replicas_in_sync_is_set_for_all_brokers_alone() -> None:
    cluster = Cluster()
    cluster.add_broker(1)
    least = "min.insync.replicas"
    assert alter(cluster, BROKER, "1", SET, least, "2") != NONE
    assert alter(cluster, BROKER, "", SET, least, "2") == NONE
    assert alter(cluster, BROKER, "", DELETE, least) != NONE
    assert cluster.image.broker_config(None)[least] == "2"
    assert alter(cluster, BROKER, "1", SET, "log.cleaner.backoff.ms", "7") == NONE
