"""What one request may change, and what all of them together may store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from tests.unit.controller.clusters import Cluster

from ottla.controller.alter_configs import decide_incremental_alter_configs
from ottla.controller.alter_quotas import NAME_CHARACTERS_MAX, decide_alter_client_quotas
from ottla.controller.config_checks import METRICS_MAX, SETTINGS_MAX
from ottla.controller.create_topics import decide_create_topics
from ottla.controller.decision import (
    CHANGED_MAX,
    NAMED_MAX,
    PARTITIONS_MAX,
    QUOTED_CHARACTERS_MAX,
    RECORDS_MAX,
    Decision,
    ItemRejected,
    check_count,
    check_size,
)
from ottla.controller.delete_topics import decide_delete_topics
from ottla.controller.elect_leaders import decide_elect_leaders
from ottla.controller.reassignment import decide_alter_partition_reassignments
from ottla.metadata.image import setting_bytes
from ottla.metadata.records import ConfigChanged, ConfigResource, ResourceType, TopicDeleted
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from ottla.protocol.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.protocol.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from ottla.protocol.messages.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from ottla.protocol.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)

SET = 0


def cluster_with(**settings: Any) -> Cluster:
    cluster = Cluster()
    cluster.add_broker(1)
    cluster.loaded = replace(cluster.loaded, config=replace(cluster.loaded.config, **settings))
    return cluster


def alter(cluster: Cluster, *resources: tuple[int, str, dict[str, str]]) -> list[tuple[int, str]]:
    """What is answered for each resource."""
    asked = [
        AlterConfigsResource(kind, name, [AlterableConfig(n, SET, v) for n, v in settings.items()])
        for kind, name, settings in resources
    ]
    request = IncrementalAlterConfigsRequest(asked)
    answer = cluster.carry_out(decide_incremental_alter_configs(cluster.state, request, 1))
    return [(each.error_code, each.error_message or "") for each in answer.responses]


@contextmanager
def refused_as_too_large() -> Iterator[None]:
    with pytest.raises(ItemRejected, match="excessively large batch") as refused:
        yield
    assert refused.value.code == ErrorCode.POLICY_VIOLATION


def test_a_decision_with_more_records_than_a_batch_may_have_is_refused() -> None:
    records = (TopicDeleted(b"t" * 16),) * RECORDS_MAX  # type: ignore[arg-type]
    assert check_size(Decision(records, None)).records is records
    with refused_as_too_large():
        check_size(Decision(records * 2, None))


def test_a_request_that_names_too_much_is_refused_before_it_is_looked_at() -> None:
    cluster = cluster_with()
    state = cluster.state
    check_count(NAMED_MAX)
    with refused_as_too_large():
        named = [DeleteTopicState("t")] * (NAMED_MAX + 1)
        decide_delete_topics(state, DeleteTopicsRequest(named), 6)
    with refused_as_too_large():
        partitions = [TopicPartitions("t", range(NAMED_MAX + 1))]
        decide_elect_leaders(state, ElectLeadersRequest(0, partitions))
    with refused_as_too_large():
        moved = [ReassignableTopic("t", [ReassignablePartition(0, None)] * (NAMED_MAX + 1))]
        decide_alter_partition_reassignments(
            state, AlterPartitionReassignmentsRequest(0, True, moved)
        )
    with refused_as_too_large():
        resources = [AlterConfigsResource(2, "t", [])] * (CHANGED_MAX + 1)
        decide_incremental_alter_configs(state, IncrementalAlterConfigsRequest(resources), 1)
    with refused_as_too_large():
        entries = [EntryData([EntityData("user", "u")], [])] * (CHANGED_MAX + 1)
        decide_alter_client_quotas(state, AlterClientQuotasRequest(entries))


def test_topics_without_partitions_count_as_if_they_had_one() -> None:
    topics = [CreatableTopic(f"t{at}", 0, 1) for at in range(PARTITIONS_MAX + 1)]
    decision = decide_create_topics(cluster_with().state, CreateTopicsRequest(topics))
    assert {topic.error_code for topic in decision.answer.topics} == {ErrorCode.POLICY_VIOLATION}


def test_the_bytes_of_all_settings_are_bounded() -> None:
    one = ConfigResource(ResourceType.GROUP, "g1")
    size = setting_bytes(one, "consumer.session.timeout.ms", "50000")
    cluster = cluster_with(ottla_config_bytes_max=Cluster().image.config_bytes + 2 * size)
    settings = {"consumer.session.timeout.ms": "50000"}
    first, second, third = alter(cluster, *((32, f"g{at}", settings) for at in (1, 2, 3)))
    assert first[0] == second[0] == ErrorCode.NONE
    assert third[0] == ErrorCode.POLICY_VIOLATION
    assert "ottla.config.bytes.max" in third[1]
    topic = CreatableTopic("t", 1, 1, configs=[CreatableTopicConfig("retention.ms", "1")])
    (created,) = decide_create_topics(cluster.state, CreateTopicsRequest([topic])).answer.topics
    assert created.error_code == ErrorCode.POLICY_VIOLATION
    shorter = {"consumer.session.timeout.ms": "5e4"[:1] + "0000"}
    assert alter(cluster, (32, "g1", shorter)) == [(ErrorCode.NONE, "")]  # no more than before


def test_the_bytes_of_settings_are_counted_as_they_come_and_go() -> None:
    rng, cluster = Random(3), cluster_with()
    cluster.add_topic("t", [1])
    resources = [ConfigResource(ResourceType.GROUP, f"g{at}") for at in range(3)]
    resources += [ConfigResource(ResourceType.CLIENT_METRICS, f"m{at}") for at in range(3)]
    resources += [ConfigResource(ResourceType.TOPIC, "t")]
    for _ in range(300):
        value = rng.choice([None, "", "x" * rng.randrange(9)])
        cluster.apply([ConfigChanged(rng.choice(resources), rng.choice("abc"), value)])
    topic = cluster.image.topic("t")
    assert topic is not None
    cluster.apply([TopicDeleted(topic.id)])
    configs = cluster.image.configs
    assert cluster.image.config_bytes == sum(
        setting_bytes(resource, *item) for resource in configs for item in configs[resource].items()
    )
    kinds = [resource.type for resource in configs]
    assert cluster.image.client_metrics_count == kinds.count(ResourceType.CLIENT_METRICS)


def test_subscriptions_to_metrics_are_bounded() -> None:
    cluster = cluster_with(ottla_client_metrics_subscriptions_max=2)
    answers = alter(cluster, *((16, f"s{at}", {"metrics": "m"}) for at in range(3)))
    assert [code for code, _ in answers] == [0, 0, ErrorCode.POLICY_VIOLATION]
    assert alter(cluster, (16, "s0", {"interval.ms": "1000"})) == [(ErrorCode.NONE, "")]
    names = ",".join(f"m{at}" for at in range(METRICS_MAX + 1))
    ((code, message),) = alter(cluster, (16, "s0", {"metrics": names}))
    assert code == ErrorCode.INVALID_CONFIG
    assert str(METRICS_MAX) in message


def test_a_resource_has_a_bounded_number_of_settings() -> None:
    listeners = {f"listener.name.l{at}.max.connections": "1" for at in range(SETTINGS_MAX + 1)}
    ((code, message),) = alter(cluster_with(), (4, "1", listeners))
    assert code == ErrorCode.INVALID_CONFIG
    assert str(SETTINGS_MAX) in message


def test_quotas_of_a_bounded_number_of_entities_are_kept() -> None:
    cluster = cluster_with(ottla_quota_entities_max=2)

    def set_quotas(*names: str, remove: bool = False) -> list[int]:
        ops = [OpData("producer_byte_rate", 1.0, remove)]
        entries = [EntryData([EntityData("user", name)], ops) for name in names]
        decision = decide_alter_client_quotas(cluster.state, AlterClientQuotasRequest(entries))
        return [each.error_code for each in cluster.carry_out(decision).entries]

    assert set_quotas("a", "b", "c") == [0, 0, ErrorCode.POLICY_VIOLATION]
    assert set_quotas("a") == [0]
    assert set_quotas("c", remove=True) == [0]
    assert set_quotas("b", remove=True) == [0]
    assert set_quotas("c") == [0]
    assert set_quotas("x" * (NAME_CHARACTERS_MAX + 1)) == [ErrorCode.INVALID_REQUEST]


def test_a_text_that_is_quoted_for_many_partitions_is_shortened() -> None:
    partitions = [TopicPartitions("n" * 10_000, range(3))]
    decision = decide_elect_leaders(cluster_with().state, ElectLeadersRequest(0, partitions))
    (topic,) = decision.answer.replica_election_results
    for each in topic.partition_result:
        assert len(each.error_message or "") < QUOTED_CHARACTERS_MAX + 50


def test_topics_that_are_created_together_share_the_settings_that_they_have_in_common() -> None:
    topics = [CreatableTopic(f"t{at}", 1, 1) for at in range(2)]
    topics.append(CreatableTopic("own", 1, 1, configs=[CreatableTopicConfig("retention.ms", "7")]))
    decision = decide_create_topics(cluster_with().state, CreateTopicsRequest(topics))
    first, second, own = (topic.configs or () for topic in decision.answer.topics)
    assert [id(each) for each in first] == [id(each) for each in second]
    different = [(a.name, b.value) for a, b in zip(first, own, strict=True) if a is not b]
    assert different == [("retention.ms", "7")]


@pytest.mark.parametrize(
    ("replicas", "what"),
    [
        ((1, 9, 5, 2), "broker 5, but no such"),
        ((1, 9, 1, 5), "the broker 1 more than once"),
        ((2, 1, 2, 1), "the broker 1 more than once"),
        ((9, 1, 1), "the broker 1 more than once"),
        ((0, 1, 1), "broker 0, but no such"),
    ],
)
def test_of_wrong_replicas_the_smallest_is_named(replicas: tuple[int, ...], what: str) -> None:
    cluster = cluster_with()
    cluster.add_broker(2)
    topic = CreatableTopic("t", -1, -1, [CreatableReplicaAssignment(0, replicas)])
    (created,) = decide_create_topics(cluster.state, CreateTopicsRequest([topic])).answer.topics
    assert what in (created.error_message or "")
