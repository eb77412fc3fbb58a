from __future__ import annotations

import pytest
from tests.support.configs import parse_config

from ottla.config.broker_options import BrokerConfig
from ottla.config.listeners import (
    ListenerEndpoint,
    Listeners,
    listeners_of,
    parse_listener,
    parse_protocol_map,
)
from ottla.config.options import InvalidOption

PLAIN_MAP = "PLAINTEXT:PLAINTEXT,INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT,SAFE:SASL_SSL"


def parse(**settings: str) -> Listeners:
    texts = {name.replace("_", "."): text for name, text in settings.items()}
    texts.setdefault("listener.security.protocol.map", PLAIN_MAP)
    return listeners_of(parse_config(BrokerConfig, texts))


def test_the_default_listens_everywhere_and_advertises_this_machine() -> None:
    found = listeners_of(BrokerConfig())
    assert found.bound == (ListenerEndpoint("PLAINTEXT", "PLAINTEXT", "", 9092),)
    assert found.inter_broker_name == "PLAINTEXT"
    assert found.advertised_with("here", {}) == (
        ListenerEndpoint("PLAINTEXT", "PLAINTEXT", "here", 9092),
    )


def test_several_named_listeners_with_their_own_addresses() -> None:
    found = parse(
        listeners="inside://10.0.0.1:9092, OUTSIDE://:9093",
        advertised_listeners="INSIDE://10.0.0.1:9092,OUTSIDE://broker.example.com:443",
        inter_broker_listener_name="inside",
    )
    assert [str(each) for each in found.bound] == ["INSIDE://10.0.0.1:9092", "OUTSIDE://:9093"]
    assert str(found.advertised[1]) == "OUTSIDE://broker.example.com:443"
    assert found.inter_broker_name == "INSIDE"


def test_an_ipv6_address_stands_in_brackets() -> None:
    found = parse(listeners="PLAINTEXT://[::1]:9092")
    assert found.bound == (ListenerEndpoint("PLAINTEXT", "PLAINTEXT", "::1", 9092),)
    assert str(found.bound[0]) == "PLAINTEXT://[::1]:9092"


def test_an_ipv6_address_may_go_without_its_brackets() -> None:
    found = parse(listeners="PLAINTEXT://::1:9092")
    assert found.bound == (ListenerEndpoint("PLAINTEXT", "PLAINTEXT", "::1", 9092),)


@pytest.mark.parametrize(
    ("bound", "advertised", "reached"),
    [
        ("127.0.0.1:0", "example.com:9092", "127.0.0.1:4000"),
        ("[::1]:0", "[::1]:0", "[::1]:4000"),
        (":0", "example.com:9092", "localhost:4000"),
        ("0.0.0.0:0", ":0", "localhost:4000"),
    ],
)
def test_this_machine_reaches_a_broker_where_it_listens(
    bound: str, advertised: str, reached: str
) -> None:
    found = parse(
        listeners=f"PLAINTEXT://{bound}", advertised_listeners=f"PLAINTEXT://{advertised}"
    )
    assert found.reached_with({"PLAINTEXT": 4000}).address == reached


def test_a_free_port_is_advertised_as_it_turned_out() -> None:
    found = parse(listeners="PLAINTEXT://127.0.0.1:0")
    assert found.advertised_with("here", {"PLAINTEXT": 40123})[0].port == 40123


def test_one_port_serves_ipv4_and_ipv6_but_not_two_of_a_kind() -> None:
    parse(
        listeners="INSIDE://127.0.0.1:9092,OUTSIDE://[::1]:9092",
        inter_broker_listener_name="INSIDE",
    )
    with pytest.raises(InvalidOption, match="port 9092 is used by more than one listener"):
        parse(listeners="INSIDE://127.0.0.1:9092,OUTSIDE://10.0.0.1:9092")


def test_a_controllers_listener_is_left_out() -> None:
    config = parse_config(BrokerConfig, {"listeners": "PLAINTEXT://:9092,CONTROLLER://:9093"})
    assert [each.name for each in listeners_of(config, ["CONTROLLER"]).bound] == ["PLAINTEXT"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"listeners": "nonsense"}, "'nonsense' is not NAME://host:port"),
        ({"listeners": "PLAINTEXT://h"}, "is not NAME://host:port"),
        ({"listeners": "PLAINTEXT://h:70000"}, "port outside 0 to 65535"),
        ({"listeners": "PLAINTEXT://h:-1"}, "port outside 0 to 65535"),
        ({"listeners": "OTHER://h:1"}, "no security protocol is defined for listener OTHER"),
        (
            {"listeners": "SAFE://h:1"},
            "listener SAFE asks for SASL_SSL, which Ottla does not serve",
        ),
        ({"listeners": "INSIDE://a:1,inside://b:2"}, "must have a different name"),
        (
            {"listeners": "PLAINTEXT://h:1", "advertised_listeners": "INSIDE://h:1"},
            "INSIDE is not among the listeners",
        ),
        (
            {"listeners": "PLAINTEXT://h:1", "advertised_listeners": "PLAINTEXT://0.0.0.0:1"},
            "no address that a client can connect to",
        ),
        (
            {"listeners": "PLAINTEXT://h:1", "inter_broker_listener_name": "INSIDE"},
            "inter.broker.listener.name=INSIDE must be one of the advertised listeners: PLAINTEXT",
        ),
        (
            {"listeners": "PLAINTEXT://h:1", "security_inter_broker_protocol": "SSL"},
            "no advertised listener has that protocol",
        ),
    ],
)
def test_what_cannot_be_used_is_named(settings: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        parse(**settings)


@pytest.mark.parametrize("text", ["x", "A:", ":SSL", "A:TLS"])
def test_a_protocol_map_needs_names_and_known_protocols(text: str) -> None:
    with pytest.raises(InvalidOption, match="is not NAME:PROTOCOL with one of"):
        parse_protocol_map(text)


@pytest.mark.parametrize("port", ["1" * 5000, "+1", "٣", "", "-" * 5000])
def test_a_port_is_a_short_number(port: str) -> None:
    with pytest.raises(InvalidOption):
        parse_listener("listeners", f"A://host:{port}", {"A": "PLAINTEXT"})
