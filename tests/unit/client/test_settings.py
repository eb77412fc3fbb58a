"""Settings of a client, under Kafka's names."""

from __future__ import annotations

import pickle

import pytest

from ottla.client.errors import InvalidSetting
from ottla.client.settings import CLIENT_OPTIONS, ClientSettings, parse_addresses
from ottla.config.addresses import Address


def test_properties_are_understood_under_kafkas_names() -> None:
    settings = ClientSettings.from_properties(
        {
            "bootstrap.servers": "a:1, b:2",
            "request.timeout.ms": "1234",
            "isolation.level": "read_committed",
            "check.crcs": "false",
            "acks": "all",
            "security.protocol": "PLAINTEXT",
        }
    )
    assert settings.addresses == (Address("a", 1), Address("b", 2))
    assert settings.request_timeout_ms == 1234
    assert settings.isolation_level == "read_committed"
    assert settings.check_crcs is False
    assert settings.acks == -1


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("security.protocol", "SASL_SSL", "only PLAINTEXT is"),
        ("request.timeout.ms", "soon", "Not a number of type INT"),
        ("request.timeout.ms", "0", "at least 1"),
        ("isolation.level", "serializable", "read_uncommitted, read_committed"),
        ("acks", "0", "one of: all, -1, 1"),
        ("max.in.flight.requests.per.connection", "6", "no more than 5"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(name: str, value: str, reason: str) -> None:
    with pytest.raises(InvalidSetting, match=reason) as caught:
        ClientSettings.from_properties({"bootstrap.servers": "a:1", name: value})
    assert caught.value.name == name
    assert str(caught.value).startswith(f"Invalid value {value} for configuration {name}: ")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("ssl.truststore.location", "TLS and SASL are not supported yet"),
        ("sasl.mechanism", "TLS and SASL are not supported yet"),
        ("sasl.jaas.config", "TLS and SASL are not supported yet"),
        ("basic.auth.user.info", "does not know the setting"),
    ],
)
def test_the_value_of_a_setting_that_cannot_be_used_is_not_shown(name: str, reason: str) -> None:
    with pytest.raises(InvalidSetting, match=f"Invalid configuration {name}: .*{reason}") as caught:
        ClientSettings.from_properties({"bootstrap.servers": "a:1", name: "pass-word"})
    assert caught.value.name == name
    assert "pass-word" not in str(caught.value)


def test_addresses_may_be_of_either_family() -> None:
    assert parse_addresses("[::1]:9092,PLAINTEXT://k-1.example.com:9093") == (
        Address("::1", 9092),
        Address("k-1.example.com", 9093),
    )
    assert str(Address("::1", 9092)) == "[::1]:9092"


@pytest.mark.parametrize("text", ["", " , ", "host", "host:", ":9092", "host:0", "host:70000"])
def test_an_address_without_host_or_port_is_refused(text: str) -> None:
    with pytest.raises(InvalidSetting, match="bootstrap"):
        ClientSettings(text)


def test_bootstrap_servers_may_not_be_missing() -> None:
    with pytest.raises(InvalidSetting, match=r"bootstrap\.servers is missing"):
        ClientSettings.from_properties({"client.id": "x"})


def test_settings_travel_by_pickle() -> None:
    settings = ClientSettings("a:1", fetch_max_bytes=7)
    assert pickle.loads(pickle.dumps(settings)) == settings


def test_every_default_can_be_said_as_a_property() -> None:
    properties = {name: each.default_text or "" for name, each in CLIENT_OPTIONS.items()}
    assert ClientSettings.from_properties(
        {**properties, "bootstrap.servers": "a:1"}
    ) == ClientSettings("a:1")
