"""Waiting until all living replicas have deleted what a DeleteRecords request names.

Promises  one future and one deadline for each request. When the wait ends, or its client has
          disconnected, nothing of it remains at a partition.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from ottla.base.scheduling.loop_timers import LoopTimers
from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import Steps
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.delete_records_response import DeleteRecordsPartitionResult
from ottla.replication.low_watermarks import LowWatermarks
from ottla.replication.offset_waiters import OffsetWaiter
from ottla.replication.partition import Partition

UNKNOWN = -1


class DeletedRecords(NamedTuple):
    """Records that the leader has deleted, and the result that is to be completed."""

    partition: Partition
    before: int
    result: DeleteRecordsPartitionResult


class ReplicatedDeletion:
    def __init__(
        self, low_watermarks: LowWatermarks, timers: LoopTimers, scheduler: StepScheduler
    ) -> None:
        self._low_watermarks = low_watermarks
        self._timers = timers
        self._scheduler = scheduler
        self._waiters: list[tuple[Partition, OffsetWaiter]] = []
        self._left = 0
        self._has_registered = False
        self._known: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def wait(self, deleted: Iterable[DeletedRecords], timeout_ms: int) -> None:
        """Note the outcomes in the results; REQUEST_TIMED_OUT where a replica has not reported."""
        waiting = [each for each in deleted if each.result.error_code == ErrorCode.NONE]
        self._timers.start(self, max(0, timeout_ms))
        try:
            await self._scheduler.run(self._registering(waiting))
            await self._known
        finally:
            self._timers.cancel(self)
            self._scheduler.start(self._leaving())

    def _registering(self, waiting: list[DeletedRecords]) -> Steps[None]:
        self._left = len(waiting)
        for each in waiting:
            each.result.error_code = ErrorCode.REQUEST_TIMED_OUT
            waiter = self._low_watermarks.wait(
                each.partition, each.before, partial(self._note, each)
            )
            if waiter.done is not None:
                self._waiters.append((each.partition, waiter))
            yield 0
        self._has_registered = True
        self._end_if_known()

    def _leaving(self) -> Steps[None]:
        while self._waiters:
            self._low_watermarks.stop_waiting(*self._waiters.pop())
            yield 0

    def _note(self, deleted: DeletedRecords, error: Exception | None) -> None:
        result = deleted.result
        if self._known.done():
            return  # the response has been built
        if isinstance(error, BrokerError):
            result.low_watermark, result.error_code = UNKNOWN, error.code
        else:
            result.low_watermark = self._low_watermarks.of(deleted.partition)
            result.error_code = ErrorCode.NONE
        self._left -= 1
        self._end_if_known()

    def _end_if_known(self) -> None:
        if self._has_registered and not self._left:
            self.expire()

    def expire(self) -> None:
        """All are known, or the time is up."""
        if not self._known.done():
            self._known.set_result(None)
