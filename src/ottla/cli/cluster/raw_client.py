"""The client of `ottla.client`, for requests that librdkafka does not have: fenced brokers,
reassignments."""

from __future__ import annotations

from ottla.cli.cluster.connection import PLAINTEXT, ClusterConnection
from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import ClientSettings


def is_usable(connection: ClusterConnection) -> bool:
    """`ottla.client` has neither TLS nor SASL."""
    return connection.security_protocol.lower() == PLAINTEXT


def raw_client(connection: ClusterConnection, retry_s: float | None = None) -> Cluster:
    """A request is repeated for `retry_s` (default: the timeout of a response)."""
    timeout_ms = int(connection.timeout_s * 1000) or 1
    retry_ms = timeout_ms if retry_s is None else int(retry_s * 1000)
    settings = ClientSettings(
        ",".join(map(str, connection.addresses)),
        request_timeout_ms=timeout_ms,
        default_api_timeout_ms=max(timeout_ms, retry_ms),
        connection_timeout_ms=timeout_ms,
    )
    return Cluster(settings)
