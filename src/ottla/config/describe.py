"""Settings as DescribeConfigs reports them: value, source, and overridden synonyms.

Follows Kafka in detail: the list of synonyms starts with the setting's own name (or, for a topic,
with its first broker synonym), so if only a coarser setting is given (`log.retention.hours` for
`log.retention.ms`), the list is empty and the source is reported as the default. Settings are in
Kafka's order, that of a hash map; internal ones, dynamic ones of single listeners and those that
are not declared precede all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import dropwhile
from typing import Any, NamedTuple

from ottla.base.java.hash_order import hash_map_order
from ottla.config.broker_options import BROKER_OPTIONS
from ottla.config.layers import BrokerLayers, ConfigSource, SourcedText, topic_text
from ottla.config.listener_options import base_name, broker_option, is_of_listener, of_listeners
from ottla.config.options import InvalidOption, Option, Scope
from ottla.config.resource_options import CLIENT_METRICS_OPTIONS, GROUP_OPTIONS, TOPIC_OPTIONS
from ottla.config.synonyms import GROUP_SYNONYMS, TOPIC_SYNONYMS, broker_chain


def _in_kafkas_order(options: Mapping[str, Option[Any]], slots_min: int) -> tuple[str, ...]:
    public = [name for name, option in options.items() if not option.is_internal]
    return (*sorted(options.keys() - public), *hash_map_order(public, slots_min))


# Capacities of Kafka's maps, which contain more broker and group settings than ours.
_TOPIC_ORDER = _in_kafkas_order(TOPIC_OPTIONS, 16)
_BROKER_ORDER = _in_kafkas_order(BROKER_OPTIONS, 512)
_GROUP_ORDER = _in_kafkas_order(GROUP_OPTIONS, 32)
_CLIENT_METRICS_ORDER = _in_kafkas_order(CLIENT_METRICS_OPTIONS, 16)


_NOTHING: Mapping[str, str] = {}
UNKNOWN_TYPE = 0  # on the wire


class ConfigEntry(NamedTuple):
    name: str
    value: str | None  # null if it is sensitive or not set
    source: ConfigSource
    is_read_only: bool
    is_sensitive: bool
    wire_type: int
    synonyms: tuple[SourcedText, ...]
    doc: str | None


class TopicDescriptions:
    """For many topics: settings that a topic does not override are described once."""

    def __init__(self, layers: BrokerLayers) -> None:
        self._layers = layers
        self.defaults = {
            name: _topic_entry(name, _NOTHING, layers)
            for name in _TOPIC_ORDER
            if not TOPIC_OPTIONS[name].is_internal
        }

    def of(self, overrides: Mapping[str, str]) -> list[ConfigEntry]:
        if not overrides:
            return list(self.defaults.values())
        return [
            _topic_entry(name, overrides, self._layers)
            if name in overrides
            else self.defaults[name]
            for name in _TOPIC_ORDER
            if name in overrides or name in self.defaults
        ]


def _topic_entry(name: str, overrides: Mapping[str, str], layers: BrokerLayers) -> ConfigEntry:
    option = TOPIC_OPTIONS[name]
    chain = TOPIC_SYNONYMS.get(name)
    synonyms = _synonyms(chain[0].name, layers) if chain else ()
    found = topic_text(name, overrides, layers)
    value = None if found is None else _as_read(option, found.text)
    if name in overrides and value is not None:
        synonyms = (SourcedText(name, value, ConfigSource.TOPIC), *synonyms)
    return _entry(option, value, synonyms, is_read_only=False)


def describe_broker(layers: BrokerLayers) -> list[ConfigEntry]:
    texts = layers.effective()
    given = {*layers.dynamic_broker, *layers.dynamic_default, *layers.static}
    names = [n for n in _BROKER_ORDER if not BROKER_OPTIONS[n].is_internal or n in given]
    declared = [
        _broker_entry(
            name,
            _as_read(BROKER_OPTIONS[base_name(name)], texts.get(name)),
            _synonyms(name, layers),
        )
        for name in (*of_listeners(given), *names)
    ]
    return [*(_custom_entry(name, layers.sourced()) for name in layers.custom()), *declared]


def describe_all_brokers(layers: BrokerLayers) -> list[ConfigEntry]:
    """Only the dynamic cluster-wide settings, with the text that was set."""
    source = ConfigSource.DYNAMIC_DEFAULT_BROKER
    declared = [
        _broker_entry(name, text, tuple(_all_brokers_synonyms(name, layers, source)))
        for name, text in layers.dynamic_default.items()
        if broker_option(name) is not None
    ]
    custom = [name for name in layers.custom() if name in layers.dynamic_default]
    sources = [(layers.dynamic_default, source)]
    return [*(_custom_entry(name, sources) for name in custom), *declared]


def _custom_entry(
    name: str, sourced: Iterable[tuple[Mapping[str, str], ConfigSource]]
) -> ConfigEntry:
    """A setting without a declaration: it may be a password, so its value is not shown."""
    synonyms = [
        SourcedText(name, texts[name], source) for texts, source in sourced if name in texts
    ]
    return ConfigEntry(
        name=name,
        value=None,
        source=synonyms[0].source,
        is_read_only=True,
        is_sensitive=True,
        wire_type=UNKNOWN_TYPE,
        synonyms=tuple(synonyms),
        doc=None,
    )


def _all_brokers_synonyms(
    name: str, layers: BrokerLayers, source: ConfigSource
) -> Iterator[SourcedText]:
    for each in dict.fromkeys((name, base_name(name))):
        if (text := layers.dynamic_default.get(each)) is not None:
            yield SourcedText(each, text, source)


def _broker_entry(name: str, text: str | None, synonyms: tuple[SourcedText, ...]) -> ConfigEntry:
    option = BROKER_OPTIONS[base_name(name)]
    if is_of_listener(name):  # settable, although Kafka reports it as read-only
        entry = _entry(option, text, synonyms, is_read_only=True)
        return entry._replace(name=name, doc=None)
    return _entry(option, text, synonyms, is_read_only=option.scope is Scope.READ_ONLY)


class GroupDescriptions:
    """For many groups: settings that a group does not override are described once."""

    def __init__(self, layers: BrokerLayers) -> None:
        self._layers = layers
        self._texts = layers.effective()
        self.defaults = {name: self._entry(name, _NOTHING) for name in _GROUP_ORDER}

    def of(self, overrides: Mapping[str, str]) -> list[ConfigEntry]:
        return [
            self._entry(name, overrides) if name in overrides else entry
            for name, entry in self.defaults.items()
        ]

    def _entry(self, name: str, overrides: Mapping[str, str]) -> ConfigEntry:
        option = GROUP_OPTIONS[name]
        synonyms = _synonyms(GROUP_SYNONYMS[name], self._layers)
        value = _as_read(option, overrides.get(name, self._texts[GROUP_SYNONYMS[name]]))
        if name in overrides and value is not None:
            synonyms = (SourcedText(name, value, ConfigSource.GROUP), *synonyms)
        return _entry(option, value, synonyms, is_read_only=False)


def describe_client_metrics(overrides: Mapping[str, str]) -> list[ConfigEntry]:
    entries = []
    for name in _CLIENT_METRICS_ORDER:
        option = CLIENT_METRICS_OPTIONS[name]
        value = _as_read(option, overrides.get(name, option.default_text))
        is_set = name in overrides and value is not None
        synonyms = (SourcedText(name, value or "", ConfigSource.CLIENT_METRICS),) if is_set else ()
        entries.append(_entry(option, value, synonyms, is_read_only=False))
    return entries


def _as_read(option: Option[Any], text: str | None) -> str | None:
    """The text in canonical form: `TRUE` becomes true, 007 becomes 7.

    A text that was stored before a check became stricter is returned unchanged.
    """
    try:
        return None if text is None else option.format(option.parse(text))
    except InvalidOption:
        return text


def _synonyms(name: str, layers: BrokerLayers) -> tuple[SourcedText, ...]:
    chain = broker_chain(name)
    found: Iterable[SourcedText] = (
        SourcedText(each, texts[each], source)
        for texts, source in layers.sourced()
        for each in chain
        if each in texts
    )
    return tuple(dropwhile(lambda sourced: sourced.name != name, found))


def _entry(
    option: Option[Any], value: str | None, synonyms: tuple[SourcedText, ...], *, is_read_only: bool
) -> ConfigEntry:
    return ConfigEntry(
        name=option.name,
        value=None if option.is_sensitive else value,
        source=synonyms[0].source if synonyms else ConfigSource.DEFAULT,
        is_read_only=is_read_only,
        is_sensitive=option.is_sensitive,
        wire_type=option.kind.wire_type,
        synonyms=synonyms,
        doc=option.doc,
    )
