"""Writes markers to partitions that this broker leads, for its own coordinator or another's.

Promises  a successful result means that the marker is replicated and that waiting consumers were
          notified. All markers are appended before any is waited for.
Leaves    markers of `__consumer_offsets` to the group coordinator, whose state they change.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from inspect import isawaitable
from typing import Protocol

from ottla.base.fault_points import FaultPoint, reach
from ottla.base.scheduling.step_scheduler import StepScheduler, emptying
from ottla.base.scheduling.steps import Steps
from ottla.coordinators.batches import Writer
from ottla.metadata.topic_names import GROUP_OFFSETS
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.write_txn_markers_request import WritableTxnMarker
from ottla.protocol.messages.write_txn_markers_response import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
)
from ottla.protocol.records.control import EndMarker, build_end_marker
from ottla.replication.leader_role import ACKS_ALL
from ottla.replication.partition import Partition
from ottla.replication.replica_manager import ReplicaManager
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.append import ProducedBy
from ottla.storage.log.log import Log
from ottla.storage.producers.append_decisions import AppendOrigin

log = logging.getLogger(__name__)

WAITED_AT_ONCE = 100  # partitions, with one task each
Waiting = tuple[Awaitable[None], WritableTxnMarkerPartitionResult]

# A transaction coordinator expects error codes of partition leaders, not of group coordinators.
LEADER_ERRORS = {
    ErrorCode.COORDINATOR_NOT_AVAILABLE: ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.NOT_COORDINATOR: ErrorCode.NOT_LEADER_OR_FOLLOWER,
}


class GroupMarkers(Protocol):
    """The part of the group coordinator that is used here."""

    def end_transaction(
        self, partition: int, writer: Writer, marker: EndMarker, by: ProducedBy
    ) -> Awaitable[None] | None: ...


class MarkerWriter:
    """The marker channel to this broker itself."""

    def __init__(
        self,
        replicas: ReplicaManager,
        groups: GroupMarkers,
        now_ms: Callable[[], int],
        timeout_ms: int,
        scheduler: StepScheduler,
    ) -> None:
        self._replicas = replicas
        self._groups = groups
        self._now_ms = now_ms
        self._timeout_s = timeout_ms / 1000
        self._scheduler = scheduler

    async def write(self, markers: Sequence[WritableTxnMarker]) -> list[WritableTxnMarkerResult]:
        for unread in await self._scheduler.run(self._finding_unread(markers)):
            await self._load_producers(unread)
        waiting: list[Waiting] = []
        results = await self._scheduler.run(self._appending(markers, waiting))
        deadline_s = asyncio.get_running_loop().time() + self._timeout_s
        for start in range(0, len(waiting), WAITED_AT_ONCE):
            some = waiting[start : start + WAITED_AT_ONCE]
            await asyncio.gather(*(self._wait(*each, deadline_s) for each in some))
        return results

    async def _load_producers(self, unread: Log) -> None:
        """Errors of the log are reported by the append."""
        try:
            await self._scheduler.run(unread.producers.loading())
        except (BrokerError, CorruptLogError):
            pass

    def _finding_unread(self, markers: Sequence[WritableTxnMarker]) -> Steps[list[Log]]:
        """Logs whose producer state has to be loaded first, as after a start."""
        logs: dict[Log, None] = {}
        for marker in markers:
            for topic in marker.topics:
                yield 0
                for index in topic.partition_indexes:
                    yield 0
                    found = self._replicas.known_log(topic.name, index)
                    if found is not None and found.producers.must_be_read:
                        logs[found] = None
        return list(logs)

    def _appending(
        self, markers: Sequence[WritableTxnMarker], waiting: list[Waiting]
    ) -> Steps[list[WritableTxnMarkerResult]]:
        results = []
        for marker in markers:
            yield 0
            topics = yield from self._appending_one(marker, waiting)
            results.append(WritableTxnMarkerResult(marker.producer_id, topics))
        return results

    def _appending_one(
        self, marker: WritableTxnMarker, waiting: list[Waiting]
    ) -> Steps[list[WritableTxnMarkerTopicResult]]:
        """Append once to each partition, even if it occurs several times, as in Kafka."""
        named: set[tuple[str, int]] = set()
        topics: list[WritableTxnMarkerTopicResult] = []
        for topic in marker.topics:
            answers: list[WritableTxnMarkerPartitionResult] = []
            topics.append(WritableTxnMarkerTopicResult(topic.name, answers))
            yield 0
            for index in topic.partition_indexes:
                yield 0
                if (topic.name, index) in named:
                    continue
                named.add((topic.name, index))
                answer = WritableTxnMarkerPartitionResult(index)
                answers.append(answer)
                replicated = self._append_to(topic.name, answer, marker)
                if replicated is not None:
                    waiting.append((replicated, answer))
        yield from emptying(named)
        return topics

    def _append_to(
        self, topic: str, answer: WritableTxnMarkerPartitionResult, marker: WritableTxnMarker
    ) -> Awaitable[None] | None:
        """Append one marker; returns what is to be awaited."""
        append = self._append_offsets_marker if topic == GROUP_OFFSETS else self._append_marker
        try:
            replicated = append(topic, answer.partition_index, marker)
        except BrokerError as error:
            answer.error_code = LEADER_ERRORS.get(error.code, error.code)
            return None
        except CorruptLogError as error:  # only this partition fails
            log.error("no transaction marker was written: %s", error)
            self._replicas.partition(topic, answer.partition_index).report_damage(error)
            answer.error_code = ErrorCode.KAFKA_STORAGE_ERROR
            return None
        reach(FaultPoint.FIRST_MARKER_WRITTEN)
        return replicated

    def _append_marker(
        self, topic: str, index: int, marker: WritableTxnMarker
    ) -> Awaitable[None] | None:
        partition = self._replicas.partition(topic, index)
        check_producer(marker)
        batch = build_end_marker(
            marker.transaction_result,
            marker.coordinator_epoch,
            producer_id=marker.producer_id,
            producer_epoch=marker.producer_epoch,
            timestamp_ms=self._now_ms(),
        )
        appended = partition.append(batch, ACKS_ALL, by(marker))
        end_offset = appended.last_offset + 1
        if partition.is_replicated(end_offset):
            partition.announce()
            return None
        return wait_and_announce(partition, end_offset, partition.leader_epoch)

    def _append_offsets_marker(
        self, _topic: str, index: int, marker: WritableTxnMarker
    ) -> Awaitable[None] | None:
        check_producer(marker)
        writer = Writer(marker.producer_id, marker.producer_epoch)
        end = EndMarker(marker.transaction_result, marker.coordinator_epoch)
        outcome = self._groups.end_transaction(index, writer, end, by(marker))
        reach(FaultPoint.OFFSETS_VISIBLE)
        return outcome if isawaitable(outcome) else None

    async def _wait(
        self,
        replicated: Awaitable[None],
        answer: WritableTxnMarkerPartitionResult,
        deadline_s: float,
    ) -> None:
        try:
            async with asyncio.timeout_at(deadline_s):
                await replicated
        except TimeoutError:
            answer.error_code = ErrorCode.REQUEST_TIMED_OUT
        except BrokerError as error:
            answer.error_code = LEADER_ERRORS.get(error.code, error.code)


def check_producer(marker: WritableTxnMarker) -> None:
    """A tool may send anything: a marker of an unknown producer would have no effect and never
    expire."""
    if marker.producer_id < 0 or marker.producer_epoch < 0:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "a marker without a producer")


async def wait_and_announce(partition: Partition, end_offset: int, leader_epoch: int) -> None:
    """`leader_epoch` is that of the append: in a later one the marker may have been truncated."""
    await partition.wait_replicated(end_offset, leader_epoch)
    # A marker makes more than its own bytes visible: consumers must read now.
    partition.announce()


def by(marker: WritableTxnMarker) -> ProducedBy:
    return ProducedBy(
        origin=AppendOrigin.COORDINATOR, transaction_version=marker.transaction_version
    )
