"""Settings of single listeners, with sources and synonyms as a Kafka 4.3.1 returned them."""

from __future__ import annotations

import pytest

from ottla.config.broker_checks import check_dynamic
from ottla.config.describe import describe_all_brokers, describe_broker
from ottla.config.layers import BrokerLayers, ConfigSource, SourcedText
from ottla.config.listener_options import listener_limits
from ottla.config.load import load_config
from ottla.config.options import InvalidOption

OWN = "listener.name.plaintext.max.connections"
RATE = "listener.name.plaintext.max.connection.creation.rate"
STATIC = load_config(settings=[f"{OWN}=77", "max.connections=900"]).layers


def test_a_listeners_setting_stands_in_the_place_of_the_brokers() -> None:
    texts = STATIC.with_dynamic({}, {RATE: "12"}).effective()
    assert listener_limits("PLAINTEXT", texts) == {
        "max.connections": 77,
        "max.connection.creation.rate": 12,
    }
    assert listener_limits("OTHER", texts)["max.connections"] == 900


def test_one_that_was_stored_and_cannot_be_read_does_no_harm() -> None:
    texts = STATIC.with_dynamic({OWN: "many"}, {}).effective()
    assert listener_limits("PLAINTEXT", texts)["max.connections"] == 900


def test_it_is_described_with_all_that_it_hides() -> None:
    layers = STATIC.with_dynamic({OWN: "60"}, {OWN: "50", "max.connections": "100"})
    entry = describe_broker(layers)[0]
    assert (entry.name, entry.value, entry.source) == (OWN, "60", ConfigSource.DYNAMIC_BROKER)
    assert (entry.is_read_only, entry.is_sensitive, entry.wire_type) == (True, False, 3)
    assert entry.doc is None
    assert entry.synonyms == (
        SourcedText(OWN, "60", ConfigSource.DYNAMIC_BROKER),
        SourcedText(OWN, "50", ConfigSource.DYNAMIC_DEFAULT_BROKER),
        SourcedText("max.connections", "100", ConfigSource.DYNAMIC_DEFAULT_BROKER),
        SourcedText(OWN, "77", ConfigSource.STATIC_BROKER),
        SourcedText("max.connections", "900", ConfigSource.STATIC_BROKER),
        SourcedText("max.connections", "10000", ConfigSource.DEFAULT),
    )
    of_all = {each.name: each.synonyms for each in describe_all_brokers(layers)}
    assert [each.text for each in of_all[OWN]] == ["50", "100"]


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        (OWN, "0", "cannot be set to 0 while the broker runs"),
        (OWN, "-3", "for configuration max.connections: Value must be at least 0"),
        (RATE, "x", "for configuration max.connection.creation.rate: Not a number of type INT"),
        ("listener.name.plaintext.num.network.threads", "200", "thread count update"),
        ("listener.name.plaintext.ssl.keystore.location", "/x", "Cannot update these configs"),
    ],
)
def test_what_cannot_be_used_is_refused(name: str, text: str, what: str) -> None:
    for is_one_broker in (True, False):
        with pytest.raises(InvalidOption, match=what):
            check_dynamic({name: text}, BrokerLayers(), is_one_broker=is_one_broker)


def test_what_can_be_used_may_be_set_for_all_brokers_and_for_one() -> None:
    threads = {"listener.name.any.num.network.threads": "4"}
    for is_one_broker in (True, False):
        check_dynamic({OWN: "3", RATE: "5"} | threads, STATIC, is_one_broker=is_one_broker)


def test_one_in_a_file_is_checked_with_the_others() -> None:
    with pytest.raises(InvalidOption, match=r"Invalid value x for configuration max\.connections"):
        load_config(settings=[f"{OWN}=x"])
