"""Whatever text a setting is given: a value, or InvalidOption, and never another error."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest
from tests.support.configs import topic_config
from tests.support.message_values import EXTREME_TEXTS

from ottla.config.broker_checks import check_dynamic
from ottla.config.broker_options import BROKER_OPTIONS
from ottla.config.layers import BrokerLayers, TopicDefaults, group_config
from ottla.config.options import InvalidOption, Option, stored_values
from ottla.config.resource_options import (
    CLIENT_METRICS_OPTIONS,
    GROUP_OPTIONS,
    TOPIC_OPTIONS,
    parse_match,
)

NUMBERS = tuple(
    str(sign * 2**bits + more) for bits in (15, 31, 63) for sign in (1, -1) for more in (-1, 0, 1)
)
TEXTS = (
    *EXTREME_TEXTS,
    *NUMBERS,
    "",
    "-0",
    "+1",
    "1.",
    ".",
    "e",
    "1e",
    "1e-999",
    "5e-324",
    "0x1",
    "1f",
)
ALL: Mapping[str, Mapping[str, Option[Any]]] = {
    "broker": BROKER_OPTIONS,
    "topic": TOPIC_OPTIONS,
    "group": GROUP_OPTIONS,
    "metrics": CLIENT_METRICS_OPTIONS,
}


@pytest.mark.parametrize("resource", ALL)
def test_any_text_is_a_value_or_refused(resource: str) -> None:
    for option in ALL[resource].values():
        for text in TEXTS:
            try:
                value = option.parse(text)
            except InvalidOption:
                continue
            option.format(value)
            assert option.parse(option.format(value) or "") == value or option.is_sensitive


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: repr(text[:20]))
def test_any_text_may_be_tried_while_brokers_run(text: str) -> None:
    for name in (*BROKER_OPTIONS, "listener.name.a.max.connections", f"listener.name.{text[:100]}"):
        for is_one_broker in (True, False):
            with suppress(InvalidOption):
                check_dynamic({name: text}, BrokerLayers(), is_one_broker=is_one_broker)


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: repr(text[:20]))
def test_any_text_that_is_stored_is_used_or_left_out(text: str) -> None:
    layers = BrokerLayers()
    for name in TOPIC_OPTIONS:
        TopicDefaults(layers).config({name: text})
        with suppress(InvalidOption):
            topic_config({name: text}, layers)
    for name in GROUP_OPTIONS:
        group_config({name: text}, layers)
    for name in CLIENT_METRICS_OPTIONS:
        values = stored_values(CLIENT_METRICS_OPTIONS, {name: text})
        with suppress(InvalidOption):
            parse_match(values.get("match", ()))
