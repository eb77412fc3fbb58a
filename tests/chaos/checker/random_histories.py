"""Random correct histories: a model of a broker, and clients that take turns.

The model has keys with offsets, transactions with control records that take offsets, and consumers
that read what is committed, up to the first open transaction. Whatever it produces is legal.
"""

from __future__ import annotations

import random
from collections.abc import Generator
from dataclasses import dataclass, field

from tests.chaos.checker.history import (
    Assign,
    History,
    Observation,
    Operation,
    Poll,
    Quantity,
    Read,
    Result,
    Send,
    Step,
    Subscribe,
)

KEYS = ("records-0", "records-1", "copies-0")
TICK_S = 0.01
Turns = Generator[None, None, None]  # what a client does, one turn after the other


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def tick(self) -> float:
        self.now_s += TICK_S
        return self.now_s


@dataclass
class Entry:
    value: str | None  # None is a control record
    transaction: int | None


class Model:
    """The logs of all keys."""

    def __init__(self) -> None:
        self.logs: dict[str, list[Entry]] = {key: [] for key in KEYS}
        self.is_committed: dict[int, bool] = {}  # of transactions that are over
        self.begun = 0

    def append(self, key: str, value: str, transaction: int | None = None) -> int:
        self.logs[key].append(Entry(value, transaction))
        return len(self.logs[key]) - 1

    def begin(self) -> int:
        self.begun += 1
        return self.begun

    def end(self, transaction: int, *, commits: bool) -> None:
        self.is_committed[transaction] = commits
        for log in self.logs.values():
            if any(each.transaction == transaction for each in log):
                log.append(Entry(None, None))

    def last_stable_offset(self, key: str) -> int:
        for offset, entry in enumerate(self.logs[key]):
            if entry.transaction is not None and entry.transaction not in self.is_committed:
                return offset
        return len(self.logs[key])

    def read(self, key: str, position: int, count: int) -> tuple[list[Read], int]:
        """Up to `count` committed values, and the position after them."""
        found: list[Read] = []
        end = self.last_stable_offset(key)
        while position < end and len(found) < count:
            entry = self.logs[key][position]
            if entry.value is not None and self.is_visible(entry):
                found.append(Read(key, position, entry.value))
            position += 1
        return found, position

    def is_visible(self, entry: Entry) -> bool:
        return entry.transaction is None or self.is_committed[entry.transaction]


@dataclass
class World:
    seed: int
    rng: random.Random = field(init=False)
    model: Model = field(default_factory=Model)
    clock: Clock = field(default_factory=Clock)
    operations: list[Operation] = field(default_factory=list)
    observations: list[Observation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)

    def record(
        self,
        process: str,
        start_s: float,
        result: Result,
        *steps: Step,
        is_transaction: bool = False,
    ) -> None:
        end_s = self.clock.tick()
        self.operations.append(Operation(process, start_s, end_s, result, steps, is_transaction))


def random_history(seed: int, turns: int = 60) -> History:
    world = World(seed)
    clients = [
        *(producer(world, f"producer-{at}") for at in range(2)),
        *(writer(world, f"writer-{at}") for at in range(2)),
        copier(world, "copier"),
        assigned_consumer(world, "assigned"),
        group(world, "group"),
        watcher(world, "watcher"),
    ]
    for _ in range(turns):
        for client in world.rng.sample(clients, len(clients)):
            next(client)
    for client in clients:  # transactions that are open are ended
        client.close()
    final_read(world)
    return History.of(world.operations, world.observations)


def producer(world: World, name: str) -> Turns:
    """Without transactions. Some answers are lost: the value may be there or not."""
    number = 0
    while True:
        start_s, key = world.clock.tick(), world.rng.choice(KEYS[:2])
        value, number = f"{name}:{number}", number + 1
        match world.rng.choice(["ok"] * 6 + ["unanswered", "lost"]):
            case "ok":
                offset = world.model.append(key, value)
                world.record(name, start_s, Result.OK, Send(key, value, offset))
            case "unanswered":
                world.model.append(key, value)
                world.record(name, start_s, Result.UNKNOWN, Send(key, value))
            case _:
                world.record(name, start_s, Result.UNKNOWN, Send(key, value))
        yield


