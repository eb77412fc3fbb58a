"""Iterations of the event loop in fetches and produces do not grow with what the broker holds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from typing import Any, cast

import pytest
from tests.unit.handlers.steps.counting import LINE_S, CountedWorld, counted_world
from tests.unit.handlers.world import FakeConnection
from tests.unit.storage.log_making import COORDINATOR, batch_of, marker_of

from ottla.base.files.readers import BLOCKING
from ottla.base.scheduling.step_scheduler import FIRST_SLICE_S, SLICE_S
from ottla.network.connection import Connection
from ottla.network.request_server import Answer
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.framing import LENGTH_BYTES
from ottla.protocol.headers import encode_request
from ottla.protocol.message import Message
from ottla.protocol.messages.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from ottla.protocol.messages.describe_producers_request import (
    DescribeProducersRequest,
    TopicRequest,
)
from ottla.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record
from ottla.storage.log.snapshotting import take_snapshot

PARTITIONS = 600
PRODUCERS = 3000
ABORTED = 1500
CHECKED_LINES = 10 * 3000  # for entries of an index, each of which is compared with two batches
# A slice, a closed session's share of a turn, and what does not grow.
TURN_LINES_MAX = int((FIRST_SLICE_S + SLICE_S) / LINE_S) + 100 * 20 + 1000


@pytest.fixture
def world() -> Iterator[CountedWorld]:
    config = {"transaction.partition.verification.enable": "false"}
    with counted_world(config) as world:
        world.create_topic("t", PARTITIONS)
        world.ask(fetch(range(1)), 12)  # modules are loaded with the first request
        world.ask(produce("t", range(1)), 9)
        yield world


def fetch(
    indexes: range, *, session: tuple[int, int] = (0, -1), max_wait_ms: int = 0
) -> FetchRequest:
    wanted = [FetchPartition(each, -1, 0, -1, -1, 1 << 20) for each in indexes]
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=1,
        max_bytes=1 << 24,
        session_id=session[0],
        session_epoch=session[1],
        topics=[FetchTopic("t", partitions=wanted)] if indexes else [],
    )


def produce(topic: str, indexes: range) -> ProduceRequest:
    batch = build_batch([Record(0, 0, b"k", b"value", ())])
    parts = [PartitionProduceData(each, batch) for each in indexes]
    return ProduceRequest(None, -1, 10_000, [TopicProduceData(topic, partition_data=parts)])


def longest_turn(world: CountedWorld, story: Callable[[], Coroutine[Any, Any, None]]) -> int:
    world.counter.longest_turn = 0
    world.counter.on()
    try:
        world.run(story())
    finally:
        world.counter.off()
    return world.counter.longest_turn


def test_a_session_in_which_all_partitions_have_changed(world: CountedWorld) -> None:
    opened = world.ask(fetch(range(PARTITIONS), session=(0, 0)), 12)
    session = world.broker.parts.fetch_sessions.get(opened.session_id)
    assert session is not None
    world.ask(produce("t", range(PARTITIONS)), 9)
    assert len(session.marked) == PARTITIONS
    assert world.steps_of(fetch(range(0), session=(opened.session_id, 1)), 12) < TURN_LINES_MAX
    assert session.epoch == 2


def test_a_session_of_many_partitions_that_is_closed(world: CountedWorld) -> None:
    opened = world.ask(fetch(range(5 * PARTITIONS), session=(0, 0)), 12)
    room = world.broker.parts.fetch_sessions.room
    assert room.held == 5 * PARTITIONS

    async def story() -> None:
        request = fetch(range(0), session=(opened.session_id, -1))
        await world._answer(request, 12, world.me, None)
        while room.held:
            await asyncio.sleep(0)

    assert longest_turn(world, story) < TURN_LINES_MAX


def test_a_fetch_that_waits_for_many_partitions_is_woken_and_leaves(world: CountedWorld) -> None:
    parked = world.broker.parts.parked_fetches
    frame = frame_of(fetch(range(1, PARTITIONS), max_wait_ms=300_000), 12)

    async def story() -> None:
        waiting = asyncio.ensure_future(serve(world, frame))
        while not parked.partitions:
            await asyncio.sleep(0)
        await world._answer(produce("t", range(5, 6)), 9, world.me, None)
        await waiting
        while any(each.fetches.watchers for each in world.broker.replicas):
            await asyncio.sleep(0.001)

    # The last loop of the story itself looks at every partition.
    assert longest_turn(world, story) < TURN_LINES_MAX + 4 * PARTITIONS


def test_many_partitions_that_have_to_be_synced_are_waited_for_without_tasks(
    world: CountedWorld,
) -> None:
    most = 0
    world.create_topic("synced", PARTITIONS, {"flush.messages": "1"})
    frame = frame_of(produce("synced", range(PARTITIONS)), 9)

    async def story() -> None:
        nonlocal most
        before = len(asyncio.all_tasks())
        writing = asyncio.ensure_future(serve(world, frame))
        while not writing.done():
            most = max(most, len(asyncio.all_tasks()) - before)
            await asyncio.sleep(0)

    assert longest_turn(world, story) < TURN_LINES_MAX
    assert most < 10


def test_the_first_produce_after_a_start_to_a_partition_of_many_producers(
    world: CountedWorld,
) -> None:
    log = world.broker.replicas.partition("t", 3).log
    for producer_id in range(PRODUCERS):
        log.append_as_leader(batch_of(b"v", producer=(producer_id, 0, 0)), 0)
    take_snapshot(log, log.log_end_offset, sync=True)
    log.producers.unload()
    assert world.steps_of(produce("t", range(3, 4)), 9) < TURN_LINES_MAX
    assert log.producers.is_loaded
    assert log.producers.load(BLOCKING).count == PRODUCERS


def test_a_segment_is_closed_in_a_partition_of_many_producers(world: CountedWorld) -> None:
    log = world.broker.replicas.partition("t", 4).log
    for producer_id in range(PRODUCERS):
        log.append_as_leader(batch_of(b"v", producer=(producer_id, 0, 0)), 0)
    log.update_config(replace(log.config, segment_bytes=1000))
    assert world.steps_of(produce("t", range(4, 5)), 9) < TURN_LINES_MAX
    assert len(log.segments) == 2
    while log.producers.encodings:
        world.run(asyncio.sleep(0.001))
    assert log.snapshots.newest == PRODUCERS


def test_many_producers_are_described(world: CountedWorld) -> None:
    log = world.broker.replicas.partition("t", 5).log
    for producer_id in range(PRODUCERS):
        log.append_as_leader(batch_of(b"v", producer=(producer_id, 0, 0)), 0)
    request = DescribeProducersRequest([TopicRequest("t", [5])])
    world.ask(DescribeProducersRequest([TopicRequest("t", [6])]), 0)
    assert world.steps_of(request, 0) < TURN_LINES_MAX
    (topic,) = world.ask(request, 0).topics
    assert len(topic.partitions[0].active_producers) == PRODUCERS


@pytest.mark.parametrize("is_checked", [True, False])
def test_very_many_aborted_transactions_are_returned(world: CountedWorld, is_checked: bool) -> None:
    log = world.broker.replicas.partition("t", 7).log
    for producer_id in range(ABORTED):
        batch = batch_of(b"v", producer=(producer_id, 0, 0), is_transactional=True)
        log.append_as_leader(batch, 0, COORDINATOR)
    for producer_id in range(ABORTED):
        log.append_as_leader(marker_of(producer_id), 0, COORDINATOR)
    log.update_high_watermark(log.log_end_offset)
    segment = log.segments.active
    if not is_checked:
        segment.has_checked_transactions, segment.checked_transactions = False, 0
    request = fetch(range(7, 8))
    request.isolation_level = 1
    frame = frame_of(request, 12)
    assert longest_turn(world, lambda: serve(world, frame)) < TURN_LINES_MAX + CHECKED_LINES
    assert segment.has_checked_transactions
    (answer,) = world.ask(request, 12).responses[0].partitions
    assert len(answer.aborted_transactions) == ABORTED
    assert {each.first_offset for each in answer.aborted_transactions} == set(range(ABORTED))


def test_a_quota_is_charged_for_many_partitions(world: CountedWorld) -> None:
    entity = EntityData("client-id", None)
    limit = OpData("consumer_byte_rate", 1e9)
    world.ask(AlterClientQuotasRequest([EntryData([entity], [limit])]), 1)
    assert world.broker.parts.quotas.fetch is not None
    assert world.steps_of(fetch(range(10 * PARTITIONS)), 12) < TURN_LINES_MAX


def frame_of(request: Message, version: int) -> memoryview:
    key = ApiKey(request.API_KEY)  # type: ignore[attr-defined]  # of all requests
    encoded = b"".join(encode_request(key, version, 1, "any", request))
    return memoryview(bytearray(encoded))[LENGTH_BYTES:]


async def serve(world: CountedWorld, frame: memoryview) -> None:
    served = world.dispatcher.serve(frame, cast(Connection, FakeConnection()))
    while not isinstance(served, Answer):
        served = await served.answer
