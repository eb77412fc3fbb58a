"""Changes of the in-sync replicas of partitions that this broker leads.

Owns      which partitions may need a change, and the request to the controller: one at a time, with
          all changes that are due.
Promises  a change whose outcome is not known is requested again, unchanged, until the metadata has
          a newer state of the partition.
Leaves    the rules to `partition_state.py`, the decision to the controller; the result arrives with
          the metadata, as for every other broker.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import NamedTuple

from ottla.base.clock import Clock, monotonic_ms
from ottla.base.log_messages.sparse_log import SparseLog
from ottla.metadata.image import Image
from ottla.metadata.records import RECOVERED
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.alter_partition_request import BrokerState, PartitionData, TopicData
from ottla.protocol.messages.alter_partition_response import AlterPartitionResponse
from ottla.replication.partition import Partition
from ottla.replication.partition_state import UNKNOWN_EPOCH, LeaderState

log = logging.getLogger(__name__)

Send = Callable[[list[TopicData]], Awaitable[AlterPartitionResponse]]
RETRY_S = 0.1
CHECK_MS_MAX = 1000  # between looks for followers that lag
CHECKED_AT_ONCE = 200
# The metadata has a newer state, which has not arrived here yet.
OVERTAKEN = (
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.INVALID_UPDATE_VERSION,
    ErrorCode.NEW_LEADER_ELECTED,
)


class _Requested(NamedTuple):
    """A partition in a request, and what it is to be changed to."""

    partition: Partition
    state: LeaderState
    in_sync: frozenset[int]


class InSyncChanges:
    def __init__(
        self,
        image: Image,
        send: Send,
        lag_ms_max: Callable[[], int],
        clock: Clock,
    ) -> None:
        self._image = image
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
        """Until cancelled."""
        while True:
            await self._has_due.wait()
            self._has_due.clear()
            due, self._due = self._due, {}
            requested = [each for partition in due if (each := self._decide(partition)) is not None]
            if requested:
                await self._request(requested)

    def _decide(self, partition: Partition) -> _Requested | None:
        state = partition.leader_state
        if state is None:
            return None
        if state.requested is not None:  # its outcome is not known
            return _Requested(partition, state, state.requested)
        in_sync = self._wanted(partition, state)
        if in_sync == state.in_sync_replicas and not partition.leadership.is_recovering:
            return None
        state.request(in_sync)
        return _Requested(partition, state, in_sync)

    def _wanted(self, partition: Partition, state: LeaderState) -> frozenset[int]:
        now_ms, lag_ms_max = monotonic_ms(self._clock), self._lag_ms_max()
        lagging = state.lagging(partition.log.log_end_offset, now_ms, lag_ms_max)
        high_watermark = partition.log.high_watermark
        joining = {
            each
            for each in state.followers
            if state.may_rejoin(each, high_watermark) and self._is_eligible(each, state)
        }
        return frozenset(state.in_sync_replicas - lagging | joining)

    def _is_eligible(self, broker_id: int, state: LeaderState) -> bool:
        """Whether the process that has fetched is registered and active."""
        broker = self._image.broker(broker_id)
        epoch = state.followers[broker_id].broker_epoch
        return broker is not None and broker.is_active and broker.epoch == epoch

    async def _request(self, requested: list[_Requested]) -> None:
        try:
            response = await self._send(_topics(requested))
        except BrokerError as error:
            self._failures.write(
                self._clock.monotonic_s(), "in-sync replicas are not changed yet: %s", error
            )
            await asyncio.sleep(RETRY_S)
            for each in requested:
                self.check(each.partition)
            return
        asked = {_key(each.partition): each for each in requested}
        for topic in response.topics:
            for answer in topic.partitions:
                found = asked.get((topic.topic_id, answer.partition_index))
                if found is not None:
                    self._note(found, ErrorCode(answer.error_code), answer.partition_epoch)

    def _note(self, requested: _Requested, code: ErrorCode, partition_epoch: int) -> None:
        """After success, or if it was overtaken, the state arrives with the metadata; unless the
        controller had nothing to change."""
        leadership = requested.partition.leadership
        is_coming = code == ErrorCode.NONE and partition_epoch > leadership.partition_epoch
        if is_coming or code in OVERTAKEN:
            return
        if code != ErrorCode.NONE:
            name = requested.partition.name
            log.info("%s: the in-sync replicas stay as they are: %s", name, code.name)
        if requested.state.requested == requested.in_sync:
            requested.state.refused()
            requested.partition.advance()

    # Followers that lag, and those that were not registered yet when they had caught up

    def brokers_changed(self) -> None:
        """A broker may have been unfenced: its replicas can be in sync now."""
        self._is_early.set()

    async def watch(self, led: Callable[[], Iterable[Partition]]) -> None:
        """Until cancelled: look at the partitions, some at a time."""
        while True:
            await self._interval()
            partitions = [each for each in led() if each.leader_state is not None]
            for number, partition in enumerate(partitions, 1):
                self._look_at(partition)
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

    def _look_at(self, partition: Partition) -> None:
        state = partition.leader_state
        if state is None or not state.followers:
            return
        end_offset = partition.log.log_end_offset
        state.note_caught_up(end_offset, monotonic_ms(self._clock))
        if state.requested is None and self._wanted(partition, state) != state.in_sync_replicas:
            self.check(partition)


def _key(partition: Partition) -> tuple[bytes, int]:
    return partition.topic_id, partition.name.partition


def _topics(requested: list[_Requested]) -> list[TopicData]:
    topics: dict[bytes, list[PartitionData]] = {}
    for partition, state, in_sync in requested:
        leadership = partition.leadership
        topics.setdefault(partition.topic_id, []).append(
            PartitionData(
                partition.name.partition,
                leadership.leader_epoch,
                (),  # without epochs, in older versions
                [_with_epoch(each, state) for each in sorted(in_sync)],
                RECOVERED,
                leadership.partition_epoch,
            )
        )
    return [TopicData(topic_id, parts) for topic_id, parts in topics.items()]


def _with_epoch(broker_id: int, state: LeaderState) -> BrokerState:
    """The leader itself, and replicas that have not fetched yet, are in sync in any epoch."""
    progress = state.followers.get(broker_id)
    return BrokerState(broker_id, UNKNOWN_EPOCH if progress is None else progress.broker_epoch)
