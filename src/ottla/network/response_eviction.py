"""Which connections are closed while others wait for response memory. Pure.

Connections that hold unsent responses have one of these grades; lower ones are closed first:

STOPPED  nothing was read for seconds
SLOW     read below the minimum rate, which is that for the arrival of requests
LONG     held for some seconds
RECENT   held since a moment ago

STOPPED and SLOW ones are closed when a request has waited for one second, LONG ones after five,
RECENT ones only if the memory is overfull. Within a grade, connections of addresses over their
share come first, then the largest.
"""

from __future__ import annotations

from collections.abc import Collection, Container
from enum import IntEnum
from math import inf
from typing import TYPE_CHECKING

from ottla.network.eviction import LONG_S, addresses_over_share, rate_min
from ottla.network.settings import EvictionRules

if TYPE_CHECKING:
    from ottla.network.response_memory import ResponseAccount


class ResponseGrade(IntEnum):
    STOPPED = 0
    SLOW = 1
    LONG = 2
    RECENT = 3


def response_evictions(
    accounts: Collection[ResponseAccount],
    exempt: Container[ResponseAccount],
    excess_bytes: int,
    waited_s: float,
    rules: EvictionRules,
    bytes_max: int,
    now_s: float,
) -> list[ResponseAccount]:
    """The connections to close now, so that `excess_bytes` are released. `waited_s` is how long
    requests have waited; infinite if the memory is overfull."""
    chosen = []
    for account in _candidates(accounts, exempt, waited_s, rules, bytes_max, now_s):
        if excess_bytes <= 0:
            break
        excess_bytes -= account.held_bytes
        chosen.append(account)
    return chosen


def _candidates(
    accounts: Collection[ResponseAccount],
    exempt: Container[ResponseAccount],
    waited_s: float,
    rules: EvictionRules,
    bytes_max: int,
    now_s: float,
) -> list[ResponseAccount]:
    """In the order in which they are closed."""
    over_share = addresses_over_share(accounts, bytes_max, rules)
    after_s = (rules.slow_after_s, rules.slow_after_s, rules.long_after_s, inf)
    found: list[tuple[ResponseGrade, bool, int, int, ResponseAccount]] = []
    for number, account in enumerate(accounts):
        grade = grade_of(account, rules, now_s)
        if waited_s >= after_s[grade] and account not in exempt:
            is_within_share = account.address not in over_share
            found.append((grade, is_within_share, -account.held_bytes, number, account))
    return [each[-1] for each in sorted(found)]


def grade_of(account: ResponseAccount, rules: EvictionRules, now_s: float) -> ResponseGrade:
    rate = account.rate
    assert rate is not None
    rate.record(now_s, account.connection.sent_bytes)
    bytes_per_s = rate.bytes_per_s(now_s)
    if bytes_per_s is None:
        return ResponseGrade.LONG if rate.active_s(now_s) >= LONG_S else ResponseGrade.RECENT
    if not bytes_per_s:
        return ResponseGrade.STOPPED
    return (
        ResponseGrade.SLOW
        if bytes_per_s < rate_min(account.held_bytes, rules)
        else ResponseGrade.LONG
    )
