"""Options that begin with `kafka.`: the part that reading and writing have in common.

Promises  InvalidOption names the option as the user wrote it, with its prefix.
Leaves    which of Kafka's settings are refused or have no effect to `consumer_options.py` and
          `producer_options.py`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ottla.client.errors import InvalidSetting
from ottla.client.settings import BOOTSTRAP_SERVERS, CLIENT_OPTIONS, ClientSettings
from ottla.config.checks import anything
from ottla.config.kinds import INT, LONG, STRING, Kind
from ottla.config.options import InvalidOption, Option
from ottla.spark.options.option_table import KAFKA_PREFIX, parse_option

CLIENT_ID = "client.id"
WithoutEffect = Mapping[str, Kind[Any]]  # Kafka's name: its type

# Settings of Java's sockets and metrics. They are accepted, so that a job need not be
# changed, and nothing here depends on them.
COMMON_WITHOUT_EFFECT: dict[str, Kind[Any]] = {
    "client.dns.lookup": STRING,
    "connections.max.idle.ms": LONG,
    "metrics.num.samples": INT,
    "metrics.recording.level": STRING,
    "metrics.sample.window.ms": LONG,
    "reconnect.backoff.max.ms": LONG,
    "reconnect.backoff.ms": LONG,
    "socket.connection.setup.timeout.max.ms": LONG,
}


def kafka_properties(texts: Mapping[str, str], refused: Mapping[str, str]) -> dict[str, str]:
    """The options that begin with `kafka.`, without that prefix. `refused` gives the reason for
    each setting that cannot be used."""
    properties = dict(_properties(texts))
    if BOOTSTRAP_SERVERS not in properties:
        raise InvalidOption("Option kafka.bootstrap.servers is missing: give host:port of brokers.")
    for name in properties:
        if name in refused:
            raise InvalidOption(f"Option {KAFKA_PREFIX}{name} cannot be used: {refused[name]}.")
    return properties


def _properties(texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, text in texts.items():
        if name.lower().startswith(KAFKA_PREFIX):
            yield name[len(KAFKA_PREFIX) :].lower(), text


def client_settings(
    properties: Mapping[str, str],
    without_effect: WithoutEffect,
    client_id: str,
    others: Iterable[str],
) -> ClientSettings:
    """Settings of the client; `client_id` is used unless the properties have one. An invalid
    value is rejected even if the setting has no effect. `others` are names that the caller has
    taken out of the properties: an unknown setting may be one of them, misspelled."""
    for name in properties.keys() & without_effect.keys():
        declared = Option(name, None, without_effect[name], anything, "")
        parse_option(declared, properties[name], KAFKA_PREFIX)
    understood = {name: text for name, text in properties.items() if name not in without_effect}
    try:
        return ClientSettings.from_properties({CLIENT_ID: client_id, **understood})
    except InvalidSetting as error:
        known = [*CLIENT_OPTIONS, *without_effect, *others]
        advice = "" if error.name in known else _nearest(error.name, known)
        raise InvalidOption(f"Option {KAFKA_PREFIX}{error.name}: {error}.{advice}") from None


def _nearest(unknown: str, known: list[str]) -> str:
    near = difflib.get_close_matches(unknown, known, n=1, cutoff=0.8)
    return f" Did you mean {KAFKA_PREFIX}{near[0]}?" if near else ""
