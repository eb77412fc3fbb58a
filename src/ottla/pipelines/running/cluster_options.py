"""A declared cluster as options of the data source and as settings of our own client."""

from __future__ import annotations

from dataclasses import replace

from ottla.client.settings import ClientSettings
from ottla.pipelines.declaration.tree import ClusterAddress
from ottla.spark.options.consumer_options import parse_kafka_options

TIMEOUT = "default.api.timeout.ms"
ATTENDED_TIMEOUT_MS = 10_000  # a pipeline waits longer for its cluster than a person does


def kafka_options(cluster: ClusterAddress) -> dict[str, str]:
    """The options `kafka.*` of the data source, for reading and writing."""
    settings = {f"kafka.{name}": value for name, value in (cluster.settings or {}).items()}
    return {"kafka.bootstrap.servers": cluster.servers, **settings}


def client_settings(cluster: ClusterAddress) -> ClientSettings:
    return parse_kafka_options(kafka_options(cluster)).settings


def attended_settings(cluster: ClusterAddress) -> ClientSettings:
    """For a command that somebody waits for: it gives up early, unless the file has a timeout."""
    settings = client_settings(cluster)
    if TIMEOUT in (cluster.settings or {}):
        return settings
    return replace(settings, default_api_timeout_ms=ATTENDED_TIMEOUT_MS)
