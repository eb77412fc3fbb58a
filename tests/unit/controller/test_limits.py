"""Limits at the controller: the last value that is allowed, and the first that is not."""

from __future__ import annotations

import pytest
from tests.unit.controller.clusters import Cluster

from ottla.base.ids import NO_LEADER
from ottla.controller.alter_configs import DELETE, SET, decide_incremental_alter_configs
from ottla.controller.alter_quotas import NAME_CHARACTERS_MAX as NAME_MAX
from ottla.controller.alter_quotas import decide_alter_client_quotas
from ottla.controller.brokers import decide_fence_broker, decide_unfence_broker
from ottla.controller.config_checks import VALUE_BYTES_MAX
from ottla.controller.create_partitions import decide_create_partitions
from ottla.controller.create_topics import decide_create_topics
from ottla.controller.decision import NAMED_MAX, PARTITIONS_MAX, ItemRejected
from ottla.controller.delete_topics import decide_delete_topics
from ottla.controller.elect_leaders import (
    ELECTIONS_MAX,
    decide_balance_leaders,
    decide_unclean_elections,
)
from ottla.controller.producer_ids import BLOCK_SIZE
from ottla.controller.update_features import decide_update_features
from ottla.metadata.records import ConfigChanged, ConfigResource, PartitionChanged, ResourceType
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages import incremental_alter_configs_request as incremental
from ottla.protocol.messages.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from ottla.protocol.messages.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from ottla.protocol.messages.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest

NONE = ErrorCode.NONE
GROUP, BROKER = 32, 4
UNCLEAN = "unclean.leader.election.enable"


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


@pytest.mark.parametrize("limit", range(8, 15))
def test_what_several_topics_get_in_one_request_is_counted_together(limit: int) -> None:
    cluster = Cluster(properties=b"ottla.partitions.max=%d" % limit)
    cluster.add_broker(1)
    assert create(cluster, ("a", 3), ("b", 2), ("c", 2)) == [NONE] * 3
    wanted = [CreatePartitionsTopic(*each, None) for each in (("a", 6), ("b", 5), ("c", 3))]
    decision = decide_create_partitions(cluster.state, CreatePartitionsRequest(wanted))
    results = cluster.carry_out(decision).results
    left, expected = limit - 7, []
    for more in (3, 3, 1):
        expected.append(more <= left)
        left -= more * (more <= left)
    assert [each.error_code == NONE for each in results] == expected
    assert cluster.image.partition_count == limit - left


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


def test_a_broker_is_named_by_its_own_number() -> None:
    cluster = Cluster()
    cluster.add_broker(1)
    own = str(cluster.loaded.config.node_id)
    setting = ("log.cleaner.backoff.ms", "7")
    assert alter(cluster, BROKER, own, SET, *setting) == NONE
    for other in ("99", "one"):
        assert alter(cluster, BROKER, other, SET, *setting) == ErrorCode.INVALID_REQUEST
    assert set(cluster.image.configs) >= {ConfigResource(ResourceType.BROKER, own)}
    assert ConfigResource(ResourceType.BROKER, "99") not in cluster.image.configs


def test_subscriptions_to_metrics_are_counted_until_they_are_gone() -> None:
    cluster = Cluster(properties=b"ottla.client.metrics.subscriptions.max=2")
    metrics = 16
    setting = ("interval.ms", "1000")
    codes = [alter(cluster, metrics, name, SET, *setting) for name in ("a", "b", "c")]
    assert codes == [NONE, NONE, ErrorCode.POLICY_VIOLATION]
    assert alter(cluster, metrics, "a", SET, "match", "client_id=x") == NONE, "it is no new one"
    assert alter(cluster, metrics, "b", DELETE, "interval.ms") == NONE
    assert alter(cluster, metrics, "c", SET, *setting) == NONE
    assert cluster.image.client_metrics_count == 2


def test_a_resource_has_at_most_so_many_settings() -> None:
    from ottla.controller.config_checks import SETTINGS_MAX, check_group_config
    from ottla.controller.decision import ItemRejected

    cluster = Cluster()
    layers = cluster.loaded.layers
    with pytest.raises(ItemRejected, match="settings"):
        check_group_config({f"x{at}": "1" for at in range(SETTINGS_MAX + 1)}, layers)
    with pytest.raises(ItemRejected, match="Unknown"):
        check_group_config({f"x{at}": "1" for at in range(SETTINGS_MAX)}, layers)


@pytest.mark.parametrize(
    ("entity", "is_allowed"),
    [
        ([("ip", "::1")], True),
        ([("ip", None)], True),
        ([("ip", "::1"), ("user", "u")], False),
        ([("client-id", "c"), ("ip", None)], False),
        ([("user", "u"), ("client-id", "c")], True),
        ([("user", "")], False),
        ([("host", "h")], False),
        ([], False),
    ],
)
def test_a_quota_is_of_an_address_or_of_users_and_clients(
    entity: list[tuple[str, str | None]], is_allowed: bool
) -> None:
    cluster = Cluster()
    key = "connection_creation_rate" if ("ip" in dict(entity)) else "producer_byte_rate"
    entry = EntryData([EntityData(*each) for each in entity], [OpData(key, 5.0, False)])
    decision = decide_alter_client_quotas(cluster.state, AlterClientQuotasRequest([entry]))
    (answer,) = cluster.carry_out(decision).entries
    assert (answer.error_code == NONE) == is_allowed
    assert len(cluster.image.quotas) == is_allowed


def test_limits_that_are_kafkas() -> None:
    assert PARTITIONS_MAX == 10_000  # one request may create
    assert VALUE_BYTES_MAX == 32_767  # of a setting
    assert BLOCK_SIZE == 1000  # producer ids that a broker gets at a time


