"""Edge cases of how Kafka parses settings that are changed while it runs."""

from __future__ import annotations

import pytest

from ottla.config.broker_checks import check_dynamic, parse_ip_overrides
from ottla.config.describe import GroupDescriptions, describe_broker, describe_client_metrics
from ottla.config.layers import BrokerLayers
from ottla.config.options import InvalidOption
from ottla.config.resource_options import CLIENT_METRICS_OPTIONS, TOPIC_OPTIONS, parse_match


def test_values_are_reported_in_canonical_form() -> None:
    layers = BrokerLayers(dynamic_default={"log.preallocate": "TRUE"})
    reported = {each.name: each for each in describe_broker(layers)}["log.preallocate"]
    assert (reported.value, reported.synonyms[0].text) == ("true", "TRUE")
    (interval,) = (e for e in describe_client_metrics({"interval.ms": "+0500"}) if e.source == 7)
    assert (interval.value, interval.synonyms[0].text) == ("500", "500")
    overrides = {"consumer.session.timeout.ms": " 007 "}
    (timeout,) = (e for e in GroupDescriptions(layers).of(overrides) if e.source == 8)
    assert (timeout.value, timeout.synonyms[0].text) == ("7", "7")


def test_a_wrong_default_is_refused_also_where_one_broker_has_a_value_of_its_own() -> None:
    layers = BrokerLayers(dynamic_broker={"compression.type": "gzip"})
    with pytest.raises(InvalidOption, match=r"compression\.type"):
        check_dynamic({"compression.type": "GZIP"}, layers, is_one_broker=False)


@pytest.mark.parametrize("count", ["4", "21"])
def test_threads_are_at_most_halved_or_doubled_at_a_time(count: str) -> None:
    check_dynamic({"background.threads": "5"}, BrokerLayers(), is_one_broker=True)
    check_dynamic({"background.threads": "20"}, BrokerLayers(), is_one_broker=True)
    with pytest.raises(InvalidOption, match=r"background\.threads"):
        check_dynamic({"background.threads": count}, BrokerLayers(), is_one_broker=True)


def test_what_no_topic_may_have_is_no_default_of_topics() -> None:
    with pytest.raises(InvalidOption, match=r"log\.flush\.interval\.ms: as the default of topics"):
        check_dynamic({"log.flush.interval.ms": "-1"}, BrokerLayers(), is_one_broker=False)


def test_throttled_replicas_may_be_repeated_and_empty() -> None:
    option = TOPIC_OPTIONS["leader.replication.throttled.replicas"]
    assert option.parse("0:1,0:1,") == ("0:1", "0:1", "")
    assert option.parse("*,") == ("*", "")
    with pytest.raises(InvalidOption):
        option.parse("0:1,*")


@pytest.mark.parametrize("pattern", ["client_id", "client_id=", "client_id=a=b", "=a", "x=a"])
def test_a_pattern_for_clients_is_one_pair(pattern: str) -> None:
    parse_match(("client_id=a", " client_id = "))
    with pytest.raises(InvalidOption):
        parse_match((pattern,))


def test_no_prefix_of_metrics_is_empty() -> None:
    with pytest.raises(InvalidOption):
        CLIENT_METRICS_OPTIONS["metrics"].parse("a,,b")


@pytest.mark.parametrize("limit", ["x", "", "-1", "1" * 5000, "٣", str(2**31)])
def test_a_limit_of_an_address_is_a_number_of_type_int(limit: str) -> None:
    assert parse_ip_overrides(f" ::1 : {2**31 - 1} ") == {"::1": 2**31 - 1}
    with pytest.raises(InvalidOption):
        parse_ip_overrides(f"::1:{limit}")


@pytest.mark.parametrize("size", ["0", "-1", "1048576"])
def test_the_buffer_of_compaction_is_bounded_while_brokers_run_too(size: str) -> None:
    with pytest.raises(InvalidOption, match="at least 1MB per cleaner thread"):
        check_dynamic({"log.cleaner.dedupe.buffer.size": size}, BrokerLayers(), is_one_broker=False)
