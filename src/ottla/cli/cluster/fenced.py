"""Brokers that are registered and fenced: librdkafka does not ask for them, our own client does."""

from __future__ import annotations

from ottla.cli.cluster.connection import PLAINTEXT, Connection
from ottla.client.admin.brokers import BrokerDescription, describe_brokers
from ottla.client.cluster.cluster import Cluster
from ottla.client.errors import ClientError
from ottla.client.settings import ClientSettings


def fenced_brokers(connection: Connection) -> list[BrokerDescription] | None:
    """None if it is not known: our own client has neither TLS nor SASL."""
    if connection.security_protocol.lower() != PLAINTEXT:
        return None
    timeout_ms = int(connection.timeout_s * 1000) or 1
    settings = ClientSettings(
        ",".join(map(str, connection.addresses)),
        request_timeout_ms=timeout_ms,
        default_api_timeout_ms=timeout_ms,
        connection_timeout_ms=timeout_ms,
    )
    try:
        with Cluster(settings) as cluster:
            return [each for each in describe_brokers(cluster) if each.is_fenced]
    except ClientError:
        return None
