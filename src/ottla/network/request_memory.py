"""The bound on what all requests together hold in memory (`queued.max.request.bytes`).

Counted are frames that arrive, frames that wait or are in progress, and large frames of requests
that wait for their response. Small requests that are served when they arrive are never counted.

A frame that does not arrive in one read needs memory before it is read further (`may_grow`):

ordinary  frames up to 1088 KiB, the usual limit of a batch and its request, get memory for all of
          the frame at once. After that, reading takes no memory, so they are never paused.
large     frames get memory in steps that double. Together they may take half of the memory; the
          rest is for ordinary ones. If incomplete large frames filled their half, none of them
          could complete and release any: so while no large frame is complete, one of them, the
          one that lacks least, may exceed the bound until it is complete. What it takes by this
          exemption neither reduces the room of others nor makes the memory overfull.

An eighth of the memory is reserved for the connections of each reputation (clients that were never
sent a response, clients that were, clients whose last request arrived promptly); the rest is for
all of them. Waiting connections are resumed in the order of `memory_queue.py`, with their memory
already counted. If all connections that hold memory wait for more, one of them exceeds the bound.

Memory that a client reserves and does not fill is taken back: `request_eviction.py` chooses the
connections to close. That happens while others wait, and when the memory is overfull by a quarter:
the bound does not stop what is read before the size of a frame is known.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from ottla.network.eviction import EVICTED_AT_ONCE, MemoryHolder
from ottla.network.memory_queue import MemoryQueue, Reputation
from ottla.network.request_eviction import MemoryState, request_evictions
from ottla.network.settings import EvictionRules
from ottla.network.timeouts import Reason
from ottla.network.transfer_rate import WINDOW_S, TransferRate
from ottla.protocol.framing import PARTIAL_BYTES_MAX, WHOLE_BYTES_MAX

ORDINARY_BYTES_MAX = WHOLE_BYTES_MAX
LARGE_SHARE = 1 / 2
REPUTATION_SHARE = 1 / 8
OVERFULL_SHARE = 1 / 4


class RequestAccount:
    """The request memory of one connection, and the rate at which its incomplete frame arrives."""

    __slots__ = (
        "address",
        "complete_bytes",
        "counted_as",
        "frame_bytes",
        "growth_bytes",
        "held_bytes",
        "holder",
        "is_large",
        "rate",
        "reputation",
        "reserved_bytes",
        "stalled_since_s",
        "used_bytes",
        "waits_since_s",
    )

    def __init__(self, holder: MemoryHolder, address: str) -> None:
        self.holder = holder
        self.address = address
        self.used_bytes = 0  # by frames
        self.reserved_bytes = 0  # what they may use
        self.held_bytes = 0  # the larger of both: what the memory counts
        self.complete_bytes = 0  # of the used bytes, in complete frames
        self.frame_bytes = 0  # of the incomplete frame, as announced
        self.is_large = False
        self.reputation = self.counted_as = Reputation.UNKNOWN
        self.growth_bytes = 0  # what it waits for
        self.waits_since_s: float | None = None
        self.stalled_since_s: float | None = None  # complete frames wait for the client
        self.rate: TransferRate | None = None  # of the incomplete frame


class RequestMemory:
    def __init__(self, bytes_max: int, rules: EvictionRules | None = None) -> None:
        self.bytes_max = bytes_max
        self.rules = rules or EvictionRules()
        self.held_bytes = 0
        self.is_tight = False  # some get no memory: reads without a reservation are small
        self._on_overfull: Callable[[], None] = lambda: None
        self._large_bytes = 0  # held by connections with a large frame
        self._large_complete_bytes = 0
        self.exempt_excess_bytes = 0  # held by `_oversized` beyond `_oversized_from_bytes`
        self._accounts: dict[RequestAccount, None] = {}  # that hold memory
        self._ordinary: MemoryQueue[RequestAccount] = MemoryQueue()  # waiting
        self._large: dict[RequestAccount, None] = {}  # waiting
        self._exempt: RequestAccount | None = None  # a large frame that may exceed the bound
        self._oversized: RequestAccount | None = None  # the same, until it is released
        self._oversized_from_bytes = 0  # what it held before
        self._large_bytes_max = int(bytes_max * LARGE_SHARE)
        self._reputation_bytes = [0] * len(Reputation)  # held by connections of each
        self._kept_bytes = int(bytes_max * REPUTATION_SHARE)  # reserved for each
        self._common_bytes_max = bytes_max - len(Reputation) * self._kept_bytes
        self._has_common_room = True
        self._is_evicting = False
        self._chosen: deque[tuple[RequestAccount, Reason]] = deque()  # to be evicted
        self._overfull_bytes = bytes_max + int(bytes_max * OVERFULL_SHARE)

    @property
    def waiting(self) -> int:
        return len(self._ordinary) + len(self._large)

    def when_overfull(self, call: Callable[[], None]) -> None:
        """`call` must lead to a call of `evict`."""
        self._on_overfull = call

    @property
    def is_overfull(self) -> bool:
        return self.held_bytes - self.exempt_excess_bytes >= self._overfull_bytes

    def change(self, account: RequestAccount, used: int, complete: int, frame: int) -> None:
        """The connection's frames use `used` bytes now, `complete` of them in complete frames; the
        incomplete one, if any, was announced with `frame` bytes."""
        before = account.held_bytes
        was_large, complete_before = account.is_large, account.complete_bytes
        account.used_bytes, account.complete_bytes, account.frame_bytes = used, complete, frame
        if not frame:
            account.reserved_bytes = 0
        elif complete < complete_before:  # the reservation included them
            account.reserved_bytes = max(0, account.reserved_bytes - (complete_before - complete))
        account.held_bytes = held = max(used, account.reserved_bytes)
        account.is_large = max(frame, complete) > ORDINARY_BYTES_MAX
        if was_large or account.is_large:
            more = complete * account.is_large - complete_before * was_large
            self._large_complete_bytes += more
        if not before:
            account.counted_as = account.reputation  # for as long as it holds memory
        self._reputation_bytes[account.counted_as] += held - before
        if held and not before:
            self._accounts[account] = None
        elif before and not held:
            del self._accounts[account]
        self._count(held - before, held * account.is_large - before * was_large)
        if (held < before or complete < complete_before) and self.waiting:
            self._wake()
        if self.is_overfull:
            self._on_overfull()

    def may_grow(self, account: RequestAccount, growth: int, now_s: float) -> bool:
        """Whether the incomplete frame may take `growth` bytes more; if not, its connection is
        resumed when it may."""
        if account.used_bytes + growth <= account.reserved_bytes:
            return True
        account.growth_bytes = growth
        if self._has_room(account):
            self._reserve(account)
            return True
        if account.waits_since_s is None:
            account.waits_since_s = now_s
        if account.is_large:
            self._large[account] = None
            self._exempt_one()
            return self._exempt is account
        self._ordinary.add(account, account.address, account.counted_as)
        self._resolve_deadlock()
        return account not in self._ordinary

    def leave(self, account: RequestAccount) -> None:
        """The incomplete frame is complete, or dropped: stop waiting."""
        self._ordinary.remove(account)
        self._large.pop(account, None)
        account.waits_since_s = None
        account.growth_bytes = 0
        if account is self._exempt:
            self._exempt = None
            self._wake()

    def frame_completed(self, account: RequestAccount, now_s: float) -> None:
        """A frame that was incomplete is complete."""
        if account.rate is not None:
            if account.frame_bytes > PARTIAL_BYTES_MAX:
                is_prompt = account.rate.active_s(now_s) <= WINDOW_S
                account.reputation = Reputation.PROMPT if is_prompt else Reputation.UNKNOWN
            account.rate = None

    @property
    def is_evicting(self) -> bool:
        """Whether connections were chosen that are still to be closed: `evict` must be called
        again."""
        return bool(self._chosen)

    def evict(self, now_s: float) -> int:
        """Close connections whose memory others need, some at a time; return how many."""
        if not self._chosen:
            self._choose(now_s)
        return self._evict_some() if self._chosen else 0

    def _choose(self, now_s: float) -> None:
        is_overfull = self.is_overfull
        if not self.waiting and not is_overfull:
            return
        state = MemoryState(
            list(self._accounts),
            self._ordinary.items(),
            list(self._large),
            self.bytes_max,
            self._large_bytes_max,
            self.exempt_excess_bytes,
            is_overfull=is_overfull,
        )
        self._chosen.extend(request_evictions(state, self.rules, now_s))

    def _evict_some(self) -> int:
        count = 0
        self._is_evicting = True
        try:
            while self._chosen and count < EVICTED_AT_ONCE:
                account, reason = self._chosen.popleft()
                if account.held_bytes:  # otherwise it was released since
                    account.holder.evict(reason)
                    count += 1
        finally:
            self._is_evicting = False
        self._wake()
        return count

    def _has_room(self, account: RequestAccount) -> bool:
        if account is self._exempt:
            return True
        if account.is_large and self._large_bytes >= self._large_bytes_max:
            return False
        return self._has_room_for(account.counted_as)

    def _has_room_for(self, reputation: Reputation) -> bool:
        return self._has_common_room or self._reputation_bytes[reputation] < self._kept_bytes

    def _reserve(self, account: RequestAccount) -> None:
        account.waits_since_s = None
        account.reserved_bytes = account.used_bytes + account.growth_bytes
        more = max(0, account.reserved_bytes - account.held_bytes)
        account.held_bytes += more
        self._reputation_bytes[account.counted_as] += more
        self._accounts[account] = None
        self._count(more, more * account.is_large)

    def _count(self, more: int, more_large: int) -> None:
        self.held_bytes += more
        self._large_bytes += more_large
        if self._oversized is not None:
            self._update_exempt_excess(self._oversized)
        kept = self._kept_bytes
        common = sum([held - kept for held in self._reputation_bytes if held > kept])
        self._has_common_room = common - self.exempt_excess_bytes < self._common_bytes_max
        self.is_tight = not self._has_common_room or self._large_bytes >= self._large_bytes_max

    def _update_exempt_excess(self, oversized: RequestAccount) -> None:
        if oversized.is_large:
            excess_bytes = oversized.held_bytes - self._oversized_from_bytes
            self.exempt_excess_bytes = max(0, excess_bytes)
        else:
            self.exempt_excess_bytes = 0
            self._oversized = None

    def _wake(self) -> None:
        if self._is_evicting:
            return  # the queue is served after the last one is closed
        while self._ordinary:
            allowed = [each for each in Reputation if self._has_room_for(each)]
            if (account := self._ordinary.take(allowed)) is None:
                break
            self._grant(account)
        while self._large and (account := self._next_large()) is not None:
            del self._large[account]
            self._grant(account)
        self._exempt_one()
        self._resolve_deadlock()

    def _resolve_deadlock(self) -> None:
        """If all connections that hold memory wait, none releases any: one may exceed the bound."""
        if self._ordinary and len(self._accounts) <= self.waiting:
            account = self._ordinary.take()
            assert account is not None
            self._grant(account)

    def _next_large(self) -> RequestAccount | None:
        """The first that may grow."""
        return next((each for each in self._large if self._has_room(each)), None)

    def _exempt_one(self) -> None:
        if self._large and self._exempt is None and not self._large_complete_bytes:
            self._exempt = self._oversized = account = min(self._large, key=lacking_bytes)
            self._oversized_from_bytes = account.held_bytes
            del self._large[account]
            self._grant(account)

    def _grant(self, account: RequestAccount) -> None:
        self._reserve(account)
        account.holder.resume_after_memory()


def lacking_bytes(account: RequestAccount) -> int:
    return account.frame_bytes - (account.used_bytes - account.complete_bytes)
