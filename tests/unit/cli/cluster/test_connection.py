from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError

import pytest

from ottla.cli.cluster.connection import (
    add_connection_arguments,
    address_of,
    client_settings,
    servers_of,
    timeout_seconds,
)
from ottla.cli.errors import CommandFailed


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("localhost:9092", ("localhost", 9092)),
        ("localhost", ("localhost", 9092)),
        (" 10.0.0.1:1 ", ("10.0.0.1", 1)),
        ("[::1]:9093", ("::1", 9093)),
        ("[::1]", ("::1", 9092)),
        ("PLAINTEXT://kafka:29092", ("kafka", 29092)),
    ],
)
def test_addresses_are_taken_as_kafka_clients_take_them(
    text: str, address: tuple[str, int]
) -> None:
    assert address_of(text) == address


@pytest.mark.parametrize("text", ["localhost:", "localhost:x", "localhost:99999"])
def test_an_address_with_a_bad_port_is_refused(text: str) -> None:
    with pytest.raises(CommandFailed, match="HOST:PORT"):
        address_of(text)


def test_our_variable_comes_before_kafkas() -> None:
    both = {"OTTLA_BOOTSTRAP": "a:1", "KAFKA_BOOTSTRAP_SERVERS": "b:2"}
    assert servers_of(both) == "a:1"
    assert servers_of({"KAFKA_BOOTSTRAP_SERVERS": "b:2"}) == "b:2"
    assert servers_of({"OTTLA_BOOTSTRAP": ""}) == "localhost:9092"


@pytest.mark.parametrize("option", ["-b", "--bootstrap", "--bootstrap-server"])
def test_the_option_of_kafkas_tools_is_taken_as_well(option: str) -> None:
    parser = ArgumentParser()
    add_connection_arguments(parser)
    assert parser.parse_args([option, "kafka:9092"]).bootstrap == "kafka:9092"


def test_client_settings_are_names_and_values() -> None:
    assert client_settings(["a=b=c", "d="]) == {"a": "b=c", "d": ""}
    with pytest.raises(CommandFailed, match="NAME=VALUE"):
        client_settings(["a"])


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "3601", "soon"])
def test_a_time_that_nobody_can_wait_is_refused(text: str) -> None:
    with pytest.raises(
        ArgumentTypeError, match="is not a number of seconds above 0 and at most 3600"
    ):
        timeout_seconds(text)
