"""Settings and min ISR, features, producer ids, the first records of a cluster."""

from __future__ import annotations

import pytest
from tests.unit.controller.clusters import Cluster, three_brokers

from ottla.config.layers import BrokerLayers
from ottla.config.options import INT64_MAX
from ottla.controller.alter_configs import (
    SET,
    decide_alter_configs,
    decide_incremental_alter_configs,
)
from ottla.controller.alter_quotas import decide_alter_client_quotas
from ottla.controller.brokers import decide_fence_broker
from ottla.controller.create_topics import decide_create_topics
from ottla.controller.elect_leaders import decide_elect_leaders
from ottla.controller.new_cluster import decide_new_cluster
from ottla.controller.producer_ids import decide_allocate_producer_ids
from ottla.controller.reassignment import decide_alter_partition_reassignments
from ottla.controller.update_features import decide_update_features
from ottla.metadata.records import (
    BrokerRegistered,
    ClusterNamed,
    ConfigResource,
    FeatureLevelSet,
    ProducerIdsAllocated,
    QuotaChanged,
    ResourceType,
    VersionRange,
)
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages import alter_configs_request as legacy
from ottla.protocol.messages import incremental_alter_configs_request as incremental
from ottla.protocol.messages.allocate_producer_ids_request import AllocateProducerIdsRequest
from ottla.protocol.messages.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from ottla.protocol.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
)
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.elect_leaders_request import ElectLeadersRequest
from ottla.protocol.messages.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest

TOPIC, BROKER = 2, 4


def alter(
    cluster: Cluster, *changes: tuple[int, str, str, str], received_by: int = 1
) -> list[ErrorCode]:
    resources = [
        incremental.AlterConfigsResource(
            kind, name, [incremental.AlterableConfig(setting, SET, value)]
        )
        for kind, name, setting, value in changes
    ]
    request = incremental.IncrementalAlterConfigsRequest(resources)
    decision = decide_incremental_alter_configs(cluster.state, request, received_by)
    answer = cluster.carry_out(decision)
    return [ErrorCode(each.error_code) for each in answer.responses]


def test_a_broker_setting_is_compared_with_what_that_broker_has() -> None:
    """Threads may be doubled or halved at a time; the controller has 10 of them."""
    cluster = three_brokers()
    for value, code in (("20", ErrorCode.NONE), ("40", ErrorCode.NONE),
                        ("5", ErrorCode.INVALID_REQUEST)):  # fmt: skip
        change = (BROKER, "2", "background.threads", value)
        assert alter(cluster, change, received_by=2) == [code]


def with_eligible_replicas() -> Cluster:
    cluster = three_brokers(b"min.insync.replicas=2\n")
    cluster.add_topic("t", (1, 2, 3))
    cluster.add_topic("u", (1, 2, 3), configs={"min.insync.replicas": "3"})
    for broker_id in (2, 3):
        cluster.carry_out(decide_fence_broker(cluster.state, broker_id))
    assert cluster.partition("t").eligible_replicas == (3,)
    assert cluster.partition("u").eligible_replicas == (2, 3)
    return cluster


def test_another_min_isr_of_a_topic_ends_eligibility_in_that_topic() -> None:
    cluster = with_eligible_replicas()
    assert alter(cluster, (TOPIC, "t", "min.insync.replicas", "1")) == [ErrorCode.NONE]
    assert cluster.partition("t").eligible_replicas == ()
    assert cluster.partition("u").eligible_replicas == (2, 3)


def test_another_min_isr_of_the_cluster_ends_it_everywhere_and_once() -> None:
    cluster = with_eligible_replicas()
    name = "min.insync.replicas"
    assert alter(cluster, (BROKER, "", name, "1"), (TOPIC, "t", name, "1")) == [ErrorCode.NONE] * 2
    for topic in ("t", "u"):
        assert cluster.partition(topic).eligible_replicas == ()


def test_the_same_min_isr_again_changes_nothing_for_partitions() -> None:
    cluster = with_eligible_replicas()
    alter(cluster, (BROKER, "", "min.insync.replicas", "2"))
    assert cluster.partition("t").eligible_replicas == (3,)


def test_other_settings_change_nothing_for_partitions() -> None:
    cluster = with_eligible_replicas()
    alter(cluster, (TOPIC, "t", "retention.ms", "5"))
    assert cluster.partition("t").eligible_replicas == (3,)


