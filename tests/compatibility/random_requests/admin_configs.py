"""Steps about settings: of topics, brokers, groups, metrics, and of kinds that do not exist."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cache
from random import Random
from typing import Any, NamedTuple

from tests.compatibility.differential.scripts.configs import (
    APPEND,
    BROKER,
    DELETE,
    GROUP,
    METRICS,
    SET,
    SUBTRACT,
    TOPIC,
    change,
    describe,
    replace,
)
from tests.compatibility.random_requests.admin_model import AdminModel
from tests.compatibility.random_requests.admin_topics import TOPICS, draw_version
from tests.compatibility.random_requests.admin_values import Setting, draw_value, settings_of

from ottla.config.broker_options import BrokerConfig
from ottla.config.options import options_of
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.list_config_resources_request import ListConfigResourcesRequest

KINDS = {TOPIC: "topic", BROKER: "broker", GROUP: "group", METRICS: "metrics"}
NAMES = {
    TOPIC: (*TOPICS, "~none", "", "a b"),
    BROKER: ("1", "1", "", "", "2", "x", "-1", "01", " 1"),
    GROUP: ("~g", "~h", "~g", ""),
    METRICS: ("~m", "~n", "~m", ""),
}
# Settings that may be changed on a running broker: harmless, whatever the value.
HARMLESS = (
    "background.threads", "compression.gzip.level", "compression.lz4.level", "compression.type",
    "log.cleaner.backoff.ms", "log.cleaner.delete.retention.ms", "log.cleaner.min.cleanable.ratio",
    "log.cleaner.max.compaction.lag.ms", "log.cleaner.min.compaction.lag.ms",
    "log.index.interval.bytes", "log.message.timestamp.type",
    "log.preallocate", "log.roll.ms", "log.segment.bytes", "log.segment.delete.delay.ms",
    "message.max.bytes", "log.cleanup.policy", "unclean.leader.election.enable",
    "log.message.timestamp.before.max.ms", "log.message.timestamp.after.max.ms",
    "log.flush.interval.messages",
)  # fmt: skip
NOT_SERVED = ("share.", "streams.")  # groups that we do not have
# Other defaults than Kafka's, on purpose; or not set by the settings that both are given.
OWN_DEFAULTS = {
    "group.coordinator.rebalance.protocols", "group.initial.rebalance.delay.ms",
    "listener.security.protocol.map", "listeners", "log.dir", "log.dirs", "max.connections",
    "queued.max.request.bytes", "offsets.topic.replication.factor", "node.id", "broker.id",
    "transaction.state.log.min.isr", "transaction.state.log.replication.factor",
    "socket.send.buffer.bytes", "socket.receive.buffer.bytes", "advertised.listeners",
    "process.roles", "controller.listener.names", "controller.quorum.voters", "num.io.threads",
    "group.coordinator.append.linger.ms", "group.consumer.assignors",
}  # fmt: skip
Change = tuple[str, int, str | None]


@cache
def known_settings(kind: int) -> tuple[Setting, ...]:
    found = settings_of(KINDS[kind])
    if kind == BROKER:
        ours = options_of(BrokerConfig)
        return tuple(each for each in found if each.name in ours and each.name not in OWN_DEFAULTS)
    return tuple(each for each in found if not each.name.startswith(NOT_SERVED))


@cache
def harmless() -> tuple[Setting, ...]:
    return tuple(each for each in settings_of("broker") if each.name in HARMLESS)


def draw_kind(random: Random) -> int:
    return random.choices((TOPIC, BROKER, GROUP, METRICS), (8, 4, 2, 2))[0]


def draw_resource(random: Random) -> tuple[int, str]:
    if random.random() < 0.03:
        return random.choice((0, 1, 3, 64, -1)), random.choice(("", "1", "~a"))
    kind = draw_kind(random)
    return kind, random.choice(NAMES[kind][:3] if random.random() < 0.85 else NAMES[kind])


class Describe(NamedTuple):
    version: int
    resources: tuple[tuple[int, str, tuple[str, ...] | None], ...]
    synonyms: bool
    words: bool

    def execute(self, model: AdminModel) -> None:
        asked = [(kind, model.name(name), keys) for kind, name, keys in self.resources]
        request = describe(*asked, synonyms=self.synonyms, words=self.words)
        model.ask(request, self.version, shown=without_unserved)


def without_unserved(answer: Any) -> Any:
    """Without settings of groups that we do not have."""
    out = copy(answer)
    out.results = [copy(each) for each in answer.results]
    for each in out.results:
        if each.resource_type == GROUP:
            each.configs = [one for one in each.configs if not one.name.startswith(NOT_SERVED)]
    return out


def draw_describe(random: Random) -> Describe:
    version = draw_version(random, ApiKey.DESCRIBE_CONFIGS)
    resources = []
    for _ in range(random.choice((1, 1, 1, 2, 3, 0))):
        kind, name = draw_resource(random)
        resources.append((kind, name, draw_keys(random, kind)))
    if len(resources) > 1:  # Kafka refuses all where one is of no kind
        resources = [each for each in resources if each[0] in KINDS]
    words = random.random() < 0.3 and version >= 3
    return Describe(version, tuple(resources), random.random() < 0.6, words)


def draw_keys(random: Random, kind: int) -> tuple[str, ...] | None:
    if kind not in KINDS:
        return ("x",)
    if kind != BROKER and random.random() < 0.5:
        return None
    names = [each.name for each in known_settings(kind)]
    chosen = random.choices(names, k=random.choice((1, 2, 4, 8)))
    if kind == BROKER and random.random() < 0.6:
        chosen += random.choices(HARMLESS, k=6)
    return (*chosen, "nonsense") if random.random() < 0.1 else tuple(chosen)


class Alter(NamedTuple):
    """IncrementalAlterConfigs."""

    version: int
    resources: tuple[tuple[int, str, tuple[Change, ...]], ...]
    dry: bool

    def execute(self, model: AdminModel) -> None:
        model.changes()
        asked = [(kind, model.name(name), changes) for kind, name, changes in self.resources]
        model.ask(change(*asked, dry=self.dry), self.version)


def draw_alter(random: Random) -> Alter:
    version = draw_version(random, ApiKey.INCREMENTAL_ALTER_CONFIGS)
    dry = random.random() < 0.3
    resources = []
    for _ in range(random.choice((1, 1, 1, 2, 0))):
        kind, name = draw_resource(random)
        count = random.choice((1, 1, 1, 2, 3, 0))
        resources.append((kind, name, tuple(draw_change(random, kind, dry) for _ in range(count))))
    return Alter(version, tuple(resources), dry)


def draw_change(random: Random, kind: int, dry: bool) -> Change:
    setting = draw_setting(random, kind, dry)
    if setting is None:
        return "nonsense", random.choice((SET, DELETE, APPEND)), "1"
    operation = random.choices((SET, DELETE), (7, 3))[0]
    if setting.type == "LIST" or random.random() < 0.03:
        operation = random.choice((SET, DELETE, APPEND, APPEND, SUBTRACT, SUBTRACT))
    value = draw_value(random, setting)
    return setting.name, operation, value if operation != DELETE or random.random() < 0.1 else None


def draw_setting(random: Random, kind: int, dry: bool) -> Setting | None:
    """None stands for one that does not exist: not of brokers, where Kafka takes it."""
    if kind not in KINDS or (kind != BROKER and random.random() < 0.03):
        return None
    if kind == BROKER:
        return random.choice(known_settings(BROKER) if dry else harmless())
    return random.choice(known_settings(kind))


class Replace(NamedTuple):
    """AlterConfigs."""

    version: int
    resources: tuple[tuple[int, str, tuple[tuple[str, str | None], ...]], ...]
    dry: bool

    def execute(self, model: AdminModel) -> None:
        model.changes()
        asked = [(kind, model.name(name), configs) for kind, name, configs in self.resources]
        model.ask(replace(*asked, dry=self.dry), self.version)


def draw_replace(random: Random) -> Replace:
    """A resource twice is not asked: Kafka never answers it."""
    dry = random.random() < 0.3
    resources: dict[tuple[int, str], tuple[tuple[str, str | None], ...]] = {}
    for _ in range(random.choice((1, 1, 1, 2, 0))):
        kind, name = draw_resource(random)
        chosen = []
        for _ in range(random.choice((1, 1, 2, 3, 0))):
            setting = draw_setting(random, kind, dry)
            chosen.append(
                ("nonsense", "1")
                if setting is None
                else (setting.name, draw_value(random, setting))
            )
        resources[kind, name] = tuple(chosen)
    version = draw_version(random, ApiKey.ALTER_CONFIGS)
    return Replace(version, tuple((*key, each) for key, each in resources.items()), dry)


class ListResources(NamedTuple):
    version: int
    kinds: tuple[int, ...]

    def execute(self, model: AdminModel) -> None:
        def own(answer: Any) -> Any:
            out = copy(answer)
            out.config_resources = [
                each
                for each in answer.config_resources
                if model.is_own(each.resource_name) or each.resource_type == BROKER
            ]
            return out

        model.ask(ListConfigResourcesRequest(self.kinds), self.version, shown=own)


def draw_list_resources(random: Random) -> ListResources:
    version = draw_version(random, ApiKey.LIST_CONFIG_RESOURCES)
    kinds = random.choices((TOPIC, BROKER, GROUP, METRICS), k=random.choice((0, 1, 1, 2)))
    if random.random() < 0.05:
        kinds.append(random.choice((0, 1, 64, -1)))
    return ListResources(version, tuple(kinds) if version > 0 else ())


DRAWN: dict[Callable[[Random], object], int] = {
    draw_describe: 12, draw_alter: 16, draw_replace: 7, draw_list_resources: 3,
}  # fmt: skip
