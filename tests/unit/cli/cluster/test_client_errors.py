from __future__ import annotations

import pytest

from ottla.cli.cluster.client_errors import error_text


@pytest.mark.parametrize(
    ("reported", "expected"),
    [
        (
            "orders [2]: desired partition is no longer available (Local: Unknown partition)",
            "partition 2 of orders no longer exists",
        ),
        (
            "b:9092/bootstrap: Connect to ipv4#10.0.0.2:9092 failed: Connection refused "
            "(after 0ms in state CONNECT)",
            "b:9092: Connection refused",
        ),
        (
            "GroupCoordinator: b:9092: Connect to ipv6#[::1]:9092 failed: Connection refused "
            "(after 0ms in state CONNECT, 1 identical error(s) suppressed)",
            "b:9092: Connection refused",
        ),
        ("b:9092/1: Disconnected (after 2051ms in state UP)", "b:9092: Disconnected"),
        ("ssl://b:9092/2: SSL handshake failed: eof", "b:9092: SSL handshake failed: eof"),
        ("0/2 brokers are down", None),
        ("broker down", "broker down"),
    ],
)
def test_errors_of_the_client_are_put_in_words(reported: str, expected: str | None) -> None:
    assert error_text(reported) == expected
