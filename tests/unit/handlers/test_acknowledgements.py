"""Produce requests that wait for a follower: what they cost, and that nothing of them remains.

The follower is simulated: the partition is led with a second replica, whose fetches are noted by
hand. Connections are real sockets, because they own the waits.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import pairwise

import pytest
from tests.unit.handlers.world import World

from ottla.base.scheduling.callback_queue import CALLBACKS_MAX
from ottla.base.scheduling.loop_timers import LoopTimers
from ottla.handlers.producing.acknowledgements import Acknowledgements, Unreplicated
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.framing import LENGTH_BYTES
from ottla.protocol.headers import decode_response_header, encode_request
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.protocol.messages.produce_response import PartitionProduceResponse, ProduceResponse
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record
from ottla.replication.leadership import Leadership
from ottla.replication.offset_waiters import CALLED_AT_ONCE
from ottla.replication.partition import Partition

VERSION = 9
TOPIC = "t"
PARTITIONS = 150  # of the large requests: more than are waited for at once
ME, FOLLOWER = 1, 2
BOTH = (ME, FOLLOWER)
LONG_MS = 3_600_000


@pytest.fixture
def world() -> Iterator[World]:
    with World() as world:
        world.create_topic(TOPIC, PARTITIONS)
        for each in range(PARTITIONS):
            lead(world, each, 1)
        yield world


def partition_of(world: World, index: int = 0) -> Partition:
    return world.broker.replicas.partition(TOPIC, index)


def lead(world: World, index: int, epoch: int, leader: int = ME) -> None:
    decided = Leadership(leader, epoch, epoch, BOTH, BOTH)
    partition_of(world, index).lead_or_follow(decided, world.clock.now_ms())


def follow(partition: Partition, offset: int | None = None) -> None:
    """The follower has everything below the offset, or all."""
    end = partition.log.log_end_offset
    assert partition.leader_state is not None
    progress = partition.leader_state.followers[FOLLOWER]
    progress.fetched(end if offset is None else offset, 0, end, 0)
    partition.advance()


def produce_frame(
    number: int, partitions: range = range(1), *, acks: int = -1, timeout_ms: int = LONG_MS
) -> bytes:
    data = [
        PartitionProduceData(each, build_batch([Record(0, 0, b"k", b"v", ())]))
        for each in partitions
    ]
    topics = [TopicProduceData(TOPIC, partition_data=data)]
    request = ProduceRequest(None, acks, timeout_ms, topics)
    return b"".join(map(bytes, encode_request(ApiKey.PRODUCE, VERSION, number, "c", request)))


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def send(self, frame: bytes) -> None:
        self._writer.write(frame)

    async def receive(self) -> tuple[int, list[PartitionProduceResponse]]:
        size = int.from_bytes(await self._reader.readexactly(LENGTH_BYTES))
        frame = memoryview(await self._reader.readexactly(size))
        number, at = decode_response_header(ApiKey.PRODUCE, VERSION, frame)
        response = ProduceResponse.decode(frame, VERSION, at)
        return number, list(response.responses[0].partition_responses)

    def leave(self) -> None:
        """With a reset: who only ends its side of the connection still reads responses."""
        connected = self._writer.get_extra_info("socket")
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()


@asynccontextmanager
async def serving(world: World) -> AsyncIterator[Callable[[], Awaitable[Client]]]:
    """Yields how to connect."""
    network = world.broker.network
    running = asyncio.ensure_future(network.run())
    (port,) = world.broker.ports.values()
    await asyncio.sleep(0)  # it listens from its first step on

    async def connect() -> Client:
        return Client(*await asyncio.open_connection("127.0.0.1", port))

    try:
        yield connect
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def until(is_true: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not is_true():
            await asyncio.sleep(0.001)


def waiters_of(world: World) -> int:
    return sum(partition_of(world, each).pending_acks for each in range(PARTITIONS))


def assert_nothing_remains(world: World) -> None:
    parts, network = world.broker.parts, world.broker.network
    assert waiters_of(world) == 0
    assert len(parts.timers) == 0
    assert len(parts.wake_ups) == 0
    assert network.request_memory.held_bytes == 0
    assert network.response_memory.held_bytes == 0
    assert not [task for task in asyncio.all_tasks() if "finish" in repr(task.get_coro())]


def test_requests_are_answered_in_order_when_the_follower_has_their_records(world: World) -> None:
    async def story() -> None:
        async with serving(world) as connect:
            client = await connect()
            for number in range(100):
                client.send(produce_frame(number))
            await until(lambda: waiters_of(world) == 100)
            assert len(world.broker.parts.timers) == 100
            follow(partition_of(world), 60)
            assert [(await client.receive())[0] for _ in range(60)] == list(range(60))
            assert waiters_of(world) == len(world.broker.parts.timers) == 40
            follow(partition_of(world))
            answers = [await client.receive() for _ in range(40)]
            assert [number for number, _ in answers] == list(range(60, 100))
            assert [each.base_offset for _, (each,) in answers] == list(range(60, 100))
            assert_nothing_remains(world)
            client.leave()

    world.run(story())


@pytest.mark.parametrize("partitions", [1, 10, PARTITIONS])
def test_nothing_remains_of_a_client_that_leaves(world: World, partitions: int) -> None:
    async def story() -> None:
        async with serving(world) as connect:
            clients = [await connect() for _ in range(3)]
            for client in clients:
                for number in range(4):
                    client.send(produce_frame(number, range(partitions)))
            await until(lambda: waiters_of(world) == 12 * partitions)
            clients[1].leave()
            await until(lambda: waiters_of(world) == 8 * partitions)
            assert len(world.broker.parts.timers) == 8
            for client in (clients[0], clients[2]):
                client.leave()
            await until(lambda: not world.broker.network.connections)
            await until(lambda: waiters_of(world) == 0)
            assert_nothing_remains(world)
            assert all(not partition_of(world, each).has_pending_acks for each in range(partitions))

    world.run(story())


@pytest.mark.parametrize("partitions", [1, PARTITIONS])
def test_a_request_whose_time_is_up_gets_a_response_and_nothing_remains(
    world: World, partitions: int
) -> None:
    async def story() -> None:
        async with serving(world) as connect:
            client = await connect()
            for number, timeout_ms in enumerate((20, 0, -1)):
                client.send(produce_frame(number, range(partitions), timeout_ms=timeout_ms))
            for number in range(3):
                received, answers = await client.receive()
                assert received == number
                assert {each.error_code for each in answers} == {ErrorCode.REQUEST_TIMED_OUT}
                assert {each.base_offset for each in answers} == {-1}
            await until(lambda: waiters_of(world) == 0)
            assert_nothing_remains(world)
            client.leave()

    world.run(story())


def test_only_what_is_known_when_the_time_is_up_counts(world: World) -> None:
    async def story() -> None:
        timers, ended = LoopTimers(), list[int]()
        appends = [
            Unreplicated(partition_of(world, each), 1, 1, PartitionProduceResponse())
            for each in range(2)
        ]
        waiting = Acknowledgements(appends, timers)
        for number in range(2):
            waiting.register(number, is_replicated=True)
        waiting.await_all(lambda: ended.append(1), LONG_MS)
        for each in range(2):
            batch = bytearray(build_batch([Record(0, 0, b"k", b"v", ())]))
            partition_of(world, each).append(batch, -1)
        follow(partition_of(world, 0))
        assert ended == []
        waiting.expire()
        assert ended == [1]
        follow(partition_of(world, 1))
        assert waiting.errors == {0: None}
        waiting.leave()
        assert len(timers) == 0
        assert ended == [1]

    world.run(story())


@pytest.mark.parametrize("partitions", [1, PARTITIONS])
def test_a_leader_that_resigns_refuses_those_that_wait(world: World, partitions: int) -> None:
    async def story() -> None:
        async with serving(world) as connect:
            client = await connect()
            client.send(produce_frame(1, range(partitions)))
            await until(lambda: waiters_of(world) == partitions)
            for each in range(partitions):
                lead(world, each, 2, leader=FOLLOWER)
            _, answers = await client.receive()
            assert {each.error_code for each in answers} == {ErrorCode.NOT_LEADER_OR_FOLLOWER}
            await until(lambda: waiters_of(world) == 0)
            assert_nothing_remains(world)
            client.leave()

    world.run(story())


def test_a_bug_closes_the_connection_of_its_request_alone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        async with serving(world) as connect:
            broken, other = await connect(), await connect()
            broken.send(produce_frame(1))
            await until(lambda: waiters_of(world) == 1)
            with monkeypatch.context() as patch:
                patch.setattr("ottla.handlers.serving.dispatch.encode_answer", None)
                follow(partition_of(world))
                with pytest.raises(asyncio.IncompleteReadError):
                    await broken.receive()
            broken.leave()
            other.send(produce_frame(2))
            await until(lambda: waiters_of(world) == 1)
            follow(partition_of(world))
            assert (await other.receive())[0] == 2
            assert_nothing_remains(world)
            other.leave()

    world.run(story())


def test_many_requests_that_one_fetch_acknowledges_are_answered_over_several_turns(
    world: World,
) -> None:
    async def story() -> None:
        async with serving(world) as connect:
            clients = [await connect() for _ in range(6)]
            for client in clients:
                for number in range(100):
                    client.send(produce_frame(number))
            await until(lambda: waiters_of(world) == 600)
            follow(partition_of(world))
            left = [(waiters_of(world), len(world.broker.parts.wake_ups))]
            while any(left[-1]):
                await asyncio.sleep(0)
                left.append((waiters_of(world), len(world.broker.parts.wake_ups)))
            assert sum(left[0]) == 600
            assert max(before[0] - after[0] for before, after in pairwise(left)) <= CALLED_AT_ONCE
            answered = [sum(before) - sum(after) for before, after in pairwise(left)]
            assert max(answered) <= CALLBACKS_MAX
            for client in clients:
                assert [(await client.receive())[0] for _ in range(100)] == list(range(100))
                client.leave()

    world.run(story())
