"""The bound on what all responses together hold in memory (`ottla.queued.response.bytes.max`).

Counted are bytes of responses that are built and not sent yet; ranges of files are not, because
they are read when the socket has room for them. The builder of a response counts what it holds
(`change`), and releases it when the connection counts it, or when it is dropped. From the moment a
response is handed to its connection until it is sent, the connection counts it (`hold`), also
while it waits behind the response to an earlier request.

While there is no room:

- The builder of a large response waits for room (`reserve`), in the order of `address_queue.py`:
  builders of one address delay those of another only by their share.
- A connection begins a request only if it holds no response memory and none of its requests is in
  progress: one request at a time. So clients that read their responses are still served,
  and clients that do not read them are not.
- If a request waits, connections are closed (`evict`) until a quarter of the memory is free;
  `response_eviction.py` chooses them.

Requests that still begin can overfill the memory, by one response for each connection. If unsent
responses exceed it by a quarter, no request begins until enough connections are closed, which
happens before the event loop serves the next one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from math import inf
from typing import Protocol

from ottla.network.address_queue import AddressWaiters
from ottla.network.eviction import EVICTED_AT_ONCE, MemoryHolder
from ottla.network.response_eviction import response_evictions
from ottla.network.settings import EvictionRules
from ottla.network.timeouts import Reason
from ottla.network.transfer_rate import TransferRate

OVERFULL_SHARE = 1 / 4
FREED_SHARE = 1 / 4


class ResponseHolder(MemoryHolder, Protocol):
    @property
    def sent_bytes(self) -> int: ...


class ResponseAccount:
    """The unsent responses of one connection, and the rate at which its client reads them."""

    __slots__ = ("address", "connection", "held_bytes", "rate")

    def __init__(self, connection: ResponseHolder, address: str) -> None:
        self.connection = connection
        self.address = address
        self.held_bytes = 0
        self.rate: TransferRate | None = None  # while it holds some


class ResponseMemory:
    """Used from one event loop."""

    def __init__(self, bytes_max: int, rules: EvictionRules | None = None) -> None:
        self.bytes_max = bytes_max
        self.rules = rules or EvictionRules()
        self.held_bytes = 0
        self.is_full = False
        self.unsent_bytes = 0  # of these, held by connections
        self._on_overfull: Callable[[], None] = lambda: None
        self._accounts: dict[ResponseAccount, None] = {}  # that hold some
        self._stopped: dict[ResponseAccount, None] = {}  # whose requests wait to begin
        self._waited_since_s: float | None = None
        self._waiting = AddressWaiters()
        self._chosen: deque[ResponseAccount] = deque()  # whose connections are to be evicted

    @property
    def has_room(self) -> bool:
        return self.held_bytes < self.bytes_max

    @property
    def waiting(self) -> int:
        """How many builders of responses wait."""
        return len(self._waiting)

    @property
    def stopped_connections(self) -> int:
        return len(self._stopped)

    def when_overfull(self, call: Callable[[], None]) -> None:
        """`call` must lead to a call of `evict`."""
        self._on_overfull = call

    @property
    def is_overfull(self) -> bool:
        return self.unsent_bytes >= self.bytes_max * (1 + OVERFULL_SHARE)

    def change(self, bytes: int) -> None:  # noqa: A002
        """Add to the counted bytes; `bytes` may be negative."""
        self.held_bytes += bytes
        self.is_full = self.held_bytes >= self.bytes_max
        if bytes < 0 and not self.is_full:
            self._grant()
            if self._stopped and not self.is_overfull:
                self._wake_stopped()

    async def reserve(self, count: int, address: str) -> None:
        """Return once `held_bytes < bytes_max`, with the bytes counted."""
        if self.has_room and not self._waiting:
            self.change(count)
        else:
            await self._waiting.wait(address, partial(self.change, -count), count)

    def _grant(self) -> None:
        """A grant counts immediately, so that it cannot be taken before its owner runs."""
        while self.has_room and (granted := self._waiting.grant()) is not None:
            self.change(granted)

    # Used by connections

    def hold(self, account: ResponseAccount, held_bytes: int, now_s: float) -> None:
        """The connection's unsent responses take `held_bytes` now."""
        more = held_bytes - account.held_bytes
        if not more:
            return
        if not account.held_bytes:
            account.rate = TransferRate(now_s, account.connection.sent_bytes)
            self._accounts[account] = None
        elif not held_bytes:
            account.rate = None
            del self._accounts[account]
        account.held_bytes = held_bytes
        self.unsent_bytes += more
        self.change(more)

    def may_begin(self, account: ResponseAccount, *, is_busy: bool) -> bool:
        """Whether a request of the connection may begin; if not, it is resumed when it may."""
        if self.has_room or not (account.held_bytes or is_busy or self.is_overfull):
            return True
        self._stopped[account] = None
        if self.is_overfull:
            self._on_overfull()
        return False

    def close(self, account: ResponseAccount, now_s: float) -> None:
        self._stopped.pop(account, None)
        self.hold(account, 0, now_s)

    @property
    def is_evicting(self) -> bool:
        """Whether connections were chosen that are still to be closed: `evict` must be called
        again."""
        return bool(self._chosen)

    def evict(self, now_s: float) -> int:
        """Close connections that do not read their responses while others wait for room, some at a
        time; return how many."""
        if not self._chosen:
            self._choose(now_s)
        count = 0
        while self._chosen and count < EVICTED_AT_ONCE:
            account = self._chosen.popleft()
            if account.held_bytes:  # otherwise it was released since
                account.connection.evict(Reason.UNREAD_MEMORY)
                count += 1
        return count

    def _choose(self, now_s: float) -> None:
        is_overfull = self.is_overfull
        if not is_overfull and (self.has_room or not (self._waiting or self._stopped)):
            self._waited_since_s = None
            return
        if self._waited_since_s is None:
            self._waited_since_s = now_s
        self._chosen.extend(
            response_evictions(
                self._accounts,
                exempt=() if is_overfull else self._alone_waiting(),
                excess_bytes=self.held_bytes - int(self.bytes_max * (1 - FREED_SHARE)),
                waited_s=inf if is_overfull else now_s - self._waited_since_s,
                rules=self.rules,
                bytes_max=self.bytes_max,
                now_s=now_s,
            )
        )

    def _alone_waiting(self) -> list[ResponseAccount]:
        """The connection that waits, if no other does: it is not closed for its own sake."""
        is_alone = len(self._stopped) == 1 and not self._waiting
        return list(self._stopped) if is_alone else []

    def _wake_stopped(self) -> None:
        stopped, self._stopped = self._stopped, {}
        for account in stopped:
            account.connection.resume_after_memory()
