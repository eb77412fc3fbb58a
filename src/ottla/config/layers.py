"""The sources of settings and their precedence.

A topic's own setting overrides the dynamic setting of the broker, which overrides the dynamic
cluster-wide setting, which overrides the broker's file, which overrides the default. Pure functions
of texts: dynamic settings come from the metadata image, static ones from `load.py`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

from ottla.config.broker_options import BROKER_OPTIONS
from ottla.config.listener_options import broker_option
from ottla.config.options import InvalidOption, fields_of, stored_values
from ottla.config.resource_options import GROUP_OPTIONS, TOPIC_OPTIONS, GroupConfig
from ottla.config.synonyms import GROUP_SYNONYMS, TOPIC_SYNONYMS, Synonym
from ottla.config.topic_options import TopicConfig

_NOTHING: Mapping[str, str] = {}
_TOPIC_FIELDS = fields_of(TopicConfig)
_GROUP_FIELDS = fields_of(GroupConfig)


class ConfigSource(IntEnum):
    """The source of a value, with Kafka's numbers."""

    UNKNOWN = 0
    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_BROKER_LOGGER = 6
    CLIENT_METRICS = 7
    GROUP = 8


class SourcedText(NamedTuple):
    """A text, the name under which it was given, and its source."""

    name: str
    text: str
    source: ConfigSource


def default_texts() -> dict[str, str]:
    """The defaults of all broker settings that have one."""
    defaults = {name: option.default_text for name, option in BROKER_OPTIONS.items()}
    return {name: text for name, text in defaults.items() if text is not None}


@dataclass(frozen=True, slots=True)
class BrokerLayers:
    """The settings of one broker as texts, by source, highest precedence first."""

    dynamic_broker: Mapping[str, str] = field(default_factory=dict)
    dynamic_default: Mapping[str, str] = field(default_factory=dict)
    static: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, str] = field(default_factory=default_texts)

    def with_dynamic(self, broker: Mapping[str, str], default: Mapping[str, str]) -> BrokerLayers:
        return BrokerLayers(broker, default, self.static, self.defaults)

    def sourced(self) -> Iterator[tuple[Mapping[str, str], ConfigSource]]:
        yield self.dynamic_broker, ConfigSource.DYNAMIC_BROKER
        yield self.dynamic_default, ConfigSource.DYNAMIC_DEFAULT_BROKER
        yield self.static, ConfigSource.STATIC_BROKER
        yield self.defaults, ConfigSource.DEFAULT

    def find(self, chain: tuple[Synonym, ...]) -> tuple[Synonym, SourcedText] | None:
        """The first text in order of precedence, and within a source in order of the chain."""
        for texts, source in self.sourced():
            for synonym in chain:
                if (text := texts.get(synonym.name)) is not None:
                    return synonym, SourcedText(synonym.name, text, source)
        return None

    def effective(self) -> dict[str, str]:
        """Every declared setting with its effective text."""
        texts: dict[str, str] = {}
        for layer in (self.defaults, self.static, self.dynamic_default, self.dynamic_broker):
            texts.update(layer)
        for name in self.custom():
            del texts[name]
        return texts

    def custom(self) -> list[str]:
        """The dynamic settings that are not declared: they are kept, but have no effect."""
        given = self.dynamic_broker.keys() | self.dynamic_default.keys()
        return sorted(name for name in given if broker_option(name) is None)


def topic_text(name: str, overrides: Mapping[str, str], layers: BrokerLayers) -> SourcedText | None:
    """The effective text of one topic setting, and its source."""
    if (text := overrides.get(name)) is not None:
        return SourcedText(name, text, ConfigSource.TOPIC)
    found = layers.find(TOPIC_SYNONYMS.get(name, ()))
    if found is not None:
        synonym, sourced = found
        return SourcedText(name, _converted(synonym, sourced.text), sourced.source)
    default = TOPIC_OPTIONS[name].default_text
    return None if default is None else SourcedText(name, default, ConfigSource.DEFAULT)


def _converted(synonym: Synonym, text: str) -> str:
    """In the unit of the topic setting. A negative time means unlimited in every unit."""
    if synonym.name.startswith("log.retention.") and synonym.name != "log.retention.bytes":
        return str(-1 if int(text) < 0 else int(text) * synonym.factor)
    return text if synonym.factor == 1 else str(int(text) * synonym.factor)


class TopicDefaults:
    """The settings of a topic without its own, parsed once for all topics."""

    def __init__(self, layers: BrokerLayers) -> None:
        found = [topic_text(name, _NOTHING, layers) for name in TOPIC_OPTIONS]
        texts = {each.name: each.text for each in found if each}
        self._base = _replaced(TopicConfig(), stored_values(TOPIC_OPTIONS, texts))

    def config(self, overrides: Mapping[str, str]) -> TopicConfig:
        """The settings of a topic; topics without their own share one object."""
        if not overrides:
            return self._base
        return _replaced(self._base, stored_values(TOPIC_OPTIONS, overrides))

    def checked_config(self, overrides: Mapping[str, str]) -> TopicConfig:
        """The same; InvalidOption for an invalid text."""
        values = {name: TOPIC_OPTIONS[name].parse(text) for name, text in overrides.items()}
        return _replaced(self._base, values)


def _replaced(base: TopicConfig, values: Mapping[str, Any]) -> TopicConfig:
    fields = {_TOPIC_FIELDS[name]: value for name, value in values.items()}
    if (internal := fields.get("internal_segment_bytes")) is not None:
        fields["segment_bytes"] = internal
    return dataclasses.replace(base, **fields)


def group_config(overrides: Mapping[str, str], layers: BrokerLayers) -> GroupConfig:
    """The effective settings of a group, clamped to the broker's limits."""
    texts = layers.effective()
    brokers = {name: texts[GROUP_SYNONYMS[name]] for name in GROUP_OPTIONS}
    wanted = stored_values(GROUP_OPTIONS, brokers) | stored_values(GROUP_OPTIONS, overrides)
    values = {}
    for name, value in wanted.items():
        low, high = group_limits(name, texts)
        values[_GROUP_FIELDS[name]] = min(max(value, low), high)
    return GroupConfig(**values)


def group_limits(name: str, broker_texts: Mapping[str, str]) -> tuple[int, int]:
    """Minimum and maximum of a group setting, which are broker settings."""
    low, high = (broker_texts[limit_name(name, limit)] for limit in ("min", "max"))
    return int(low), int(high)


def limit_name(name: str, limit: str) -> str:
    kind, _, rest = name.partition(".")
    if kind != "consumer":
        raise InvalidOption(f"Unknown group config name: {name}")
    return f"group.{kind}.{limit}.{rest}"
