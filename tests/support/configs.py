"""Settings from texts, without the layers of a broker's configuration."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from ottla.config.layers import BrokerLayers, TopicDefaults
from ottla.config.options import InvalidOption
from ottla.config.topic_options import TopicConfig

C = TypeVar("C")


def parse_config(config_type: type[C], values: Mapping[str, str]) -> C:
    """A config object from texts by Kafka's names; InvalidOption for an invalid one."""
    fields = {f.metadata["option"].name: f for f in dataclasses.fields(cast(Any, config_type))}
    unknown = sorted(values.keys() - fields.keys())
    if unknown:
        raise InvalidOption(f"unknown setting: {', '.join(unknown)}")
    parsed = {fields[n].name: fields[n].metadata["option"].parse(v) for n, v in values.items()}
    return config_type(**parsed)


def topic_config(overrides: Mapping[str, str], layers: BrokerLayers) -> TopicConfig:
    """The effective settings of a topic; InvalidOption for an invalid text."""
    return TopicDefaults(layers).checked_config(overrides)
