"""Expires timers of groups, and committed offsets.

Promises  nothing runs while nothing is due. Many timers, groups and offsets are handled in slices.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from ottla.base.log_messages.log_text import shown
from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import Steps, run_blocking
from ottla.coordinators.groups.offset_expiry import expiring
from ottla.coordinators.groups.shard import GroupShard, LoadedShard
from ottla.coordinators.groups.shard_context import Deadline
from ottla.coordinators.runtime import Runtime
from ottla.protocol.errors import BrokerError

log = logging.getLogger(__name__)

RETRY_MS = 500  # after a record could not be written
RETRY_AFTER_BUG_MS = 30_000


class Expiration:
    def __init__(
        self, runtime: Runtime[GroupShard], tick_ms: Callable[[], int], scheduler: StepScheduler
    ) -> None:
        self._runtime = runtime
        self._tick_ms = tick_ms
        self._scheduler = scheduler
        self._sleeps_until: float = float("-inf")
        self._sooner = asyncio.Event()

    # Timers

    def timer_started(self, at_ms: int) -> None:
        """A timer expires at this time, which may be earlier than the current wake-up."""
        if at_ms < self._sleeps_until:
            self._sooner.set()

    async def run(self) -> None:
        while True:
            await self._scheduler.run_later(self._expiring_timers())
            self._sooner.clear()
            self._sleeps_until = self._next_ms()
            delay_ms = self._sleeps_until - self._tick_ms()
            try:
                async with asyncio.timeout(None if delay_ms == float("inf") else delay_ms / 1000):
                    await self._sooner.wait()
            except TimeoutError:
                pass
            self._sleeps_until = float("-inf")

    def expire_timers(self) -> None:
        """Handle the expired timers."""
        run_blocking(self._expiring_timers())

    def _expiring_timers(self) -> Steps[None]:
        for shard in list(self._runtime.active_shards()):
            timers = shard.state.context.timers
            while timers.is_due:
                if (deadline := timers.take_expired()) is not None:
                    self._expire(shard, deadline)
                yield 0

    def _expire(self, shard: LoadedShard, deadline: Deadline) -> None:
        try:
            self._runtime.step(shard, lambda state: state.expire(deadline))
        except BrokerError as error:
            log.warning("group %s: %s: %s", shown(deadline.group_id), deadline.waits.value, error)
            shard.state.context.timers.start_if_absent(deadline, RETRY_MS)
        except Exception:  # a bug affects one group, not the others
            log.exception("bug in group %s: %s", shown(deadline.group_id), deadline.waits.value)
            shard.state.context.timers.start_if_absent(deadline, RETRY_AFTER_BUG_MS)

    def _next_ms(self) -> float:
        times = (shard.state.context.timers.next_ms for shard in self._runtime.active_shards())
        return min((each for each in times if each is not None), default=float("inf"))

    # Offsets

    async def expire_offsets(self, retention_ms: int) -> None:
        """Delete expired offsets and empty groups."""
        await self._scheduler.run_later(self._expiring_offsets(retention_ms))

    def _expiring_offsets(self, retention_ms: int) -> Steps[None]:
        for shard in list(self._runtime.active_shards()):
            for group_id in shard.state.group_ids():
                yield from self._expiring_offsets_of(shard, group_id, retention_ms)
                yield 0

    def _expiring_offsets_of(
        self, shard: LoadedShard, group_id: str, retention_ms: int
    ) -> Steps[None]:
        state = shard.state
        try:
            yield from expiring(
                lambda: state.find(group_id),
                state.offsets,
                state.context.now_ms(),
                retention_ms,
                lambda records: self._runtime.write(shard, records),
            )
        except Exception as error:
            is_bug = not isinstance(error, BrokerError)
            log.warning(
                "group %s: old offsets stay for now: %s", shown(group_id), error, exc_info=is_bug
            )
