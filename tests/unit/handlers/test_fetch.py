"""Fetch: when it waits, for what, and what it serves of files that were not verified yet."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Iterator
from typing import Any, cast

import pytest
from tests.unit.handlers.asking import produce
from tests.unit.handlers.world import World, bytes_of
from tests.unit.storage.log_making import COORDINATOR, batch_of

from ottla.base.files.readers import BLOCKING
from ottla.handlers.fetching import checking
from ottla.handlers.fetching.checking import check_all, outcome_of, run_checks
from ottla.handlers.fetching.partition_read import PartitionRead, failed
from ottla.network.connection import Connection
from ottla.network.request_server import AwaitingAnswer
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.framing import LENGTH_BYTES
from ottla.protocol.headers import decode_response_header, encode_request
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest
from ottla.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.messages.fetch_response import FetchResponse, PartitionData
from ottla.protocol.records.control import build_end_marker
from ottla.replication.fetch_sessions import FetchKey, WantedPartition
from ottla.replication.partition import Partition
from ottla.storage.errors import CorruptLogError

VERSION = 12
COMMITTED, UNCOMMITTED = 1, 0
PATIENT_MS = 400_000


@pytest.fixture
def world() -> Iterator[World]:
    with World({"transaction.partition.verification.enable": "false"}) as world:
        world.create_topic("t", 2)
        yield world


def partition_of(world: World, index: int = 0) -> Partition:
    return world.broker.replicas.partition("t", index)


def request_of(
    *,
    isolation: int = UNCOMMITTED,
    min_bytes: int = 1,
    max_wait_ms: int = PATIENT_MS,
    session: tuple[int, int] = (0, -1),
    partitions: int = 1,
) -> FetchRequest:
    wanted = [FetchPartition(each, -1, 0, -1, -1, 1 << 20) for each in range(partitions)]
    return FetchRequest(
        replica_id=-1,
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        max_bytes=1 << 24,
        isolation_level=isolation,
        session_id=session[0],
        session_epoch=session[1],
        topics=[FetchTopic("t", partitions=wanted)] if partitions else [],
    )


async def answered(world: World, request: FetchRequest) -> FetchResponse:
    answer = await world._answer(request, VERSION, world.me, None)
    frame = memoryview(b"".join(bytes_of(segment) for segment in answer.segments))[LENGTH_BYTES:]
    _, at = decode_response_header(ApiKey.FETCH, VERSION, frame)
    response = FetchResponse.decode(frame, VERSION, at)
    assert isinstance(response, FetchResponse)
    return response


def reported(response: FetchResponse) -> PartitionData:
    return response.responses[0].partitions[0]


def sizes(response: FetchResponse) -> list[int]:
    return [
        len(bytes_of(part.records)) for topic in response.responses for part in topic.partitions
    ]


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def begin_transaction(partition: Partition, size: int = 100) -> None:
    batch = batch_of(b"x" * size, producer=(7, 0, 0), is_transactional=True)
    partition.append(batch, -1)


def end_transaction(partition: Partition) -> None:
    marker = build_end_marker(True, 0, producer_id=7, producer_epoch=0, timestamp_ms=0)
    partition.append(marker, -1, COORDINATOR)


# Waiting


def test_a_reader_of_committed_data_waits_until_a_transaction_has_ended(world: World) -> None:
    partition = partition_of(world)

    async def story() -> FetchResponse:
        reading = asyncio.create_task(answered(world, request_of(isolation=COMMITTED)))
        await settle()
        begin_transaction(partition)
        await settle()
        assert not reading.done()
        end_transaction(partition)
        return await reading

    answer = reported(world.run(story()))
    assert answer.last_stable_offset == 2
    assert len(bytes_of(answer.records)) > 100


def test_it_waits_in_a_session_too(world: World) -> None:
    partition = partition_of(world)

    async def story() -> FetchResponse:
        request = request_of(isolation=COMMITTED, session=(0, 0), max_wait_ms=0, partitions=2)
        opened = await answered(world, request)
        again = request_of(isolation=COMMITTED, session=(opened.session_id, 1), partitions=0)
        reading = asyncio.create_task(answered(world, again))
        await settle()
        begin_transaction(partition)
        await settle()
        assert not reading.done()
        end_transaction(partition)
        return await reading

    assert len(bytes_of(reported(world.run(story())).records)) > 100


def test_a_small_marker_may_make_much_visible(world: World) -> None:
    """The bytes came before, and are counted when they can be read."""
    partition = partition_of(world)

    async def story() -> FetchResponse:
        begin_transaction(partition, 9000)
        request = request_of(isolation=COMMITTED, min_bytes=5000)
        reading = asyncio.create_task(answered(world, request))
        await settle()
        assert not reading.done()
        end_transaction(partition)
        return await reading

    assert sizes(world.run(story()))[0] > 9000


def test_other_readers_do_not_wait_for_transactions(world: World) -> None:
    partition = partition_of(world)

    async def story() -> FetchResponse:
        reading = asyncio.create_task(answered(world, request_of()))
        await settle()
        begin_transaction(partition)
        return await reading

    assert sizes(world.run(story()))[0] > 100


@pytest.mark.parametrize("isolation", [COMMITTED, UNCOMMITTED])
def test_little_data_is_waited_with_until_there_is_enough(world: World, isolation: int) -> None:
    partition = partition_of(world)

    async def story() -> FetchResponse:
        reading = asyncio.create_task(
            answered(world, request_of(isolation=isolation, min_bytes=1000))
        )
        await settle()
        for _ in range(2):
            partition.append(batch_of(b"x" * 300), -1)
            await settle()
            assert not reading.done()
        partition.append(batch_of(b"x" * 300), -1)
        return await reading

    assert sizes(world.run(story()))[0] > 1000


@pytest.mark.parametrize("isolation", [COMMITTED, UNCOMMITTED])
def test_when_the_time_is_up_a_reader_gets_what_there_is(world: World, isolation: int) -> None:
    partition = partition_of(world)
    partition.append(batch_of(b"x" * 300), -1)
    begin_transaction(partition)
    request = request_of(isolation=isolation, min_bytes=100_000, max_wait_ms=1)
    assert sizes(world.run(answered(world, request)))[0] >= 300


def test_a_change_of_a_partition_without_data_ends_no_wait(world: World) -> None:
    partition = partition_of(world)

    async def story() -> FetchResponse:
        reading = asyncio.create_task(answered(world, request_of()))
        await settle()
        partition.announce()
        await settle()
        assert not reading.done()
        partition.append(batch_of(b"x"), -1)
        return await reading

    assert reported(world.run(story())).error_code == 0


def test_a_reader_hears_at_once_when_its_topic_is_deleted(world: World) -> None:
    async def story() -> FetchResponse:
        reading = asyncio.create_task(answered(world, request_of()))
        await settle()
        delete = DeleteTopicsRequest(topic_names=["t"], timeout_ms=1000)
        await world._answer(delete, 5, world.me, None)
        return await reading

    assert reported(world.run(story())).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


# Verifying


def unverified(world: World) -> PartitionRead:
    """What a reader would get from a file that was just opened."""
    partition = partition_of(world)
    partition.log.segments.active.verified.clear()
    wanted = WantedPartition(FetchKey("t", 0), 0, 1 << 20)
    read = partition.read(BLOCKING, 0, 1 << 20, is_committed=False, at_least_one=True)
    assert read.check is not None
    return PartitionRead(wanted, PartitionData(0, 0, records=read.records), partition, read.check)


async def nothing_again(_before: PartitionRead) -> PartitionRead:
    raise AssertionError("it was not to be read again")


def test_records_are_verified_once_after_their_file_was_opened(world: World) -> None:
    produce(world, "t", 5)
    active = partition_of(world).log.segments.active
    active.verified.clear()
    assert sizes(world.run(answered(world, request_of())))[0] == active.size
    assert active.verified.covers(0, active.size)


def test_damaged_records_are_not_served(world: World) -> None:
    produce(world, "t", 5)
    active = partition_of(world).log.segments.active
    active.verified.clear()
    world.disk.flip_bit(active.path, 100)
    answer = reported(world.run(answered(world, request_of())))
    assert (answer.error_code, bytes_of(answer.records)) == (ErrorCode.CORRUPT_MESSAGE, b"")


def test_a_disk_that_cannot_be_read_is_a_storage_error_and_no_damage(world: World) -> None:
    produce(world, "t", 5)
    found = unverified(world)
    world.disk.fail("read", "*.log", times=None)
    (error,) = run_checks([found.check])
    world.disk.heal()
    assert isinstance(error, OSError)
    answer = world.run(outcome_of(found, error, nothing_again)).answer
    assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR


def test_a_range_whose_file_cannot_be_opened_now_leaves_its_directory_online(world: World) -> None:
    produce(world, "t", 5)
    found = unverified(world)
    failure = OSError(errno.EMFILE, "too many")
    answer = world.run(outcome_of(found, failure, nothing_again)).answer
    assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert partition_of(world).log.health.is_online


@pytest.mark.parametrize("is_noticed", [False, True])
def test_a_range_that_was_cut_during_its_check_is_read_again(
    world: World, is_noticed: bool
) -> None:
    produce(world, "t", 5)
    produce(world, "t", 5)
    found = unverified(world)
    log = partition_of(world).log
    (error,) = run_checks([found.check])
    log.truncate_to(5)
    if is_noticed:
        error = CorruptLogError(log.segments.active.path, 0, "half a batch")
    again: list[WantedPartition] = []

    async def read_again(before: PartitionRead) -> PartitionRead:
        again.append(before.wanted)
        return PartitionRead(
            before.wanted, failed(before.wanted, ErrorCode.OFFSET_OUT_OF_RANGE), None
        )

    answer = world.run(outcome_of(found, error, read_again)).answer
    assert answer.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert again == [found.wanted]


def test_a_log_that_is_cut_again_and_again_gives_nothing_this_time(world: World) -> None:
    produce(world, "t", 5)
    produce(world, "t", 5)
    partition = partition_of(world)

    async def read_again(_before: PartitionRead) -> PartitionRead:
        found = unverified(world)
        partition.log.segments.active.generation += 1
        return found

    found = [world.run(read_again(unverified(world)))]
    world.run(check_all(found, [0], read_again, world.broker.scheduler))
    assert (found[0].size, found[0].answer.error_code) == (0, 0)


def test_a_partition_that_is_read_again_has_the_room_that_it_had(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = 0
    for index in range(2):
        produce(world, "t", 5, partition=index)
        active = partition_of(world, index).log.segments.active
        active.verified.clear()
        size += active.size
    changes = [partition_of(world, index).log.segments.active for index in range(2)]

    def run_and_change(checks: list[Any]) -> list[Exception | None]:
        while changes:
            changes.pop().generation += 1
        return run_checks(checks)

    monkeypatch.setattr(checking, "run_checks", run_and_change)
    request = request_of(partitions=2)
    request.max_bytes = size
    response: Any = world.run(answered(world, request))
    sent = [each for topic in response.responses for each in topic.partitions]
    assert sum(len(bytes_of(each.records)) for each in sent) == size


def test_many_unverified_partitions_are_checked_together(world: World) -> None:
    for index in range(2):
        produce(world, "t", 5, partition=index)
        partition_of(world, index).log.segments.active.verified.clear()
    world.disk.flip_bit(partition_of(world, 1).log.segments.active.path, 100)
    response: Any = world.run(answered(world, request_of(partitions=2)))
    codes = [part.error_code for part in response.responses[0].partitions]
    assert codes == [0, ErrorCode.CORRUPT_MESSAGE]


@pytest.mark.parametrize("session", [(0, -1), (0, 0)])
def test_records_that_come_before_the_next_turn_of_the_loop_end_a_wait(
    world: World, session: tuple[int, int]
) -> None:
    async def begun() -> Any:
        request = request_of(session=session)
        frame = bytearray(b"".join(encode_request(ApiKey.FETCH, VERSION, 1, None, request)))
        served = world.dispatcher.serve(
            memoryview(frame)[LENGTH_BYTES:], cast(Connection, world.me)
        )
        assert isinstance(served, AwaitingAnswer)
        partition_of(world).append(batch_of(b"v"), -1)
        answer = await asyncio.wait_for(served.answer, PATIENT_MS / 4000)
        return sum(len(bytes_of(segment)) for segment in answer.segments)

    assert world.run(begun()) > len(batch_of(b"v"))
    assert not partition_of(world).fetches.watchers


@pytest.mark.parametrize("session", [(0, -1), (0, 0)])
@pytest.mark.parametrize("isolation", [UNCOMMITTED, COMMITTED])
def test_records_that_had_to_be_synced_first_end_a_wait_too(
    world: World, isolation: int, session: tuple[int, int]
) -> None:
    world.create_topic("synced", config={"flush.messages": "1"})
    request = request_of(isolation=isolation, session=session)
    request.topics[0].topic = "synced"

    async def story() -> Any:
        if session == (0, 0):
            request.max_wait_ms = 0
            request.session_id = (await answered(world, request)).session_id
            request.session_epoch, request.max_wait_ms, request.topics = 1, PATIENT_MS, []
        reading = asyncio.create_task(answered(world, request))
        await settle()
        partition = world.broker.replicas.partition("synced", 0)
        partition.append(batch_of(b"v"), -1)
        await partition.wait_replicated(1)
        return await asyncio.wait_for(reading, PATIENT_MS / 4000)

    assert sum(sizes(world.run(story())))
