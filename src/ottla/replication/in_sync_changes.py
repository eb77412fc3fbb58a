"""Changes of the in-sync replicas of partitions that this broker leads.

Owns      which partitions may need a change, and the request to the controller: one at a time, with
          all changes that are due.
Promises  a request that has failed is sent again.
Leaves    what is requested to `in_sync_requests.py`, the decision to the controller; the result
          arrives with the metadata, as for every other broker.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from ottla.base.clock import Clock
from ottla.base.log_messages.sparse_log import SparseLog
from ottla.metadata.image import Image
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.alter_partition_request import TopicData
from ottla.protocol.messages.alter_partition_response import AlterPartitionResponse
from ottla.replication.in_sync_requests import (
    InSyncRequests,
    Requested,
    note_answers,
    request_topics,
)
from ottla.replication.partition import Partition

log = logging.getLogger(__name__)

Send = Callable[[list[TopicData]], Awaitable[AlterPartitionResponse]]
RETRY_S = 0.1
CHECK_MS_MAX = 1000  # between looks for followers that lag
CHECKED_AT_ONCE = 200


class InSyncChanges:
    def __init__(
        self,
        image: Image,
        send: Send,
        lag_ms_max: Callable[[], int],
        clock: Clock,
    ) -> None:
        self._requests = InSyncRequests(image, lag_ms_max, clock)
        self._send = send
        self._lag_ms_max = lag_ms_max
        self._clock = clock
        self._due: dict[Partition, None] = {}
        self._has_due = asyncio.Event()
        self._is_early = asyncio.Event()
        self._failures = SparseLog(log, logging.WARNING)

    def check(self, partition: Partition) -> None:
        """A follower has caught up, or the partition has recovered."""
        self._due[partition] = None
        self._has_due.set()

    # Requests to the controller

    async def run(self) -> None:
        """Run until cancelled."""
        while True:
            await self._has_due.wait()
            self._has_due.clear()
            due, self._due = self._due, {}
            requested = [
                each for partition in due if (each := self._requests.decide(partition)) is not None
            ]
            if requested:
                await self._request(requested)

    async def _request(self, requested: list[Requested]) -> None:
        try:
            response = await self._send(request_topics(requested))
        except BrokerError as error:
            self._failures.write(
                self._clock.monotonic_s(), "in-sync replicas are not changed yet: %s", error
            )
            await asyncio.sleep(RETRY_S)
            for each in requested:
                self.check(each.partition)
            return
        note_answers(requested, response)

    # Followers that lag, and those that were not registered yet when they had caught up

    def brokers_changed(self) -> None:
        """A broker may have been unfenced: its replicas can be in sync now."""
        self._is_early.set()

    async def watch(self, led: Callable[[], Iterable[Partition]]) -> None:
        """Look at the partitions, some at a time, until cancelled."""
        while True:
            await self._interval()
            partitions = [each for each in led() if each.leader_state is not None]
            for number, partition in enumerate(partitions, 1):
                if self._requests.is_due(partition):
                    self.check(partition)
                if number % CHECKED_AT_ONCE == 0:
                    await asyncio.sleep(0)

    async def _interval(self) -> None:
        interval_ms = min(CHECK_MS_MAX, max(1, self._lag_ms_max() // 2))
        try:
            async with asyncio.timeout(interval_ms / 1000):
                await self._is_early.wait()
        except TimeoutError:
            pass
        self._is_early.clear()
