"""Produce: what happens to batches that have to be opened first."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, cast

import pytest
from tests.unit.handlers.asking import START_MS
from tests.unit.handlers.world import World, bytes_of
from tests.unit.storage.log_making import batch_of

from ottla.base.files.readers import BLOCKING
from ottla.network.connection import Connection
from ottla.network.request_server import Answer, TakingEffect
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import MalformedMessage
from ottla.protocol.framing import LENGTH_BYTES
from ottla.protocol.headers import decode_response_header, encode_request
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest
from ottla.protocol.messages.metadata_request import MetadataRequest
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.protocol.messages.produce_response import ProduceResponse
from ottla.protocol.records.batch import read_header
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.checking import NAMED_RECORDS_MIN
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.record import Record

LARGE, SMALL = 5000, 5


def request_of(
    records: int, *, partitions: int = 1, codec: Codec = Codec.NONE, key: bytes | None = b"k"
) -> ProduceRequest:
    rows = [Record(at, START_MS, key, b"value %06d" % at, ()) for at in range(records)]
    parts = [PartitionProduceData(at, build_batch(rows, codec=codec)) for at in range(partitions)]
    return ProduceRequest(None, -1, 1000, [TopicProduceData("t", partition_data=parts)])


def serve(world: World, request: ProduceRequest) -> Any:
    """The outcome that the network would receive for the request."""

    async def begin() -> Any:
        frame = b"".join(encode_request(ApiKey.PRODUCE, 9, 1, None, request))
        buffer = memoryview(bytearray(frame))[LENGTH_BYTES:]
        served = world.dispatcher.serve(buffer, cast(Connection, world.me))
        if not isinstance(served, Answer):
            await served.answer
        return served

    return world.run(begin())


def stored_codec(world: World, partition: int = 0) -> int:
    log = world.broker.replicas.partition("t", partition).log
    return read_header(log.segments.active.open(BLOCKING).read_at(0, 61)).codec


@pytest.fixture
def gzipped(world: World) -> World:
    world.create_topic("t", 3, {"compression.type": "gzip"})
    return world


def test_a_large_batch_in_another_codec_keeps_the_connection_s_next_request_waiting(
    gzipped: World,
) -> None:
    assert isinstance(serve(gzipped, request_of(LARGE)), TakingEffect)
    assert stored_codec(gzipped) == Codec.GZIP


def test_a_small_batch_is_recompressed_at_once(gzipped: World) -> None:
    assert isinstance(serve(gzipped, request_of(SMALL)), Answer)
    assert stored_codec(gzipped) == Codec.GZIP


def test_many_small_batches_are_recompressed_in_a_thread(world: World) -> None:
    world.create_topic("t", 40, {"compression.type": "gzip"})
    assert isinstance(serve(world, request_of(SMALL, partitions=40)), TakingEffect)
    assert {stored_codec(world, at) for at in range(40)} == {Codec.GZIP}


def test_a_few_compressed_bytes_that_open_to_very_many_are_opened_in_a_thread(
    world: World,
) -> None:
    world.create_topic("t", 1, {"cleanup.policy": "compact"})
    zeros = build_batch([Record(0, START_MS, b"k", bytes(1 << 20), ())], codec=Codec.ZSTD)
    assert len(zeros) < 300
    parts = [PartitionProduceData(0, zeros)]
    request = ProduceRequest(None, -1, 1000, [TopicProduceData("t", partition_data=parts)])
    assert isinstance(serve(world, request), TakingEffect)
    assert world.broker.replicas.partition("t", 0).log.log_end_offset == 1


def test_a_large_batch_in_the_topic_s_codec_is_appended_at_once(gzipped: World) -> None:
    assert isinstance(serve(gzipped, request_of(LARGE, codec=Codec.GZIP)), Answer)


def test_every_partition_of_a_request_is_recompressed(gzipped: World) -> None:
    answer = gzipped.ask(request_of(LARGE, partitions=4), 9)
    codes = [each.error_code for each in answer.responses[0].partition_responses]
    assert codes == [0, 0, 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    assert [stored_codec(gzipped, at) for at in range(3)] == [Codec.GZIP] * 3


def test_records_without_keys_are_refused_by_a_compacted_topic_though_opened_elsewhere(
    world: World,
) -> None:
    world.create_topic("t", 1, {"cleanup.policy": "compact"})
    answer = world.ask(request_of(LARGE, codec=Codec.GZIP, key=None), 9)
    (reported,) = answer.responses[0].partition_responses
    assert reported.error_code == ErrorCode.INVALID_RECORD
    assert reported.record_errors[0].batch_index == 0
    answer = world.ask(request_of(LARGE, codec=Codec.GZIP), 9)
    assert answer.responses[0].partition_responses[0].error_code == 0


def test_a_request_with_many_small_batches_has_no_more_records_named_than_one_of_its_size(
    world: World,
) -> None:
    world.create_topic("t", 3, {"cleanup.policy": "compact"})
    answer = world.ask(request_of(60, partitions=3, codec=Codec.ZSTD, key=None), 9)
    parts = answer.responses[0].partition_responses
    named = [[each.batch_index for each in part.record_errors] for part in parts]
    assert named == [list(range(60)), list(range(NAMED_RECORDS_MIN - 60)), [0]]
    assert {part.error_code for part in parts} == {ErrorCode.INVALID_RECORD}
    for part in parts:
        assert part.error_message.endswith("wrong records in the batch: 60")


def test_a_topic_deleted_while_its_batch_is_recompressed_stays_deleted(gzipped: World) -> None:
    async def story() -> None:
        request = DeleteTopicsRequest(topic_names=["t"], timeout_ms=1000)
        await asyncio.gather(
            gzipped._answer(request_of(LARGE), 9, gzipped.me, None),
            gzipped._answer(request, 5, gzipped.me, None),
        )

    gzipped.run(story())
    assert not gzipped.broker.logs.logs


def test_others_are_served_while_batches_are_recompressed(gzipped: World) -> None:
    count = 20

    async def story() -> int:
        producing = [
            asyncio.create_task(gzipped._answer(request_of(LARGE), 9, gzipped.me, None))
            for _ in range(count)
        ]
        served = 0
        while not all(task.done() for task in producing):
            await gzipped._answer(MetadataRequest([]), 12, gzipped.me, None)
            served += 1
            await asyncio.sleep(0)
        return served

    assert gzipped.run(story()) > 3  # 1 if no other request were served meanwhile
    assert gzipped.broker.replicas.partition("t", 0).log.log_end_offset == count * LARGE


def test_a_producer_that_wants_no_answers_gets_none_to_a_request_that_is_refused_as_a_whole(
    world: World,
) -> None:
    world.create_topic("t")
    batch = batch_of(b"v", producer=(7, 0, 0), is_transactional=True)
    request = request_of(SMALL)
    request.acks = 0
    request.topic_data[0].partition_data[0].records = batch  # and no transactional id
    with pytest.raises(MalformedMessage):
        serve(world, request)


def test_topics_that_are_deleted_are_not_asked_for_their_codec_any_more(gzipped: World) -> None:
    assert gzipped.broker.replicas.opening
    gzipped.ask(DeleteTopicsRequest(topic_names=["t"], timeout_ms=1000), 5)
    assert not gzipped.broker.replicas.opening


@pytest.mark.parametrize("acks", [-1, 1])
def test_records_are_not_acknowledged_if_another_broker_has_led_before_the_wait_begins(
    world: World, acks: int
) -> None:
    world.create_topic("t", config={"flush.messages": "1"})
    request = request_of(SMALL)
    request.acks, request.timeout_ms = acks, 60_000
    frame = bytearray(b"".join(encode_request(ApiKey.PRODUCE, 9, 1, None, request)))

    async def story() -> Any:
        buffer = memoryview(frame)[LENGTH_BYTES:]
        served: Any = world.dispatcher.serve(buffer, cast(Connection, world.me))
        assert not isinstance(served, Answer)
        partition = world.broker.replicas.partition("t", 0)
        mine = partition.leadership
        for number, leader in enumerate((mine.leader + 1, mine.leader), 1):
            decided = replace(
                mine,
                leader=leader,
                leader_epoch=mine.leader_epoch + number,
                partition_epoch=mine.partition_epoch + number,
            )
            partition.lead_or_follow(decided, 0)
        while not isinstance(served, Answer):
            served = await served.answer
        return b"".join(bytes_of(each) for each in served.segments)

    answer = memoryview(world.run(story()))[LENGTH_BYTES:]
    _, at = decode_response_header(ApiKey.PRODUCE, 9, answer)
    (topic,) = ProduceResponse.decode(answer, 9, at).responses
    (refused,) = topic.partition_responses
    expected = (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)
    assert (refused.error_code, refused.base_offset) == expected


@pytest.mark.parametrize("acks", [-1, 1])
@pytest.mark.parametrize("flush_messages", [1, 2])
def test_a_repeated_batch_is_not_acknowledged_before_the_sync_that_the_first_one_waits_for(
    world: World, acks: int, flush_messages: int
) -> None:
    world.create_topic("t", config={"flush.messages": str(flush_messages)})
    frames = []
    for sequence in range(flush_messages):
        request = request_of(SMALL)
        request.acks, request.timeout_ms = acks, 60_000
        batch = batch_of(b"v", producer=(7, 0, sequence), timestamp=START_MS)
        request.topic_data[0].partition_data[0].records = batch
        frames.append(b"".join(encode_request(ApiKey.PRODUCE, 9, 1, None, request)))

    def begin(frame: bytes) -> Any:
        buffer = memoryview(bytearray(frame))[LENGTH_BYTES:]
        return world.dispatcher.serve(buffer, cast(Connection, world.me))

    async def story() -> None:
        sent = [begin(frame) for frame in frames]
        partition_log = world.broker.replicas.partition("t", 0).log
        assert (partition_log.log_end_offset, partition_log.recovery_point) == (flush_messages, 0)
        waiting = [sent[-1], begin(frames[-1]), begin(frames[-1])]
        assert partition_log.log_end_offset == flush_messages
        for served in waiting:
            assert not isinstance(served, Answer)
            while not isinstance(served, Answer):
                served = await served.answer
            assert partition_log.recovery_point == flush_messages

    world.run(story())
