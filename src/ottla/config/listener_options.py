"""Settings of a single listener: `listener.name.<listener>.<setting>` instead of the broker's own.

Those about TLS and SASL are refused with the rest of it (`kafka_keys.py`). A listener's name is in
small letters here, whatever it is elsewhere; settings of listeners that nobody has do no harm.
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
    """The broker's setting in whose place this one stands; any other name as it is."""
    if not name.startswith(_PREFIX):
        return name
    _listener, _, rest = name.removeprefix(_PREFIX).partition(".")
    return rest if rest in BASE_NAMES else name


def is_of_listener(name: str) -> bool:
    return base_name(name) != name


def broker_option(name: str) -> Option[Any] | None:
    """The declaration of a broker's or a listener's setting; None if there is no such."""
    return BROKER_OPTIONS.get(base_name(name))


def of_listeners(names: Iterable[str]) -> list[str]:
    return sorted({name for name in names if is_of_listener(name)})


def listener_limits(listener: str, texts: Mapping[str, str]) -> dict[str, int]:
    """What holds for a listener, by the names of `LIMITS`; `texts` are all that count."""
    prefix = f"{_PREFIX}{listener.lower()}."
    own = {name: texts[prefix + name] for name in LIMITS if prefix + name in texts}
    brokers = {name: texts[name] for name in LIMITS}
    return stored_values(BROKER_OPTIONS, brokers) | stored_values(BROKER_OPTIONS, own)
