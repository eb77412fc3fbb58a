"""DeleteRecords: the beginning of a log moves, for readers at once and permanently."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.handlers.asking import produce
from tests.unit.handlers.test_list_offsets import COMMITTED, EARLIEST, LATEST, ask
from tests.unit.handlers.world import World
from tests.unit.storage.log_making import batch_of

from ottla.metadata.image import Batch
from ottla.metadata.records import PartitionChanged
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from ottla.replication.leadership import Leadership


def delete(
    world: World, before: int, version: int = 2, index: int = 0, timeout_ms: int = 1000
) -> tuple[int, int]:
    """(error, where the log begins)."""
    topic = DeleteRecordsTopic("t", [DeleteRecordsPartition(index, before)])
    (result,) = world.ask(DeleteRecordsRequest([topic], timeout_ms), version).topics[0].partitions
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


@pytest.mark.parametrize("is_loaded", [False, True])
def test_only_the_leader_deletes_records(filled: World, is_loaded: bool) -> None:
    publisher, log = filled.broker.publisher, filled.broker.replicas.partition("t", 0).log
    topic = publisher.image.topic("t")
    assert topic is not None
    change = PartitionChanged(
        topic.id, 0, 1, leader=2, leader_epoch=1, replicas=(1, 2), in_sync_replicas=(1, 2)
    )

    async def publish() -> None:
        publisher.publish(Batch(publisher.image.offset, 1, (change,)))

    filled.run(publish())
    if not is_loaded:  # as after a start
        log.producers.unload()
    assert delete(filled, 7) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)
    assert log.log_start_offset == 0


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


def test_it_is_written_down_by_the_next_attempt_after_a_full_disk(filled: World) -> None:
    filled.disk.fail("write", "*log-start-offset-checkpoint*", error=errno.ENOSPC)
    assert delete(filled, 7) == (ErrorCode.KAFKA_STORAGE_ERROR, -1)
    assert delete(filled, 7) == (0, 7)
    partition = filled.broker.replicas.partition("t", 0).name
    directory = filled.broker.logs.directory_of(partition)
    assert directory is not None
    assert directory.checkpoints.read().log_starts == {partition: 7}


@pytest.mark.parametrize("before", [0, 7, 12, 20])
def test_an_open_transaction_does_not_hold_back_readers_that_begin_after_its_first_records(
    filled: World, before: int
) -> None:
    partition = filled.broker.replicas.partition("t", 0)
    partition.log.context.verify_transactions(False)
    partition.append(batch_of(b"t", producer=(7, 0, 0), is_transactional=True), 1)
    for _ in range(3):
        produce(filled, "t", 5)
    assert delete(filled, before) == (0, before)
    assert ask(filled, LATEST, isolation=COMMITTED).offset == 20
    assert delete(filled, 30) == (0, 30)
    for kind in (EARLIEST, LATEST):
        assert ask(filled, kind, isolation=COMMITTED).offset == 30


# Other replicas


def publish(world: World, **change: Any) -> None:
    publisher = world.broker.publisher
    topic = publisher.image.topic("t")
    assert topic is not None
    epoch = topic.partitions[0].partition_epoch + 1
    record = PartitionChanged(topic.id, 0, epoch, **change)

    async def publishing() -> None:
        publisher.publish(Batch(publisher.image.offset, 1, (record,)))

    world.run(publishing())


@pytest.fixture
def replicated(filled: World) -> World:
    """Broker 2 has all records, and has received the high watermark after them."""
    publish(filled, replicas=(1, 2), in_sync_replicas=(1, 2))
    filled.broker.replicas.partition("t", 0).follower_fetched(2, 5, 20, 0, 0)
    return filled


def later(world: World, call: Callable[[], None]) -> None:
    """While the next request waits."""
    low_watermarks = world.broker.parts.low_watermarks
    partition = world.broker.replicas.partition("t", 0)

    def look() -> None:
        if low_watermarks:
            call()
            low_watermarks.changed(partition)  # as in a broker of a cluster
        else:
            world.loop.call_later(0.001, look)

    world.loop.call_soon(look)


def test_it_is_answered_when_the_other_replica_has_deleted_them_too(replicated: World) -> None:
    partition = replicated.broker.replicas.partition("t", 0)
    later(replicated, lambda: partition.follower_fetched(2, 5, 20, 7, 0))
    assert delete(replicated, 7, timeout_ms=60_000) == (0, 7)
    assert delete(replicated, 7, timeout_ms=60_000) == (0, 7)


def test_a_replica_that_does_not_report_makes_it_time_out(replicated: World) -> None:
    """With the low watermark when the wait began."""
    assert delete(replicated, 7, timeout_ms=20) == (ErrorCode.REQUEST_TIMED_OUT, 0)
    assert ask(replicated, EARLIEST).offset == 7
    assert not replicated.broker.parts.low_watermarks


def test_another_leader_ends_the_wait(replicated: World) -> None:
    partition = replicated.broker.replicas.partition("t", 0)
    later(replicated, lambda: partition.lead_or_follow(Leadership(2, 9, 99, (1, 2), (1, 2)), 0))
    expected = (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)
    assert delete(replicated, 7, timeout_ms=60_000) == expected
