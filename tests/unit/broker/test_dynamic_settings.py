"""Every setting that may change while a broker runs: it holds at once, and after any restart.

The options are taken from their declarations. A new one is tested as soon as it is declared, and
fails until `in_use` looks at the part that goes by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest
from tests.unit.broker.restarting import RestartingWorld
from tests.unit.handlers.test_configs import (
    BROKER,
    DELETE,
    GROUP,
    METRICS,
    SET,
    TOPIC,
    alter,
    settings,
)

from ottla.config.broker_options import BROKER_OPTIONS
from ottla.config.options import Option, Scope, fields_of
from ottla.config.resource_options import (
    CLIENT_METRICS_OPTIONS,
    GROUP_OPTIONS,
    TOPIC_OPTIONS,
    GroupConfig,
)
from ottla.config.topic_options import TopicConfig
from ottla.coordinators.transactions.verifying import ClientSupport
from ottla.protocol.messages.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)

DYNAMIC = {
    name: option for name, option in BROKER_OPTIONS.items() if option.scope is not Scope.READ_ONLY
}
# Kafka's threads and buffers, which a broker of one thread does not have, and replication between
# brokers. They can be set, as Kafka's tools do, and are described; nothing goes by them.
WITHOUT_EFFECT = {
    "num.network.threads",
    "num.io.threads",
    "background.threads",
    "num.recovery.threads.per.data.dir",
    "num.replica.fetchers",
    "leader.replication.throttled.rate",
    "follower.replication.throttled.rate",
    "log.cleaner.threads",
    "log.cleaner.io.buffer.size",
    "log.cleaner.io.buffer.load.factor",
}
OF_ALL_ALONE = {"min.insync.replicas"}  # as in Kafka: not of one broker, and never taken back
REFUSED = {"remote.storage.enable"}  # there is no tiered storage

VALUES = {
    "max.connections.per.ip.overrides": "127.0.0.9:7",
    "compression.type": "gzip",
    "log.cleanup.policy": "compact",
    "cleanup.policy": "compact",
    "log.message.timestamp.type": "LogAppendTime",
    "message.timestamp.type": "LogAppendTime",
    "leader.replication.throttled.replicas": "*",
    "follower.replication.throttled.replicas": "*",
    "log.cleaner.min.cleanable.ratio": "0.25",
    "min.cleanable.dirty.ratio": "0.25",
    "log.cleaner.dedupe.buffer.size": "2000000",  # over a MiB for each thread
    "log.cleaner.io.buffer.load.factor": "0.8",
    "log.cleaner.io.max.bytes.per.second": "1000.5",
    "consumer.session.timeout.ms": "50000",
    "consumer.heartbeat.interval.ms": "6000",
    "num.io.threads": "9",  # at most twice as many, at least half
    "background.threads": "11",
    "num.recovery.threads.per.data.dir": "3",
    "interval.ms": "70000",
    "metrics": "org.apache.",
    "match": "client_id=a.*",
}
NUMBERS = (2, 7, 1100, 70_000, 2_000_000, 200_000_000)


def other_value(option: Option[Any]) -> str:
    """A text that is valid, and not the default."""
    if option.name in VALUES:
        return VALUES[option.name]
    if option.kind.name == "BOOLEAN":
        return str(not option.default).lower()
    for number in NUMBERS:
        if number != option.default and option.check(option.name, number) is None:
            return str(number)
    raise AssertionError(f"{option.name}: add a value of it to VALUES")


@pytest.fixture
def world() -> Iterator[RestartingWorld]:
    with RestartingWorld() as world:
        world.create_topic("t")
        world.create_topic("own", config={"retention.ms": "12345"})
        yield world


def in_use(world: RestartingWorld) -> dict[str, Any]:
    """What the parts of the broker go by at this moment."""
    broker = world.broker
    world.run(broker.housekeeping.compact())  # which takes over its limits
    directories = broker.logs.directories
    return {
        **{f"topic {name}": topic_config(world, name) for name in ("t", "own")},
        **{f"group {name}": asdict(broker.current.group(name)) for name in ("g", "h")},
        "opening": {each for each in broker.replicas.opening if isinstance(each, str)},
        "connections": asdict(broker.network.quota.limits),
        "of listeners": [asdict(each.quota.limits) for each in broker.network.listeners.values()],
        "verification": (
            broker.parts.verifier.is_needed(ClientSupport.OLD_ERRORS),
            *(each.context.has_verification for each in directories),
        ),
        "cleaning": [broker.housekeeping.compactor_of(each).limits for each in directories],
        "cleaning again": broker.housekeeping._backoff_ms(),
        "moves": broker.parts.directory_moves._bytes_per_second(),
        "producers": broker.housekeeping._config().producer_id_expiration_ms,
        "telemetry": subscriptions(world),
    }


def subscriptions(world: RestartingWorld) -> list[object]:
    found = world.broker.parts.telemetry._subscriptions.values()
    return [(each.name, each.metrics, each.interval_ms, each._texts) for each in found]


def topic_config(world: RestartingWorld, name: str) -> dict[str, Any]:
    config: TopicConfig = world.broker.replicas.partition(name, 0).log.config
    return asdict(config)


@pytest.mark.parametrize("name", DYNAMIC)
def test_a_setting_of_brokers_holds_at_once_and_after_every_restart(
    world: RestartingWorld, name: str
) -> None:
    before, text = in_use(world), other_value(DYNAMIC[name])
    resource = "" if DYNAMIC[name].scope is Scope.CLUSTER_WIDE else "1"
    assert alter(world, BROKER, resource, (name, SET, text)) == 0
    held = in_use(world)
    assert (held != before) == (name not in WITHOUT_EFFECT), "does anything go by it?"
    for restart in (world.kill, world.stop):
        restart()
        assert in_use(world) == held
        assert settings(world, BROKER, "1")[name] == text
    undo = (SET, DYNAMIC[name].default_text) if name in OF_ALL_ALONE else (DELETE, None)
    assert alter(world, BROKER, resource, (name, *undo)) == 0
    assert in_use(world) == before
    world.kill()
    assert in_use(world) == before


@pytest.mark.parametrize("name", [n for n in DYNAMIC if n not in WITHOUT_EFFECT | OF_ALL_ALONE])
def test_the_setting_of_one_broker_wins_over_that_of_all_after_a_restart_too(
    world: RestartingWorld, name: str
) -> None:
    assert alter(world, BROKER, "1", (name, SET, other_value(DYNAMIC[name]))) == 0
    held = in_use(world)
    default = DYNAMIC[name].default_text
    if default is not None:
        assert alter(world, BROKER, "", (name, SET, default)) == 0
    assert in_use(world) == held
    world.kill()
    assert in_use(world) == held


@pytest.mark.parametrize("name", TOPIC_OPTIONS)
def test_a_setting_of_a_topic_holds_for_it_alone_and_after_every_restart(
    world: RestartingWorld, name: str
) -> None:
    before, text = in_use(world), other_value(TOPIC_OPTIONS[name])
    field = fields_of(TopicConfig)[name]
    is_refused = alter(world, TOPIC, "t", (name, SET, text)) != 0
    assert is_refused == (name in REFUSED)
    held = in_use(world)
    if not is_refused:
        assert held["topic t"][field] == TOPIC_OPTIONS[name].parse(text)
    assert held["topic own"] == before["topic own"]
    for restart in (world.kill, world.stop):
        restart()
        assert in_use(world) == held
    assert alter(world, TOPIC, "t", (name, DELETE, None)) == 0
    assert in_use(world) == before
    world.kill()
    assert in_use(world) == before


@pytest.mark.parametrize("name", GROUP_OPTIONS)
def test_a_setting_of_a_group_holds_for_it_alone_and_after_every_restart(
    world: RestartingWorld, name: str
) -> None:
    before, text = in_use(world), other_value(GROUP_OPTIONS[name])
    assert alter(world, GROUP, "g", (name, SET, text)) == 0
    held = in_use(world)
    assert held["group g"][fields_of(GroupConfig)[name]] == int(text)
    assert held["group h"] == before["group h"]
    for restart in (world.kill, world.stop):
        restart()
        assert in_use(world) == held
    assert alter(world, GROUP, "g", (name, DELETE, None)) == 0
    assert in_use(world) == before


@pytest.mark.parametrize("name", CLIENT_METRICS_OPTIONS)
def test_a_setting_of_client_metrics_holds_after_every_restart(
    world: RestartingWorld, name: str
) -> None:
    before = in_use(world)
    assert alter(world, METRICS, "m", (name, SET, other_value(CLIENT_METRICS_OPTIONS[name]))) == 0
    held = in_use(world)
    assert held != before
    for restart in (world.kill, world.stop):
        restart()
        assert in_use(world) == held


QUOTAS = {
    "producer_byte_rate": ("client-id", 1000.0),
    "consumer_byte_rate": ("user", 2000.0),
    "request_percentage": ("client-id", 50.0),
    "connection_creation_rate": ("ip", 9.0),
}


@pytest.mark.parametrize("key", QUOTAS)
def test_a_quota_holds_at_once_and_after_every_restart(world: RestartingWorld, key: str) -> None:
    kind, value = QUOTAS[key]
    name = "127.0.0.9" if kind == "ip" else "somebody"

    def alter_quota(value: float, *, remove: bool = False) -> None:
        entry = EntryData([EntityData(kind, name)], [OpData(key, value, remove)])
        (answer,) = world.ask(AlterClientQuotasRequest([entry]), 1).entries
        assert answer.error_code == 0, answer

    def quotas() -> tuple[object, object]:
        stored = {str(each): dict(v) for each, v in world.broker.parts.metadata.quotas.items()}
        return stored, asdict(world.broker.network.quota.limits)

    before = quotas()
    alter_quota(value)
    held = quotas()
    assert held[0] != before[0]
    assert (held[1] != before[1]) == (kind == "ip")
    for restart in (world.kill, world.stop):
        restart()
        assert quotas() == held
    alter_quota(0, remove=True)
    world.kill()
    assert quotas() == before
