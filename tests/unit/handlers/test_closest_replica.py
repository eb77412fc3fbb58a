"""Fetching from the closest replica (KIP-392): whom a leader names, and what a follower serves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.handlers.asking import produce
from tests.unit.handlers.world import World
from tests.unit.storage.log_making import batch_of

from ottla.config.replication_options import RACK_AWARE
from ottla.metadata.image import Batch
from ottla.metadata.records import BrokerRegistered, Endpoint, PartitionChanged
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.fetch_request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ReplicaState,
)
from ottla.protocol.messages.fetch_response import PartitionData
from ottla.replication.partition import Partition

LEADER, NEAR, OTHER = 1, 2, 3
REPLICAS = (LEADER, NEAR, OTHER)
RECORDS = 10
NONE, NO_REPLICA = ErrorCode.NONE, -1
ADDRESS = (Endpoint("PLAINTEXT", "near.example", 9093, "PLAINTEXT"),)
NEAR_BROKER = BrokerRegistered(NEAR, 5, bytes(16), ADDRESS, rack="near", is_fenced=False)


@pytest.fixture
def world() -> Iterator[World]:
    with World({"replica.selector.class": RACK_AWARE, "broker.rack": "far"}) as world:
        world.create_topic("t")
        produce(world, "t", RECORDS)
        publish(world, NEAR_BROKER, replace(NEAR_BROKER, broker_id=OTHER))
        change(world, replicas=REPLICAS, in_sync_replicas=REPLICAS)
        copied(world, NEAR, RECORDS)
        yield world


def partition_of(world: World) -> Partition:
    return world.broker.replicas.partition("t", 0)


def publish(world: World, *records: Any) -> None:
    async def publishing() -> None:
        publisher = world.broker.publisher
        publisher.publish(Batch(publisher.image.offset, 1, records))

    world.run(publishing())


def change(world: World, **fields: Any) -> None:
    topic = world.broker.publisher.image.topic("t")
    assert topic is not None
    epoch = topic.partitions[0].partition_epoch + 1
    publish(world, PartitionChanged(topic.id, 0, epoch, **fields))


def copied(
    world: World, broker_id: int, end: int, *, start: int = 0, reported: int | None = None
) -> None:
    """A follower has the records from `start` to `end`, and its high watermark is after them."""
    partition = partition_of(world)
    partition.follower_fetched(broker_id, 5, end, start, 0)
    partition.high_watermark_sent(broker_id, end if reported is None else reported)


def fetch(
    world: World, rack: str = "near", *, offset: int = 3, version: int = 12, epoch: int = -1
) -> PartitionData:
    wanted = FetchPartition(0, epoch, offset, partition_max_bytes=1 << 20)
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=1,
        max_bytes=1 << 20,
        session_epoch=-1,
        topics=[FetchTopic("t", partitions=[wanted])],
        rack_id=rack if version >= 11 else "",
    )
    found: PartitionData = world.ask(request, version).responses[0].partitions[0]
    return found


def is_sent_to(world: World, rack: str = "near", **question: int) -> int:
    answer = fetch(world, rack, **question)
    assert answer.error_code == NONE
    assert bool(answer.records) == (answer.preferred_read_replica == NO_REPLICA)
    return answer.preferred_read_replica


def test_the_leader_names_a_replica_in_the_rack_of_the_consumer(world: World) -> None:
    for offset in range(RECORDS + 1):
        answer = fetch(world, offset=offset)
        assert answer.preferred_read_replica == NEAR
        assert (answer.high_watermark, answer.log_start_offset) == (RECORDS, 0)
    assert is_sent_to(world, "far") == NO_REPLICA
    assert is_sent_to(world, "elsewhere") == NO_REPLICA
    assert is_sent_to(world, "") == NO_REPLICA
    assert is_sent_to(world, version=10) == NO_REPLICA


def test_the_most_advanced_replica_of_a_rack_is_named(world: World) -> None:
    copied(world, OTHER, 7)
    assert is_sent_to(world) == NEAR
    copied(world, OTHER, RECORDS)
    copied(world, NEAR, 8)
    assert is_sent_to(world) == OTHER


def test_a_follower_whose_log_diverges_is_not_said_to_know_what_is_committed(world: World) -> None:
    copied(world, NEAR, RECORDS, reported=5)
    topic = world.broker.publisher.image.topic("t")
    assert topic is not None
    wanted = FetchPartition(0, 0, RECORDS + 2, 0, 0, 1 << 20)
    request = FetchRequest(
        replica_state=ReplicaState(NEAR, 5),
        session_epoch=-1,
        topics=[FetchTopic("", topic.id, [wanted])],
    )
    answer = world.ask(request, 17).responses[0].partitions[0]
    assert answer.diverging_epoch.end_offset == RECORDS
    assert is_sent_to(world, offset=6) == NO_REPLICA


def test_only_replicas_are_named_that_can_serve_the_offset(world: World) -> None:
    copied(world, NEAR, RECORDS, start=4)
    assert is_sent_to(world, offset=3) == NO_REPLICA
    assert is_sent_to(world, offset=4) == NEAR
    copied(world, NEAR, RECORDS, reported=5)
    assert is_sent_to(world, offset=6) == NO_REPLICA
    copied(world, NEAR, RECORDS)
    publish(world, replace(NEAR_BROKER, is_fenced=True))
    assert is_sent_to(world) == NO_REPLICA
    publish(world, replace(NEAR_BROKER, endpoints=()))
    assert is_sent_to(world) == NO_REPLICA
    publish(world, NEAR_BROKER)
    assert is_sent_to(world) == NEAR
    change(world, in_sync_replicas=(LEADER, OTHER))
    assert is_sent_to(world) == NO_REPLICA


def test_no_replica_is_named_without_a_selector() -> None:
    with World({"broker.rack": "far"}) as world:
        world.create_topic("t")
        produce(world, "t", RECORDS)
        publish(world, NEAR_BROKER)
        change(world, replicas=REPLICAS, in_sync_replicas=REPLICAS)
        copied(world, NEAR, RECORDS)
        assert is_sent_to(world) == NO_REPLICA


# At a follower


@pytest.fixture
def follower() -> Iterator[World]:
    """It has ten records, and its high watermark is 6."""
    with World() as world:
        world.create_topic("t")
        produce(world, "t", 6)
        change(world, replicas=REPLICAS, in_sync_replicas=REPLICAS)
        produce_unreplicated(world, RECORDS - 6)
        change(world, leader=NEAR, leader_epoch=1)
        yield world


def produce_unreplicated(world: World, count: int) -> None:
    partition_of(world).append(batch_of(*[b"v"] * count), 1)


def test_a_follower_serves_what_is_committed(follower: World) -> None:
    log = partition_of(follower).log
    assert (log.high_watermark, log.log_end_offset) == (6, RECORDS)
    answer = fetch(follower, "", offset=0, epoch=1)
    assert (answer.error_code, answer.high_watermark) == (NONE, 6)
    assert answer.records
    answer = fetch(follower, "", offset=6)
    assert (answer.error_code, answer.high_watermark) == (NONE, 6)
    assert not answer.records


@pytest.mark.parametrize(
    ("offset", "code"),
    [
        (7, ErrorCode.OFFSET_NOT_AVAILABLE),
        (RECORDS, ErrorCode.OFFSET_NOT_AVAILABLE),
        (RECORDS + 1, ErrorCode.OFFSET_OUT_OF_RANGE),
    ],
)
def test_a_follower_says_what_it_cannot_know_yet(
    follower: World, offset: int, code: ErrorCode
) -> None:
    assert fetch(follower, "", offset=offset).error_code == code


def test_a_follower_refuses_what_is_deleted(follower: World) -> None:
    partition_of(follower).log.advance_log_start(2)
    assert fetch(follower, "", offset=1).error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_follower_refuses_other_epochs_and_older_clients(follower: World) -> None:
    assert fetch(follower, "", epoch=0).error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert fetch(follower, "", epoch=2).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert fetch(follower, "", version=10).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
