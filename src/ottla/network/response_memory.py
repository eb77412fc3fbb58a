"""The bound on what all responses together may hold in memory (`ottla.queued.response.bytes.max`).

Counted are bytes of responses that are built and not sent yet; ranges of files are not, because
they are read when the socket has room for them. Whoever builds a response counts what it holds
(`change`), and releases it when somebody else counts it, or when it is gone. From the moment a
response is handed to its connection until it is sent, the connection counts it (`hold`), also
while it waits behind the response to an earlier request.

While there is no room:

- Whoever wants to build a large response waits for room, in order (`wait_for_room`).
- A connection begins a request only if it holds no response memory and none of its requests is in
  progress: one request at a time. So clients that read their responses are served all the same,
  and those that hoard them are not.
- If somebody waits, connections are closed (`evict`) until a quarter of the memory is free: first
  those from which nothing was taken for seconds, the largest first; then those that read more
  slowly than requests must arrive; after a few seconds also those that hold some for long. Those of
  an address that holds more than its share go first.

Requests that still begin can overfill the memory, by one response for each connection. If unsent
responses exceed it by a quarter, no request begins until enough connections are closed, which
happens before the event loop serves the next one.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Protocol

from ottla.network.progress import Progress
from ottla.network.settings import EvictionRules
from ottla.network.timeouts import Reason

OVERFULL_SHARE = 1 / 4
FREED_SHARE = 1 / 4
OLD_S = 2.0
MIB = 1024 * 1024


class Sending(Protocol):
    """The connection that an account belongs to."""

    @property
    def sent_bytes(self) -> int: ...

    def resume_after_memory(self) -> None: ...

    def evict(self, reason: Reason) -> None:
        """Close, and release what is held."""


class ResponseAccount:
    """What one connection holds, and how its client takes it."""

    __slots__ = ("address", "connection", "held_bytes", "progress")

    def __init__(self, connection: Sending, address: str) -> None:
        self.connection = connection
        self.address = address
        self.held_bytes = 0
        self.progress: Progress | None = None  # while it holds some


class ResponseMemory:
    """Used from one event loop."""

    def __init__(self, bytes_max: int, rules: EvictionRules | None = None) -> None:
        self.bytes_max = bytes_max
        self.rules = rules or EvictionRules()
        self.held_bytes = 0
        self.is_short = False  # there is no room
        self.unsent_bytes = 0  # of these, held by connections
        self.overfull: Callable[[], None] = lambda: None  # called when it is; then `evict` is due
        self._accounts: dict[ResponseAccount, None] = {}  # that hold some
        self._stopped: dict[ResponseAccount, None] = {}  # whose requests wait
        self._waited_since_s: float | None = None
        # Oldest first; an OrderedDict, because the first and any other are removed in no time.
        self._waiting: OrderedDict[asyncio.Event, None] = OrderedDict()

    @property
    def has_room(self) -> bool:
        return self.held_bytes < self.bytes_max

    @property
    def waiting(self) -> int:
        """How many wait to build a response."""
        return len(self._waiting)

    @property
    def stopped_connections(self) -> int:
        return len(self._stopped)

    @property
    def is_overfull(self) -> bool:
        return self.unsent_bytes >= self.bytes_max * (1 + OVERFULL_SHARE)

    def change(self, bytes: int) -> None:  # noqa: A002
        """Add so many (negative: release them)."""
        self.held_bytes += bytes
        self.is_short = self.held_bytes >= self.bytes_max
        if bytes < 0 and not self.is_short:
            if self._waiting:
                self._wake_oldest()
            if self._stopped and not self.is_overfull:
                self._wake_stopped()

    async def wait_for_room(self) -> None:
        """Return once `held_bytes < bytes_max`; whoever asked earlier goes first.

        What the caller adds before it awaits something else counts for those behind it.
        """
        if self.has_room and not self._waiting:
            return
        turn = asyncio.Event()
        self._waiting[turn] = None
        try:
            while not turn.is_set():
                await turn.wait()
                if not self.has_room:
                    turn.clear()  # somebody who had not to wait was quicker
        finally:
            del self._waiting[turn]
            # Not at once: the caller first adds what it needs.
            asyncio.get_running_loop().call_soon(self._wake_oldest)

    # Of connections

    def hold(self, account: ResponseAccount, held_bytes: int, now_s: float) -> None:
        """The connection's unsent responses take so much now."""
        more = held_bytes - account.held_bytes
        if not more:
            return
        if not account.held_bytes:
            account.progress = Progress(now_s, account.connection.sent_bytes)
            self._accounts[account] = None
        elif not held_bytes:
            account.progress = None
            del self._accounts[account]
        account.held_bytes = held_bytes
        self.unsent_bytes += more
        self.change(more)

    def may_begin(self, account: ResponseAccount, *, is_busy: bool) -> bool:
        """Whether a request of the connection may begin; if not, it is woken when it may."""
        if self.has_room or not (account.held_bytes or is_busy or self.is_overfull):
            return True
        self._stopped[account] = None
        if self.is_overfull:
            self.overfull()
        return False

    def close(self, account: ResponseAccount, now_s: float) -> None:
        self._stopped.pop(account, None)
        self.hold(account, 0, now_s)

    def evict(self, now_s: float) -> int:
        """Close those who do not take their responses while others wait for room; how many."""
        is_overfull = self.is_overfull
        if not is_overfull and (self.has_room or not (self._waiting or self._stopped)):
            self._waited_since_s = None
            return 0
        if self._waited_since_s is None:
            self._waited_since_s = now_s
        excess = self.held_bytes - int(self.bytes_max * (1 - FREED_SHARE))
        waited_s = now_s - self._waited_since_s
        chosen = []
        for account in self._candidates(now_s, waited_s, is_overfull=is_overfull):
            if excess <= 0:
                break
            excess -= account.held_bytes
            chosen.append(account)
        for account in chosen:
            account.connection.evict(Reason.UNREAD_MEMORY)
        return len(chosen)

    def _candidates(
        self, now_s: float, waited_s: float, *, is_overfull: bool
    ) -> list[ResponseAccount]:
        """Whom to close, in order."""
        rules, beyond = self.rules, self._beyond_share()
        others = len(self._waiting) + len(self._stopped)
        found: list[tuple[int, bool, int, int, ResponseAccount]] = []
        for number, account in enumerate(self._accounts):
            grade = grade_of(account, rules, now_s)
            after_s = (rules.slow_after_s, rules.slow_after_s, rules.old_after_s, float("inf"))
            is_alone = others == 1 and account in self._stopped
            if is_overfull or (waited_s >= after_s[grade] and not is_alone):
                is_within = account.address not in beyond
                found.append((grade, is_within, -account.held_bytes, number, account))
        return [each[-1] for each in sorted(found)]

    def _beyond_share(self) -> set[str]:
        held: Counter[str] = Counter()
        for account in self._accounts:
            held[account.address] += account.held_bytes
        share_bytes = self.bytes_max * self.rules.address_share
        return {address for address, size in held.items() if size > share_bytes}

    def _wake_oldest(self) -> None:
        if self._waiting and self.has_room:
            next(iter(self._waiting)).set()

    def _wake_stopped(self) -> None:
        stopped, self._stopped = self._stopped, {}
        for account in stopped:
            account.connection.resume_after_memory()


def grade_of(account: ResponseAccount, rules: EvictionRules, now_s: float) -> int:
    """0 if nothing is taken, 1 if it is taken slowly, 2 if it takes long, else 3."""
    progress = account.progress
    assert progress is not None
    progress.moved(now_s, account.connection.sent_bytes)
    bytes_per_s = progress.bytes_per_s(now_s)
    if bytes_per_s is None:
        return 2 if progress.on_s(now_s) >= OLD_S else 3
    if not bytes_per_s:
        return 0
    if bytes_per_s < rules.bytes_per_s_min * max(1.0, account.held_bytes / MIB):
        return 1
    return 2
