"""Which connections are closed while others wait for request memory. Pure.

Connections that hold memory have one of these grades; lower ones are closed first:

SLOW     its incomplete frame arrives below the minimum rate, measured over the last seconds in
         which it was read. The rate is for frames of up to 1 MiB; larger ones need as many times
         more, so that each size gets the same time.
STALLED  its complete requests have waited for seconds for an action of the client: they are
         behind requests that wait for their response, or behind responses that are not read.
         Also a long transfer of an address over its share, while another address waits.
LONG     its frame has been arriving for some seconds, at the minimum rate or above.
PAUSED   it is not read, because it waits for memory itself.
RECENT   its frame has just begun to arrive.

SLOW ones are closed when a connection has waited for one second, STALLED ones after two, LONG ones
after five; only as many as the waiting ones need. PAUSED ones with large frames are closed when a
large frame has waited for thirty seconds: ordinary frames hold very little while they wait. If the
memory is overfull, all grades are closed until it is full. What the one exempt large frame holds
beyond the bound is left to it: no connection is closed for that. Requests in progress have no
grade: they release their memory when they end. Within a grade, connections of addresses over their
share come first, then the slowest, then the largest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from ottla.network.eviction import LONG_S, addresses_over_share, rate_min
from ottla.network.settings import EvictionRules
from ottla.network.timeouts import Reason

if TYPE_CHECKING:
    from ottla.network.request_memory import RequestAccount

STALLED_S = 2.0


class RequestGrade(IntEnum):
    SLOW = 0
    STALLED = 1
    LONG = 2
    PAUSED = 3
    RECENT = 4


REASONS = {RequestGrade.SLOW: Reason.SLOW, RequestGrade.STALLED: Reason.STALLED}


@dataclass(frozen=True, slots=True)
class MemoryState:
    """The request memory as it is now."""

    accounts: Sequence[RequestAccount]
    ordinary_waiting: Sequence[RequestAccount]
    large_waiting: Sequence[RequestAccount]
    bytes_max: int
    large_bytes_max: int
    exempt_excess_bytes: int = 0  # held by a large frame by exemption
    is_overfull: bool = False


class Candidate(NamedTuple):
    """Its fields are the order in which connections are closed."""

    grade: RequestGrade
    is_within_share: bool
    bytes_per_s: float
    freed_bytes: int  # negative: the largest first
    number: int  # of its account
    account: RequestAccount


def request_evictions(
    state: MemoryState, rules: EvictionRules, now_s: float
) -> list[tuple[RequestAccount, Reason]]:
    """The connections to close now, each with the reason."""
    candidates = graded(state, rules, now_s)
    chosen: dict[RequestAccount, Reason] = {}
    if state.is_overfull:
        choose_from_all(state, candidates, 0, chosen)
    for grade, wait_s in waits_before_eviction(rules):
        allowed = [each for each in candidates if each.grade <= grade]
        if grade < RequestGrade.PAUSED:
            waiting = waited(state.ordinary_waiting, wait_s, now_s)
            choose_for_ordinary(state, allowed, waiting, chosen)
        choose_for_large(state, allowed, waited(state.large_waiting, wait_s, now_s), chosen)
    return list(chosen.items())


def waits_before_eviction(rules: EvictionRules) -> list[tuple[RequestGrade, float]]:
    """How long a connection must have waited before a grade, and those below it, are closed."""
    return [
        (RequestGrade.SLOW, rules.slow_after_s),
        (RequestGrade.STALLED, rules.stalled_after_s),
        (RequestGrade.LONG, rules.long_after_s),
        (RequestGrade.PAUSED, rules.paused_after_s),
    ]


def choose_for_ordinary(
    state: MemoryState,
    allowed: list[Candidate],
    waiting: list[RequestAccount],
    chosen: dict[RequestAccount, Reason],
) -> None:
    if waiting:
        needed = min(sum(each.growth_bytes for each in waiting), state.bytes_max)
        choose_from_all(state, allowed, needed, chosen)


def choose_from_all(
    state: MemoryState,
    allowed: list[Candidate],
    needed: int,
    chosen: dict[RequestAccount, Reason],
) -> None:
    """So that `needed` bytes fit. While large frames exceed their half by the exempt one, closing a
    large one makes no room for ordinary frames."""
    if state.exempt_excess_bytes:
        allowed = [each for each in allowed if not each.account.is_large]
    held_bytes = held_by(state.accounts) - state.exempt_excess_bytes
    excess = held_bytes + needed - state.bytes_max
    choose(allowed, excess, chosen)


def choose_for_large(
    state: MemoryState,
    allowed: list[Candidate],
    waiting: list[RequestAccount],
    chosen: dict[RequestAccount, Reason],
) -> None:
    if waiting:
        large = [each for each in state.accounts if each.is_large]
        needed = min(sum(each.growth_bytes for each in waiting), state.large_bytes_max)
        excess = held_by(large) + needed - state.large_bytes_max
        choose([each for each in allowed if each.account.is_large], excess, chosen)


def choose(candidates: list[Candidate], excess: int, chosen: dict[RequestAccount, Reason]) -> None:
    """Add candidates in order until `excess` bytes are freed, counting those chosen before."""
    mine = {each.account for each in candidates}
    freed = sum(account.held_bytes for account in chosen if account in mine)
    for each in candidates:
        if freed >= excess:
            return
        if each.account not in chosen:
            chosen[each.account] = REASONS.get(each.grade, Reason.MEMORY)
            freed += each.account.held_bytes


def graded(state: MemoryState, rules: EvictionRules, now_s: float) -> list[Candidate]:
    """The connections that can be closed, in order."""
    over_share = over_share_while_others_wait(state, rules)
    waiting = {*state.ordinary_waiting, *state.large_waiting}
    found = []
    for number, account in enumerate(state.accounts):
        is_over_share = account.address in over_share
        rate = None if account.rate is None else account.rate.bytes_per_s(now_s)
        grade = grade_of(account, rules, rate, is_over_share, account in waiting, now_s)
        if grade is not None:
            bytes_per_s = inf if rate is None else rate
            found.append(
                Candidate(
                    grade, not is_over_share, bytes_per_s, -account.held_bytes, number, account
                )
            )
    return sorted(found)


def grade_of(
    account: RequestAccount,
    rules: EvictionRules,
    bytes_per_s: float | None,
    is_over_share: bool,
    is_waiting: bool,
    now_s: float,
) -> RequestGrade | None:
    if account.stalled_since_s is not None:
        return (
            RequestGrade.STALLED
            if now_s - account.stalled_since_s >= STALLED_S
            else RequestGrade.RECENT
        )
    if account.rate is None:
        return None
    if is_waiting:
        return RequestGrade.PAUSED
    if bytes_per_s is not None and bytes_per_s < rate_min(account.frame_bytes, rules):
        return RequestGrade.SLOW
    if account.rate.active_s(now_s) < LONG_S:
        return RequestGrade.RECENT
    return RequestGrade.STALLED if is_over_share else RequestGrade.LONG


def over_share_while_others_wait(state: MemoryState, rules: EvictionRules) -> set[str]:
    """Addresses that hold more than their share while another address waits."""
    waiting = {each.address for each in (*state.ordinary_waiting, *state.large_waiting)}
    if not waiting:
        return set()
    over_share = addresses_over_share(state.accounts, state.bytes_max, rules)
    return {address for address in over_share if waiting - {address}}


def waited(waiting: Iterable[RequestAccount], seconds: float, now_s: float) -> list[RequestAccount]:
    return [
        each
        for each in waiting
        if each.waits_since_s is not None and now_s - each.waits_since_s >= seconds
    ]


def held_by(accounts: Iterable[RequestAccount]) -> int:
    return sum(each.held_bytes for each in accounts)