def test_the_error_for_altering_without_permission_depends_on_the_resource() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1,))
    resources = [
        incremental.AlterConfigsResource(kind, name, [incremental.AlterableConfig(key, SET, "1")])
        for kind, name, key in (
            (2, "t", "retention.ms"),
            (32, "g", "consumer.session.timeout.ms"),
            (4, "", "log.cleaner.threads"),
            (16, "m", "interval.ms"),
        )
    ]
    request = incremental.IncrementalAlterConfigsRequest(resources)
    decision = decide_incremental_alter_configs(
        cluster.state, request, 1, may_alter=lambda _resource: False
    )
    assert decision.records == ()
    assert [each.error_code for each in decision.answer.responses] == [
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ]


def test_the_older_request_replaces_all_settings_of_a_topic() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1,), configs={"retention.ms": "5", "segment.ms": "6"})
    resource = legacy.AlterConfigsResource(2, "t", [legacy.AlterableConfig("flush.ms", "7")])
    request = legacy.AlterConfigsRequest([resource])
    cluster.carry_out(decide_alter_configs(cluster.state, request, 1))
    assert cluster.image.topic_config("t") == {"flush.ms": "7"}


def test_broker_settings_that_kafka_does_not_know_are_stored_and_removed_again() -> None:
    cluster = three_brokers()
    assert alter(cluster, (BROKER, "1", "some.plugin.class", "x")) == [ErrorCode.NONE]
    assert cluster.image.broker_config(1) == {"some.plugin.class": "x"}
    assert alter(cluster, (BROKER, "1", "log.retention.ms", "5")) == [ErrorCode.NONE]
    resource = legacy.AlterConfigsResource(BROKER, "1", [])
    request = legacy.AlterConfigsRequest([resource])
    cluster.carry_out(decide_alter_configs(cluster.state, request, 1))
    assert cluster.image.broker_config(1) == {}


def test_an_unknown_operation_is_a_bad_request() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1,))
    config = incremental.AlterableConfig("retention.ms", 9, "5")
    resource = incremental.AlterConfigsResource(2, "t", [config])
    request = incremental.IncrementalAlterConfigsRequest([resource])
    (result,) = decide_incremental_alter_configs(cluster.state, request, 1).answer.responses
    assert result.error_code == ErrorCode.INVALID_REQUEST
    assert result.error_message == "Unknown operations type 9"


def test_a_value_that_no_answer_could_carry_is_refused() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1,))
    code = alter(cluster, (TOPIC, "t", "leader.replication.throttled.replicas", "0:1," * 9000))
    assert code == [ErrorCode.INVALID_CONFIG]


def test_a_quota_that_is_no_number_is_refused() -> None:
    entry = EntryData([EntityData("user", "u")], [OpData("request_percentage", float("nan"))])
    request = AlterClientQuotasRequest([entry])
    (result,) = decide_alter_client_quotas(three_brokers().state, request).answer.entries
    assert result.error_code == ErrorCode.INVALID_REQUEST


def test_quotas_that_are_only_validated_are_not_stored() -> None:
    entry = EntryData([EntityData("user", "u")], [OpData("request_percentage", 50.0)])
    decision = decide_alter_client_quotas(
        three_brokers().state, AlterClientQuotasRequest([entry], True)
    )
    assert (decision.records, decision.answer.entries[0].error_code) == ((), 0)


def test_of_a_duplicate_entity_the_first_is_applied_and_the_last_reported() -> None:
    entries = [
        EntryData([EntityData("user", "u")], [OpData("request_percentage", value)])
        for value in (50.0, 60.0)
    ]
    request = AlterClientQuotasRequest(entries)
    decision = decide_alter_client_quotas(three_brokers().state, request)
    assert [each.error_code for each in decision.answer.entries] == [ErrorCode.INVALID_REQUEST]
    (record,) = decision.records
    assert record == QuotaChanged((("user", "u"),), "request_percentage", 50.0)


def test_a_quota_that_is_named_twice_beside_another_is_refused() -> None:
    names = ("request_percentage", "producer_byte_rate", "request_percentage")
    entry = EntryData([EntityData("user", "u")], [OpData(name, 50.0) for name in names])
    decision = decide_alter_client_quotas(three_brokers().state, AlterClientQuotasRequest([entry]))
    assert [each.error_code for each in decision.answer.entries] == [ErrorCode.INVALID_REQUEST]
    assert decision.records == ()


