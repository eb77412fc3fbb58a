"""Requests of many small parts: those that clients send are served, those that fill memory not."""

from __future__ import annotations

import asyncio
import threading
import tracemalloc
from collections.abc import Iterator
from traceback import walk_tb
from typing import Any, cast

import pytest
from tests.unit.handlers.world import FakeConnection, World

from ottla.base.scheduling import step_scheduler
from ottla.base.scheduling.tasks import next_iteration
from ottla.handlers.serving import decoding
from ottla.handlers.serving.decoding import ITEMS_MAX, ITEMS_MIN, DecodedRequest, decode_large
from ottla.network.connection import Connection
from ottla.network.request_server import Answer, AwaitingAnswer, TakingEffect
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.errors import MalformedMessage
from ottla.protocol.framing import LENGTH_BYTES
from ottla.protocol.headers import encode_request
from ottla.protocol.message import Message
from ottla.protocol.messages.create_topics_request import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.protocol.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from ottla.protocol.messages.fetch_request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
)
from ottla.protocol.messages.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from ottla.protocol.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.protocol.messages.sync_group_request import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)
from ottla.protocol.primitives import bounded

MANY = 10_000


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World() as world:
        yield world


def frame_of(key: ApiKey, version: int, request: Message) -> bytearray:
    return bytearray(b"".join(encode_request(key, version, 1, None, request)))[LENGTH_BYTES:]


