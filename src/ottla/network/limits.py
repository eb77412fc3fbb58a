"""Limits on connections: in all, of one address, and new ones a second.

Pure: connections are counted here, and accepted or closed by `listener.py`. A connection counts
against two quotas, its listener's and the broker's: against both or against none. As in Kafka, a
connection beyond the number or rate of a listener or of the broker waits to be accepted; one
beyond the number of its address is closed, and one beyond the rate of its address is closed after
a delay. The broker's quota never delays the inter-broker listener: other connections are closed
instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from ottla.base.rates import RateMeter, Windows

UNLIMITED = 2**31 - 1  # Kafka's default for each of these
RATES_MAX = 10_000
WINDOWS = Windows(11, 1000)


class Refusal(Enum):
    ADDRESS = "too many connections of one address"
    ADDRESS_RATE = "too many new connections of one address a second"


class Refused(NamedTuple):
    why: Refusal
    close_after_ms: int = 0  # until then the client gets no response


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    connections_max: int = UNLIMITED
    connections_per_address_max: int = UNLIMITED
    per_address_overrides: Mapping[str, int] = field(default_factory=dict)
    creations_per_s_max: float = UNLIMITED
    address_creations_per_s_max: float = UNLIMITED
    address_creation_overrides: Mapping[str, float] = field(default_factory=dict)
    windows: Windows = WINDOWS  # over which creations are measured

    def creations_of_address(self, address: str) -> float:
        return self.address_creation_overrides.get(address, self.address_creations_per_s_max)

    def of_address(self, address: str) -> int:
        return self.per_address_overrides.get(address, self.connections_per_address_max)


class ConnectionQuota:
    """Counts connections. The limits can be replaced while connections are open."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._rate = RateMeter()
        self._of_address: Counter[str] = Counter()
        self._rates: dict[str, RateMeter] = {}  # of addresses with a limited rate
        self._waiting: list[Callable[[], None]] = []  # called once there is room
        self.open_connections = 0

    @property
    def limits(self) -> ConnectionLimits:
        return self._limits

    @limits.setter
    def limits(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._notify_waiting()

    @property
    def room(self) -> int:
        """How many more may be opened; negative if there are too many."""
        return self._limits.connections_max - self.open_connections

    @property
    def has_room(self) -> bool:
        return self.room > 0

    @property
    def excess(self) -> int:
        """How many are open beyond the limit, which may have been lowered."""
        return max(0, -self.room)

    def when_room(self, call: Callable[[], None]) -> None:
        """Call once when there is room; earlier calls may have taken it."""
        self._waiting.append(call)

    def open_of(self, address: str) -> int:
        return self._of_address[address]

    def charge(self, now_ms: int) -> int:
        """Count a new connection; return how long it must wait, at most one window."""
        limits = self._limits
        return _charge(self._rate, limits.creations_per_s_max, now_ms, limits.windows)

    def charge_address(self, address: str, now_ms: int) -> int:
        """As `charge`, for its address alone; a connection that must wait is not counted."""
        limits = self._limits
        limit = limits.creations_of_address(address)
        if limit >= UNLIMITED:
            return 0
        rate = self._rate_of(address)
        wait_ms = _charge(rate, limit, now_ms, limits.windows)
        if wait_ms:
            rate.record(-1, now_ms, limits.windows)
        return wait_ms

    def refund(self, now_ms: int) -> None:
        """The connection that was charged is refused."""
        self._rate.record(-1, now_ms, self._limits.windows)

    def is_full_of(self, address: str) -> bool:
        return self._of_address[address] >= self._limits.of_address(address)

    def _rate_of(self, address: str) -> RateMeter:
        rate = self._rates.pop(address, None) or RateMeter()
        self._rates[address] = rate
        if len(self._rates) > RATES_MAX:
            del self._rates[next(iter(self._rates))]
        return rate

    def count(self, address: str) -> None:
        self._of_address[address] += 1
        self.open_connections += 1

    def release(self, address: str) -> None:
        self.open_connections -= 1
        self._of_address[address] -= 1
        if not self._of_address[address]:
            del self._of_address[address]  # bounds the table by the open connections
        self._notify_waiting()

    def _notify_waiting(self) -> None:
        if self._waiting and self.has_room:
            waiting, self._waiting = self._waiting, []
            for call in waiting:
                call()


class AdmissionControl:
    """The quotas of one listener's connections."""

    def __init__(
        self, listener: ConnectionQuota, broker: ConnectionQuota, *, is_exempt: bool = False
    ) -> None:
        self._quotas = (listener, broker)
        self._delaying = (listener,) if is_exempt else self._quotas  # can delay connections

    @property
    def full_quota(self) -> ConnectionQuota | None:
        """A quota without room for another connection; None if all have room."""
        return next((quota for quota in self._delaying if not quota.has_room), None)

    @property
    def room(self) -> int:
        """How many more connections may be opened."""
        return max(0, min(quota.room for quota in self._quotas))

    def charge(self, now_ms: int) -> int:
        """Count a new connection; return how long it must wait before `admit`."""
        return max([quota.charge(now_ms) for quota in self._delaying])

    def admit(self, address: str, now_ms: int) -> Refused | None:
        """Count a new connection against all quotas, unless one of them refuses it."""
        for quota in self._quotas:
            if wait_ms := quota.charge_address(address, now_ms):
                for charged in self._delaying:
                    charged.refund(now_ms)
                return Refused(Refusal.ADDRESS_RATE, wait_ms)
        if any(quota.is_full_of(address) for quota in self._quotas):
            return Refused(Refusal.ADDRESS)
        for quota in self._quotas:
            quota.count(address)
        return None

    def release(self, address: str) -> None:
        for quota in self._quotas:
            quota.release(address)


def _charge(rate: RateMeter, limit: float, now_ms: int, windows: Windows) -> int:
    rate.record(1, now_ms, windows)
    return min(rate.wait_ms(limit, now_ms, windows), windows.size_ms)
