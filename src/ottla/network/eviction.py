"""Whose connections are closed when others wait for request memory. Pure.

Who holds room is in one of these grades; those of a lower one go first:

SLOW      its incomplete frame arrives below the minimum rate, measured over the last seconds in
          which it was read. The rate counts for a frame of up to 1 MiB, larger ones need as many
          times more: so each must be able to arrive within the same time.
STUCK     its whole requests wait, for seconds, for something that the client must do: they are
          behind requests that wait for their answer, or behind responses that are not read. Also
          a client whose address holds more than its share while another address waits, if its
          frame has been arriving for some seconds.
OLD       its frame has been arriving for some seconds, above the minimum rate.
PAUSED    it is not read, because it waits for memory itself.
YOUNG     its frame has begun to arrive.

SLOW ones are closed once somebody has waited for a second, STUCK ones after two, OLD ones after
five; no more of them than the waiting need. PAUSED ones are closed after thirty if they are large
and so is who waits: ordinary frames hold next to nothing while they wait. If the memory is
overfull, all grades are closed until it is full. Requests that are worked on are in no grade: they
are released without our help. Of a grade, those of addresses beyond their share go first, then the
slowest, then the largest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import inf
from typing import TYPE_CHECKING

from ottla.network.settings import EvictionRules
from ottla.network.timeouts import Reason

if TYPE_CHECKING:
    from ottla.network.request_memory import Account

MIB = 1024 * 1024

STUCK_S = 2.0
OLD_S = 2.0


class Grade(IntEnum):
    SLOW = 0
    STUCK = 1
    OLD = 2
    PAUSED = 3
    YOUNG = 4


REASONS = {Grade.SLOW: Reason.SLOW, Grade.STUCK: Reason.STUCK}


@dataclass(frozen=True, slots=True)
class Holding:
    """The memory as it is now."""

    accounts: Sequence[Account]
    ordinary_waiting: Sequence[Account]
    large_waiting: Sequence[Account]
    bytes_max: int
    large_bytes_max: int
    is_overfull: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    account: Account
    grade: Grade
    is_beyond_share: bool
    bytes_per_s: float

    @property
    def order(self) -> tuple[int, bool, float, int]:
        return (self.grade, not self.is_beyond_share, self.bytes_per_s, -self.account.held_bytes)


def evictions(holding: Holding, rules: EvictionRules, now_s: float) -> list[tuple[Account, Reason]]:
    """Whom to close now, and why."""
    candidates = graded(holding, rules, now_s)
    chosen: dict[Account, Reason] = {}
    if holding.is_overfull:
        excess = held_by(holding.accounts) - holding.bytes_max
        choose(candidates, excess, chosen)
    for grade, patience_s in patience(rules):
        allowed = [each for each in candidates if each.grade <= grade]
        if grade < Grade.PAUSED:
            waiting = waited(holding.ordinary_waiting, patience_s, now_s)
            for_ordinary(holding, allowed, waiting, chosen)
        for_large(holding, allowed, waited(holding.large_waiting, patience_s, now_s), chosen)
    return list(chosen.items())


def patience(rules: EvictionRules) -> list[tuple[Grade, float]]:
    """How long somebody must have waited before a grade, and those below it, are closed."""
    return [
        (Grade.SLOW, rules.slow_after_s),
        (Grade.STUCK, rules.stuck_after_s),
        (Grade.OLD, rules.old_after_s),
        (Grade.PAUSED, rules.paused_after_s),
    ]


def for_ordinary(
    holding: Holding,
    allowed: list[Candidate],
    waiting: list[Account],
    chosen: dict[Account, Reason],
) -> None:
    if waiting:
        needed = min(sum(each.growth_bytes for each in waiting), holding.bytes_max)
        excess = held_by(holding.accounts) + needed - holding.bytes_max
        choose(allowed, excess, chosen)


def for_large(
    holding: Holding,
    allowed: list[Candidate],
    waiting: list[Account],
    chosen: dict[Account, Reason],
) -> None:
    if waiting:
        large = [each for each in holding.accounts if each.is_large]
        needed = min(sum(each.growth_bytes for each in waiting), holding.large_bytes_max)
        excess = held_by(large) + needed - holding.large_bytes_max
        choose([each for each in allowed if each.account.is_large], excess, chosen)


def choose(candidates: list[Candidate], excess: int, chosen: dict[Account, Reason]) -> None:
    """Choose in order until so many bytes are freed, those that were chosen before included."""
    mine = {each.account for each in candidates}
    freed = sum(account.held_bytes for account in chosen if account in mine)
    for each in candidates:
        if freed >= excess:
            return
        if each.account not in chosen:
            chosen[each.account] = REASONS.get(each.grade, Reason.MEMORY)
            freed += each.account.held_bytes


def graded(holding: Holding, rules: EvictionRules, now_s: float) -> list[Candidate]:
    """Those that can be closed, in order."""
    beyond = beyond_share(holding, rules)
    waiting = {*holding.ordinary_waiting, *holding.large_waiting}
    found = []
    for account in holding.accounts:
        is_beyond = account.address in beyond
        rate = None if account.progress is None else account.progress.bytes_per_s(now_s)
        grade = grade_of(account, rules, rate, is_beyond, account in waiting, now_s)
        if grade is not None:
            found.append(Candidate(account, grade, is_beyond, inf if rate is None else rate))
    return sorted(found, key=lambda each: each.order)


def grade_of(
    account: Account,
    rules: EvictionRules,
    bytes_per_s: float | None,
    is_beyond_share: bool,
    is_waiting: bool,
    now_s: float,
) -> Grade | None:
    if account.stuck_since_s is not None:
        return Grade.STUCK if now_s - account.stuck_since_s >= STUCK_S else Grade.YOUNG
    if account.progress is None:
        return None
    if is_waiting:
        return Grade.PAUSED
    if bytes_per_s is not None and bytes_per_s < rate_min(account, rules):
        return Grade.SLOW
    if account.progress.on_s(now_s) < OLD_S:
        return Grade.YOUNG
    return Grade.STUCK if is_beyond_share else Grade.OLD


def rate_min(account: Account, rules: EvictionRules) -> float:
    return rules.bytes_per_s_min * max(1.0, account.frame_bytes / MIB)


def beyond_share(holding: Holding, rules: EvictionRules) -> set[str]:
    """Addresses that hold more than their share while another address waits."""
    waiting = {each.address for each in (*holding.ordinary_waiting, *holding.large_waiting)}
    if not waiting:
        return set()
    held: Counter[str] = Counter()
    for account in holding.accounts:
        held[account.address] += account.held_bytes
    share_bytes = holding.bytes_max * rules.address_share
    return {address for address, size in held.items() if size > share_bytes and waiting - {address}}


def waited(waiting: Iterable[Account], seconds: float, now_s: float) -> list[Account]:
    return [
        each
        for each in waiting
        if each.waits_since_s is not None and now_s - each.waits_since_s >= seconds
    ]


def held_by(accounts: Iterable[Account]) -> int:
    return sum(each.held_bytes for each in accounts)
