"""Which in-sync replicas a leader requests for a partition, and what the answer means. Pure.

Owns      nothing: what was requested is in the `LeaderState` of the partition.
Promises  a change whose outcome is not known is requested again, unchanged, until the metadata has
          a newer state of the partition.
Leaves    when to request, and sending it, to `in_sync_changes.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import NamedTuple

from ottla.base.clock import Clock, monotonic_ms
from ottla.base.ids import NO_BROKER_EPOCH
from ottla.metadata.image import Image
from ottla.metadata.records import RECOVERED
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.alter_partition_request import BrokerState, PartitionData, TopicData
from ottla.protocol.messages.alter_partition_response import AlterPartitionResponse
from ottla.replication.partition import Partition
from ottla.replication.partition_state import LeaderState

log = logging.getLogger(__name__)

# The metadata has a newer state, which has not arrived here yet.
OVERTAKEN = (
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.INVALID_UPDATE_VERSION,
    ErrorCode.NEW_LEADER_ELECTED,
)


class Requested(NamedTuple):
    """A partition in a request, and what it is to be changed to."""

    partition: Partition
    state: LeaderState
    in_sync: frozenset[int]


class InSyncRequests:
    def __init__(self, image: Image, lag_ms_max: Callable[[], int], clock: Clock) -> None:
        self._image = image
        self._lag_ms_max = lag_ms_max
        self._clock = clock

    def decide(self, partition: Partition) -> Requested | None:
        """What to request now; None if the partition needs no change."""
        state = partition.leader_state
        if state is None:
            return None
        if state.requested is not None:  # its outcome is not known
            return Requested(partition, state, state.requested)
        in_sync = self._wanted(partition, state)
        if in_sync == state.in_sync_replicas and not partition.leadership.is_recovering:
            return None
        state.request(in_sync)
        return Requested(partition, state, in_sync)

    def is_due(self, partition: Partition) -> bool:
        """Whether a follower lags, or has caught up unnoticed, as it was not registered then."""
        state = partition.leader_state
        if state is None or not state.followers:
            return False
        state.note_caught_up(partition.log.log_end_offset, monotonic_ms(self._clock))
        return state.requested is None and self._wanted(partition, state) != state.in_sync_replicas

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


def request_topics(requested: Iterable[Requested]) -> list[TopicData]:
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
    return BrokerState(broker_id, NO_BROKER_EPOCH if progress is None else progress.broker_epoch)


def note_answers(requested: Iterable[Requested], response: AlterPartitionResponse) -> None:
    asked = {_key(each.partition): each for each in requested}
    for topic in response.topics:
        for answer in topic.partitions:
            found = asked.get((topic.topic_id, answer.partition_index))
            if found is not None:
                _note(found, ErrorCode(answer.error_code), answer.partition_epoch)


def _note(requested: Requested, code: ErrorCode, partition_epoch: int) -> None:
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


def _key(partition: Partition) -> tuple[bytes, int]:
    return partition.topic_id, partition.name.partition
