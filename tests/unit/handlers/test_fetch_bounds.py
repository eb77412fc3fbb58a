"""What fetches may keep in memory: requests that wait, sessions, partitions named twice."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
from tests.unit.handlers.asking import produce
from tests.unit.handlers.test_fetch import (
    VERSION,
    answered,
    partition_of,
    request_of,
    settle,
    sizes,
)
from tests.unit.handlers.world import FakeConnection, World
from tests.unit.storage.log_making import batch_of

from ottla.base.scheduling import step_scheduler
from ottla.base.scheduling.steps import Steps
from ottla.handlers.fetching.large import LargeFetchOperation
from ottla.handlers.serving.large_responses import LARGE_BYTES
from ottla.network.connection import Connection
from ottla.network.request_server import Answer
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.framing import LENGTH_BYTES
from ottla.protocol.headers import encode_request
from ottla.protocol.messages.fetch_request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
)
from ottla.protocol.messages.fetch_response import FetchResponse
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record

PATIENT_MS = 400_000
PARTITIONS = 300
LIMIT = 500


@pytest.fixture
def world() -> Iterator[World]:
    config = {
        "ottla.fetch.session.partitions.max": str(LIMIT),
        "ottla.fetch.parked.partitions.max": str(LIMIT),
    }
    with World(config) as world:
        world.create_topic("t", PARTITIONS)
        yield world


def named(
    indexes: list[int], *, session: tuple[int, int] = (0, -1), max_wait_ms: int = 0
) -> FetchRequest:
    request = request_of(session=session, max_wait_ms=max_wait_ms, partitions=0)
    wanted = [FetchPartition(each, -1, 0, -1, -1, 1 << 20) for each in indexes]
    request.topics = [FetchTopic("t", partitions=wanted)] if wanted else []
    return request


def reported(response: Any) -> list[int]:
    return [part.partition_index for topic in response.responses for part in topic.partitions]


@pytest.mark.parametrize("repeated", [2, 1000], ids=["small", "large"])
def test_of_a_partition_that_is_named_twice_the_last_counts(world: World, repeated: int) -> None:
    produce(world, "t", 5)
    produce(world, "t", 1)
    request = named([0, 1] * repeated)
    request.topics[0].partitions[-2].fetch_offset = 5
    response = world.ask(request, VERSION)
    assert reported(response) == [0, 1]
    assert sizes(response)[0] == sizes(world.ask(named_at(5), VERSION))[0]


def named_at(offset: int) -> FetchRequest:
    request = named([0])
    request.topics[0].partitions[0].fetch_offset = offset
    return request


def test_a_fetch_of_many_partitions_waits_and_is_woken(world: World) -> None:
    async def story() -> Any:
        reading = asyncio.ensure_future(
            answered(world, named(list(range(PARTITIONS)), max_wait_ms=PATIENT_MS))
        )
        await parked(world, PARTITIONS)
        assert not reading.done()
        await world._answer(a_record(7), 9, world.me, None)
        return await reading

    response = world.run(story())
    assert len(reported(response)) == PARTITIONS
    assert [at for at, size in enumerate(sizes(response)) if size] == [7]
    assert world.broker.parts.parked_fetches.partitions == 0
    world.run(until(lambda: not any(each.fetches.watchers for each in world.broker.replicas)))


def test_a_fetch_of_many_partitions_does_not_look_again_for_fewer_bytes_than_it_wants(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0
    look = LargeFetchOperation.is_enough

    async def look_while_a_record_comes(fetching: LargeFetchOperation) -> bool:
        nonlocal looks
        looks += 1
        is_enough = await look(fetching)
        partition_of(world, 7).append(batch_of(b"small"), -1)
        return is_enough

    async def story() -> Any:
        request = named(list(range(PARTITIONS)), max_wait_ms=PATIENT_MS)
        request.min_bytes = 10_000
        reading = asyncio.ensure_future(answered(world, request))
        await parked(world, PARTITIONS)
        await until(lambda: looks > 0)
        await settle()
        assert looks == 1
        partition_of(world, 8).append(batch_of(b"x" * 10_000), -1)
        return await reading

    monkeypatch.setattr(LargeFetchOperation, "is_enough", look_while_a_record_comes)
    response = world.run(story())
    assert [at for at, size in enumerate(sizes(response)) if size] == [7, 8]
    assert looks == 2


def test_a_fetch_of_many_partitions_in_a_session_waits_and_is_woken(world: World) -> None:
    async def story() -> Any:
        everything = list(range(PARTITIONS))
        opened = await answered(world, named(everything, session=(0, 0)))
        assert opened.session_id
        again = named(everything, session=(opened.session_id, 1), max_wait_ms=PATIENT_MS)
        reading = asyncio.ensure_future(answered(world, again))
        session = world.broker.parts.fetch_sessions.get(opened.session_id)
        assert session is not None
        await until(lambda: bool(session.watchers))
        await settle()
        assert not reading.done()
        await world._answer(a_record(7), 9, world.me, None)
        return await reading

    assert reported(world.run(story())) == [7]


def test_a_fetch_of_many_partitions_ends_when_its_time_is_up(world: World) -> None:
    response = world.ask(named(list(range(PARTITIONS)), max_wait_ms=20), VERSION)
    assert len(reported(response)) == PARTITIONS
    assert world.broker.parts.parked_fetches.partitions == 0


def test_a_reader_that_leaves_gives_back_what_it_held(world: World) -> None:
    async def story() -> None:
        request = named(list(range(PARTITIONS)), max_wait_ms=PATIENT_MS)
        reading = asyncio.ensure_future(answered(world, request))
        await parked(world, PARTITIONS)
        reading.cancel()
        await asyncio.wait([reading])
        await until(lambda: not any(each.fetches.watchers for each in world.broker.replicas))

    world.run(story())
    assert world.broker.parts.parked_fetches.partitions == 0


def test_a_fetch_for_which_there_is_no_room_to_wait_is_answered_and_throttled(world: World) -> None:
    async def story() -> None:
        request = named(list(range(PARTITIONS)), max_wait_ms=PATIENT_MS)
        waiting = asyncio.ensure_future(answered(world, request))
        await parked(world, PARTITIONS)
        for count in (PARTITIONS, PARTITIONS - 100 + 1):
            refused = await answered(world, named(list(range(count)), max_wait_ms=PATIENT_MS))
            assert len(reported(refused)) == count
            assert refused.throttle_time_ms == 100
        few = asyncio.ensure_future(answered(world, named([1], max_wait_ms=PATIENT_MS)))
        await parked(world, PARTITIONS + 1)
        assert not few.done()
        assert not waiting.done()
        waiting.cancel()
        few.cancel()
        await asyncio.wait([waiting, few])

    world.run(story())


def test_fetches_that_begin_in_one_turn_of_the_loop_share_the_room_to_wait(world: World) -> None:
    few = LIMIT // 5 * 2
    request = named(list(range(few)), max_wait_ms=PATIENT_MS)
    frame = bytearray(b"".join(encode_request(ApiKey.FETCH, VERSION, 1, None, request)))

    async def story() -> None:
        served = [
            world.dispatcher.serve(memoryview(frame)[LENGTH_BYTES:], cast(Connection, world.me))
            for _ in range(3)
        ]
        waiting = [asyncio.ensure_future(each.answer) for each in served[:2]]  # type: ignore[union-attr]
        assert isinstance(served[2], Answer)
        await settle()
        assert world.broker.parts.parked_fetches.partitions == 2 * few
        for each in waiting:
            each.cancel()
        await asyncio.wait(waiting)
        await until(lambda: not any(each.fetches.watchers for each in world.broker.replicas))

    world.run(story())
    assert world.broker.parts.parked_fetches.partitions == 0


def test_what_is_named_again_and_again_is_not_kept_while_a_fetch_waits(world: World) -> None:
    count = 30_000
    request = named([0] * count, max_wait_ms=PATIENT_MS)

    async def story() -> int:
        before, _ = tracemalloc.get_traced_memory()
        waiting = asyncio.ensure_future(answered(world, request))
        await parked(world, 1)
        await until(lambda: bool(world.broker.replicas.partition("t", 0).fetches.watchers))
        for _ in range(1000):  # iterations in which it releases them
            await asyncio.sleep(0)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
        waiting.cancel()
        await asyncio.wait([waiting])
        return after - before

    tracemalloc.start()
    try:
        held_bytes = world.run(story())
    finally:
        tracemalloc.stop()
    assert (
        held_bytes < 100 * count
    )  # the frame, which the test keeps; as objects they would add as much


def test_a_session_does_not_keep_copies_of_the_names_of_topics(world: World) -> None:
    opened = world.ask(named([0, 1], session=(0, 0)), VERSION)
    session = world.broker.parts.fetch_sessions.get(opened.session_id)
    topic = world.broker.parts.metadata.topic("t")
    assert session is not None
    assert topic is not None
    assert all(key.topic is topic.name for key in session.partitions)


def test_a_waiting_fetch_leaves_the_memory_of_responses_to_others(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = list(range(PARTITIONS))
    memory = world.broker.parts.response_memory
    monkeypatch.setattr(memory, "bytes_max", LARGE_BYTES)
    monkeypatch.setattr(step_scheduler, "FIRST_SLICE_S", 0.0)  # neither is done at once

    async def story() -> None:
        waiting = asyncio.ensure_future(answered(world, named(everything, max_wait_ms=PATIENT_MS)))
        await parked(world, PARTITIONS)
        other = await answered(world, named(everything))
        assert len(reported(other)) == PARTITIONS
        assert not waiting.done()
        await world._answer(a_record(7), 9, world.me, None)
        assert [at for at, size in enumerate(sizes(await waiting)) if size] == [7]

    world.run(asyncio.wait_for(story(), 60))
    assert memory.held_bytes == 0


def test_beyond_the_room_of_all_sessions_a_fetch_has_none(world: World) -> None:
    first = world.ask(named(list(range(300)), session=(0, 0)), VERSION)
    second = world.ask(named(list(range(300)), session=(0, 0)), VERSION)
    third = world.ask(named(list(range(200)), session=(0, 0)), VERSION)
    assert first.session_id
    assert third.session_id
    assert second.session_id == 0
    assert len(reported(second)) == 300
    assert world.broker.parts.fetch_sessions.room.held == LIMIT


@pytest.mark.parametrize("count", [150, 400], ids=["small", "large"])
def test_a_session_without_room_for_the_names_of_its_topics_is_not_kept(
    world: World, count: int
) -> None:
    request = named(list(range(count)), session=(0, 0))
    request.topics[0].topic = 600 * "x"  # so long that each partition takes the room of several
    response = world.ask(request, VERSION)
    assert response.session_id == 0
    assert len(reported(response)) == count
    assert len(world.broker.parts.fetch_sessions) == 0
    world.run(until(lambda: world.broker.parts.fetch_sessions.room.held == 0))
    assert world.ask(named(list(range(300)), session=(0, 0)), VERSION).session_id


@pytest.mark.parametrize("more", [201, 1000], ids=["small", "large"])
def test_a_session_that_outgrows_the_room_is_closed(world: World, more: int) -> None:
    first = world.ask(named(list(range(300)), session=(0, 0)), VERSION)
    unknown = list(range(1000, 1000 + more))
    grown = world.ask(named(unknown, session=(first.session_id, 1)), VERSION)
    assert grown.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    world.run(until(lambda: world.broker.parts.fetch_sessions.room.held == 0))
    assert not any(each.fetches.sessions for each in world.broker.replicas)


def test_sessions_of_connections_that_are_gone_make_room(world: World) -> None:
    reader = FakeConnection()
    first = world.ask(named(list(range(300)), session=(0, 0)), VERSION, by=reader)
    assert first.session_id
    reader.session.is_disconnected = True
    second = world.ask(named(list(range(300)), session=(0, 0)), VERSION)
    assert second.session_id
    again = world.ask(named([], session=(first.session_id, 1)), VERSION, by=FakeConnection())
    assert again.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_large_session_forgets_and_is_closed_by_its_reader(world: World) -> None:
    opened = world.ask(named(list(range(300)), session=(0, 0)), VERSION)
    request = named([], session=(opened.session_id, 1))
    request.forgotten_topics_data = [ForgottenTopic("t", partitions=list(range(250)))]
    world.ask(request, VERSION)
    assert world.broker.parts.fetch_sessions.room.held == 50
    assert sum(bool(each.fetches.sessions) for each in world.broker.replicas) == 50
    world.ask(named([], session=(opened.session_id, -1)), VERSION)
    world.run(until(lambda: world.broker.parts.fetch_sessions.room.held == 0))
    assert not any(each.fetches.sessions for each in world.broker.replicas)


@pytest.mark.parametrize("waits", [False, True])
def test_a_session_is_not_opened_by_a_fetch_whose_response_is_too_large(
    world: World, waits: bool
) -> None:
    world.broker.parts.large_responses.bytes_max = 1000
    request = named(list(range(PARTITIONS)), session=(0, 0), max_wait_ms=10 if waits else 0)
    response = world.ask(request, VERSION)
    assert response.error_code == ErrorCode.INVALID_REQUEST
    assert len(world.broker.parts.fetch_sessions) == 0
    world.run(until(lambda: world.broker.parts.fetch_sessions.room.held == 0))
    assert not any(each.fetches.sessions for each in world.broker.replicas)


def test_the_response_to_a_large_fetch_that_waited_counts_in_the_memory_of_responses(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, held = world.broker.parts.response_memory, list[int]()
    change, check, answering = (
        memory.change,
        LargeFetchOperation.check,
        LargeFetchOperation.answering,
    )

    def change_noted(count: int) -> None:
        held.append(count)
        change(count)

    async def check_slowly(fetching: LargeFetchOperation) -> FetchResponse:
        monkeypatch.setattr(
            step_scheduler, "FIRST_SLICE_S", 0.0
        )  # the response is not done at once
        return await check(fetching)

    def answering_counted(fetching: LargeFetchOperation) -> Steps[FetchResponse]:
        assert sum(held) == LARGE_BYTES
        return (yield from answering(fetching))

    monkeypatch.setattr(step_scheduler, "FIRST_SLICE_S", 1000.0)  # the first look is
    monkeypatch.setattr(memory, "change", change_noted)
    monkeypatch.setattr(LargeFetchOperation, "check", check_slowly)
    monkeypatch.setattr(LargeFetchOperation, "answering", answering_counted)
    response = world.ask(named(list(range(PARTITIONS)), max_wait_ms=10), VERSION)
    assert len(reported(response)) == PARTITIONS
    assert held
    assert sum(held) == 0


async def parked(world: World, partitions: int) -> None:
    """Return when waiting fetches hold so many, and have nothing more to do."""
    await until(lambda: world.broker.parts.parked_fetches.partitions == partitions)
    await settle()


async def until(condition: Callable[[], bool]) -> None:
    """Wait for other threads too. The test that calls this has a timeout."""
    while not condition():
        await asyncio.sleep(0.001)


def a_record(partition: int) -> ProduceRequest:
    data = PartitionProduceData(partition, build_batch([Record(0, 0, b"k", b"value", ())]))
    return ProduceRequest(None, -1, 1000, [TopicProduceData("t", partition_data=[data])])
