"""The page `docs/reference/configuration.md`: every setting, from its declaration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ottla.config.broker_options import EMBEDDED_DEFAULTS, BrokerConfig
from ottla.config.options import INT32_MAX, INT64_MAX, Option, options_of
from ottla.config.resource_options import CLIENT_METRICS_OPTIONS, GROUP_OPTIONS, TOPIC_OPTIONS
from ottla.config.synonyms import GROUP_SYNONYMS, TOPIC_SYNONYMS

_HEADER = """\
<!-- Generated from the declarations in src/ottla/config. Do not edit: make generate renews it. -->

# Settings

Names, types and defaults are Kafka's; where a default differs, the explanation says so.

## Where a broker's settings come from

The first that is given counts:

1. `--set name=value` on the command line
2. the environment: `OTTLA_` and the name in capitals with `_` for `.`, as `OTTLA_LOG_RETENTION_MS`
3. the properties file, in Java's syntax; a `server.properties` of Apache Kafka loads as it is
4. the default

Keys that have no meaning here (a KRaft quorum's, ZooKeeper's, thread pools) are named in a notice
at the start. Any other unknown key, a value that cannot be used, and settings of features that are
not there yet (TLS, SASL, ACLs, tiered storage) stop the start with a list of all of them.

On a single embedded broker these defaults differ: {embedded}.

Settings marked *cluster-wide* can be changed while brokers run, for all of them or for one, with
`kafka-configs.sh --alter` or any other admin client; those marked *read-only* need a restart. A
topic's own setting wins over what was set on its broker while it ran, that over what was set for
all brokers, that over the broker's file, that over the default.

A listener may have limits of its own, in the place of the broker's: `max.connections` and
`max.connection.creation.rate` behind `listener.name.` and its name in small letters, as
`listener.name.outside.max.connections`. They can be changed while brokers run.
"""
_TEXTS = {str(INT64_MAX): "unlimited", "1.7976931348623157E308": "unlimited"}
_TYPES = {
    "BOOLEAN": "true/false",
    "STRING": "text",
    "LIST": "list",
    "DOUBLE": "number",
    "INT": "int",
    "LONG": "long",
    "SHORT": "short",
}


def configuration_page() -> str:
    embedded = ", ".join(f"`{name}` = {text}" for name, text in EMBEDDED_DEFAULTS.items())
    lines = [_HEADER.format(embedded=embedded)]
    for title, options in _broker_parts():
        lines += [f"## Broker: {title}", "", *_broker_table(options), ""]
    lines += ["## Topic", "", *_fallback_table(TOPIC_OPTIONS, _topic_fallback), ""]
    lines += ["## Group", "", *_fallback_table(GROUP_OPTIONS, _group_fallback), ""]
    lines += ["## Client metrics", "", *_fallback_table(CLIENT_METRICS_OPTIONS, lambda _n: ""), ""]
    return "\n".join(lines)


def _broker_parts() -> Iterator[tuple[str, Mapping[str, Option[Any]]]]:
    """The parts that make up the broker's settings, with a title from each part's class name."""
    for part in reversed(BrokerConfig.__bases__):
        words = "".join(f" {c.lower()}" if c.isupper() else c for c in part.__name__)
        yield words.removesuffix(" options").strip(), options_of(part)


def _broker_table(options: Mapping[str, Option[Any]]) -> Iterator[str]:
    yield "| setting | type | default | changes | meaning |"
    yield "| --- | --- | --- | --- | --- |"
    for option in options.values():
        yield (
            f"| `{option.name}` | {_TYPES[option.kind.name]} | {_default(option)} "
            f"| {option.scope.value} | {_cell(option.doc)} |"
        )


def _fallback_table(options: Mapping[str, Option[Any]], fallback: Any) -> Iterator[str]:
    yield "| setting | type | default | broker's setting | meaning |"
    yield "| --- | --- | --- | --- | --- |"
    for option in options.values():
        yield (
            f"| `{option.name}` | {_TYPES[option.kind.name]} | {_default(option)} "
            f"| {fallback(option.name)} | {_cell(option.doc)} |"
        )


def _topic_fallback(name: str) -> str:
    return ", ".join(f"`{each.name}`" for each in TOPIC_SYNONYMS.get(name, ()))


def _group_fallback(name: str) -> str:
    return f"`{GROUP_SYNONYMS[name]}`"


def _default(option: Option[Any]) -> str:
    text = option.default_text
    if text is None:
        return "none"
    if text == str(INT32_MAX) and option.kind.name == "INT":
        return "unlimited"
    return _TEXTS.get(text, f"`{_cell(text)}`" if text else "empty")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
