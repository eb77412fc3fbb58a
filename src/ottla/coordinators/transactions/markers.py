"""Sends transaction markers to all partitions of a transaction.

Owns      the partitions without a marker, and retries: after a change of leader, or if a leader is
          not reachable.
Promises  `send` returns once every partition has its marker, replicated, or does not need it: its
          topic was deleted, or the producer has a later epoch.
Leaves    appending to `marker_writing.py`, channels to other brokers to the caller.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, Protocol

from ottla.base.ids import TopicPartition
from ottla.base.scheduling.tasks import next_iteration
from ottla.metadata.image import Image
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
)
from ottla.protocol.messages.write_txn_markers_response import WritableTxnMarkerResult

log = logging.getLogger(__name__)

PARTITIONS_MAX = 20  # per iteration of the event loop
PAUSE_S = 0.02  # before a retry
PAUSE_S_MAX = 1.0

# Written, or not needed: a later epoch of the producer has ended this transaction.
DONE = frozenset(
    {
        ErrorCode.NONE,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT,
    }
)


class MarkerChannel(Protocol):
    """A connection to a partition leader: this broker itself, or another one."""

    async def write(
        self, markers: Sequence[WritableTxnMarker]
    ) -> Sequence[WritableTxnMarkerResult]:
        """Append the markers; returns their results, in the same order."""


class Marker(NamedTuple):
    """The end of one producer's transaction."""

    producer_id: int
    epoch: int
    is_commit: bool
    coordinator_epoch: int
    transaction_version: int


class MarkerSender:
    def __init__(
        self,
        image: Image,
        channel_to: Callable[[int], MarkerChannel],
        next_slice: Callable[[], Awaitable[None]] = next_iteration,
    ) -> None:
        self._image = image
        self._channel_to = channel_to
        self._next_slice = next_slice  # waits for the next slice

    async def send(
        self, marker: Marker, partitions: Iterable[TopicPartition], is_wanted: Callable[[], bool]
    ) -> None:
        """Wait until all partitions have the marker, or do not need it any more."""
        left = set(partitions)
        pause_s = PAUSE_S
        while left and is_wanted():
            await self._send_in_parts(marker, left, is_wanted)
            if left:
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, PAUSE_S_MAX)

    async def _send_in_parts(
        self, marker: Marker, left: set[TopicPartition], is_wanted: Callable[[], bool]
    ) -> None:
        """Send to every leader once, in parts; returns the partitions that remain.

        The first part is sent immediately: it nearly always is the whole.
        """
        waiting = iter(list(left))
        # Sorted: the order of a set differs between processes, and simulations must replay.
        while some := sorted(islice(waiting, PARTITIONS_MAX)):
            left -= await self._send_once(marker, some)
            if len(some) == PARTITIONS_MAX:
                await self._next_slice()
                if not is_wanted():
                    return

    async def _send_once(
        self, marker: Marker, partitions: Iterable[TopicPartition]
    ) -> set[TopicPartition]:
        """Send to every leader once; returns the partitions that are done."""
        by_leader, deleted_partitions = self._by_leader(partitions)
        sending = [self._send_to(leader, marker, each) for leader, each in by_leader.items()]
        if len(sending) == 1:
            # Without a task: local markers are written before anything else runs, so that the
            # producer's next transaction does not find the last one ending.
            return deleted_partitions | await sending[0]
        return deleted_partitions.union(*await asyncio.gather(*sending))

    def _by_leader(
        self, partitions: Iterable[TopicPartition]
    ) -> tuple[Mapping[int, list[TopicPartition]], set[TopicPartition]]:
        """(partitions by leader, partitions that do not exist any more)."""
        by_leader: defaultdict[int, list[TopicPartition]] = defaultdict(list)
        deleted_partitions = set()
        for each in partitions:
            known = self._image.partition(*each)
            if known is None:
                deleted_partitions.add(each)
            elif known.has_leader:
                by_leader[known.leader].append(each)
        return by_leader, deleted_partitions

    async def _send_to(
        self, leader: int, marker: Marker, partitions: Sequence[TopicPartition]
    ) -> set[TopicPartition]:
        try:
            (result,) = await self._channel_to(leader).write([writable(marker, partitions)])
        except OSError as error:
            log.info("markers of producer %s for broker %s: %s", marker[0], leader, error)
            return set()
        return {each for each, code in codes_of(result).items() if is_done(code, each, marker)}


def is_done(code: ErrorCode, partition: TopicPartition, marker: Marker) -> bool:
    if code is not ErrorCode.NONE:
        log.info("%s: marker of producer %s: %s", partition, marker.producer_id, code.name)
    return code in DONE


def writable(marker: Marker, partitions: Iterable[TopicPartition]) -> WritableTxnMarker:
    topics: defaultdict[str, list[int]] = defaultdict(list)
    for topic, partition in partitions:
        topics[topic].append(partition)
    return WritableTxnMarker(
        marker.producer_id,
        marker.epoch,
        marker.is_commit,
        [WritableTxnMarkerTopic(topic, indexes) for topic, indexes in topics.items()],
        marker.coordinator_epoch,
        marker.transaction_version,
    )


def codes_of(result: WritableTxnMarkerResult) -> dict[TopicPartition, ErrorCode]:
    return {
        TopicPartition(topic.name, each.partition_index): ErrorCode(each.error_code)
        for topic in result.topics
        for each in topic.partitions
    }
