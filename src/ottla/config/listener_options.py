"""Settings of a single listener: `listener.name.<listener>.<setting>` overrides the broker's.

Settings for TLS and SASL are rejected (`kafka_keys.py`). The listener name is in lower case here;
settings of unknown listeners are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ottla.config.broker_options import BROKER_OPTIONS
from ottla.config.options import Option, stored_values

LIMITS = ("max.connections", "max.connection.creation.rate")
BASE_NAMES = (*LIMITS, "num.network.threads")
_PREFIX = "listener.name."


def base_name(name: str) -> str:
    """The broker setting that this one overrides; any other name unchanged."""
    if not name.startswith(_PREFIX):
        return name
    _listener, _, rest = name.removeprefix(_PREFIX).partition(".")
    return rest if rest in BASE_NAMES else name


def is_of_listener(name: str) -> bool:
    return base_name(name) != name


def broker_option(name: str) -> Option[Any] | None:
    """The declaration of a broker or listener setting; None if it does not exist."""
    return BROKER_OPTIONS.get(base_name(name))


def of_listeners(names: Iterable[str]) -> list[str]:
    return sorted({name for name in names if is_of_listener(name)})


def listener_limits(listener: str, texts: Mapping[str, str]) -> dict[str, int]:
    """The limits of a listener, by the names in `LIMITS`; `texts` are the effective settings."""
    prefix = f"{_PREFIX}{listener.lower()}."
    limits = {name: texts[prefix + name] for name in LIMITS if prefix + name in texts}
    brokers = {name: texts[name] for name in LIMITS}
    return stored_values(BROKER_OPTIONS, brokers) | stored_values(BROKER_OPTIONS, limits)
