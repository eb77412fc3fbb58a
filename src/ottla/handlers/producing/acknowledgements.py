"""What a Produce request waits for after its appends: one counter, and one deadline.

Promises  waiting needs neither a task nor a future. When it ends, or its client disconnects,
          nothing of it remains: no deadline, and no waiter at a partition. A log that is being
          synced keeps a callback until the sync ends.
Leaves    what the outcomes mean to `operation.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from ottla.base.scheduling.loop_timers import LoopTimers
from ottla.base.scheduling.steps import Steps
from ottla.protocol.messages.produce_response import PartitionProduceResponse
from ottla.replication.offset_waiters import OffsetWaiter
from ottla.replication.partition import Partition

UNREGISTERED_AT_ONCE = 100  # partitions


class Unreplicated(NamedTuple):
    """An append that is not acknowledged yet."""

    partition: Partition
    end_offset: int
    leader_epoch: int
    answer: PartitionProduceResponse


class Acknowledgements:
    __slots__ = ("_appends", "_left", "_timers", "_waiters", "_when_known", "errors")

    def __init__(self, appends: list[Unreplicated], timers: LoopTimers) -> None:
        self._appends = appends
        self._left = len(appends)  # not known yet; 0 once it waits no longer
        self._timers = timers
        self._waiters: list[tuple[Partition, OffsetWaiter]] = []
        self._when_known: Callable[[], None] | None = None
        self.errors: dict[int, Exception | None] = {}  # of those that are known, by number

    def await_all(self, when_known: Callable[[], None], timeout_ms: int) -> None:
        """Call `when_known` once, when all that were registered are known, or the time is up."""
        self._when_known = when_known
        if self._left:
            self._timers.start(self, timeout_ms)
        else:
            self._end()

    def register(self, number: int, *, is_replicated: bool) -> None:
        """Wait for the append with this number: to be replicated, or to be synced here."""
        partition, end_offset, leader_epoch, _ = self._appends[number]
        done = partial(self._note, number)
        if is_replicated:
            waiter = partition.when_replicated(end_offset, done, leader_epoch)
            if waiter is not None:
                self._waiters.append((partition, waiter))
        else:
            partition.when_synced(end_offset, done, leader_epoch)

    def expire(self) -> None:
        """The time is up. What comes later is not noted."""
        self._end()

    def leave(self) -> None:
        """Wait no longer."""
        for _ in self.leaving():
            pass

    def leaving(self) -> Steps[None]:
        """As `leave`, for very many partitions."""
        self._left, self._when_known = 0, None
        self._timers.cancel(self)
        while self._waiters:
            for partition, waiter in self._waiters[-UNREGISTERED_AT_ONCE:]:
                partition.stop_waiting(waiter)
            del self._waiters[-UNREGISTERED_AT_ONCE:]
            yield 0

    def _note(self, number: int, error: Exception | None) -> None:
        if self._left:
            self.errors[number] = error
            self._left -= 1
            if not self._left:
                self._end()

    def _end(self) -> None:
        self._left = 0
        when_known, self._when_known = self._when_known, None
        if when_known is not None:
            when_known()
