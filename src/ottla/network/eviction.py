"""What eviction from request memory and from response memory have in common.

`request_eviction.py` and `response_eviction.py` choose the connections to close, and the memories
close them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Protocol

from ottla.network.settings import EvictionRules
from ottla.network.timeouts import Reason

MIB = 1024 * 1024

EVICTED_AT_ONCE = 64  # connections: closing one costs up to a tenth of a millisecond
LONG_S = 2.0  # a transfer that has taken this long is a long one


class MemoryHolder(Protocol):
    """The connection that an account belongs to."""

    def resume_after_memory(self) -> None: ...

    def evict(self, reason: Reason) -> None:
        """Close, and release what is held."""


class HeldMemory(Protocol):
    """An account, as far as the share of its address needs it."""

    @property
    def address(self) -> str: ...

    @property
    def held_bytes(self) -> int: ...


def addresses_over_share(
    accounts: Iterable[HeldMemory], bytes_max: int, rules: EvictionRules
) -> set[str]:
    """Addresses whose connections together hold more than one address may."""
    held: Counter[str] = Counter()
    for account in accounts:
        held[account.address] += account.held_bytes
    share_bytes = bytes_max * rules.address_share
    return {address for address, size in held.items() if size > share_bytes}


def rate_min(size: int, rules: EvictionRules) -> float:
    """Bytes a second. Beyond a MiB it grows with the size, so that each size gets the same time."""
    return rules.bytes_per_s_min * max(1.0, size / MIB)