def writer(world: World, name: str) -> Turns:
    """Transactions over both keys that others write to at the same time."""
    number = 0
    while True:
        start_s, transaction = world.clock.tick(), world.model.begin()
        sends: list[Step] = []
        try:
            for _ in range(world.rng.randint(1, 5)):
                key, value, number = world.rng.choice(KEYS[:2]), f"{name}:{number}", number + 1
                sends.append(Send(key, value, world.model.append(key, value, transaction)))
                yield
        finally:
            finish(world, name, start_s, transaction, sends)
        yield


def copier(world: World, name: str) -> Turns:
    """Polls and sends in one transaction; after an abort it returns to where it was."""
    position, number = 0, 0
    world.record(name, world.clock.tick(), Result.OK, Assign())
    while True:
        start_s, transaction, before = world.clock.tick(), world.model.begin(), position
        reads, position = world.model.read(KEYS[0], position, world.rng.randint(1, 4))
        steps: list[Step] = [Poll(tuple(reads))]
        try:
            for read in reads:
                value, number = f"{read.value}/{name}:{number}", number + 1
                steps.append(Send(KEYS[2], value, world.model.append(KEYS[2], value, transaction)))
            yield
        finally:
            is_committed = finish(world, name, start_s, transaction, steps)
        if not is_committed:
            position = before
            world.record(name, world.clock.tick(), Result.OK, Assign())
        yield


def finish(world: World, name: str, start_s: float, transaction: int, steps: list[Step]) -> bool:
    commits = world.rng.random() < 0.7
    world.model.end(transaction, commits=commits)
    known = Result.OK if commits else Result.FAILED
    result = known if world.rng.random() < 0.8 else Result.UNKNOWN
    world.record(name, start_s, result, *steps, is_transaction=True)
    return commits


def assigned_consumer(world: World, name: str) -> Turns:
    positions = dict.fromkeys(KEYS, 0)
    world.record(name, world.clock.tick(), Result.OK, Assign())
    while True:
        poll(world, name, positions)
        yield


def poll(world: World, name: str, positions: dict[str, int], *, rebalanced: bool = False) -> None:
    start_s, reads = world.clock.tick(), list[Read]()
    for key in world.rng.sample(sorted(positions), len(positions)):
        more, positions[key] = world.model.read(key, positions[key], world.rng.randint(0, 5))
        reads += more
    world.record(name, start_s, Result.OK, Poll(tuple(reads), rebalanced))


def group(world: World, name: str) -> Turns:
    """Two members. After a rebalance they continue where the group has committed, which may be
    before what was read."""
    committed = dict.fromkeys(KEYS, 0)
    members = [f"{name}-{at}" for at in range(2)]
    for member in members:
        world.record(member, world.clock.tick(), Result.OK, Subscribe())
    while True:
        shares = [dict[str, int]() for _ in members]
        for key in KEYS:
            world.rng.choice(shares)[key] = committed[key]
        is_first = True
        for _ in range(world.rng.randint(1, 6)):
            for member, share in zip(members, shares, strict=True):
                poll(world, member, share, rebalanced=is_first)
                if world.rng.random() < 0.7:
                    committed.update(share)
            is_first = False
            yield


def watcher(world: World, name: str) -> Turns:
    while True:
        for key in KEYS:
            seen = {
                Quantity.HIGH_WATERMARK: len(world.model.logs[key]),
                Quantity.LAST_STABLE_OFFSET: world.model.last_stable_offset(key),
            }
            for quantity, value in seen.items():
                at_s = world.clock.tick()
                world.observations.append(Observation(name, at_s, quantity, key, value))
        yield


def final_read(world: World) -> None:
    positions = dict.fromkeys(KEYS, 0)
    world.record("final", world.clock.tick(), Result.OK, Assign())
    while any(positions[key] < len(world.model.logs[key]) for key in KEYS):
        poll(world, "final", positions)
