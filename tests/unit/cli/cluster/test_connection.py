from __future__ import annotations

from argparse import ArgumentParser

import pytest

from ottla.cli.cluster.connection import add_connection_arguments, servers_of, start_advice
from ottla.config.addresses import Address


def test_the_option_comes_before_our_variable_and_that_before_kafkas() -> None:
    both = {"OTTLA_BOOTSTRAP": "a:1", "KAFKA_BOOTSTRAP_SERVERS": "b:2"}
    assert servers_of("c:3", both) == ("--bootstrap", "c:3")
    assert servers_of(None, both) == ("OTTLA_BOOTSTRAP", "a:1")
    assert servers_of(None, {"KAFKA_BOOTSTRAP_SERVERS": "b:2"})[1] == "b:2"
    assert servers_of(None, {"OTTLA_BOOTSTRAP": ""})[1] == "localhost:9092"


@pytest.mark.parametrize("option", ["-b", "--bootstrap", "--bootstrap-server"])
def test_the_option_of_kafkas_tools_is_taken_as_well(option: str) -> None:
    parser = ArgumentParser()
    add_connection_arguments(parser)
    assert parser.parse_args([option, "kafka:9092"]).bootstrap == "kafka:9092"


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "3601", "soon"])
def test_a_timeout_that_cannot_be_waited_is_refused(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = ArgumentParser()
    add_connection_arguments(parser)
    with pytest.raises(SystemExit):
        parser.parse_args([f"--timeout={text}"])
    assert "is not a number of seconds between 0.001 and 3600" in capsys.readouterr().err


def test_starting_a_broker_is_advised_with_its_address_if_that_is_local() -> None:
    assert start_advice(Address("localhost", 9092)) == ["start a broker with: ottla up"]
    assert start_advice(Address("localhost", 9093)) == [
        "start a broker with: ottla up --listen localhost:9093"
    ]
    assert start_advice(Address("kafka.example", 9092)) == []
