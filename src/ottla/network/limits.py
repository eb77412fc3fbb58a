"""How many connections there may be: in all, of one address, and new ones a second.

Pure: connections are counted here, and accepted or closed by `listener.py`. A connection passes
two gates, its listener's own and the broker's; it is counted at both or at none. As in Kafka, what
is too much or comes too fast for a listener or the broker waits to be accepted, and what one
address has too much of is closed. The broker's gate never makes the listener between brokers wait:
if there are too many in all then, others have to make room.
"""

from __future__ import annotations

import ipaddress
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

UNLIMITED = 2**31 - 1  # Kafka's default for each of these
BUCKETS_MAX = 10_000


class Refusal(Enum):
    ADDRESS = "too many connections of one address"
    ADDRESS_RATE = "too many new connections of one address a second"


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    connections_max: int = UNLIMITED
    connections_per_address_max: int = UNLIMITED
    per_address_overrides: Mapping[str, int] = field(default_factory=dict)
    creations_per_s_max: float = UNLIMITED
    address_creations_per_s_max: float = UNLIMITED
    address_creation_overrides: Mapping[str, float] = field(default_factory=dict)

    def creations_of_address(self, address: str) -> float:
        return self.address_creation_overrides.get(address, self.address_creations_per_s_max)

    def of_address(self, address: str) -> int:
        return self.per_address_overrides.get(address, self.connections_per_address_max)


class TokenBucket:
    """Lets `rate_per_s` pass, and after a quiet time as many at once as a second brings."""

    def __init__(self, rate_per_s: float) -> None:
        self._rate_per_s = rate_per_s
        self._tokens_max = max(1.0, rate_per_s)
        self._tokens = self._tokens_max
        self._filled_s: float | None = None

    def has_token(self, now_s: float) -> bool:
        if self._filled_s is not None and now_s > self._filled_s:
            new = (now_s - self._filled_s) * self._rate_per_s
            self._tokens = min(self._tokens_max, self._tokens + new)
        self._filled_s = now_s
        return self._tokens >= 1.0

    def seconds_to_token(self, now_s: float) -> float:
        if self.has_token(now_s):
            return 0.0
        return (1.0 - self._tokens) / self._rate_per_s if self._rate_per_s else math.inf

    def take(self) -> None:
        self._tokens -= 1.0

    def is_full(self, now_s: float) -> bool:
        self.has_token(now_s)
        return self._tokens >= self._tokens_max


class ConnectionGate:
    """Counts what passed. The limits can be replaced while connections are open."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._bucket = TokenBucket(limits.creations_per_s_max)
        self._of_address: Counter[str] = Counter()
        self._buckets: dict[str, TokenBucket] = {}  # of addresses with a limited rate
        self._waiting: list[Callable[[], None]] = []  # to be called once there is room
        self.open_connections = 0

    @property
    def limits(self) -> ConnectionLimits:
        return self._limits

    @limits.setter
    def limits(self, limits: ConnectionLimits) -> None:
        if limits.creations_per_s_max != self._limits.creations_per_s_max:
            self._bucket = TokenBucket(limits.creations_per_s_max)
        self._limits = limits
        self._buckets.clear()
        self._tell_waiting()

    @property
    def has_room(self) -> bool:
        return self.open_connections < self._limits.connections_max

    @property
    def excess(self) -> int:
        """How many there are beyond the limit, which may have been lowered."""
        return max(0, self.open_connections - self._limits.connections_max)

    def when_room(self, call: Callable[[], None]) -> None:
        """Call once, as soon as there is room; it may be taken again by then."""
        self._waiting.append(call)

    def open_of(self, address: str) -> int:
        return self._of_address[address]

    def seconds_to_next(self, now_s: float) -> float:
        """How long a new connection has to wait before it is accepted."""
        return self._bucket.seconds_to_token(now_s)

    def refusal(self, address: str, now_s: float) -> Refusal | None:
        if self._of_address[address] >= self._limits.of_address(address):
            return Refusal.ADDRESS
        bucket = self._bucket_of(address, now_s)
        if bucket is not None and not bucket.has_token(now_s):
            return Refusal.ADDRESS_RATE
        return None

    def _bucket_of(self, address: str, now_s: float) -> TokenBucket | None:
        rate_per_s = self._limits.creations_of_address(address)
        if rate_per_s >= UNLIMITED:
            return None
        bucket = self._buckets.get(address)
        if bucket is None:
            if len(self._buckets) >= BUCKETS_MAX:
                self._forget_full_buckets(now_s)
            bucket = self._buckets[address] = TokenBucket(rate_per_s)
        return bucket

    def _forget_full_buckets(self, now_s: float) -> None:
        """Full ones are as good as new; if there are none, the oldest goes."""
        full = [name for name, bucket in self._buckets.items() if bucket.is_full(now_s)]
        for name in full or list(self._buckets)[:1]:
            del self._buckets[name]

    def count(self, address: str, *, takes_token: bool = True) -> None:
        if takes_token:
            self._bucket.take()
        if address in self._buckets:
            self._buckets[address].take()
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

    def seconds_to_next(self, now_s: float) -> float:
        """How long a new connection has to wait before it is accepted."""
        return max(gate.seconds_to_next(now_s) for gate in self._holding)

    def admit(self, address: str, now_s: float) -> Refusal | None:
        """Count a new connection at every gate, unless one of them refuses it."""
        for gate in self._gates:
            if (refusal := gate.refusal(address, now_s)) is not None:
                return refusal
        for gate in self._gates:
            gate.count(address, takes_token=gate in self._holding)
        return None

    def release(self, address: str) -> None:
        for gate in self._gates:
            gate.release(address)


def normal_address(host: str) -> str:
    """One text per address: an IPv4 client of a socket for both looks like `::ffff:10.0.0.1`."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)
