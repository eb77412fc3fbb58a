from __future__ import annotations

import pytest

from ottla.config.addresses import parse_address, parse_addresses


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("localhost:9092", ("localhost", 9092)),
        ("localhost", ("localhost", 9092)),
        ("[::1]:9093", ("::1", 9093)),
        ("[::1]", ("::1", 9092)),
        ("PLAINTEXT://kafka:29092", ("kafka", 29092)),
    ],
)
def test_addresses_are_taken_as_kafka_clients_take_them(
    text: str, address: tuple[str, int]
) -> None:
    assert parse_address(text) == address


def test_several_addresses_are_separated_by_commas() -> None:
    assert [str(each) for each in parse_addresses("a:1, [::1]:2")] == ["a:1", "[::1]:2"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("localhost:", "'' is not a port number"),
        ("localhost:x", "'x' is not a port number"),
        ("localhost:99999", "ports are 1 to 65535"),
        ("localhost:0", "ports are 1 to 65535"),
        ("localhost:9092/", "'9092/' is not a port number"),
        ("http://localhost:9092", "expected HOST:PORT without http://"),
        ("", "is not HOST:PORT"),
        (":9092", "is not HOST:PORT"),
        ("::1", "an IPv6 address is written"),
    ],
)
def test_what_is_not_an_address_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_address(text)
