"""Timeouts of open transactions, and expiration of unused transactional ids.

Promises  a failure with one transactional id does not affect the others.
Leaves    the rules to `ending.py` and `transaction.py`, writing to the coordinator.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection

from ottla.base.clock import Clock
from ottla.base.log_messages.log_text import shown
from ottla.base.scheduling.pacing import repeat
from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.config.broker_options import BrokerConfig
from ottla.coordinators.runtime import Runtime
from ottla.coordinators.shard import Status
from ottla.coordinators.transactions.record_types import tombstone_of
from ottla.coordinators.transactions.shard import LoadedShard, TransactionShard
from ottla.coordinators.transactions.transaction import Transaction
from ottla.protocol.errors import BrokerError

log = logging.getLogger(__name__)

TOMBSTONES_MAX = 25  # per batch: an id may have 32 KiB


class TransactionExpiration:
    def __init__(
        self,
        runtime: Runtime[TransactionShard],
        config: BrokerConfig,
        clock: Clock,
        scheduler: StepScheduler,
        find: Callable[[str], Awaitable[tuple[LoadedShard, Transaction | None]]],
        fence: Callable[[LoadedShard, Transaction], object],
    ) -> None:
        self._runtime = runtime
        self._config = config
        self._clock = clock
        self._scheduler = scheduler
        self._find = find
        self._fence = fence

    async def run(self) -> None:
        """Abort and expire transactions, until cancelled."""
        config = self._config
        abort_ms = config.transaction_abort_timed_out_transaction_cleanup_interval_ms
        delete_ms = config.transaction_remove_expired_transaction_cleanup_interval_ms
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(repeat(self.abort_timed_out, lambda: abort_ms), name="timeouts")
            tasks.create_task(repeat(self.delete_expired, lambda: delete_ms), name="expiration")

    async def abort_timed_out(self) -> None:
        """Abort transactions that are open for longer than their timeout."""
        for shard in list(self._runtime.active_shards()):
            for each in await self._scheduler.run(shard.state.timed_out(self._clock.now_ms())):
                await self._scheduler.next()  # ending one takes a task and a batch
                try:
                    _, current = await self._find(each.transactional_id)
                    if current is each:
                        log.info("transactional id %s: timed out", shown(each.transactional_id))
                        self._fence(shard, each)
                except BrokerError as error:
                    log.warning("%s is not aborted yet: %s", shown(each.transactional_id), error)
                except Exception:  # a damaged log, or a bug: the others are still aborted
                    log.exception("%s is not aborted yet", shown(each.transactional_id))

    async def delete_expired(self) -> None:
        """Delete transactional ids that were unused for the expiration time."""
        expiration_ms = self._config.transactional_id_expiration_ms
        for shard in list(self._runtime.active_shards()):
            now_ms, state = self._clock.now_ms(), shard.state
            expired = await self._scheduler.run(state.expired(now_ms, expiration_ms))
            for at in range(0, len(expired), TOMBSTONES_MAX):
                if shard.status is not Status.ACTIVE:
                    break
                some = [each.transactional_id for each in expired[at : at + TOMBSTONES_MAX]]
                # An id may have been used again since the last slice.
                still = [each for each in some if state.is_expired(each, now_ms, expiration_ms)]
                self._delete(shard, still)
                await self._scheduler.next()

    def _delete(self, shard: LoadedShard, transactional_ids: Collection[str]) -> None:
        records = [tombstone_of(each) for each in transactional_ids]
        try:
            self._runtime.write(shard, records)
        except BrokerError as error:
            log.warning(
                "%s: expired transactional ids are not deleted: %s", shard.partition.name, error
            )
