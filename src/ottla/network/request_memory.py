"""The bound on what all requests together may hold in memory (`queued.max.request.bytes`).

Counted are frames that arrive, frames that wait or are worked on, and large ones of requests that
wait for their answer. Small requests, which are served as they come, never hold any.

A frame that does not arrive in one piece asks for room before it is read on (`may_grow`):

ordinary  frames up to 1088 KiB, the usual limit of a batch and its request, get room for all of
          the frame at once. After that, reading on takes no memory, so they are never paused.
large     frames get room in steps that double. Together they may take half of the memory, so that
          ordinary ones have the rest. Incomplete large frames alone could fill their half, and
          then nobody would ever release any: so while no large one is complete, one of them, the
          one that lacks least, may go on beyond the bound until its frame is whole.

An eighth of the memory is kept for the connections of each standing (strangers, clients that were
sent a response, clients whose last request arrived promptly); the rest is for all of them.
Who has to wait is woken in the order of `waiting_readers.py`, with the room already counted. If
all who hold some wait for more, one of them goes on beyond the bound.

Room that a client takes and does not fill is taken back: `eviction.py` says from whom. That happens
while others wait, and when the memory is overfull by a quarter: what is read before the size of a
frame is known is not stopped by the bound.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ottla.network.eviction import Holding, evictions
from ottla.network.progress import WINDOW_S, Progress
from ottla.network.settings import EvictionRules
from ottla.network.timeouts import Reason
from ottla.network.waiting_readers import Standing, WaitingReaders
from ottla.protocol.framing import PARTIAL_BYTES_MAX, WHOLE_BYTES_MAX

ORDINARY_BYTES_MAX = WHOLE_BYTES_MAX
LARGE_SHARE = 1 / 2
STANDING_SHARE = 1 / 8
OVERFULL_SHARE = 1 / 4


class Reader(Protocol):
    """The connection that an account belongs to."""

    def resume_after_memory(self) -> None: ...

    def evict(self, reason: Reason) -> None:
        """Close, and release what is held."""


class Account:
    """What one connection holds of the memory, and how its incomplete frame arrives."""

    __slots__ = (
        "address",
        "complete_bytes",
        "counted_as",
        "frame_bytes",
        "growth_bytes",
        "held_bytes",
        "is_large",
        "progress",
        "reader",
        "reserved_bytes",
        "standing",
        "stuck_since_s",
        "used_bytes",
        "waits_since_s",
    )

    def __init__(self, reader: Reader, address: str) -> None:
        self.reader = reader
        self.address = address
        self.used_bytes = 0  # by frames
        self.reserved_bytes = 0  # what they may use
        self.held_bytes = 0  # the larger of both, as the memory counts it
        self.complete_bytes = 0  # of these, in frames that are whole
        self.frame_bytes = 0  # of the incomplete frame, as it was announced
        self.is_large = False
        self.standing = self.counted_as = Standing.STRANGER
        self.growth_bytes = 0  # what it waits for
        self.waits_since_s: float | None = None
        self.stuck_since_s: float | None = None  # whole frames wait for what the client must do
        self.progress: Progress | None = None  # of the incomplete frame


class RequestMemory:
    def __init__(self, bytes_max: int, rules: EvictionRules | None = None) -> None:
        self.bytes_max = bytes_max
        self.rules = rules or EvictionRules()
        self.held_bytes = 0
        self.is_tight = False  # some get no room: little is read before a frame has asked
        self.overfull: Callable[[], None] = lambda: None  # called when it is; then `evict` is due
        self._large_bytes = 0  # held by those with a large frame
        self._large_complete_bytes = 0
        self._accounts: dict[Account, None] = {}  # that hold some
        self._ordinary: WaitingReaders[Account] = WaitingReaders()
        self._large: dict[Account, None] = {}  # who waits
        self._favoured: Account | None = None
        self._large_bytes_max = int(bytes_max * LARGE_SHARE)
        self._standing_bytes = [0] * len(Standing)  # held by those of each
        self._kept_bytes = int(bytes_max * STANDING_SHARE)  # for those of each
        self._common_bytes_max = bytes_max - len(Standing) * self._kept_bytes
        self._has_common_room = True
        self._is_evicting = False
        self._overfull_bytes = bytes_max + int(bytes_max * OVERFULL_SHARE)

    @property
    def stopped_readers(self) -> int:
        return len(self._ordinary) + len(self._large)

    def change(self, account: Account, used: int, complete: int, frame: int) -> None:
        """The connection's frames use so much now. Of this, `complete` is in whole frames; the
        incomplete one, if any, was announced with `frame` bytes."""
        before = account.held_bytes
        was_large, complete_before = account.is_large, account.complete_bytes
        account.used_bytes, account.complete_bytes, account.frame_bytes = used, complete, frame
        if not frame:
            account.reserved_bytes = 0
        elif complete < complete_before:  # what was granted included the whole frames of then
            account.reserved_bytes = max(0, account.reserved_bytes - (complete_before - complete))
        account.held_bytes = held = max(used, account.reserved_bytes)
        account.is_large = max(frame, complete) > ORDINARY_BYTES_MAX
        if was_large or account.is_large:
            more = complete * account.is_large - complete_before * was_large
            self._large_complete_bytes += more
        if not before:
            account.counted_as = account.standing  # for as long as it holds some
        self._standing_bytes[account.counted_as] += held - before
        if held and not before:
            self._accounts[account] = None
        elif before and not held:
            del self._accounts[account]
        self._count(held - before, held * account.is_large - before * was_large)
        if (held < before or complete < complete_before) and self.stopped_readers:
            self._wake()
        if self.held_bytes >= self._overfull_bytes:
            self.overfull()

    def may_grow(self, account: Account, growth: int, now_s: float) -> bool:
        """Whether the incomplete frame may take so much more; if not, it is woken when it may."""
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
            self._favour_one()
            return self._favoured is account
        self._ordinary.add(account, account.address, account.counted_as)
        self._unlock()
        return account not in self._ordinary

    def leave(self, account: Account) -> None:
        """The incomplete frame is whole, or gone."""
        self._ordinary.remove(account)
        self._large.pop(account, None)
        account.waits_since_s = None
        account.growth_bytes = 0
        if account is self._favoured:
            self._favoured = None
            self._wake()

    def arrived_whole(self, account: Account, now_s: float) -> None:
        """A frame that was incomplete is whole."""
        if account.progress is not None:
            if account.frame_bytes > PARTIAL_BYTES_MAX:
                is_prompt = account.progress.on_s(now_s) <= WINDOW_S
                account.standing = Standing.PROMPT if is_prompt else Standing.STRANGER
            account.progress = None

    def evict(self, now_s: float) -> int:
        """Close those whose room others need; how many."""
        if not self.stopped_readers and self.held_bytes < self._overfull_bytes:
            return 0
        holding = Holding(
            list(self._accounts),
            self._ordinary.items(),
            list(self._large),
            self.bytes_max,
            self._large_bytes_max,
            is_overfull=self.held_bytes >= self._overfull_bytes,
        )
        chosen = evictions(holding, self.rules, now_s)
        self._is_evicting = True
        try:
            for account, reason in chosen:
                account.reader.evict(reason)
        finally:
            self._is_evicting = False
        self._wake()
        return len(chosen)

    def _has_room(self, account: Account) -> bool:
        if account is self._favoured:
            return True
        if account.is_large and self._large_bytes >= self._large_bytes_max:
            return False
        return self._has_room_for(account.counted_as)

    def _has_room_for(self, standing: Standing) -> bool:
        return self._has_common_room or self._standing_bytes[standing] < self._kept_bytes

    def _reserve(self, account: Account) -> None:
        account.waits_since_s = None
        account.reserved_bytes = account.used_bytes + account.growth_bytes
        more = max(0, account.reserved_bytes - account.held_bytes)
        account.held_bytes += more
        self._standing_bytes[account.counted_as] += more
        self._accounts[account] = None
        self._count(more, more * account.is_large)

    def _count(self, more: int, more_large: int) -> None:
        self.held_bytes += more
        self._large_bytes += more_large
        kept = self._kept_bytes
        common = sum([held - kept for held in self._standing_bytes if held > kept])
        self._has_common_room = common < self._common_bytes_max
        self.is_tight = not self._has_common_room or self._large_bytes >= self._large_bytes_max

    def _wake(self) -> None:
        if self._is_evicting:
            return  # when all are closed, the room is given out fairly
        while self._ordinary:
            standings = [each for each in Standing if self._has_room_for(each)]
            if (account := self._ordinary.take(standings)) is None:
                break
            self._grant(account)
        while self._large and (account := self._next_large()) is not None:
            del self._large[account]
            self._grant(account)
        self._favour_one()
        self._unlock()

    def _unlock(self) -> None:
        """If all that hold some wait, nobody would release any: one goes on beyond the bound."""
        if self._ordinary and len(self._accounts) <= self.stopped_readers:
            account = self._ordinary.take()
            assert account is not None
            self._grant(account)

    def _next_large(self) -> Account | None:
        """Who came first, of those that have room."""
        return next((each for each in self._large if self._has_room(each)), None)

    def _favour_one(self) -> None:
        if self._large and self._favoured is None and not self._large_complete_bytes:
            self._favoured = account = min(self._large, key=lacking_bytes)
            del self._large[account]
            self._grant(account)

    def _grant(self, account: Account) -> None:
        self._reserve(account)
        account.reader.resume_after_memory()


def lacking_bytes(account: Account) -> int:
    return account.frame_bytes - (account.used_bytes - account.complete_bytes)
