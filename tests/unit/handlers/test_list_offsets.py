"""ListOffsets: by kind and by time, in the versions that know them."""

from __future__ import annotations

import asyncio
from struct import pack_into

import pytest
from tests.unit.handlers.asking import START_MS, produce
from tests.unit.handlers.world import World

from ottla.handlers.serving.parts import TIME_SEARCHES_MAX
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from ottla.protocol.messages.list_offsets_response import ListOffsetsPartitionResponse
from ottla.protocol.messages.metadata_request import MetadataRequest
from ottla.protocol.records.batch import stamp_checksum
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.record import Record

VERSIONS = range(1, 12)
UNCOMMITTED, COMMITTED = range(2)
LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING = range(-1, -7, -1)


def ask(
    world: World,
    timestamp: int,
    version: int = 11,
    *,
    index: int = 0,
    epoch: int = -1,
    isolation: int = UNCOMMITTED,
) -> ListOffsetsPartitionResponse:
    wanted = ListOffsetsPartition(index, epoch if version >= 4 else -1, timestamp)
    request = ListOffsetsRequest(-1, isolation, [ListOffsetsTopic("t", [wanted])])
    found = world.ask(request, version).topics[0].partitions[0]
    assert isinstance(found, ListOffsetsPartitionResponse)
    return found


@pytest.fixture
def filled(world: World) -> World:
    """Two batches of five seconds each; the first one has the latest times."""
    world.create_topic("t")
    produce(world, "t", 5, at_ms=START_MS + 60_000)
    produce(world, "t", 5)
    return world


@pytest.mark.parametrize("version", VERSIONS)
def test_both_ends_are_found_in_every_version(filled: World, version: int) -> None:
    first, end = ask(filled, EARLIEST, version), ask(filled, LATEST, version)
    assert (first.offset, end.offset) == (0, 10)
    assert (first.error_code, first.timestamp, end.timestamp) == (0, -1, -1)
    expected = 0 if version >= 4 else -1  # leader epochs came with version 4
    assert (first.leader_epoch, end.leader_epoch) == (expected, expected)


@pytest.mark.parametrize(
    ("timestamp", "offset"),
    [
        (0, 0),
        (START_MS + 60_000, 0),
        (START_MS + 60_001, 1),
        (START_MS + 64_000, 4),
        (START_MS + 64_001, -1),
    ],
)
def test_the_first_record_at_or_after_a_time_is_found(
    filled: World, timestamp: int, offset: int
) -> None:
    found = ask(filled, timestamp)
    assert found.offset == offset
    assert found.timestamp == (-1 if offset < 0 else START_MS + 60_000 + 1000 * offset)


@pytest.mark.parametrize(
    ("kind", "since", "offset"),
    [
        (MAX_TIMESTAMP, 7, 4),
        (EARLIEST_LOCAL, 8, 0),
        (LATEST_TIERED, 9, -1),
        (EARLIEST_PENDING, 11, -1),
    ],
)
def test_newer_kinds_are_refused_in_older_versions(
    filled: World, kind: int, since: int, offset: int
) -> None:
    for version in VERSIONS:
        found = ask(filled, kind, version)
        if version < since:
            assert found.error_code == ErrorCode.UNSUPPORTED_VERSION
        else:
            assert (found.error_code, found.offset) == (0, offset)


def test_an_unknown_kind_is_refused(filled: World) -> None:
    assert ask(filled, -7).error_code == ErrorCode.UNSUPPORTED_VERSION


def test_one_partition_does_not_spoil_the_others(filled: World) -> None:
    wanted = [ListOffsetsPartition(each, -1, LATEST) for each in (0, 5, 5)]
    request = ListOffsetsRequest(-1, 0, [ListOffsetsTopic("t", wanted)])
    answers = filled.ask(request, 7).topics[0].partitions
    assert [(each.partition_index, each.error_code) for each in answers] == [
        (0, 0),
        (5, ErrorCode.INVALID_REQUEST),  # asked for twice
        (5, ErrorCode.INVALID_REQUEST),
    ]
    assert ask(filled, LATEST, index=5).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_reader_with_another_leader_epoch_receives_an_error(filled: World) -> None:
    assert ask(filled, LATEST, epoch=0).error_code == 0
    assert ask(filled, LATEST, epoch=7).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH


def test_an_empty_partition_has_both_ends_and_no_times(world: World) -> None:
    world.create_topic("t")
    assert ask(world, EARLIEST).offset == ask(world, LATEST).offset == 0
    assert ask(world, MAX_TIMESTAMP).offset == ask(world, 0).offset == -1


def test_others_are_served_while_hundreds_of_compressed_batches_are_searched(
    world: World,
) -> None:
    world.create_topic("t")
    count = 300
    partition = world.broker.replicas.partition("t", 0)
    for _ in range(count):
        partition.append(liar(), 1)
    wanted = ListOffsetsPartition(0, -1, START_MS + 1000)
    request = ListOffsetsRequest(-1, 0, [ListOffsetsTopic("t", [wanted])])

    async def story() -> int:
        searching = asyncio.create_task(world._answer(request, 11, world.me, None))
        served = 0
        while not searching.done():
            await world._answer(MetadataRequest([]), 12, world.me, None)
            served += 1
            await asyncio.sleep(0)
        return served

    assert world.run(story()) >= count


def liar() -> bytearray:
    """A batch whose header claims a later time than its record has."""
    batch = build_batch([Record(0, START_MS, b"k", b"v", ())], codec=Codec.GZIP)
    pack_into(">q", batch, 35, START_MS + 1000)
    stamp_checksum(batch, 0, len(batch))
    return batch


def test_a_search_by_time_waits_while_others_have_the_threads(filled: World) -> None:
    searches = filled.broker.parts.time_searches

    async def story() -> None:
        for _ in range(TIME_SEARCHES_MAX):
            await searches.acquire()
        partition = ListOffsetsPartition(0, -1, 1)
        request = ListOffsetsRequest(-1, 0, [ListOffsetsTopic("t", [partition])])
        left, kept = (
            asyncio.ensure_future(filled._answer(request, 7, filled.me, None)) for _ in range(2)
        )
        for _ in range(50):
            await asyncio.sleep(0)
        assert not left.done()
        assert not kept.done()
        left.cancel()  # its client has left
        searches.release()
        await kept
        searches.release()

    filled.run(story())
    assert searches._value == TIME_SEARCHES_MAX
