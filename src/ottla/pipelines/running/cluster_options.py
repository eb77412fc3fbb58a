"""A declared cluster as options of the data source and as settings of our own client."""

from __future__ import annotations

from ottla.client.settings import ClientSettings
from ottla.pipelines.declaration.tree import ClusterAddress
from ottla.spark.options.consumer_options import parse_kafka_options


def kafka_options(cluster: ClusterAddress) -> dict[str, str]:
    """The options `kafka.*` of the data source, for reading and writing."""
    settings = {f"kafka.{name}": value for name, value in (cluster.settings or {}).items()}
    return {"kafka.bootstrap.servers": cluster.servers, **settings}


def client_settings(cluster: ClusterAddress) -> ClientSettings:
    return parse_kafka_options(kafka_options(cluster)).settings
