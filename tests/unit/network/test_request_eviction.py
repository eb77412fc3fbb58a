"""Whose connections are closed when others wait for memory, and whose are not."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import NamedTuple

import pytest

from ottla.network.request_eviction import (
    Candidate,
    MemoryState,
    RequestGrade,
    graded,
    request_evictions,
    waits_before_eviction,
)
from ottla.network.request_memory import RequestAccount
from ottla.network.settings import EvictionRules
from ottla.network.timeouts import Reason
from ottla.network.transfer_rate import TransferRate

KIB = 1024
MIB = 1024 * KIB
RULES = EvictionRules()
NOW_S = 100.0


class NoOwner:
    def resume_after_memory(self) -> None: ...
    def evict(self, reason: Reason) -> None: ...


def arriving(
    bytes_per_s: float,
    *,
    since_s: float = 10.0,
    held: int = MIB,
    frame: int = MIB,
    address: str = "10.0.0.1",
) -> RequestAccount:
    """An incomplete frame that has arrived at this rate for so many seconds."""
    account = RequestAccount(NoOwner(), address)
    account.held_bytes, account.frame_bytes = held, frame
    account.is_large = frame > 2 * MIB
    account.rate = TransferRate(NOW_S - since_s)
    for tenth in range(int(since_s * 10) + 1):
        now_s = NOW_S - since_s + tenth / 10
        account.rate.record(now_s, int(bytes_per_s * tenth / 10))
    return account


def waiting(
    seconds: float, *, growth: int = MIB, address: str = "10.0.0.1", held: int = 100
) -> RequestAccount:
    account = arriving(0, since_s=0.1, held=held, address=address)
    assert account.rate is not None
    account.rate.switch(NOW_S - seconds, is_active=False)
    account.waits_since_s, account.growth_bytes = NOW_S - seconds, growth
    return account


def full_of(
    *accounts: RequestAccount,
    ordinary: list[RequestAccount] | None = None,
    large: list[RequestAccount] | None = None,
) -> MemoryState:
    """A memory that these fill."""
    held = sum(each.held_bytes for each in accounts)
    every = [*accounts, *(ordinary or []), *(large or [])]
    return MemoryState(every, ordinary or [], large or [], held, held // 2)


def closed(
    holding: MemoryState, rules: EvictionRules = RULES
) -> list[tuple[RequestAccount, Reason]]:
    return request_evictions(holding, rules, NOW_S)


def test_while_no_request_waits_no_connection_is_closed() -> None:
    assert closed(full_of(arriving(0), arriving(10))) == []


def test_a_short_wait_closes_no_connection() -> None:
    assert closed(full_of(arriving(0), ordinary=[waiting(0.9)])) == []


def test_a_slow_frame_is_closed_for_one_who_waits() -> None:
    slow = arriving(63 * KIB)
    assert closed(full_of(slow, ordinary=[waiting(1.0)])) == [(slow, Reason.SLOW)]


def test_a_frame_at_the_minimum_rate_is_closed_only_when_others_have_waited_for_long() -> None:
    steady = arriving(66 * KIB)
    assert closed(full_of(steady, ordinary=[waiting(4.9)])) == []
    assert closed(full_of(steady, ordinary=[waiting(5.0)])) == [(steady, Reason.MEMORY)]


def test_a_young_frame_is_never_closed_for_one_who_waits() -> None:
    assert closed(full_of(arriving(0, since_s=1.9), ordinary=[waiting(60.0)])) == []


def test_one_that_is_not_read_is_not_slow() -> None:
    paused = waiting(29.0, held=4 * MIB)
    assert closed(full_of(paused, ordinary=[paused])) == []


def test_a_large_frame_must_arrive_in_the_same_time_as_an_ordinary_one() -> None:
    steady, slow = arriving(1000 * KIB, frame=10 * MIB), arriving(1000 * KIB, frame=100 * MIB)
    assert closed(full_of(steady, slow, ordinary=[waiting(1.0)])) == [(slow, Reason.SLOW)]


def test_the_slowest_are_closed_first_and_no_more_than_are_needed() -> None:
    some = [arriving(rate * KIB) for rate in (30, 10, 50, 20, 40)]
    holding = full_of(*some, ordinary=[waiting(1.0), waiting(1.5)])
    assert [account for account, _ in closed(holding)] == [some[1], some[3], some[0]]


def test_of_equally_slow_ones_the_largest_is_closed_first() -> None:
    small, large = arriving(0, held=MIB // 4), arriving(0, held=4 * MIB)
    assert [a for a, _ in closed(full_of(small, large, ordinary=[waiting(1.0)]))] == [large]


def test_requests_that_wait_for_their_client_are_closed() -> None:
    stuck = RequestAccount(NoOwner(), "10.0.0.1")
    stuck.held_bytes = stuck.complete_bytes = MIB
    holding = full_of(stuck, ordinary=[waiting(2.0)])
    assert closed(holding) == []
    stuck.stalled_since_s = NOW_S - 1.0
    assert closed(holding) == []
    stuck.stalled_since_s = NOW_S - 2.0
    assert closed(holding) == [(stuck, Reason.STALLED)]


def test_requests_that_are_worked_on_are_not_closed() -> None:
    working = RequestAccount(NoOwner(), "10.0.0.1")
    working.held_bytes = working.complete_bytes = MIB
    holding = replace(full_of(working, ordinary=[waiting(1000.0)]), is_overfull=True, bytes_max=1)
    assert working not in dict(closed(holding))


def test_an_address_beyond_its_share_gives_way_to_another_address() -> None:
    many = [arriving(1000 * KIB) for _ in range(6)]
    others = [arriving(100 * KIB, address="10.0.0.2") for _ in range(4)]
    victim = waiting(2.0, address="10.0.0.3")
    chosen = dict(closed(full_of(*many, *others, ordinary=[victim])))
    assert set(chosen) <= set(many)
    assert len(chosen) == 2


def test_an_address_alone_may_have_all_of_the_memory() -> None:
    many = [arriving(1000 * KIB) for _ in range(10)]
    assert closed(full_of(*many, ordinary=[waiting(4.0)])) == []


def test_frames_that_arrive_quickly_are_not_closed_for_the_share_of_their_address() -> None:
    many = [arriving(10_000 * KIB, since_s=1.0) for _ in range(10)]
    assert closed(full_of(*many, ordinary=[waiting(60.0, address="10.0.0.2")])) == []


def test_for_a_large_frame_that_waits_only_large_ones_are_closed() -> None:
    ordinary, large = arriving(0), arriving(0, frame=50 * MIB)
    waits = waiting(1.0)
    waits.is_large = True
    holding = full_of(ordinary, large, large=[waits])
    assert closed(holding) == [(large, Reason.SLOW)]


def test_large_frames_that_wait_for_each_other_are_closed_in_the_end() -> None:
    some = [waiting(30.0, held=10 * MIB) for _ in range(4)]
    for each in some:
        each.is_large = True
    holding = replace(full_of(large=some), bytes_max=80 * MIB, large_bytes_max=40 * MIB)
    assert [reason for _, reason in closed(holding)] == [Reason.MEMORY]


def test_in_an_overfull_memory_the_youngest_are_closed_last() -> None:
    young, old, slow = arriving(0, since_s=0.5), arriving(100 * KIB), arriving(0)
    paused = waiting(0.5, held=MIB)
    full = full_of(young, old, slow, ordinary=[paused])
    order = [
        [account for account, _ in closed(replace(full, bytes_max=left * MIB, is_overfull=True))]
        for left in (3, 2, 1, 0)
    ]
    assert order == [[slow], [slow, old], [slow, old, paused], [slow, old, paused, young]]


def random_account(rng: Random) -> RequestAccount:
    address, held = f"10.0.0.{rng.randrange(3)}", rng.choice((100 * KIB, MIB, 3 * MIB, 9 * MIB))
    what = rng.random()
    if what < 0.6:
        rate, since_s = rng.choice((0, 10 * KIB, 70 * KIB, MIB)), rng.choice((1.0, 4.0, 9.0))
        frame = rng.choice((MIB, 8 * MIB))
        return arriving(rate, since_s=since_s, held=held, frame=frame, address=address)
    account = RequestAccount(NoOwner(), address)
    account.held_bytes = account.complete_bytes = held
    account.is_large = held > 2 * MIB
    if what < 0.8:
        account.stalled_since_s = NOW_S - rng.choice((1.0, 3.0))
    return account


def random_waiting(rng: Random, *, is_large: bool) -> list[RequestAccount]:
    found = []
    for _ in range(rng.randrange(3)):
        account = waiting(
            rng.choice((0.5, 1.0, 2.0, 5.0, 30.0)),
            growth=rng.choice((MIB // 2, MIB, 4 * MIB)),
            address=f"10.0.0.{rng.randrange(3)}",
            held=rng.choice((100, 3 * MIB)) if is_large else 100,
        )
        account.is_large = is_large
        found.append(account)
    return found


class Need(NamedTuple):
    """So many bytes are to be freed, by accounts of these grades."""

    excess: int
    grade: RequestGrade
    of_large: bool | None = None  # None: of both kinds

    def may_close(self, candidate: Candidate) -> bool:
        is_right = self.of_large in (None, candidate.account.is_large)
        return is_right and candidate.grade <= self.grade

    def is_met(self, closed_ones: list[Candidate]) -> bool:
        freed = sum(each.account.held_bytes for each in closed_ones if self.may_close(each))
        return freed >= self.excess


def needs(holding: MemoryState) -> list[Need]:
    held = sum(each.held_bytes for each in holding.accounts)
    large = sum(each.held_bytes for each in holding.accounts if each.is_large)
    held -= holding.exempt_excess_bytes
    of_large = False if holding.exempt_excess_bytes else None
    excess = held - holding.bytes_max
    found = [Need(excess, RequestGrade.RECENT, of_large)] if holding.is_overfull else []
    for grade, after_s in waits_before_eviction(RULES):
        growth = [
            [each.growth_bytes for each in some if NOW_S - (each.waits_since_s or NOW_S) >= after_s]
            for some in (holding.ordinary_waiting, holding.large_waiting)
        ]
        if growth[0] and grade < RequestGrade.PAUSED:
            wanted = min(sum(growth[0]), holding.bytes_max)
            found.append(Need(held + wanted - holding.bytes_max, grade, of_large))
        if growth[1]:
            wanted = min(sum(growth[1]), holding.large_bytes_max)
            found.append(Need(large + wanted - holding.large_bytes_max, grade, of_large=True))
    return found


@pytest.mark.parametrize("seed", range(200))
def test_as_many_are_closed_as_those_who_wait_need_and_none_besides(seed: int) -> None:
    """Several wait, for ordinary and large frames, each for another time; some fit all needs."""
    rng = Random(seed)
    accounts = [random_account(rng) for _ in range(rng.randrange(1, 12))]
    ordinary = random_waiting(rng, is_large=False)
    holding = full_of(*accounts, ordinary=ordinary, large=random_waiting(rng, is_large=True))
    bytes_max = int(holding.bytes_max * rng.choice((0.7, 1, 1.5)))
    is_overfull = rng.random() < 0.2
    holding = replace(
        holding,
        bytes_max=bytes_max,
        large_bytes_max=bytes_max // 2,
        exempt_excess_bytes=rng.choice((0, 0, MIB)),
        is_overfull=is_overfull,
    )
    candidates = {each.account: each for each in graded(holding, RULES, NOW_S)}
    gone = [candidates[account] for account, _ in closed(holding)]
    for need in needs(holding):
        left = [each for each in candidates.values() if each not in gone and need.may_close(each)]
        assert need.is_met(gone) or not left
    for at, each in enumerate(gone):
        before = gone[:at]
        assert any(need.may_close(each) and not need.is_met(before) for need in needs(holding))
