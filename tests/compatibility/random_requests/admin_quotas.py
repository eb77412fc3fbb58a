"""Steps about client quotas: all shapes of entities, and of filters for them.

A quota for all clients is never small enough to throttle the requests themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from tests.compatibility.differential.scripts.quotas import ANY, DEFAULT, EXACT, alter, describe
from tests.compatibility.random_requests.admin_model import AdminModel
from tests.compatibility.random_requests.admin_topics import draw_version

from ottla.protocol.api_keys import ApiKey

KEYS = (
    "producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate",
)  # fmt: skip
CONNECTIONS = "connection_creation_rate"
VALUES = (1e9, 1e10, 2.5e12, 1e20, 1e308)
WRONG_VALUES = (0.0, -1.0, 0.5, float("inf"), -0.0, 1e9 + 0.5)
ADDRESSES = ("1.2.3.4", "10.0.0.1", "::1", "2001:db8::1")
WRONG_ADDRESSES = ("", "x y", "1.2.3.4.5", "256.1.1.1")  # not those that Java alone can read
Entity = tuple[tuple[str, str | None], ...]
Op = tuple[str, float, bool]


def named(model: AdminModel, entity: Entity) -> list[tuple[str, str | None]]:
    return [(kind, None if name is None else model.name(name)) for kind, name in entity]


class AlterQuotas(NamedTuple):
    version: int
    entries: tuple[tuple[Entity, tuple[Op, ...]], ...]
    dry: bool

    def execute(self, model: AdminModel) -> None:
        model.changes()
        entries = [(named(model, entity), ops) for entity, ops in self.entries]
        model.ask(alter(*entries, dry=self.dry), self.version)


def draw_name(random: Random) -> str | None:
    return random.choice(("~u", "~v", "~u", "~v", None, None, "", "~ü &%"))


def draw_address(random: Random) -> str | None:
    luck = random.random()
    return None if luck < 0.2 else random.choice(ADDRESSES if luck < 0.8 else WRONG_ADDRESSES)


def draw_entity(random: Random) -> Entity:
    luck = random.random()
    if luck < 0.3:
        return (("user", draw_name(random)),)
    if luck < 0.5:
        return (("client-id", draw_name(random)),)
    if luck < 0.75:
        both = [("user", draw_name(random)), ("client-id", draw_name(random))]
        random.shuffle(both)
        return tuple(both)
    if luck < 0.92:
        return (("ip", draw_address(random)),)
    strange: tuple[Entity, ...] = (
        (), (("nonsense", "x"),), (("user", "~u"), ("ip", "1.2.3.4")), (("user", "~u"),) * 2,
        (("USER", "~u"),), (("client-id", "~u"), ("ip", None)), (("", ""),),
    )  # fmt: skip
    return random.choice(strange)


def draw_op(random: Random, entity: Entity) -> Op:
    is_address = any(kind == "ip" for kind, _ in entity)
    key = CONNECTIONS if is_address else random.choice(KEYS)
    if random.random() < 0.07:
        key = random.choice((*KEYS, CONNECTIONS, "nonsense", ""))
    if random.random() < 0.25:
        return key, 0.0, True
    if key == CONNECTIONS and random.random() < 0.8:
        return key, float(random.choice((1_000_000, 2_000_000, 2**31 - 1, 2**31))), False
    return key, random.choice(VALUES if random.random() < 0.8 else WRONG_VALUES), False


def is_harmful(entity: Entity, op: Op) -> bool:
    """Would throttle the client that sends the requests."""
    is_for_all = any(name is None for _, name in entity)
    return is_for_all and not op[2] and 0 < op[1] < 1e6


def draw_alter_quotas(random: Random) -> AlterQuotas:
    entries = []
    for _ in range(random.choice((1, 1, 1, 2, 3, 0))):
        entity = draw_entity(random)
        ops = [draw_op(random, entity) for _ in range(random.choice((1, 1, 2, 3, 0)))]
        entries.append((entity, tuple(op for op in ops if not is_harmful(entity, op))))
    version = draw_version(random, ApiKey.ALTER_CLIENT_QUOTAS)
    return AlterQuotas(version, tuple(entries), random.random() < 0.15)


class DescribeQuotas(NamedTuple):
    version: int
    components: tuple[tuple[str, int, str | None], ...]
    strict: bool

    def execute(self, model: AdminModel) -> None:
        components = [
            (kind, how, None if match is None else model.name(match))
            for kind, how, match in self.components
        ]
        model.ask(describe(*components, strict=self.strict), self.version)


def draw_component(random: Random) -> tuple[str, int, str | None]:
    kind = random.choice(("user", "user", "client-id", "client-id", "ip"))
    if random.random() < 0.06:
        kind = random.choice(("nonsense", "", "USER"))
    how = random.choice((EXACT, EXACT, DEFAULT, ANY, ANY))
    if random.random() < 0.06:
        how = random.choice((3, -1))
    match = None
    if how == EXACT or random.random() < 0.05:
        match = draw_address(random) if kind == "ip" else draw_name(random)
    return kind, how, match


def draw_describe_quotas(random: Random) -> DescribeQuotas:
    components = [draw_component(random) for _ in range(random.choice((1, 1, 1, 2, 2, 0)))]
    version = draw_version(random, ApiKey.DESCRIBE_CLIENT_QUOTAS)
    return DescribeQuotas(version, tuple(components), random.random() < 0.5)


DRAWN: dict[Callable[[Random], object], int] = {draw_alter_quotas: 10, draw_describe_quotas: 8}
