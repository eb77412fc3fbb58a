"""An external cluster, in place of a broker that the plugin starts."""

from __future__ import annotations

import socket
from typing import Any

from ottla.testing.broker import RunningBroker

REACH_S = 10.0
DEFAULT_PORT = 9092
PORT_MAX = 65535
OWN_ONLY = frozenset({*dir(RunningBroker), "data", "environment", "is_paused"})


class ExternalCluster:
    """What the fixture `kafka_broker` is with `--kafka=external`.

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
    """Why none of these can be reached, before clients try for as long as they have patience."""
    problems = []
    for server in servers.split(","):
        try:
            socket.create_connection(address_of(server), REACH_S).close()
        except (OSError, ValueError) as error:
            problems.append(f"no broker answers on {server.strip()}: {error}")
        else:
            return None
    return "; ".join(problems)


def address_of(server: str) -> tuple[str, int]:
    """Of `host:port`, `host`, `[::1]:port`, `[::1]` or `PLAINTEXT://host:port`; else ValueError."""
    text = server.strip().rpartition("://")[2]
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        return text.strip("[]"), DEFAULT_PORT
    if not 0 < int(port) <= PORT_MAX:
        raise ValueError(f"ports go from 1 to {PORT_MAX}")
    return host.strip("[]"), int(port)
