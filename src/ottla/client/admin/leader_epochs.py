"""OffsetForLeaderEpoch: where the records of a leader epoch end, in the log of today's leader.

After a change of leaders, a reader learns from it whether the new leader has the records that were
read from the old one (KIP-320): `replaced_from` compares.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ottla.base.ids import NO_LEADER_EPOCH, TopicPartition
from ottla.client.cluster.cluster import Cluster
from ottla.client.cluster.routed_requests import PartResult, send_to_leaders
from ottla.client.errors import KafkaError, UnsupportedByBroker, code_of
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from ottla.protocol.messages.offset_for_leader_epoch_response import OffsetForLeaderEpochResponse

log = logging.getLogger(__name__)

CONSUMER = -1


class EpochEnd(NamedTuple):
    """The largest epoch with records that is not above the one asked for, and where it ends; both
    are negative if the leader does not know the epoch. `current_epoch` is that of the leader which
    answered."""

    leader_epoch: int
    end_offset: int
    current_epoch: int = NO_LEADER_EPOCH

    @property
    def is_known(self) -> bool:
        return self.leader_epoch >= 0 and self.end_offset >= 0


def epoch_ends(
    cluster: Cluster, wanted: Mapping[TopicPartition, int]
) -> dict[TopicPartition, EpochEnd]:
    """For each partition the end of this leader epoch. Empty if the brokers do not serve
    this: they are very old, or of Apache Kafka before 2.3, where only brokers were authorised."""
    current: dict[TopicPartition, int] = {}

    def build(share: Mapping[TopicPartition, int]) -> OffsetForLeaderEpochRequest:
        topics: dict[str, list[OffsetForLeaderPartition]] = {}
        for at, epoch in share.items():
            leader = cluster.leader_of(at)
            current[at] = NO_LEADER_EPOCH if leader is None else leader.epoch
            part = OffsetForLeaderPartition(at.partition, current[at], epoch)
            topics.setdefault(at.topic, []).append(part)
        asked = [OffsetForLeaderTopic(name, parts) for name, parts in topics.items()]
        return OffsetForLeaderEpochRequest(CONSUMER, asked)

    try:
        found = send_to_leaders(cluster, wanted, build, _read)
    except (UnsupportedByBroker, KafkaError) as error:
        if isinstance(error, KafkaError) and error.code != ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
            raise
        log.warning("leader epochs cannot be checked: %s", error)
        return {}
    return {at: end._replace(current_epoch=current[at]) for at, end in found.items()}


def _read(
    answer: OffsetForLeaderEpochResponse,
) -> Iterator[tuple[TopicPartition, PartResult, EpochEnd]]:
    for topic in answer.topics:
        for each in topic.partitions:
            at = TopicPartition(topic.topic, each.partition)
            result = PartResult(code_of(each.error_code), f"OffsetForLeaderEpoch of {at}")
            yield at, result, EpochEnd(each.leader_epoch, each.end_offset)


def replaced_from(offset: int, end: EpochEnd) -> int | None:
    """A reader knows the records before `offset`, of leader epochs up to the one it asked for:
    from which offset on does the log have others, or none? None if it has them all.

    Also None if the leader knows no such epoch. A leader notes its own epoch when it begins to
    lead, so that only servers which do not keep epochs answer this: the result says nothing."""
    return end.end_offset if end.is_known and end.end_offset < offset else None
