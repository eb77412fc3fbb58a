"""Our declarations beside Apache Kafka's own: same name, same type, same default, same bounds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ottla.config.broker_options import BROKER_OPTIONS
from ottla.config.options import InvalidOption, Option
from ottla.config.resource_options import CLIENT_METRICS_OPTIONS, GROUP_OPTIONS, TOPIC_OPTIONS

OURS: Mapping[str, Mapping[str, Option[Any]]] = {
    "broker": BROKER_OPTIONS,
    "topic": TOPIC_OPTIONS,
    "group": GROUP_OPTIONS,
    "metrics": CLIENT_METRICS_OPTIONS,
}
# Begin the names of settings that Kafka does not have, or has not had since 4.0.
OUR_OWN = ("ottla.", "zookeeper.")
OTHER_DEFAULTS = {
    "node.id": "1",  # Kafka has none: a file must name it
    "max.connections": "10000",
    "queued.max.request.bytes": "268435456",
    "log.dir": "/tmp/ottla-logs",
    "group.coordinator.rebalance.protocols": "classic,consumer",
    "socket.send.buffer.bytes": "262144",
    "socket.receive.buffer.bytes": "-1",
}
FIXED_HERE = {"listeners", "listener.security.protocol.map"}  # listeners do not move while we run
OTHER_BOUNDS = {
    "group.coordinator.rebalance.protocols",  # fewer kinds of groups
    "group.consumer.assignors",  # no classes
    "replica.selector.class",  # no classes
}


class Declared(NamedTuple):
    type: str
    default: str | None
    bounds: str
    scope: str


def kafka_settings() -> dict[tuple[str, str], Declared]:
    lines = (Path(__file__).parent / "kafka_settings.tsv").read_text().splitlines()
    settings = {}
    for line in lines[1:]:
        resource, name, type_name, default, bounds, scope = line.split("\t")
        text = None if default in ("<null>", "<none>") else default
        settings[resource, name] = Declared(type_name, text, bounds, scope)
    return settings


KAFKA = kafka_settings()
ALL = [(resource, name) for resource, options in OURS.items() for name in options]


@pytest.mark.parametrize(("resource", "name"), ALL)
def test_a_setting_is_declared_as_kafka_declares_it(resource: str, name: str) -> None:
    ours = OURS[resource][name]
    if name.startswith(OUR_OWN):
        assert (resource, name) not in KAFKA
        return
    kafka = KAFKA[resource, name]
    assert ours.kind.name == kafka.type
    assert ours.default_text == OTHER_DEFAULTS.get(name, kafka.default)
    if resource == "broker":
        assert ours.scope.value == ("read-only" if name in FIXED_HERE else kafka.scope)


@pytest.mark.parametrize(
    ("resource", "name"), [key for key in ALL if not key[1].startswith(OUR_OWN)]
)
def test_a_number_is_bounded_where_kafka_bounds_it(resource: str, name: str) -> None:
    ours = OURS[resource][name]
    match = re.fullmatch(
        r"\[(-?\d+),\.\.\.(?:,(-?\d+))?\](?: or (-?\d+))?", KAFKA[resource, name].bounds
    )
    if match is None:
        return
    assert ours.parse(match[1]) == float(match[1])
    with pytest.raises(InvalidOption, match=re.escape(f"for configuration {name}: Value must be")):
        ours.parse(str(int(match[1]) - (1 if match[3] != str(int(match[1]) - 1) else 2)))
    if match[2] is not None:
        assert ours.parse(match[2]) == float(match[2])
        with pytest.raises(InvalidOption):
            ours.parse(str(int(match[2]) + 1))


@pytest.mark.parametrize(
    ("resource", "name"), [key for key in ALL if not key[1].startswith(OUR_OWN)]
)
def test_a_text_is_one_of_those_that_kafka_allows(resource: str, name: str) -> None:
    bounds = KAFKA[resource, name].bounds
    if name in OTHER_BOUNDS or not re.fullmatch(r"\[[A-Za-z_0-9, ]+\]", bounds):
        return
    ours = OURS[resource][name]
    for allowed in bounds.strip("[]").split(", "):
        ours.parse(allowed)
    with pytest.raises(InvalidOption, match=re.escape(bounds.strip("[]"))):
        ours.parse("nonsense")


def test_every_topic_setting_of_kafka_is_there() -> None:
    assert {name for resource, name in KAFKA if resource == "topic"} == set(TOPIC_OPTIONS)


def test_every_default_is_allowed_by_its_own_check() -> None:
    for options in OURS.values():
        for each in options.values():
            if each.default_text is not None:
                assert each.parse(each.default_text) == each.default, each.name
