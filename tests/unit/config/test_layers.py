"""Which value is effective, and what DescribeConfigs returns.

Answers are those of Apache Kafka 4.3.1.
"""

from __future__ import annotations

import pytest
from tests.support.configs import topic_config

from ottla.config.broker_checks import check_dynamic
from ottla.config.describe import (
    ConfigEntry,
    GroupDescriptions,
    TopicDescriptions,
    describe_all_brokers,
    describe_broker,
    describe_client_metrics,
)
from ottla.config.layers import BrokerLayers, ConfigSource, TopicDefaults, group_config, topic_text
from ottla.config.options import InvalidOption

DYNAMIC = BrokerLayers(
    dynamic_broker={"log.retention.ms": "99", "compression.type": "lz4"},
    dynamic_default={"log.retention.ms": "123456", "compression.type": "zstd"},
)


def entry(entries: list[ConfigEntry], name: str) -> ConfigEntry:
    return next(each for each in entries if each.name == name)


def synonyms(entry: ConfigEntry) -> list[tuple[str, str, int]]:
    return [(each.name, each.text, int(each.source)) for each in entry.synonyms]


def test_a_topics_own_setting_wins_then_its_brokers_then_all_brokers_then_the_file() -> None:
    layers = BrokerLayers({"compression.type": "a"}, {"compression.type": "b"})
    static = BrokerLayers({}, {}, {"compression.type": "c"})
    name = "compression.type"
    assert topic_text(name, {name: "own"}, layers) == (name, "own", ConfigSource.TOPIC)
    assert topic_text(name, {}, layers) == (name, "a", ConfigSource.DYNAMIC_BROKER)
    assert topic_text(name, {}, static) == (name, "c", ConfigSource.STATIC_BROKER)
    assert topic_text(name, {}, BrokerLayers()) == (name, "producer", ConfigSource.DEFAULT)


@pytest.mark.parametrize(
    ("static", "retention_ms"),
    [
        ({}, 604_800_000),
        ({"log.retention.hours": "2"}, 7_200_000),
        ({"log.retention.hours": "2", "log.retention.minutes": "3"}, 180_000),
        ({"log.retention.hours": "2", "log.retention.ms": "5"}, 5),
        ({"log.retention.hours": "-1"}, -1),
        ({"log.retention.ms": "-5"}, -1),
    ],
)
def test_retention_comes_from_the_finest_setting_given(
    static: dict[str, str], retention_ms: int
) -> None:
    assert topic_config({}, BrokerLayers({}, {}, static)).retention_ms == retention_ms


def test_hours_become_milliseconds() -> None:
    layers = BrokerLayers({}, {}, {"log.roll.hours": "1", "log.roll.jitter.hours": "2"})
    config = topic_config({}, layers)
    assert (config.segment_ms, config.segment_jitter_ms) == (3_600_000, 7_200_000)


def test_topics_without_settings_share_one_object() -> None:
    defaults = TopicDefaults(BrokerLayers())
    assert defaults.config({}) is defaults.config({})
    assert defaults.config({"retention.ms": "5"}).retention_ms == 5


def test_the_internal_segment_size_replaces_the_public_one() -> None:
    assert topic_config({"internal.segment.bytes": "500"}, BrokerLayers()).segment_bytes == 500


def test_a_topic_is_described_with_every_value_that_was_passed_over() -> None:
    entries = TopicDescriptions(DYNAMIC).of({"retention.ms": " 9 ", "compression.type": "gzip"})
    assert len(entries) == 33
    compression = entry(entries, "compression.type")
    assert (compression.value, compression.source, compression.wire_type) == ("gzip", 1, 2)
    assert synonyms(compression) == [
        ("compression.type", "gzip", 1),
        ("compression.type", "lz4", 2),
        ("compression.type", "zstd", 3),
        ("compression.type", "producer", 5),
    ]
    assert synonyms(entry(entries, "retention.ms")) == [
        ("retention.ms", "9", 1),
        ("log.retention.ms", "99", 2),
        ("log.retention.ms", "123456", 3),
        ("log.retention.hours", "168", 5),
    ]


