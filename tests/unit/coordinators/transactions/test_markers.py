"""Markers on their way: leaders that change, fail, or are gone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

import pytest

from ottla.base.ids import TopicId, TopicPartition
from ottla.coordinators.transactions import markers
from ottla.coordinators.transactions.markers import Marker, MarkerSender
from ottla.metadata.image import Batch, Image
from ottla.metadata.records import (
    PartitionChanged,
    PartitionCreated,
    Record,
    TopicCreated,
    TopicDeleted,
)
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.write_txn_markers_request import WritableTxnMarker
from ottla.protocol.messages.write_txn_markers_response import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
)

T = TypeVar("T")
TOPIC = TopicId(b"topic t".ljust(16))
MARKER = Marker(producer_id=40, epoch=3, is_commit=True, coordinator_epoch=5, transaction_version=2)
ZERO, ONE = TopicPartition("t", 0), TopicPartition("t", 1)
Answer = Callable[[TopicPartition], ErrorCode]


def run(story: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(story, 300))


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markers, "PAUSE_S", 0.0)
    monkeypatch.setattr(markers, "PAUSE_S_MAX", 0.0)


class Leader:
    """A broker that records requests, and sends prepared answers."""

    def __init__(self, answer: Answer = lambda _partition: ErrorCode.NONE) -> None:
        self.answer = answer
        self.sent: list[tuple[WritableTxnMarker, list[TopicPartition]]] = []

    async def write(self, wanted: Sequence[WritableTxnMarker]) -> list[WritableTxnMarkerResult]:
        (marker,) = wanted
        names = [
            TopicPartition(topic.name, index)
            for topic in marker.topics
            for index in topic.partition_indexes
        ]
        self.sent.append((marker, names))
        results = [
            WritableTxnMarkerTopicResult(
                name.topic, [WritableTxnMarkerPartitionResult(name.partition, self.answer(name))]
            )
            for name in names
        ]
        return [WritableTxnMarkerResult(marker.producer_id, results)]


class Cluster:
    def __init__(self) -> None:
        self.image = Image()
        self.leaders = {1: Leader(), 2: Leader()}
        self.publish(
            TopicCreated(TOPIC, "t"),
            PartitionCreated(TOPIC, 0, (1, 2), (1, 2), 1),
            PartitionCreated(TOPIC, 1, (2, 1), (2, 1), 2),
        )
        self.sender = MarkerSender(self.image, self.leaders.__getitem__)

    def publish(self, *records: Record) -> None:
        self.image.apply(Batch(self.image.offset, 1, records))

    def lead(self, partition: int, leader: int, epoch: int) -> None:
        self.publish(PartitionChanged(TOPIC, partition, epoch, leader=leader, leader_epoch=epoch))

    def send(self, is_wanted: Callable[[], bool] = lambda: True) -> None:
        run(self.sender.send(MARKER, [ZERO, ONE], is_wanted))


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def test_every_leader_gets_the_marker_for_its_partitions(cluster: Cluster) -> None:
    cluster.send()
    ((marker, first),) = cluster.leaders[1].sent
    ((_, second),) = cluster.leaders[2].sent
    assert (first, second) == ([ZERO], [ONE])
    assert (marker.producer_id, marker.producer_epoch, marker.transaction_result) == (40, 3, True)
    assert (marker.coordinator_epoch, marker.transaction_version) == (5, 2)


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.TRANSACTION_COORDINATOR_FENCED,
        ErrorCode.UNKNOWN_SERVER_ERROR,
    ],
)
def test_what_failed_is_sent_again_and_only_that(cluster: Cluster, code: ErrorCode) -> None:
    tries = iter([code, code, ErrorCode.NONE])
    cluster.leaders[2].answer = lambda _partition: next(tries)
    cluster.send()
    assert [names for _, names in cluster.leaders[2].sent] == [[ONE], [ONE], [ONE]]
    assert len(cluster.leaders[1].sent) == 1


def test_a_partition_that_has_seen_a_later_epoch_needs_no_marker(cluster: Cluster) -> None:
    cluster.leaders[1].answer = lambda _partition: ErrorCode.INVALID_PRODUCER_EPOCH
    cluster.send()
    assert len(cluster.leaders[1].sent) == 1


def test_a_new_leader_is_asked_next_time(cluster: Cluster) -> None:
    def moves(_partition: TopicPartition) -> ErrorCode:
        cluster.lead(0, leader=2, epoch=1)
        return ErrorCode.NOT_LEADER_OR_FOLLOWER

    cluster.leaders[1].answer = moves
    cluster.send()
    assert [names for _, names in cluster.leaders[2].sent] == [[ONE], [ZERO]]


def test_a_leader_that_cannot_be_reached_is_tried_again(cluster: Cluster) -> None:
    class Deaf(Leader):
        async def write(self, wanted: Sequence[WritableTxnMarker]) -> list[WritableTxnMarkerResult]:
            cluster.leaders[1] = Leader()
            raise ConnectionError("connection refused")

    cluster.leaders[1] = Deaf()
    cluster.sender = MarkerSender(cluster.image, lambda broker: cluster.leaders[broker])
    cluster.send()
    assert [names for _, names in cluster.leaders[1].sent] == [[ZERO]]


def test_a_partition_without_a_leader_is_waited_for(cluster: Cluster) -> None:
    cluster.lead(0, leader=-1, epoch=1)

    def elects(partition: TopicPartition) -> ErrorCode:
        if partition == ONE:
            cluster.lead(0, leader=2, epoch=2)
        return ErrorCode.NONE

    cluster.leaders[2].answer = elects
    cluster.send()
    assert not cluster.leaders[1].sent
    assert [names for _, names in cluster.leaders[2].sent] == [[ONE], [ZERO]]


def test_a_topic_that_was_deleted_needs_no_marker(cluster: Cluster) -> None:
    cluster.publish(TopicDeleted(TOPIC))
    cluster.send()
    assert not cluster.leaders[1].sent
    assert not cluster.leaders[2].sent


def test_a_coordinator_that_was_deposed_stops_sending(cluster: Cluster) -> None:
    cluster.leaders[1].answer = lambda _partition: ErrorCode.TRANSACTION_COORDINATOR_FENCED
    cluster.send(is_wanted=lambda: len(cluster.leaders[1].sent) < 3)
    assert len(cluster.leaders[1].sent) == 3


def test_a_coordinator_that_resigns_between_two_parts_sends_no_further_ones(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(markers, "PARTITIONS_MAX", 1)
    cluster.lead(1, leader=1, epoch=1)
    cluster.send(is_wanted=lambda: not cluster.leaders[1].sent)
    assert len(cluster.leaders[1].sent) == 1
