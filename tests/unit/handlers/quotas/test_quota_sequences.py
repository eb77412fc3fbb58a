"""Clients wait as long as Apache Kafka's own quota managers make them wait, to the millisecond.

`QuotaSequences.java` wrote down a checksum of all waiting times for each of 10,000 random
sequences; here the same sequences are made from the same numbers.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ottla.base.rates import Windows
from ottla.handlers.quotas.client_quotas import MutationQuota, RateQuota
from ottla.protocol.errors import BrokerError
from ottla.testing.clock import ManualClock

STEPS = 30
LIMITS = ((0.5, 1, 2, 3, 7, 12, 33.3, 90.5), (20, 45.2, 100, 700, 1000, 2024, 9999, 12345))
WINDOWS = ((11, 1), (11, 1), (11, 1), (11, 2), (2, 1), (1, 1), (5, 3))
CLIENTS = ("c", "c", "c", "d")
ENTITIES = ("c", "d", None)
KEY = "any"
PRODUCE, FETCH, REQUEST, STRICT, PERMISSIVE = range(5)
RECORDED = Path(__file__).with_name("quota_sequences.txt")


class Numbers:
    def __init__(self, seed: int) -> None:
        self._state = seed

    def next(self, bound: int) -> int:
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self._state >> 33) % bound


def step_ms(numbers: Numbers, last_wait_ms: int) -> int:
    match numbers.next(8):
        case 0:
            return 0
        case 1 | 2:
            return numbers.next(20)
        case 3 | 4:
            return numbers.next(1000)
        case 5:
            return numbers.next(5000)
        case 6:
            return min(last_wait_ms, 60_000)
        case _:
            return 10_900 + numbers.next(2000)


class Payments:
    """One sequence: a kind of quota, limits that change, and who was charged what."""

    def __init__(self, kind: int, windows: Windows) -> None:
        self.kind = kind
        self.clock = ManualClock()
        self.quota: RateQuota | MutationQuota
        if kind in (STRICT, PERMISSIVE):
            self.quota = MutationQuota(KEY, windows, self.clock)
        else:
            longest = windows.size_ms if kind == REQUEST else None
            self.quota = RateQuota(KEY, windows, self.clock, longest)
        self.is_on = False

    def change(self, client_id: str | None, limit: float | None) -> None:
        entity = (("client-id", client_id),)
        self.quota.meters.change(entity, {} if limit is None else {KEY: limit})
        self.is_on = self.quota.meters.has_limits

    def charge(self, client_id: str, amount: float) -> int:
        """The throttle time; for a request that is refused, -1 minus that time."""
        if not self.is_on:
            return 0
        reported: list[int] = []
        context: Any = SimpleNamespace(
            peer=SimpleNamespace(user="u"), client_id=client_id, throttle=reported.append
        )
        if isinstance(self.quota, RateQuota):
            wait_ms = self.quota.charge(context, amount)
            if self.kind == FETCH and wait_ms:
                self.quota.note(context, -amount)
            return wait_ms
        try:
            self.quota.charge(context, amount, is_strict=self.kind == STRICT)  # type: ignore[arg-type]
        except BrokerError:
            return -1 - reported[0]
        return reported[0] if reported else 0


def waiting_times(number: int) -> str:
    numbers = Numbers(number)
    count, size_s = WINDOWS[numbers.next(len(WINDOWS))]
    limits = LIMITS[number % 2]
    limit = limits[numbers.next(len(limits))]
    payments = Payments(number % 5, Windows(count, size_s * 1000))
    payments.change(ENTITIES[numbers.next(3)], limit)
    reported, wait_ms = [], 0
    for _ in range(STEPS):
        payments.clock.advance_ms(step_ms(numbers, abs(wait_ms)))
        if numbers.next(12) == 0:
            entity, other = ENTITIES[numbers.next(3)], limits[numbers.next(len(limits))]
            payments.change(entity, None if numbers.next(3) == 0 else other)
        client_id = CLIENTS[numbers.next(4)]
        amount: float = numbers.next(int(limit * 25) + 2)
        if payments.kind == REQUEST:
            amount /= 8
        wait_ms = payments.charge(client_id, amount)
        reported.append(f"{wait_ms} ")
    return "".join(reported)


@pytest.mark.parametrize("part", range(10))  # the first of them in the ordinary run
def test_waiting_times_are_those_of_kafkas_own_quota_managers(part: int) -> None:
    recorded = RECORDED.read_text().replace("\n", "")
    for number in range(1000 * part, 1000 * part + 1000):
        reported = waiting_times(number)
        expected = recorded[4 * number : 4 * number + 4]
        assert f"{zlib.crc32(reported.encode()) & 0xFFFF:04x}" == expected, (number, reported)
