"""Settings of topics: the nearest known names for those that a cluster refuses."""

from __future__ import annotations

from typing import Any

from ottla.cli.cluster.connection import confluent_kafka
from ottla.cli.errors import suggestions

EXAMPLE = "retention.ms=60000"


def advice_about_configs(error: Any, names: list[str]) -> list[str]:
    """Names that may have been meant, where the cluster does not know those that were given."""
    if error.code() not in (
        confluent_kafka().KafkaError.INVALID_CONFIG,
        confluent_kafka().KafkaError.INVALID_REQUEST,
    ):
        return []
    from ottla.config.resource_options import TOPIC_OPTIONS

    unknown = [name for name in names if name not in TOPIC_OPTIONS]
    return [line for name in unknown for line in suggestions(name, TOPIC_OPTIONS)]
