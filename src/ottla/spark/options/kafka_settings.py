"""Options that begin with `kafka.`: the part that reading and writing have in common.

Promises  InvalidOption names the option as the user wrote it, with its prefix.
Leaves    which of Kafka's settings are refused or have no effect to `consumer_options.py` and
          `producer_options.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ottla.client.errors import InvalidSetting
from ottla.client.settings import BOOTSTRAP_SERVERS, ClientSettings
from ottla.config.options import InvalidOption
from ottla.spark.options.option_table import KAFKA_PREFIX

CLIENT_ID = "client.id"


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
    properties: Mapping[str, str], without_effect: Collection[str], client_id: str
) -> ClientSettings:
    """Settings of the client; `client_id` is used unless the properties name one."""
    understood = {name: text for name, text in properties.items() if name not in without_effect}
    try:
        return ClientSettings.from_properties({CLIENT_ID: client_id, **understood})
    except InvalidSetting as error:
        raise InvalidOption(f"Option {KAFKA_PREFIX}{error.name}: {error}.") from None
