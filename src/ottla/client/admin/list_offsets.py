"""ListOffsets: where logs begin and end, and the first offset of a time.

With read_committed, the end (LATEST) is the last stable offset.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ottla.base.ids import TopicPartition
from ottla.client.cluster.cluster import Cluster
from ottla.client.cluster.routed_requests import PartResult, send_to_leaders
from ottla.client.errors import code_of
from ottla.client.settings import READ_COMMITTED
from ottla.protocol.messages.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from ottla.protocol.messages.list_offsets_response import ListOffsetsResponse

LATEST = -1
EARLIEST = -2


class FoundOffset(NamedTuple):
    offset: int
    timestamp: int  # of the record found; -1 for LATEST and EARLIEST
    leader_epoch: int


def list_offsets(
    cluster: Cluster,
    wanted: Mapping[TopicPartition, int],
    isolation_level: str | None = None,
) -> dict[TopicPartition, FoundOffset]:
    """For each partition LATEST, EARLIEST, or the first record not older than a timestamp (ms);
    its offset is NO_OFFSET if there is none."""
    level = isolation_number(isolation_level or cluster.settings.isolation_level)

    def build(share: Mapping[TopicPartition, int]) -> ListOffsetsRequest:
        return ListOffsetsRequest(-1, level, list(_topics(cluster, share)), timeout_ms)

    timeout_ms = cluster.settings.request_timeout_ms
    return send_to_leaders(cluster, wanted, build, _read)


def earliest_offsets(
    cluster: Cluster, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, int]:
    found = list_offsets(cluster, dict.fromkeys(partitions, EARLIEST))
    return {partition: each.offset for partition, each in found.items()}


def latest_offsets(
    cluster: Cluster, partitions: Iterable[TopicPartition], isolation_level: str | None = None
) -> dict[TopicPartition, int]:
    found = list_offsets(cluster, dict.fromkeys(partitions, LATEST), isolation_level)
    return {partition: each.offset for partition, each in found.items()}


def isolation_number(level: str) -> int:
    return 1 if level == READ_COMMITTED else 0


def _topics(cluster: Cluster, share: Mapping[TopicPartition, int]) -> Iterator[ListOffsetsTopic]:
    topics: dict[str, list[ListOffsetsPartition]] = {}
    for at, timestamp in share.items():
        leader = cluster.leader_of(at)
        epoch = -1 if leader is None else leader.epoch
        asked = ListOffsetsPartition(at.partition, epoch, timestamp)
        topics.setdefault(at.topic, []).append(asked)
    return (ListOffsetsTopic(name, partitions) for name, partitions in topics.items())


def _read(answer: ListOffsetsResponse) -> Iterator[tuple[TopicPartition, PartResult, FoundOffset]]:
    for topic in answer.topics:
        for each in topic.partitions:
            at = TopicPartition(topic.name, each.partition_index)
            found = FoundOffset(each.offset, each.timestamp, each.leader_epoch)
            yield at, PartResult(code_of(each.error_code), f"ListOffsets of {at}"), found
