"""DeleteRecords: the beginning of a log moves, for readers at once and for good."""

from __future__ import annotations

import errno

import pytest
from tests.unit.handlers.asking import produce
from tests.unit.handlers.test_list_offsets import EARLIEST, ask
from tests.unit.handlers.world import World

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)


def delete(world: World, before: int, version: int = 2, index: int = 0) -> tuple[int, int]:
    """(error, where the log begins)."""
    topic = DeleteRecordsTopic("t", [DeleteRecordsPartition(index, before)])
    (result,) = world.ask(DeleteRecordsRequest([topic], 1000), version).topics[0].partitions
    return result.error_code, result.low_watermark


@pytest.fixture
def filled(world: World) -> World:
    world.create_topic("t")
    for _ in range(4):
        produce(world, "t", 5)
    return world


@pytest.mark.parametrize("version", range(3))
def test_records_before_an_offset_are_gone(filled: World, version: int) -> None:
    assert delete(filled, 7, version) == (0, 7)
    assert ask(filled, EARLIEST).offset == 7
    assert delete(filled, 3, version) == (0, 7)  # they were gone already
    assert delete(filled, -1, version) == (0, 20)  # everything


def test_there_is_nothing_to_delete_beyond_the_end(filled: World) -> None:
    assert delete(filled, 21) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    assert delete(filled, -2) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    assert delete(filled, 1, index=3) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)


def test_a_compacted_topic_is_left_whole(world: World) -> None:
    world.create_topic("t", config={"cleanup.policy": "compact"})
    produce(world, "t", 5)
    assert delete(world, 3) == (ErrorCode.POLICY_VIOLATION, -1)
    assert ask(world, EARLIEST).offset == 0


def test_it_is_answered_when_it_is_written_down(filled: World) -> None:
    assert delete(filled, 7) == (0, 7)
    directory = filled.broker.logs.directory_of(filled.broker.replicas.partition("t", 0).name)
    assert directory is not None
    saved = directory.checkpoints.read()
    assert list(saved.log_starts.values()) == [7]


def test_a_disk_that_cannot_write_it_down_says_so(filled: World) -> None:
    filled.disk.fail("write", "*log-start-offset-checkpoint*", error=errno.EIO)
    code, _ = delete(filled, 7)
    assert code == ErrorCode.KAFKA_STORAGE_ERROR
