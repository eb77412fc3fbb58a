"""Produce requests that fail while they wait: the response names the new leader (KIP-951)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.unit.handlers.world import World

from ottla.metadata.image import Batch
from ottla.metadata.records import BrokerRegistered, Endpoint, PartitionChanged
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.protocol.messages.produce_response import LeaderIdAndEpoch
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record

PARTITIONS = 150  # more than are waited for at once
OTHER = Endpoint("PLAINTEXT", "other.example", 9093, "PLAINTEXT")


@pytest.fixture
def topic_id(world: World) -> bytes:
    topic_id = world.create_topic("t", PARTITIONS)
    publish(
        world,
        BrokerRegistered(2, 5, bytes(16), (OTHER,), is_fenced=False),
        *(change(topic_id, each, 1, in_sync_replicas=(1, 2)) for each in range(PARTITIONS)),
    )
    return topic_id


def change(topic_id: bytes, index: int, epoch: int, **fields: Any) -> PartitionChanged:
    return PartitionChanged(topic_id, index, epoch, replicas=(1, 2), **fields)  # type: ignore[arg-type]


def publish(world: World, *records: Any) -> None:
    async def publishing() -> None:
        apply(world, *records)

    world.run(publishing())


def apply(world: World, *records: Any) -> None:
    publisher = world.broker.publisher
    publisher.publish(Batch(publisher.image.offset, 1, records))


def produce(world: World, topic_id: bytes, version: int, partitions: int) -> Any:
    data = [
        PartitionProduceData(each, build_batch([Record(0, 0, b"k", b"v", ())]))
        for each in range(partitions)
    ]
    topic = TopicProduceData("t" if version < 13 else "", topic_id, data)
    return world.ask(ProduceRequest(None, -1, 300_000, [topic]), version)


@pytest.mark.parametrize("partitions", [1, PARTITIONS])
@pytest.mark.parametrize("version", [9, 10, 12, 13])
def test_the_new_leader_is_named(
    world: World, topic_id: bytes, version: int, partitions: int
) -> None:
    """As in a fail-over: the request waits for a follower that becomes the leader."""

    async def fail_over() -> None:
        last = world.broker.replicas.partition("t", partitions - 1)
        while not last.has_pending_acks:
            await asyncio.sleep(0.001)
        lost = (change(topic_id, each, 2, leader=2, leader_epoch=7) for each in range(partitions))
        apply(world, *lost)

    failing_over = world.loop.create_task(fail_over())
    response = produce(world, topic_id, version, partitions)
    assert failing_over.done()
    for answer in response.responses[0].partition_responses:
        assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        hint = LeaderIdAndEpoch(2, 7) if version >= 10 else None
        assert answer.current_leader == hint
    known = [(each.node_id, each.host, each.port) for each in response.node_endpoints]
    assert known == ([(2, "other.example", 9093)] if version >= 10 else [])