def test_settings_come_in_the_order_of_kafkas_maps() -> None:
    names = [each.name for each in TopicDescriptions(DYNAMIC).of({"internal.segment.bytes": "5"})]
    assert names[:4] == [
        "internal.segment.bytes",
        "compression.type",
        "remote.log.delete.on.disable",
        "leader.replication.throttled.replicas",
    ]
    assert (
        names.index("cleanup.policy") < names.index("segment.bytes") < names.index("retention.ms")
    )


def test_a_coarser_setting_alone_counts_as_the_default() -> None:
    layers = BrokerLayers({}, {}, {"log.retention.hours": "2"})
    retention = entry(TopicDescriptions(layers).of({}), "retention.ms")
    assert (retention.value, retention.source, retention.synonyms) == ("7200000", 5, ())


def test_a_setting_without_a_broker_synonym_has_no_synonyms_until_it_is_set() -> None:
    name = "leader.replication.throttled.replicas"
    assert entry(TopicDescriptions(DYNAMIC).of({}), name).synonyms == ()
    assert synonyms(entry(TopicDescriptions(DYNAMIC).of({name: "0:1"}), name)) == [(name, "0:1", 1)]


def test_internal_settings_show_only_where_they_are_set() -> None:
    assert len(TopicDescriptions(DYNAMIC).of({"internal.segment.bytes": "5"})) == 34


def test_a_broker_is_described_with_sources_and_what_is_fixed() -> None:
    layers = BrokerLayers(
        DYNAMIC.dynamic_broker, DYNAMIC.dynamic_default, {"num.partitions": "3", "node.id": "1"}
    )
    entries = describe_broker(layers)
    partitions = entry(entries, "num.partitions")
    assert (partitions.value, partitions.source, partitions.is_read_only) == ("3", 4, True)
    assert synonyms(partitions) == [("num.partitions", "3", 4), ("num.partitions", "1", 5)]
    retention = entry(entries, "log.retention.ms")
    assert (retention.value, retention.source, retention.is_read_only) == ("99", 2, False)
    assert synonyms(retention) == [
        ("log.retention.ms", "99", 2),
        ("log.retention.ms", "123456", 3),
        ("log.retention.hours", "168", 5),
    ]
    assert synonyms(entry(entries, "log.retention.hours")) == [("log.retention.hours", "168", 5)]
    assert entry(entries, "log.roll.ms")[1:3] == (None, 5)
    rack = entry(entries, "broker.rack")
    assert (rack.value, rack.source, rack.synonyms) == (None, 5, ())


def test_the_default_of_all_brokers_shows_only_what_was_set_there() -> None:
    entries = describe_all_brokers(DYNAMIC)
    assert [(each.name, each.value, int(each.source)) for each in entries] == [
        ("log.retention.ms", "123456", 3),
        ("compression.type", "zstd", 3),
    ]


def test_a_group_falls_back_to_the_brokers_setting() -> None:
    entries = GroupDescriptions(BrokerLayers()).of({"consumer.session.timeout.ms": "50000"})
    assert synonyms(entry(entries, "consumer.session.timeout.ms")) == [
        ("consumer.session.timeout.ms", "50000", 8),
        ("group.consumer.session.timeout.ms", "45000", 5),
    ]
    heartbeat = entry(entries, "consumer.heartbeat.interval.ms")
    assert (heartbeat.value, heartbeat.source) == ("5000", 5)
    assert synonyms(heartbeat) == [("group.consumer.heartbeat.interval.ms", "5000", 5)]


def test_a_groups_setting_is_kept_within_the_brokers_limits() -> None:
    layers = BrokerLayers({}, {}, {"group.consumer.max.session.timeout.ms": "47000"})
    config = group_config({"consumer.session.timeout.ms": "50000"}, layers)
    assert config.consumer_session_timeout_ms == 47000


def test_stored_topic_settings_stay_valid_but_are_not_accepted_again() -> None:
    stored = {"cleanup.policy": "compact,", "segment.bytes": "1000", "gone": "1", "flush.ms": "x"}
    config = TopicDefaults(BrokerLayers()).config(stored)
    assert (config.cleanup_policy, config.segment_bytes) == (("compact",), 1000)
    assert config.flush_ms == TopicDefaults(BrokerLayers()).config({}).flush_ms
    defaults = BrokerLayers(dynamic_default={"log.cleanup.policy": "compact,"})
    assert TopicDefaults(defaults).config({}).cleanup_policy == ("compact",)
    with pytest.raises(InvalidOption, match="must not be empty"):
        topic_config({"cleanup.policy": "compact,"}, BrokerLayers())


