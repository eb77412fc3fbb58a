"""A cluster that somebody else runs, in the place of a broker of our own."""

from __future__ import annotations

import socket
from typing import NamedTuple

REACH_S = 10.0
DEFAULT_PORT = 9092


class ExternalCluster(NamedTuple):
    bootstrap_servers: str

    def get_bootstrap_server(self) -> str:
        """`bootstrap_servers`, by the name that testcontainers' KafkaContainer gives it."""
        return self.bootstrap_servers


def problem_with(servers: str) -> str | None:
    """Why none of these can be reached, before clients try for as long as they have patience."""
    problems = []
    for server in servers.split(","):
        host, _, port = server.strip().rpartition("://")[2].rpartition(":")
        try:
            address = (host.strip("[]"), int(port)) if host else (port, DEFAULT_PORT)
            socket.create_connection(address, REACH_S).close()
        except (OSError, ValueError) as error:
            problems.append(f"no broker answers on {server.strip()}: {error}")
        else:
            return None
    return "; ".join(problems)
