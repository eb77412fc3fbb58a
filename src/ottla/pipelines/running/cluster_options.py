"""A declared cluster as options of the data source and as settings of our own client."""

from __future__ import annotations

from dataclasses import replace

from ottla.client.settings import ClientSettings
from ottla.pipelines.declaration.tree import ClusterAddress
from ottla.spark.options.consumer_options import parse_kafka_options

TIMEOUT = "default.api.timeout.ms"
INTERACTIVE_TIMEOUT_MS = 10_000  # pipelines wait longer for their cluster


def kafka_options(cluster: ClusterAddress) -> dict[str, str]:
    """The options `kafka.*` of the data source, for reading and writing."""
    settings = {f"kafka.{name}": value for name, value in (cluster.settings or {}).items()}
    return {"kafka.bootstrap.servers": cluster.servers, **settings}


def client_settings(cluster: ClusterAddress) -> ClientSettings:
    return parse_kafka_options(kafka_options(cluster)).settings


def interactive_settings(cluster: ClusterAddress) -> ClientSettings:
    """For interactive commands: they give up early, unless the file has a timeout."""
    settings = client_settings(cluster)
    if TIMEOUT in (cluster.settings or {}):
        return settings
    return replace(settings, default_api_timeout_ms=INTERACTIVE_TIMEOUT_MS)
