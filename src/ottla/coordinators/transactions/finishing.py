"""Completes transactions whose end was decided: writes markers, then the final state.

Owns      one task per ending transaction, for whose end the producer's next request may wait.
Promises  nothing is sent before the decision is replicated, and thus final. If this coordinator
          cannot complete it, the next one does, from the same record; until then this one retries,
          whatever the disk error is.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial

from ottla.base.fault_points import FaultPoint, reach
from ottla.base.log_messages.log_text import shown
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.coordinators.shard import Status
from ottla.coordinators.transactions.ending import decide_complete
from ottla.coordinators.transactions.markers import Marker, MarkerSender
from ottla.coordinators.transactions.shard import LoadedShard
from ottla.coordinators.transactions.transaction import Transaction
from ottla.protocol.errors import BrokerError

log = logging.getLogger(__name__)

Write = Callable[[LoadedShard, Transaction], int]
RETRY_S = 0.5  # after a record could not be written


class Finisher:
    def __init__(
        self, markers: MarkerSender, write: Write, now_ms: Callable[[], int], tasks: OwnedTasks
    ) -> None:
        self._markers = markers
        self._write = write
        self._now_ms = now_ms
        self._tasks = tasks
        self._ending: dict[str, asyncio.Task[None]] = {}  # by transactional id

    def begin(self, shard: LoadedShard, ending: Transaction, end_offset: int) -> None:
        """`end_offset` is that of the decision's record."""
        transactional_id = ending.transactional_id
        name = f"end transaction of {transactional_id}"
        task = self._tasks.start(self._finish(shard, ending, end_offset), name=name)
        self._ending[transactional_id] = task
        task.add_done_callback(partial(self._forget, transactional_id))

    def _forget(self, transactional_id: str, ended: asyncio.Task[None]) -> None:
        if self._ending.get(transactional_id) is ended:  # not that of a shard loaded since
            del self._ending[transactional_id]

    async def wait(self, transactional_id: str, timeout_s: float) -> None:
        """Return when the last transaction of the id has ended, or after the timeout."""
        if (task := self._ending.get(transactional_id)) is not None:
            await asyncio.wait((task,), timeout=timeout_s)

    async def _finish(self, shard: LoadedShard, ending: Transaction, end_offset: int) -> None:
        try:
            await self._decided(shard, end_offset)
            await self._markers.send(
                marker_of(ending, shard.leader_epoch),
                ending.partitions,
                lambda: shard.status is Status.ACTIVE,
            )
            reach(FaultPoint.ALL_MARKERS_WRITTEN)
            await self._write_complete(shard, ending.transactional_id)
            reach(FaultPoint.COMPLETE_LOGGED)
        except BrokerError as error:
            log.info(
                "transactional id %s is ended elsewhere: %s", shown(ending.transactional_id), error
            )

    async def _decided(self, shard: LoadedShard, end_offset: int) -> None:
        while True:
            try:
                await shard.replicated(end_offset)
                return
            except BrokerError:
                if shard.status is not Status.ACTIVE:
                    raise
            await asyncio.sleep(RETRY_S)

    async def _write_complete(self, shard: LoadedShard, transactional_id: str) -> None:
        while True:
            ending = shard.state.transactions[transactional_id]
            try:
                self._write(shard, decide_complete(ending, self._now_ms()))
                return
            except BrokerError as error:
                if shard.status is not Status.ACTIVE:
                    raise
                log.info(
                    "transactional id %s is not completed yet: %s", shown(transactional_id), error
                )
            await asyncio.sleep(RETRY_S)


def marker_of(ending: Transaction, coordinator_epoch: int) -> Marker:
    return Marker(
        ending.producer_id,
        ending.epoch,
        ending.is_commit,
        coordinator_epoch,
        ending.client_version,
    )
