"""Fetch: what happens between the read of a partition and the response is not lost."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from typing import Any, cast

import pytest
from tests.unit.handlers.asking import produce
from tests.unit.handlers.test_fetch import VERSION, answered, partition_of
from tests.unit.handlers.test_fetch_bounds import PATIENT_MS, named, parked, reported, until
from tests.unit.handlers.world import FakeConnection, World
from tests.unit.storage.log_making import batch_of

from ottla.base.scheduling.steps import Steps
from ottla.handlers.fetching.large import LargeFetchOperation
from ottla.handlers.fetching.operation import FetchOperation
from ottla.handlers.serving.context import Context
from ottla.network.connection import Connection
from ottla.network.request_server import Answer, Served
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.framing import LENGTH_BYTES
from ottla.protocol.headers import encode_request
from ottla.protocol.messages.fetch_request import FetchRequest, ForgottenTopic
from ottla.protocol.messages.fetch_response import FetchResponse

PARTITIONS = 300
LATE = 7  # the partition to which something happens after it was read


@pytest.fixture
def world() -> Iterator[World]:
    with World() as world:
        world.create_topic("t", PARTITIONS)
        yield world


def session_of(world: World, session_id: int) -> Any:
    return world.broker.parts.fetch_sessions.get(session_id)


def large_fetch(world: World, request: FetchRequest) -> LargeFetchOperation:
    context = Context(world.broker.parts, world.me.session, ApiKey.FETCH, VERSION, 1, None)
    return LargeFetchOperation(request, context)


def read_all(fetching: LargeFetchOperation, slices: Steps[Any], partitions: int) -> None:
    """Run it until it has read so many partitions."""
    while len(fetching.found) < partitions:
        next(slices)


def finish(slices: Steps[Any]) -> Any:
    while True:
        try:
            next(slices)
        except StopIteration as end:
            return end.value


def test_a_record_appended_between_the_slices_of_a_large_fetch_is_in_the_next_response(
    world: World,
) -> None:
    produce(world, "t", 1)  # there is enough to respond at once
    fetching = large_fetch(world, named(list(range(PARTITIONS)), session=(0, 0)))
    slices = fetching.serving()
    read_all(fetching, slices, PARTITIONS)
    partition_of(world, LATE).append(batch_of(b"late"), -1)
    opened = finish(slices)
    assert len(reported(opened)) == PARTITIONS
    assert reported(world.ask(named([], session=(opened.session_id, 1)), VERSION)) == [0, LATE]


def test_a_record_appended_while_others_are_verified_is_in_the_next_response(world: World) -> None:
    produce(world, "t", 1)
    partition_of(world).log.segments.active.verified.clear()
    request = named([0, LATE], session=(0, 0))
    frame = bytearray(b"".join(encode_request(ApiKey.FETCH, VERSION, 1, None, request)))

    async def story() -> None:
        buffer = memoryview(frame)[LENGTH_BYTES:]
        served: Served = world.dispatcher.serve(buffer, cast(Connection, world.me))
        assert not isinstance(served, Answer), "what is not verified is verified in a thread"
        partition_of(world, LATE).append(batch_of(b"late"), -1)
        while not isinstance(served, Answer):
            served = await served.answer

    world.run(story())
    (session,) = world.broker.parts.fetch_sessions._sessions.values()
    assert reported(world.ask(named([], session=(session.id, 1)), VERSION)) == [0, LATE]


def test_an_unchanged_partition_is_not_read_again_by_its_session(world: World) -> None:
    produce(world, "t", 1)
    fetching = large_fetch(world, named(list(range(PARTITIONS)), session=(0, 0)))
    opened = finish(fetching.serving())
    assert [key.partition for key in session_of(world, opened.session_id).marked] == [0]


def test_a_partition_forgotten_while_it_is_read_does_not_keep_the_session(world: World) -> None:
    everything = list(range(PARTITIONS))
    opened = world.ask(named(everything, session=(0, 0)), VERSION)
    session_id = opened.session_id
    fetching = large_fetch(world, named(everything, session=(session_id, 1)))
    slices = fetching.serving()
    read_all(fetching, slices, LATE)
    forgetting = named([], session=(session_id, 2))
    forgetting.forgotten_topics_data = [ForgottenTopic("t", partitions=everything[1:])]
    world.run(world._answer(forgetting, VERSION, FakeConnection(), None))
    finish(slices)  # it does not wait: the next request of the session has come
    assert len(fetching.found) <= LATE
    readers = [bool(partition_of(world, each).fetches.sessions) for each in everything]
    assert readers == [True] + [False] * (PARTITIONS - 1)
    world.run(answered(world, named([], session=(session_id, -1))))
    world.run(until(lambda: not any(each.fetches.sessions for each in world.broker.replicas)))


def at(offset: int, session: tuple[int, int], max_wait_ms: int = PATIENT_MS) -> FetchRequest:
    request = named([0], session=session, max_wait_ms=max_wait_ms)
    request.topics[0].partitions[0].fetch_offset = offset
    return request


def test_a_request_is_not_answered_from_the_positions_of_the_next_one(world: World) -> None:
    """Its client assumes that the records are those that it has requested."""
    produce(world, "t", 3)

    async def story() -> tuple[FetchResponse, FetchResponse]:
        opened = await answered(world, at(3, (0, 0), max_wait_ms=0))
        waiting = asyncio.ensure_future(answered(world, named([], session=(opened.session_id, 1),
                                                              max_wait_ms=PATIENT_MS)))  # fmt: skip
        await until(lambda: world.broker.parts.parked_fetches.partitions == 0)
        session = session_of(world, opened.session_id)
        await until(lambda: bool(session.watchers))
        following = await answered(world, at(1, (opened.session_id, 2)))
        return await waiting, following

    ended, following = world.run(story())
    assert reported(ended) == []
    assert reported(following) == [0]


def test_offsets_are_sent_again_to_a_client_that_truncates(world: World) -> None:
    """It does not use those of a response that says where its log diverges."""
    produce(world, "t", 3)
    request = at(3, (0, 0), max_wait_ms=0)
    request.topics[0].partitions[0].last_fetched_epoch = 0
    opened = world.ask(request, VERSION)
    session_id = opened.session_id
    log = partition_of(world).log
    assert reported(world.ask(named([], session=(session_id, 1)), VERSION)) == []
    request = at(7, (session_id, 2), max_wait_ms=0)
    request.topics[0].partitions[0].last_fetched_epoch = 0
    (topic,) = world.ask(request, VERSION).responses
    assert topic.partitions[0].diverging_epoch.end_offset == 3
    request = at(3, (session_id, 3), max_wait_ms=0)
    request.topics[0].partitions[0].last_fetched_epoch = 0
    (topic,) = world.ask(request, VERSION).responses
    assert topic.partitions[0].high_watermark == log.high_watermark


def test_offsets_are_sent_again_in_another_leader_epoch(world: World) -> None:
    opened = world.ask(at(0, (0, 0), max_wait_ms=0), VERSION)
    session_id = opened.session_id
    assert reported(world.ask(at(0, (session_id, 1), max_wait_ms=0), VERSION)) == []
    request = at(0, (session_id, 2), max_wait_ms=0)
    request.topics[0].partitions[0].current_leader_epoch = 0
    assert reported(world.ask(request, VERSION)) == [0]


def test_fetches_of_many_partitions_that_wake_together_look_in_turns_of_their_own(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: Counter[int] = Counter()  # by iteration of the event loop
    turn, count = 0, 10
    look = FetchOperation.look_up_all_again

    def counted_look(fetching: FetchOperation) -> bool:
        looks[turn] += 1
        return look(fetching)

    def next_iteration() -> None:
        nonlocal turn
        turn += 1
        asyncio.get_running_loop().call_soon(next_iteration)

    async def story() -> None:
        fetches = [
            asyncio.ensure_future(answered(world, named(list(range(100)), max_wait_ms=PATIENT_MS)))
            for _ in range(count)
        ]
        await parked(world, count * 100)
        monkeypatch.setattr(FetchOperation, "look_up_all_again", counted_look)
        next_iteration()
        partition_of(world).append(batch_of(b"woken"), -1)
        for each in fetches:
            assert reported(await each)

    world.run(story())
    assert sum(looks.values()) == count
    assert max(looks.values()) == 1
