"""How many connections there may be: in all, of one address, and new ones a second.

Pure: connections are counted here, and accepted or closed by `listener.py`. A connection passes
two gates, its listener's own and the broker's; it is counted at both or at none. As in Kafka, what
is too much or comes too fast for a listener or the broker waits to be accepted, and what one
address has too much of is closed; if it only comes too fast, a little later. The broker's gate
never makes the listener between brokers wait: if there are too many in all then, others have to
make room.
"""

from __future__ import annotations

import ipaddress
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
    close_after_ms: int = 0  # until then the client is left without an answer


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


class ConnectionGate:
    """Counts what passed. The limits can be replaced while connections are open."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._rate = RateMeter()
        self._of_address: Counter[str] = Counter()
        self._rates: dict[str, RateMeter] = {}  # of addresses with a limited rate
        self._waiting: list[Callable[[], None]] = []  # to be called once there is room
        self.open_connections = 0

    @property
    def limits(self) -> ConnectionLimits:
        return self._limits

    @limits.setter
    def limits(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._tell_waiting()

    @property
    def room(self) -> int:
        """For so many more; below zero if there are too many."""
        return self._limits.connections_max - self.open_connections

    @property
    def has_room(self) -> bool:
        return self.room > 0

    @property
    def excess(self) -> int:
        """How many there are beyond the limit, which may have been lowered."""
        return max(0, -self.room)

    def when_room(self, call: Callable[[], None]) -> None:
        """Call once, as soon as there is room; it may be taken again by then."""
        self._waiting.append(call)

    def open_of(self, address: str) -> int:
        return self._of_address[address]

    def charge(self, now_ms: int) -> int:
        """Note that one has come; how long it has to wait, never more than a window."""
        limits = self._limits
        return _charge(self._rate, limits.creations_per_s_max, now_ms, limits.windows)

    def charge_address(self, address: str, now_ms: int) -> int:
        """As `charge`, for its address alone; what has to wait has not come."""
        limits = self._limits
        limit = limits.creations_of_address(address)
        if limit >= UNLIMITED:
            return 0
        rate = self._rate_of(address)
        wait_ms = _charge(rate, limit, now_ms, limits.windows)
        if wait_ms:
            rate.record(-1, now_ms, limits.windows)
        return wait_ms

    def give_back(self, now_ms: int) -> None:
        """The one that was charged is refused."""
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
            del self._of_address[address]  # addresses come and go; the table must not only grow
        self._tell_waiting()

    def _tell_waiting(self) -> None:
        if self._waiting and self.has_room:
            waiting, self._waiting = self._waiting, []
            for call in waiting:
                call()


class WayIn:
    """The gates of one listener's connections."""

    def __init__(
        self, own: ConnectionGate, brokers: ConnectionGate, *, is_exempt: bool = False
    ) -> None:
        self._gates = (own, brokers)
        self._holding = (own,) if is_exempt else self._gates  # that may make somebody wait

    @property
    def full_gate(self) -> ConnectionGate | None:
        """Where there is no room for another connection; None if there is."""
        return next((gate for gate in self._holding if not gate.has_room), None)

    @property
    def room(self) -> int:
        """For how many connections more there is room."""
        return max(0, min(gate.room for gate in self._gates))

    def charge(self, now_ms: int) -> int:
        """Note that a connection has come; how long it has to wait before it is admitted."""
        return max([gate.charge(now_ms) for gate in self._holding])

    def admit(self, address: str, now_ms: int) -> Refused | None:
        """Count a new connection at every gate, unless one of them refuses it."""
        for gate in self._gates:
            if wait_ms := gate.charge_address(address, now_ms):
                for charged in self._holding:
                    charged.give_back(now_ms)
                return Refused(Refusal.ADDRESS_RATE, wait_ms)
        if any(gate.is_full_of(address) for gate in self._gates):
            return Refused(Refusal.ADDRESS)
        for gate in self._gates:
            gate.count(address)
        return None

    def release(self, address: str) -> None:
        for gate in self._gates:
            gate.release(address)


def _charge(rate: RateMeter, limit: float, now_ms: int, windows: Windows) -> int:
    rate.record(1, now_ms, windows)
    return min(rate.wait_ms(limit, now_ms, windows), windows.size_ms)


def is_address(host: str) -> bool:
    """Not a name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def network_of(host: str) -> str:
    """Whose memory a client's is counted as: an IPv6 host has a /64 network of addresses."""
    if ":" not in host:
        return host
    try:
        return str(ipaddress.ip_network((host.partition("%")[0], 64), strict=False))
    except ValueError:
        return host


def normal_address(host: str) -> str:
    """One text per address: an IPv4 client of a socket for both looks like `::ffff:10.0.0.1`."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)