@pytest.mark.parametrize(("more", "is_left"), [(0, False), (1, True)])
def test_the_controller_holds_so_many_elections_at_a_time(more: int, is_left: bool) -> None:
    cluster = Cluster()
    for broker_id in (1, 2):
        cluster.add_broker(broker_id)
    cluster.add_topic("t", *[(1, 2)] * (ELECTIONS_MAX + more))
    cluster.carry_out(decide_fence_broker(cluster.state, 1))
    cluster.carry_out(decide_unfence_broker(cluster.state, 1, cluster.image.brokers[1].epoch))
    cluster.apply(
        PartitionChanged(cluster.image.topics["t"].id, index, 2, in_sync_replicas=(2, 1))
        for index in range(ELECTIONS_MAX + more)
    )
    decision = decide_balance_leaders(cluster.state)
    assert (len(decision.records), decision.answer) == (ELECTIONS_MAX, is_left)
    cluster.carry_out(decision)
    decision = decide_balance_leaders(cluster.state)
    assert (len(decision.records), decision.answer) == (more, False)


@pytest.mark.parametrize(("more", "is_left"), [(0, False), (1, True)])
def test_the_controller_holds_so_many_unclean_elections_at_a_time(more: int, is_left: bool) -> None:
    cluster = Cluster()
    for broker_id in (1, 2):
        cluster.add_broker(broker_id)
    cluster.add_topic("t", *[(1, 2)] * (ELECTIONS_MAX + more))
    topic = cluster.image.topics["t"]
    for broker_id in (2, 1):
        cluster.carry_out(decide_fence_broker(cluster.state, broker_id))
    cluster.apply([ConfigChanged(ConfigResource(ResourceType.TOPIC, "t"), UNCLEAN, "false")])
    cluster.carry_out(decide_unfence_broker(cluster.state, 2, cluster.image.brokers[2].epoch))
    assert {each.leader for each in topic.partitions} == {NO_LEADER}
    assert decide_unclean_elections(cluster.state).records == ()
    cluster.apply([ConfigChanged(ConfigResource(ResourceType.TOPIC, "t"), UNCLEAN, "true")])
    decision = decide_unclean_elections(cluster.state)
    assert (len(decision.records), decision.answer) == (ELECTIONS_MAX, is_left)


def test_what_is_no_subscription_needs_no_room_for_one() -> None:
    cluster = Cluster(properties=b"ottla.client.metrics.subscriptions.max=1")
    cluster.add_broker(1)
    cluster.add_topic("t", [1])
    wanted = [
        (16, "first", "metrics", "m"),
        (32, "g", "consumer.session.timeout.ms", "50000"),
        (2, "t", "retention.ms", "1"),
        (16, "second", "metrics", "m"),
    ]
    resources = [
        incremental.AlterConfigsResource(kind, name, [incremental.AlterableConfig(key, SET, value)])
        for kind, name, key, value in wanted
    ]
    request = incremental.IncrementalAlterConfigsRequest(resources)
    answer = cluster.carry_out(decide_incremental_alter_configs(cluster.state, request, 1))
    refused = ErrorCode.POLICY_VIOLATION
    assert [each.error_code for each in answer.responses] == [NONE, NONE, NONE, refused]


@pytest.mark.parametrize(("length", "code"), [(NAME_MAX, NONE), (NAME_MAX + 1, 42)])
def test_a_name_with_quotas_has_at_most_so_many_characters(length: int, code: int) -> None:
    cluster = Cluster()
    entry = EntryData(
        [EntityData("user", "u" * length)], [OpData("producer_byte_rate", 1.0, False)]
    )
    decision = decide_alter_client_quotas(cluster.state, AlterClientQuotasRequest([entry]))
    assert decision.answer.entries[0].error_code == code


def test_requests_that_name_too_much_are_refused() -> None:
    state = Cluster().state
    count = NAMED_MAX + 1
    with pytest.raises(ItemRejected):
        decide_create_partitions(
            state, CreatePartitionsRequest([CreatePartitionsTopic("t", 1, None)] * count)
        )
    with pytest.raises(ItemRejected):
        decide_create_topics(state, CreateTopicsRequest([CreatableTopic("t", 1, 1)] * count))
    with pytest.raises(ItemRejected):
        decide_update_features(
            state, UpdateFeaturesRequest(feature_updates=[FeatureUpdateKey("f", 1)] * count), 1
        )
    settings = [incremental.AlterableConfig("retention.ms", SET, "1")] * count
    with pytest.raises(ItemRejected):
        decide_incremental_alter_configs(
            state,
            incremental.IncrementalAlterConfigsRequest(
                [incremental.AlterConfigsResource(2, "t", settings)]
            ),
            1,
        )


@pytest.mark.parametrize("are_permitted", [True, False])
def test_a_topic_that_may_not_be_deleted_is_answered_by_name_and_by_id(
    are_permitted: bool,
) -> None:
    """Where it may be, one answer stands for both."""
    cluster = Cluster()
    cluster.add_broker(1)
    topic = cluster.add_topic("t", [1])
    request = DeleteTopicsRequest([DeleteTopicState("t"), DeleteTopicState(None, topic.id)])
    decision = decide_delete_topics(cluster.state, request, 6, may_delete=lambda _: are_permitted)
    codes = [each.error_code for each in decision.answer.responses]
    forbidden = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert codes == ([ErrorCode.INVALID_REQUEST] if are_permitted else [forbidden, forbidden])
    assert decision.records == ()