@pytest.mark.parametrize(
    ("request_", "version"),
    [
        (
            FetchRequest(
                max_wait_ms=0,
                max_bytes=1 << 20,
                session_epoch=-1,
                topics=[
                    FetchTopic("t" * 100, partitions=[FetchPartition(at) for at in range(MANY)])
                ],
            ),
            12,
        ),
        (
            ListOffsetsRequest(
                -1,
                0,
                [ListOffsetsTopic("t", [ListOffsetsPartition(at, -1, -1) for at in range(MANY)])],
            ),
            7,
        ),
        (
            MetadataRequest(
                [MetadataRequestTopic(name=f"topic-{at:06}") for at in range(MANY)], False
            ),
            9,
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_requests_for_ten_thousand_partitions_are_served(
    world: World, request_: Message, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "SMALL_FRAME_BYTES", 1000)
    assert world.ask(request_, version) is not None


def too_many(count: int) -> list[bytearray]:
    """Frames of a few bytes for each of a great many parts."""
    part = [DeleteRecordsPartition(0, 0)]
    topics = [DeleteRecordsTopic("", part) for _ in range(3)]
    delete = frame_of(ApiKey.DELETE_RECORDS, 2, DeleteRecordsRequest(topics, 0))
    empty = PartitionProduceData(0, None)
    topic = TopicProduceData("", partition_data=[empty])
    produce = frame_of(ApiKey.PRODUCE, 9, ProduceRequest(None, 1, 0, [topic]))
    return [
        _repeat(delete, b"\x04", b"\x01\x01\x00", count),
        _repeat(produce, b"\x02", b"\x01\x01\x00", count),
    ]


def _repeat(frame: bytearray, count: bytes, item: bytes, many: int) -> bytearray:
    """The frame's array of topics, which `count` introduces, with a great many empty ones."""
    header_bytes = 4 + 4 + 2 + 1  # key and version, correlation id, no client id, no tags
    at = frame.index(count, header_bytes)
    length = many + 1
    uvarint = bytearray()
    while length > 127:
        uvarint.append(length & 0x7F | 0x80)
        length >>= 7
    uvarint.append(length)
    return frame[:at] + uvarint + item * many + bytes(5)


async def serve(world: World, frame: bytearray, connection: Connection | None = None) -> Answer:
    served = world.dispatcher.serve(memoryview(frame), connection or cast(Connection, world.me))
    while not isinstance(served, Answer):
        served = await served.answer
    return served


@pytest.mark.parametrize("count", [ITEMS_MAX + 1, 4 * ITEMS_MIN + 100])
@pytest.mark.parametrize("number", range(2), ids=["DeleteRecords", "Produce"])
def test_frames_that_are_full_of_tiny_parts_are_refused_before_they_are_taken_apart(
    world: World, number: int, count: int
) -> None:
    frame = too_many(count)[number]
    tracemalloc.start()
    try:
        with pytest.raises(MalformedMessage, match="more items"):
            world.run(serve(world, frame))
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # As objects they would take 58 times as much as the frame; a thread takes some, too.
    assert peak_bytes < 4 * len(frame) + 1024 * 1024
    assert not bounded


def test_a_great_many_numbers_are_no_tiny_parts(world: World) -> None:
    topics = [OffsetFetchRequestTopics("t", partition_indexes=range(200_000))]
    groups = [OffsetFetchRequestGroup("g", topics=topics)]
    (answer,) = world.ask(OffsetFetchRequest(groups=groups), 8).groups
    assert answer.group_id == "g"


def test_a_large_request_is_decoded_elsewhere_and_then_waits_as_any_other(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []
    decode = decoding.decode_large

    def noted(*arguments: Any) -> DecodedRequest:
        threads.append(threading.get_ident())
        return decode(*arguments)

    async def begin_and_leave() -> None:
        served = world.dispatcher.serve(memoryview(frame), cast(Connection, world.me))
        assert isinstance(served, TakingEffect)
        served = await served.answer
        assert isinstance(served, AwaitingAnswer)  # given up when its client leaves
        waiting = asyncio.ensure_future(served.answer)
        await next_iteration()
        waiting.cancel()

    monkeypatch.setattr(decoding, "decode_large", noted)
    world.create_topic("empty")
    wanted = [FetchTopic("empty", partitions=[FetchPartition(0, -1, 0, -1, -1, 1)])]
    forgotten = [ForgottenTopic("empty", partitions=range(decoding.ITEMS_HERE_MAX + 1))]
    request = FetchRequest(
        replica_id=-1,
        max_wait_ms=400_000,
        min_bytes=1,
        session_epoch=-1,
        topics=wanted,
        forgotten_topics_data=forgotten,
    )
    frame = frame_of(ApiKey.FETCH, 12, request)
    world.run(begin_and_leave())
    (thread,) = threads
    assert thread != threading.get_ident()


def test_a_client_that_leaves_takes_along_the_large_request_that_waits_for_another(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_decode = threading.Event()
    decode = decoding.decode_large

    def late(*arguments: Any) -> DecodedRequest:
        may_decode.wait()
        return decode(*arguments)

    def begin() -> tuple[Connection, asyncio.Future[Any]]:
        connection = cast(Connection, FakeConnection())
        served = world.dispatcher.serve(memoryview(frame), connection)
        assert isinstance(served, TakingEffect)
        return connection, asyncio.ensure_future(served.answer)

    async def leave_one_after_the_other() -> None:
        try:
            (first, decoding), (second, waiting) = begin(), begin()
            await next_iteration()
            third, beginning = begin()
            for each in (first, second, third):
                world.dispatcher.closed(each)
            for _ in range(5):
                await next_iteration()
            assert waiting.cancelled()
            assert beginning.cancelled()
            assert not decoding.done()  # a thread is at it
        finally:
            may_decode.set()
        assert isinstance(await decoding, Answer)
        assert isinstance(await serve(world, frame), Answer)  # no other request holds memory

    monkeypatch.setattr(decoding, "decode_large", late)
    topics = [OffsetFetchRequestTopics("t", partition_indexes=range(100_000))]
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=topics)])
    frame = frame_of(ApiKey.OFFSET_FETCH, 8, request)
    world.run(leave_one_after_the_other())


def test_a_request_with_many_bytes_is_decoded_elsewhere_and_records_are_not() -> None:
    many = bytes(decoding.BYTES_HERE_MAX)
    group = SyncGroupRequest("g", 1, "m", assignments=[SyncGroupRequestAssignment("m", many)])
    assert decoding.decode_here(SyncGroupRequest, memoryview(group.encode(5)), 5, 0) is None
    partitions = [PartitionProduceData(0, many)]
    produced = ProduceRequest(None, -1, 0, [TopicProduceData("t", partition_data=partitions)])
    frame = memoryview(produced.encode(9))
    assert decoding.decode_here(ProduceRequest, frame, 9, 0) == produced


@pytest.mark.parametrize("damaged", [b"\xff", b"\xed\xa0\x80"], ids=["latin-1", "surrogate"])
def test_a_request_with_much_text_that_is_no_unicode_is_decoded_elsewhere(damaged: bytes) -> None:
    """To replace each bad byte takes ten times as long as to copy the text."""

    def request(texts: int) -> memoryview:
        name = damaged * 10_000
        encoded = len(name).to_bytes(2, "big") + name
        return memoryview(texts.to_bytes(4, "big") + texts * encoded)

    few, many = request(2), request(40)
    decoded = decoding.decode_here(MetadataRequest, few, 1, 0)
    assert isinstance(decoded, MetadataRequest)
    assert decoded.topics is not None
    assert {each.name for each in decoded.topics} == {10_000 * "\ufffd"}
    assert decoding.decode_here(MetadataRequest, many, 1, 0) is None
    elsewhere = decoding.decode_large(MetadataRequest, many, 1, 0)
    assert len(elsewhere.request.topics) == 40  # type: ignore[attr-defined]


def test_large_requests_of_one_address_do_not_delay_those_of_another(world: World) -> None:
    done: list[str] = []

    async def ask(host: str) -> None:
        topics = [MetadataRequestTopic(name=f"{at:0100}") for at in range(15_000)]
        request = MetadataRequest(topics, allow_auto_topic_creation=False)
        frame = bytearray(b"".join(encode_request(ApiKey.METADATA, 9, 1, None, request)))
        connection = cast(Connection, FakeConnection(host))
        served = world.dispatcher.serve(memoryview(frame)[LENGTH_BYTES:], connection)
        assert isinstance(served, TakingEffect)
        while not isinstance(served, Answer):
            served = await served.answer
        done.append(host)

    async def story() -> None:
        crowd = [asyncio.ensure_future(ask("10.0.0.1")) for _ in range(12)]
        await asyncio.sleep(0)
        await ask("10.0.0.2")
        await asyncio.gather(*crowd)

    world.run(story())
    assert done.index("10.0.0.2") <= 4


def test_large_requests_are_decoded_while_those_before_have_few_items(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise all that clients have sent would be in memory as objects."""
    topics = [OffsetFetchRequestTopics("t", partition_indexes=range(5000))]
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=topics)])
    frame = frame_of(ApiKey.OFFSET_FETCH, 8, request)
    decoded, memory = world.dispatcher._decoding, world.broker.parts.response_memory
    monkeypatch.setattr(decoding, "HELD_ITEMS_MAX", 6000)
    monkeypatch.setattr(step_scheduler, "FIRST_SLICE_S", 0.0)

    async def story() -> None:
        memory.change(memory.bytes_max)  # no response can be built
        connections = [cast(Connection, FakeConnection()) for _ in range(5)]
        asked = [asyncio.ensure_future(serve(world, frame, each)) for each in connections]
        while memory.waiting < 2:
            await asyncio.sleep(0.001)
        for _ in range(100):
            await asyncio.sleep(0.001)
        assert memory.waiting == 2
        assert 10_000 <= decoded.items < 12_000
        world.dispatcher.closed(connections[2])  # the next one
        await asyncio.wait(asked[2:3])
        assert asked.pop(2).cancelled()
        memory.change(-memory.bytes_max)
        assert len(await asyncio.gather(*asked)) == 4

    world.run(story())
    assert decoded.items == 0


@pytest.mark.parametrize("is_cut_off", [False, True])
def test_what_was_decoded_of_a_refused_request_is_freed_before_the_error_is_passed_on(
    is_cut_off: bool,
) -> None:
    """Freed with the error, on the event loop, it would block it."""
    # Too many items: three bytes each on average.
    configs = [] if is_cut_off else [CreatableTopicConfig("", "") for _ in range(20)]
    topics = [CreatableTopic(str(each), 1, 1, [], configs) for each in range(15_000)]
    frame = CreateTopicsRequest(topics).encode(7)
    data = memoryview(frame)[: len(frame) - 10 if is_cut_off else None]
    with pytest.raises(MalformedMessage) as raised:
        decode_large(CreateTopicsRequest, data, 7, 0)
    error: BaseException | None = raised.value
    largest = 0
    while error is not None:
        for frame_, _ in walk_tb(error.__traceback__):
            if frame_.f_code.co_name.startswith("_read"):
                lists = [each for each in frame_.f_locals.values() if isinstance(each, list)]
                largest = max(largest, *map(len, lists), 0)
        error = error.__cause__
    assert largest == 0


def long_names() -> list[tuple[Message, int]]:
    """Requests whose texts take most of their memory."""
    names = [f"{at:0200}" for at in range(3000)]
    fetched = [FetchTopic(name, partitions=[FetchPartition(0)]) for name in names]
    return [
        (FetchRequest(topics=fetched), 12),
        (MetadataRequest([MetadataRequestTopic(name=name) for name in names], False), 9),
        (OffsetFetchRequest(groups=[OffsetFetchRequestGroup(name) for name in names]), 8),
        (SyncGroupRequest("g", assignments=[
            SyncGroupRequestAssignment(name, bytes(1000)) for name in names
        ]), 5),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("request_", "version"), long_names(), ids=lambda value: type(value).__name__
)
def test_long_texts_count_as_items(request_: Message, version: int) -> None:
    """All requests that are decoded take about a hundred megabytes, whatever they contain."""
    frame = memoryview(request_.encode(version))
    tracemalloc.start()
    try:
        decoded = decode_large(type(request_), frame, version, 0)
        held, _peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held / decoded.items < 150


def test_record_batches_do_not_count_as_items() -> None:
    data = [PartitionProduceData(at, bytes(1000)) for at in range(3000)]
    request = ProduceRequest(None, -1, 0, [TopicProduceData("t", partition_data=data)])
    decoded = decode_large(ProduceRequest, memoryview(request.encode(9)), 9, 0)
    assert decoded.items == 3001
