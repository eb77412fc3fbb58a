"""What the recorded answers do not show: permissions, quotas, limits, several brokers."""

from __future__ import annotations

import pytest
from tests.unit.controller.clusters import Cluster, directory, three_brokers

from ottla.controller.brokers import decide_fence_broker
from ottla.controller.create_partitions import decide_create_partitions
from ottla.controller.create_topics import decide_create_topics
from ottla.controller.delete_topics import decide_delete_topics
from ottla.metadata.records import (
    ConfigChanged,
    PartitionCreated,
    TopicCreated,
    TopicDeleted,
)
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from ottla.protocol.messages.create_topics_request import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState


def one_broker(properties: bytes = b"") -> Cluster:
    cluster = Cluster(properties=properties)
    cluster.add_broker(1)
    return cluster


def used_up(partitions: int) -> None:
    raise BrokerError(ErrorCode.THROTTLING_QUOTA_EXCEEDED, "The quota is used up.")


def test_a_topics_records_come_in_an_order_that_can_be_applied() -> None:
    topic = CreatableTopic("t", 2, 1, (), [CreatableTopicConfig("retention.ms", "5")])
    decision = decide_create_topics(one_broker().state, CreateTopicsRequest([topic]))
    kinds = [type(record) for record in decision.records]
    assert kinds == [TopicCreated, ConfigChanged, PartitionCreated, PartitionCreated]


def test_new_partitions_are_spread_over_brokers_and_know_their_directories() -> None:
    cluster = three_brokers()
    request = CreateTopicsRequest([CreatableTopic("t", 6, 3)])
    cluster.carry_out(decide_create_topics(cluster.state, request))
    partitions = cluster.image.topics["t"].partitions
    assert sorted(each.leader for each in partitions) == [1, 1, 2, 2, 3, 3]
    for each in partitions:
        assert each.in_sync_replicas == each.replicas
        assert each.directories == tuple(directory(broker) for broker in each.replicas)


def test_a_fenced_replica_is_placed_but_not_in_sync() -> None:
    cluster = three_brokers()
    cluster.carry_out(decide_fence_broker(cluster.state, 2))
    request = CreateTopicsRequest([CreatableTopic("t", 4, 3)])
    cluster.carry_out(decide_create_topics(cluster.state, request))
    for each in cluster.image.topics["t"].partitions:
        assert 2 in each.replicas
        assert set(each.in_sync_replicas) == {1, 3}


def test_a_topic_for_fenced_brokers_alone_is_refused() -> None:
    cluster = one_broker()
    cluster.carry_out(decide_fence_broker(cluster.state, 1))
    request = CreateTopicsRequest([CreatableTopic("t", 1, 1)])
    (result,) = decide_create_topics(cluster.state, request).answer.topics
    assert result.error_code == ErrorCode.INVALID_REPLICATION_FACTOR
    with pytest.raises(AssertionError, match="are fenced or in controlled shutdown"):
        cluster.add_topic("t", (1,))


def test_settings_of_the_broker_are_the_defaults() -> None:
    cluster = three_brokers(b"num.partitions=3\ndefault.replication.factor=2\n")
    request = CreateTopicsRequest([CreatableTopic("t", -1, -1)])
    (result,) = cluster.carry_out(decide_create_topics(cluster.state, request)).topics
    assert (result.num_partitions, result.replication_factor) == (3, 2)


def test_two_names_of_one_request_do_not_collide_unnoticed() -> None:
    request = CreateTopicsRequest([CreatableTopic("q.r", 1, 1), CreatableTopic("q_r", 1, 1)])
    first, second = decide_create_topics(one_broker().state, request).answer.topics
    assert (first.error_code, second.error_code) == (0, ErrorCode.INVALID_TOPIC_EXCEPTION)
    assert second.error_message == "Topic 'q_r' collides with existing topic: q.r"


def test_one_bad_topic_does_not_stop_the_others() -> None:
    cluster = one_broker()
    request = CreateTopicsRequest([CreatableTopic("../x", 1, 1), CreatableTopic("t", 1, 1)])
    cluster.carry_out(decide_create_topics(cluster.state, request))
    assert list(cluster.image.topics) == ["t"]


def test_a_client_without_permission_to_create_gets_an_error_for_each_topic() -> None:
    cluster = one_broker()
    request = CreateTopicsRequest([CreatableTopic("a", 1, 1), CreatableTopic("b", 1, 1)])
    decision = decide_create_topics(cluster.state, request, may_create=lambda name: name == "b")
    reported = {each.name: (each.error_code, each.error_message) for each in decision.answer.topics}
    assert reported == {
        "a": (ErrorCode.TOPIC_AUTHORIZATION_FAILED, "Authorization failed."),
        "b": (ErrorCode.NONE, None),
    }


def test_a_client_without_permission_to_describe_creates_without_settings() -> None:
    request = CreateTopicsRequest([CreatableTopic("t", 1, 1)])
    decision = decide_create_topics(
        one_broker().state, request, may_describe_configs=lambda _name: False
    )
    (result,) = decision.answer.topics
    assert result.topic_config_error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert (result.error_code, result.num_partitions, result.configs) == (0, -1, ())


def test_a_quota_on_changes_refuses_what_goes_beyond_it() -> None:
    cluster = one_broker()
    cluster.add_topic("old", (1,))
    create = CreateTopicsRequest([CreatableTopic("t", 1, 1)])
    decision = decide_create_topics(cluster.state, create, charge=used_up)
    assert decision.answer.topics[0].error_code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
    delete = DeleteTopicsRequest([DeleteTopicState("old")])
    deletion = decide_delete_topics(cluster.state, delete, 6, charge=used_up)
    assert deletion.answer.responses[0].error_code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
    more = CreatePartitionsRequest([CreatePartitionsTopic("old", 2, None)])
    addition = decide_create_partitions(cluster.state, more, charge=used_up)
    assert addition.answer.results[0].error_code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
    assert decision.records == deletion.records == addition.records == ()


