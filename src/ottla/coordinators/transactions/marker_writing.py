"""Markers for the partitions that this broker leads, from its own coordinator or another's.

Promises  what is answered with success is replicated, and readers that waited for the end of the
          transaction have been woken. All markers are appended before any is waited for.
Leaves    the markers of `__consumer_offsets` to the group coordinator, whose state they change.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from inspect import isawaitable
from typing import Protocol

from ottla.base.fault_points import FaultPoint, reach
from ottla.coordinators.runtime import Writer
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
from ottla.replication.partition import ACKS_ALL, Partition
from ottla.replication.replica_manager import ReplicaManager
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.append import ProducedBy
from ottla.storage.producers.append_decisions import AppendOrigin

log = logging.getLogger(__name__)

# A coordinator expects what leaders say, and not what group coordinators say.
LEADER_ERRORS = {
    ErrorCode.COORDINATOR_NOT_AVAILABLE: ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.NOT_COORDINATOR: ErrorCode.NOT_LEADER_OR_FOLLOWER,
}


class GroupMarkers(Protocol):
    """What is needed of the group coordinator."""

    def end_transaction(
        self, partition: int, writer: Writer, marker: EndMarker, by: ProducedBy
    ) -> Awaitable[None] | None: ...


class MarkerWriter:
    """The channel to this broker itself."""

    def __init__(
        self,
        replicas: ReplicaManager,
        groups: GroupMarkers,
        now_ms: Callable[[], int],
        timeout_ms: int,
    ) -> None:
        self._replicas = replicas
        self._groups = groups
        self._now_ms = now_ms
        self._timeout_s = timeout_ms / 1000

    async def write(self, markers: Sequence[WritableTxnMarker]) -> list[WritableTxnMarkerResult]:
        waiting: list[Awaitable[None]] = []
        results = [self._append(marker, waiting) for marker in markers]
        if waiting:
            await asyncio.gather(*waiting)
        return results

    def _append(
        self, marker: WritableTxnMarker, waiting: list[Awaitable[None]]
    ) -> WritableTxnMarkerResult:
        topics = []
        for topic in marker.topics:
            answers = []
            for index in topic.partition_indexes:
                answer = WritableTxnMarkerPartitionResult(index)
                answers.append(answer)
                replicated = self._append_to(topic.name, answer, marker)
                if replicated is not None:
                    waiting.append(self._wait(replicated, answer))
            topics.append(WritableTxnMarkerTopicResult(topic.name, answers))
        return WritableTxnMarkerResult(marker.producer_id, topics)

    def _append_to(
        self, topic: str, answer: WritableTxnMarkerPartitionResult, marker: WritableTxnMarker
    ) -> Awaitable[None] | None:
        """Append one marker; what is still to be waited for."""
        append = self._append_offsets_marker if topic == GROUP_OFFSETS else self._append_marker
        try:
            replicated = append(topic, answer.partition_index, marker)
        except BrokerError as error:
            answer.error_code = LEADER_ERRORS.get(error.code, error.code)
            return None
        except CorruptLogError as error:  # its partition fails, no other of the transaction does
            log.error("no marker is written: %s", error)
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
        return wait_and_announce(partition, end_offset)

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
        self, replicated: Awaitable[None], answer: WritableTxnMarkerPartitionResult
    ) -> None:
        try:
            async with asyncio.timeout(self._timeout_s):
                await replicated
        except TimeoutError:
            answer.error_code = ErrorCode.REQUEST_TIMED_OUT
        except BrokerError as error:
            answer.error_code = LEADER_ERRORS.get(error.code, error.code)


def check_producer(marker: WritableTxnMarker) -> None:
    """A tool may send anything: a marker of nobody would end nothing, and never go away."""
    if marker.producer_id < 0 or marker.producer_epoch < 0:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "a marker without a producer")


async def wait_and_announce(partition: Partition, end_offset: int) -> None:
    await partition.wait_replicated(end_offset)
    # What a marker makes visible is more than its own bytes: readers must look now.
    partition.announce()


def by(marker: WritableTxnMarker) -> ProducedBy:
    return ProducedBy(
        origin=AppendOrigin.COORDINATOR, transaction_version=marker.transaction_version
    )