def test_what_an_older_build_accepted_still_holds_for_groups() -> None:
    stored = {"consumer.session.timeout.ms": "0", "gone": "1"}
    config = group_config(stored, BrokerLayers())
    assert config.consumer_session_timeout_ms == 45_000  # the least that brokers allow
    heartbeat = {"consumer.heartbeat.interval.ms": "x"}
    assert group_config(heartbeat, BrokerLayers()).consumer_heartbeat_interval_ms == 5000


def test_what_an_older_build_accepted_is_described_as_it_was_stored() -> None:
    entries = describe_client_metrics({"metrics": "a,"})
    assert (entry(entries, "metrics").value, entry(entries, "metrics").source) == ("a,", 7)
    described = TopicDescriptions(BrokerLayers()).of({"cleanup.policy": "compact,"})
    assert entry(described, "cleanup.policy").value == "compact,"


def test_client_metrics_show_all_settings_with_or_without_a_value() -> None:
    entries = describe_client_metrics({"interval.ms": "1000"})
    assert [(each.name, each.value, int(each.source)) for each in entries] == [
        ("interval.ms", "1000", 7),
        ("match", "", 5),
        ("metrics", "", 5),
    ]


@pytest.mark.parametrize(
    ("changed", "is_one_broker", "message"),
    [
        (
            {"num.partitions": "2"},
            True,
            "Cannot update these configs dynamically: [num.partitions]",
        ),
        ({"process.roles": "broker", "nope": "2"}, True, "dynamically: [process.roles]"),
        ({"ssl.keystore.location": "/"}, True, "dynamically: [ssl.keystore.location]"),
        ({"log.retention.hours": "2"}, False, "Cannot update these configs dynamically"),
        ({"log.cleaner.threads": "x"}, True, "Not a number of type INT"),
        ({"log.cleaner.threads": "-1"}, True, "Value must be at least 0"),
        ({"log.roll.ms": "0"}, True, "log.roll.ms must be greater than or equal to 1"),
        ({"max.connections.per.ip": "0"}, False, "can be set to zero only if"),
    ],
)
def test_what_may_not_be_set_while_running_is_refused(
    changed: dict[str, str], is_one_broker: bool, message: str
) -> None:
    with pytest.raises(InvalidOption) as raised:
        check_dynamic(changed, BrokerLayers(), is_one_broker=is_one_broker)
    assert message in str(raised.value)


def test_what_may_be_set_while_running_is_accepted_on_one_broker_and_on_all() -> None:
    for is_one_broker in (True, False):
        check_dynamic({"log.retention.ms": "5"}, BrokerLayers(), is_one_broker=is_one_broker)


def test_settings_that_kafka_does_not_know_are_accepted_and_have_no_effect() -> None:
    custom = {"nope": "2", "retention.ms": "5", "": "", "advertised.host.name": "x"}
    for is_one_broker in (True, False):
        check_dynamic(custom, BrokerLayers(), is_one_broker=is_one_broker)
    layers = BrokerLayers(dynamic_broker=custom)
    assert layers.effective() == BrokerLayers().effective()
    assert TopicDefaults(layers).config({}) == TopicDefaults(BrokerLayers()).config({})
    check_dynamic({"log.retention.ms": "5"}, layers, is_one_broker=False)


def test_settings_that_kafka_does_not_know_are_described_without_their_value() -> None:
    layers = BrokerLayers(dynamic_broker={"nope": "2"}, dynamic_default={"nope": "3", "other": "4"})
    nope, other, *declared = describe_broker(layers)
    assert (nope.value, nope.is_sensitive, nope.is_read_only, nope.wire_type) == (
        None, True, True, 0,
    )  # fmt: skip
    assert nope.source is ConfigSource.DYNAMIC_BROKER
    assert synonyms(nope) == [("nope", "2", 2), ("nope", "3", 3)]
    assert (other.name, other.source) == ("other", ConfigSource.DYNAMIC_DEFAULT_BROKER)
    assert declared == describe_broker(BrokerLayers())
    of_all = describe_all_brokers(layers)
    assert [(each.name, each.value, synonyms(each)) for each in of_all] == [
        ("nope", None, [("nope", "3", 3)]),
        ("other", None, [("other", "4", 3)]),
    ]
