"""An external cluster, in place of a broker that the plugin starts."""

from __future__ import annotations

import socket
from typing import Any

from ottla.config.addresses import parse_addresses
from ottla.testing.broker import RunningBroker

REACH_S = 10.0
OWN_ONLY = frozenset({*dir(RunningBroker), "data", "environment", "is_paused"})


class ExternalCluster:
    """The fixture `kafka_broker` with `--kafka=external`.

    Promises  a test that stops the broker, or looks into its process or files, is skipped: the
              reason names what it wanted.
    """

    def __init__(self, bootstrap_servers: str) -> None:
        self.bootstrap_servers = bootstrap_servers

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in OWN_ONLY:
            raise AttributeError(f"an external Kafka cluster has no attribute {name!r}")
        import pytest

        pytest.skip(f"kafka_broker.{name} needs a broker of our own: not with --kafka=external")

    def get_bootstrap_server(self) -> str:
        """`bootstrap_servers`, by the name that testcontainers' KafkaContainer gives it."""
        return self.bootstrap_servers


def problem_with(servers: str) -> str | None:
    """Why none of these can be reached, before clients retry until their timeouts."""
    problems = []
    try:
        addresses = parse_addresses(servers)
    except ValueError as error:
        return str(error)
    for address in addresses:
        try:
            socket.create_connection(address, REACH_S).close()
        except (OSError, UnicodeError) as error:
            problems.append(f"no broker answers on {address}: {error}")
        else:
            return None
    return "; ".join(problems)
