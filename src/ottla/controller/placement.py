"""Placement of new partitions on brokers: striped over racks, and within a rack over its brokers.

Promises  the replicas of a partition are on different brokers, and on different racks as far as
          possible; leaders and replicas are spread evenly if racks are of equal size; active
          brokers come first, and the leader is always one of them.
Leaves    when to place, and the handling of fenced replicas, to the caller.

Racks are used round-robin: each partition starts one rack after the previous one, and each rack
returns its brokers round-robin. Both start at a random position and are shuffled after each round,
so that few partitions share the same set of replicas.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from ottla.controller.decision import ItemRejected
from ottla.controller.state import RandomSource
from ottla.metadata.entities import BrokerRegistration
from ottla.protocol.error_codes import ErrorCode


class UsableBroker(NamedTuple):
    broker_id: int
    rack: str | None
    is_fenced: bool


def candidates(brokers: Iterable[BrokerRegistration]) -> list[UsableBroker]:
    return [UsableBroker(broker.id, broker.rack, broker.is_fenced) for broker in brokers]


def place(
    brokers: Iterable[UsableBroker], partitions: int, replication_factor: int, rng: RandomSource
) -> list[tuple[int, ...]]:
    """The replicas of each new partition, leader first; CannotPlace if there are too few
    brokers."""
    everyone = list(brokers)
    if replication_factor <= 0:
        raise CannotPlace(
            f"Invalid replication factor {replication_factor}: the replication factor must be "
            "positive."
        )
    if all(broker.is_fenced for broker in everyone):
        raise CannotPlace(
            "All brokers are currently fenced, or have all their log directories cordoned."
        )
    if replication_factor > len(everyone):
        raise CannotPlace(
            f"The target replication factor of {replication_factor} cannot be reached because only "
            f"{len(everyone)} broker(s) are registered or some brokers have all their log "
            "directories cordoned."
        )
    racks = _Racks(everyone, rng)
    return [racks.next_replicas(replication_factor) for _ in range(partitions)]


class CannotPlace(ItemRejected):
    """There are too few brokers."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.INVALID_REPLICATION_FACTOR, message)


class _RoundRobin:
    """Brokers in round-robin order. Each round starts one position after the previous one."""

    def __init__(self, broker_ids: list[int], rng: RandomSource) -> None:
        self._brokers = sorted(broker_ids)
        self._begin = rng.randrange(len(broker_ids)) if broker_ids else 0
        self._given = 0
        self._round = 0

    def __len__(self) -> int:
        return len(self._brokers)

    def next(self, number: int) -> int | None:
        """The next broker of this round; None when all were returned."""
        if not self._brokers:
            return None
        if number != self._round:
            self._round, self._given = number, 0
            self._begin = (self._begin + 1) % len(self._brokers)
        if self._given == len(self._brokers):
            return None
        broker = self._brokers[(self._begin + self._given) % len(self._brokers)]
        self._given += 1
        return broker

    def shuffle(self, rng: RandomSource) -> None:
        rng.shuffle(self._brokers)


class _Rack:
    def __init__(self, brokers: list[UsableBroker], rng: RandomSource) -> None:
        self._alive = _RoundRobin([each.broker_id for each in brokers if not each.is_fenced], rng)
        self._fenced = _RoundRobin([each.broker_id for each in brokers if each.is_fenced], rng)

    def next_alive(self, number: int) -> int | None:
        return self._alive.next(number)

    def next(self, number: int) -> int | None:
        found = self._alive.next(number)
        return found if found is not None else self._fenced.next(number)

    def shuffle(self, rng: RandomSource) -> None:
        self._fenced.shuffle(rng)
        self._alive.shuffle(rng)


class _Racks:
    def __init__(self, brokers: list[UsableBroker], rng: RandomSource) -> None:
        self._rng = rng
        names = sorted({each.rack for each in brokers}, key=lambda rack: (rack is not None, rack))
        members = ([each for each in brokers if each.rack == name] for name in names)
        self._racks = [_Rack(rack, rng) for rack in members]
        self._fenced = {each.broker_id for each in brokers if each.is_fenced}
        self._led: Counter[int] = Counter()
        self._alive_count = len(brokers) - len(self._fenced)
        self._begin = rng.randrange(len(self._racks))
        self._round = 0

    def next_replicas(self, replication_factor: int) -> tuple[int, ...]:
        if self._round and self._round % self._alive_count == 0:
            self._shuffle()
        count = len(self._racks)
        leader_rack, leader = self._next_leader()
        replicas = [leader]
        at = self._begin
        skipped: int | None = leader_rack  # it provided the leader instead of its first replica
        while len(replicas) < replication_factor:
            if at == skipped:
                skipped = None
            elif (found := self._racks[at].next(self._round)) is not None:
                replicas.append(found)
            at = (at + 1) % count
        self._round += 1
        self._begin = (self._begin + 1) % count
        return self._led_by_least_used(replicas)

    def _led_by_least_used(self, replicas: list[int]) -> tuple[int, ...]:
        """Round-robin alone would choose the same brokers of a rack as leaders again, if the
        number of racks and the number of their brokers have a common divisor."""
        alive = [each for each in replicas if each not in self._fenced]
        leader = min(alive, key=lambda each: self._led[each])
        self._led[leader] += 1
        return (leader, *(each for each in replicas if each != leader))

    def _next_leader(self) -> tuple[int, int]:
        for step in range(len(self._racks)):
            at = (self._begin + step) % len(self._racks)
            if (found := self._racks[at].next_alive(self._round)) is not None:
                return at, found
        raise AssertionError("no broker is alive, which was checked")

    def _shuffle(self) -> None:
        self._rng.shuffle(self._racks)
        for rack in self._racks:
            rack.shuffle(self._rng)
