"""Brokers that are registered and fenced: librdkafka does not ask for them, our own client does."""

from __future__ import annotations

from ottla.cli.cluster.connection import ClusterConnection
from ottla.cli.cluster.raw_client import is_usable, raw_client
from ottla.client.admin.brokers import BrokerDescription, describe_brokers
from ottla.client.errors import ClientError


def fenced_brokers(connection: ClusterConnection) -> list[BrokerDescription] | None:
    """None if it is not known: our own client has neither TLS nor SASL."""
    if not is_usable(connection):
        return None
    try:
        with raw_client(connection) as cluster:
            return [each for each in describe_brokers(cluster) if each.is_fenced]
    except ClientError:
        return None
