"""Topics of the cluster under test: who leads, which copies are in sync, and where logs end."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tests.chaos.cluster.asking import ask, metadata
from tests.chaos.cluster.cluster import ChaosCluster
from tests.support.waiting import wait_until

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)

LATEST = -1
READ_UNCOMMITTED, READ_COMMITTED = 0, 1
LIST_OFFSETS_VERSION = 9
NO_LEADER = -1
RETRY_S = 0.1


class PartitionState(NamedTuple):
    topic: str
    partition: int
    leader: int
    epoch: int
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]

    @property
    def key(self) -> str:
        return f"{self.topic}-{self.partition}"

    @property
    def is_whole(self) -> bool:
        return self.leader != NO_LEADER and set(self.in_sync) == set(self.replicas)


class End(NamedTuple):
    """Of a log, as its leader answers."""

    offset: int
    epoch: int


def create_topic(
    cluster: ChaosCluster, name: str, partitions: int, config: Mapping[str, str] | None = None
) -> None:
    wanted = CreatableTopic(name, partitions, cluster.replication)
    request = CreateTopicsRequest([wanted], timeout_ms=30_000)
    (answer,) = ask(cluster.address(1), request, timeout_s=60.0).topics
    assert answer.error_code == ErrorCode.NONE, answer


def states(cluster: ChaosCluster, asked: int, *topics: str) -> list[PartitionState]:
    """As this broker knows them; of all topics if none is named."""
    return [
        PartitionState(
            topic.name,
            each.partition_index,
            each.leader_id,
            each.leader_epoch,
            tuple(each.replica_nodes),
            tuple(each.isr_nodes),
        )
        for topic in metadata(cluster.address(asked), *topics).topics
        for each in topic.partitions
    ]


def controller_of(cluster: ChaosCluster) -> int | None:
    """As most running brokers know it."""
    found = list[int]()
    for each in cluster.running():
        try:
            found.append(metadata(cluster.address(each), "none").controller_id)
        except OSError:
            continue
    known = [each for each in found if each in cluster.ids]
    return max(known, key=known.count) if known else None


def is_whole(cluster: ChaosCluster) -> bool:
    """Whether every broker knows a leader and all copies in sync, of every partition."""
    try:
        return all(state.is_whole for each in cluster.ids for state in states(cluster, each))
    except OSError:
        return False


def wait_until_whole(cluster: ChaosCluster, deadline_s: float) -> float:
    """How long it took."""
    began_s = time.monotonic()
    wait_until(lambda: is_whole(cluster), "all partitions led, all copies in sync", deadline_s)
    return time.monotonic() - began_s


def broken(cluster: ChaosCluster) -> list[PartitionState]:
    """The partitions that are not whole, for messages."""
    try:
        return [each for each in states(cluster, cluster.running()[0]) if not each.is_whole]
    except (OSError, IndexError):
        return []


def end_of(
    cluster: ChaosCluster, state: PartitionState, isolation: int, timeout_s: float = 5.0
) -> End | ErrorCode:
    """The high watermark, or the last stable offset; asked at the leader, in its epoch."""
    part = ListOffsetsPartition(state.partition, state.epoch, LATEST)
    request = ListOffsetsRequest(-1, isolation, [ListOffsetsTopic(state.topic, [part])])
    address = cluster.address(state.leader)
    answer: Any = ask(address, request, LIST_OFFSETS_VERSION, timeout_s)
    found = answer.topics[0].partitions[0]
    if found.error_code != ErrorCode.NONE:
        return ErrorCode(found.error_code)
    return End(found.offset, found.leader_epoch)


def ends(cluster: ChaosCluster, isolation: int, topics: Iterable[str]) -> dict[str, int]:
    """Of all partitions; each leader is asked until it answers."""
    found: dict[str, int] = {}

    def is_known() -> bool:
        for state in states(cluster, cluster.running()[0], *topics):
            end = end_of(cluster, state, isolation)
            if isinstance(end, ErrorCode):
                return False
            found[state.key] = end.offset
        return True

    wait_until(is_known, "the leaders answer ListOffsets")
    return found