def test_a_cluster_has_a_limit_of_partitions() -> None:
    cluster = one_broker(b"ottla.partitions.max=5\n")
    request = CreateTopicsRequest([CreatableTopic("a", 3, 1), CreatableTopic("b", 3, 1)])
    first, second = cluster.carry_out(decide_create_topics(cluster.state, request)).topics
    assert (first.error_code, second.error_code) == (0, ErrorCode.POLICY_VIOLATION)
    more = CreatePartitionsRequest([CreatePartitionsTopic("a", 6, None)])
    (result,) = decide_create_partitions(cluster.state, more).answer.results
    assert result.error_code == ErrorCode.POLICY_VIOLATION
    assert result.error_message == "The cluster may have 5 partitions (ottla.partitions.max)."


def test_too_many_new_partitions_of_one_topic_are_refused_before_any_is_made() -> None:
    cluster = one_broker()
    cluster.add_topic("t", (1,))
    request = CreatePartitionsRequest([CreatePartitionsTopic("t", 2**31 - 1, None)])
    (result,) = decide_create_partitions(cluster.state, request).answer.results
    assert result.error_code == ErrorCode.POLICY_VIOLATION


def test_added_partitions_have_as_many_replicas_as_the_first() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1, 2))
    request = CreatePartitionsRequest([CreatePartitionsTopic("t", 3, None)])
    cluster.carry_out(decide_create_partitions(cluster.state, request))
    assert [len(each.replicas) for each in cluster.image.topics["t"].partitions] == [2, 2, 2]


def test_a_client_without_permission_to_alter_adds_no_partitions() -> None:
    cluster = one_broker()
    cluster.add_topic("t", (1,))
    request = CreatePartitionsRequest([CreatePartitionsTopic("t", 3, None)])
    decision = decide_create_partitions(cluster.state, request, may_alter=lambda _name: False)
    assert decision.answer.results[0].error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert decision.records == ()


def test_a_topic_is_deleted_by_its_id() -> None:
    cluster = one_broker()
    topic = cluster.add_topic("t", (1,))
    request = DeleteTopicsRequest([DeleteTopicState(None, topic.id)])
    decision = decide_delete_topics(cluster.state, request, 6)
    assert decision.records == (TopicDeleted(topic.id),)
    (result,) = decision.answer.responses
    assert (result.name, result.topic_id, result.error_code) == ("t", topic.id, 0)


def test_a_topic_named_by_name_and_by_id_is_not_deleted() -> None:
    cluster = one_broker()
    topic = cluster.add_topic("t", (1,))
    request = DeleteTopicsRequest([DeleteTopicState(None, topic.id), DeleteTopicState("t")])
    decision = decide_delete_topics(cluster.state, request, 6)
    (result,) = decision.answer.responses
    assert (decision.records, result.error_code) == ((), ErrorCode.INVALID_REQUEST)
    assert result.error_message == (
        "The provided topic name maps to an ID that was already supplied."
    )


def test_a_topic_that_may_not_be_seen_looks_like_one_that_is_not_there() -> None:
    cluster = one_broker()
    topic = cluster.add_topic("secret", (1,))
    for name in ("secret", "missing"):
        request = DeleteTopicsRequest([DeleteTopicState(name)])
        decision = decide_delete_topics(
            cluster.state, request, 6, may_describe=lambda _n: False, may_delete=lambda _n: False
        )
        (result,) = decision.answer.responses
        assert (result.name, result.error_code, decision.records) == (
            name,
            ErrorCode.TOPIC_AUTHORIZATION_FAILED,
            (),
        )
    by_id = DeleteTopicsRequest([DeleteTopicState(None, topic.id)])
    decision = decide_delete_topics(
        cluster.state, by_id, 6, may_describe=lambda _n: False, may_delete=lambda _n: False
    )
    (result,) = decision.answer.responses
    assert (result.name, result.error_code) == (None, ErrorCode.TOPIC_AUTHORIZATION_FAILED)


def test_a_topic_that_may_be_seen_but_not_deleted_keeps_its_name_in_the_answer() -> None:
    cluster = one_broker()
    topic = cluster.add_topic("t", (1,))
    for named in (DeleteTopicState("t"), DeleteTopicState(None, topic.id)):
        decision = decide_delete_topics(
            cluster.state, DeleteTopicsRequest([named]), 6, may_delete=lambda _n: False
        )
        (result,) = decision.answer.responses
        assert (result.name, result.error_code) == ("t", ErrorCode.TOPIC_AUTHORIZATION_FAILED)


@pytest.mark.parametrize(
    ("version", "code"),
    [(2, ErrorCode.INVALID_REQUEST), (3, ErrorCode.TOPIC_DELETION_DISABLED)],
)
def test_deleting_can_be_switched_off(version: int, code: ErrorCode) -> None:
    cluster = one_broker(b"delete.topic.enable=false\n")
    with pytest.raises(BrokerError, match="Topic deletion is disabled") as raised:
        decide_delete_topics(cluster.state, DeleteTopicsRequest(), version)
    assert raised.value.code is code


def test_a_topic_that_is_made_again_gets_another_id() -> None:
    cluster = one_broker()
    first = cluster.add_topic("t", (1,)).id
    request = DeleteTopicsRequest([DeleteTopicState("t")])
    cluster.carry_out(decide_delete_topics(cluster.state, request, 6))
    assert cluster.add_topic("t", (1,)).id != first