def test_a_level_that_one_broker_cannot_do_is_refused() -> None:
    cluster = three_brokers()
    old = cluster.image.brokers[2]
    features = (("transaction.version", VersionRange(0, 1)),)
    cluster.apply([BrokerRegistered(2, old.epoch, old.incarnation_id, (), features)])
    update = FeatureUpdateKey("transaction.version", 2, False, 1)
    decision = decide_update_features(cluster.state, UpdateFeaturesRequest(1, [update]), 2)
    assert decision.records == ()
    message = decision.answer.error_message
    assert message is not None
    assert message.endswith("Broker 2 only supports versions 0-1")


def test_a_level_is_lowered_and_raised() -> None:
    cluster = three_brokers()
    for level, kind in ((0, 2), (2, 1)):
        update = FeatureUpdateKey("transaction.version", level, False, kind)
        decision = decide_update_features(cluster.state, UpdateFeaturesRequest(1, [update]), 2)
        assert decision.records == (FeatureLevelSet("transaction.version", level),)
        before = cluster.image.features_epoch
        cluster.carry_out(decision)
        assert cluster.image.features.get("transaction.version", 0) == level
        assert cluster.image.features_epoch > before


def test_the_first_version_of_the_request_lowers_nothing_as_with_kafka() -> None:
    cluster = three_brokers()
    update = FeatureUpdateKey("transaction.version", 1, True)
    decision = decide_update_features(cluster.state, UpdateFeaturesRequest(1, [update]), 0)
    assert decision.answer.error_code == ErrorCode.INVALID_UPDATE_VERSION
    assert decision.records == ()


def test_a_duplicate_feature_is_reported_twice_and_set_once() -> None:
    update = FeatureUpdateKey("transaction.version", 1, False, 2)
    request = UpdateFeaturesRequest(1, [update, update])
    decision = decide_update_features(three_brokers().state, request, 1)
    assert [each.feature for each in decision.answer.results] == ["transaction.version"] * 2
    assert decision.records == (FeatureLevelSet("transaction.version", 1),)


def test_where_nothing_is_asked_nothing_is_wrong() -> None:
    state = three_brokers().state
    assert decide_elect_leaders(state, ElectLeadersRequest(99, [], 1)).answer.error_code == 0
    nothing = AlterPartitionReassignmentsRequest(1, False, [])
    answer = decide_alter_partition_reassignments(state, nothing).answer
    assert answer.allow_replication_factor_change


def test_too_many_partitions_are_reported_for_every_topic_of_the_request() -> None:
    names = ("many", "__cluster_metadata", "twice", "twice")
    topics = [CreatableTopic(name, 10_001, 1) for name in names]
    answer = decide_create_topics(three_brokers().state, CreateTopicsRequest(topics, 1)).answer
    assert [(each.name, each.error_code) for each in answer.topics] == [
        (name, ErrorCode.POLICY_VIOLATION) for name in names
    ]


def test_blocks_of_producer_ids_never_overlap() -> None:
    cluster = three_brokers()
    blocks = []
    for broker_id in (1, 2, 1):
        request = AllocateProducerIdsRequest(broker_id, cluster.image.brokers[broker_id].epoch)
        answer = cluster.carry_out(decide_allocate_producer_ids(cluster.state, request))
        blocks.append((answer.producer_id_start, answer.producer_id_len))
    assert blocks == [(0, 1000), (1000, 1000), (2000, 1000)]


def test_producer_ids_end_with_the_numbers() -> None:
    cluster = three_brokers()
    cluster.apply([ProducerIdsAllocated(1, 1, INT64_MAX - 5)])
    request = AllocateProducerIdsRequest(1, cluster.image.brokers[1].epoch)
    with pytest.raises(BrokerError, match="All producer ids have been given out"):
        decide_allocate_producer_ids(cluster.state, request)


def test_a_cluster_begins_with_its_name_its_levels_and_one_min_isr_for_all() -> None:
    layers = BrokerLayers({}, {}, {"min.insync.replicas": "2"})
    first, *_ = decide_new_cluster("c", layers)
    assert first == ClusterNamed("c")
    cluster = three_brokers(b"min.insync.replicas=2\n")
    assert cluster.image.broker_config(None) == {"min.insync.replicas": "2"}
    assert cluster.image.features == {
        "metadata.version": 30,
        "transaction.version": 2,
        "group.version": 1,
        "eligible.leader.replicas.version": 1,
    }
    resource = ConfigResource(ResourceType.BROKER, "")
    assert cluster.image.config(resource) == {"min.insync.replicas": "2"}
