"""A cluster that somebody else runs, in the place of a broker of our own."""

from __future__ import annotations

from typing import NamedTuple


class ExternalCluster(NamedTuple):
    bootstrap_servers: str

    def get_bootstrap_server(self) -> str:
        """`bootstrap_servers`, by the name that testcontainers' KafkaContainer gives it."""
        return self.bootstrap_servers
