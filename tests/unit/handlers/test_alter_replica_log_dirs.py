"""A partition moves to another directory while it is written to, cut short, killed, deleted."""

from __future__ import annotations

import asyncio
import errno
import threading
from collections.abc import Iterator
from random import Random

import pytest
from tests.unit.handlers.asking import produce
from tests.unit.handlers.quotas.test_client_quotas import fetch_request
from tests.unit.handlers.world import DIRECTORIES, World

from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicPartition
from ottla.broker.broker import Broker
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.alter_replica_log_dirs_request import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from ottla.protocol.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest
from ottla.protocol.messages.describe_log_dirs_request import DescribeLogDirsRequest
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record
from ottla.replication import directory_moves
from ottla.storage.directories.directory_checkpoints import CheckpointJob
from ottla.storage.log import log_copying
from ottla.storage.log.flushing import flush

HERE = TopicPartition("t", 0)


@pytest.fixture
def world() -> Iterator[World]:
    with World() as world:
        world.create_topic("t")
        yield world


def append(world: World, count: int, *, producer_id: int = -1, sequence: int = -1) -> None:
    partition = world.broker.replicas.partition(*HERE)
    for at in range(count):
        batch = build_batch(
            [Record(0, 1_700_000_000_000 + at, b"k%d" % (at % 3), b"v" * 500, ())],
            producer_id=producer_id,
            producer_epoch=0 if producer_id >= 0 else -1,
            base_sequence=sequence + at if producer_id >= 0 else -1,
        )
        partition.append(batch, 1)


def place(world: World) -> str:
    directory = world.broker.logs.directory_of(HERE)
    assert directory is not None
    return directory.path


def elsewhere(world: World) -> str:
    return next(path for path in DIRECTORIES if path != place(world))


def move(world: World, path: str, topic: str = "t", index: int = 0, version: int = 2) -> int:
    wanted = AlterReplicaLogDir(path, [AlterReplicaLogDirTopic(topic, [index])])
    (result,) = world.ask(AlterReplicaLogDirsRequest([wanted]), version).results
    code: int = result.partitions[0].error_code
    return code


def settle(world: World) -> None:
    """Until nothing moves any more."""

    async def wait() -> None:
        moves = world.broker.parts.directory_moves
        while len(moves._tasks):
            await asyncio.sleep(0)
        await asyncio.sleep(0)

    world.run(wait())


def records(world: World) -> bytes:
    answer = world.ask(fetch_request(), 12)
    return bytes(answer.responses[0].partitions[0].records)


@pytest.mark.parametrize("version", [1, 2])
def test_a_partition_moves_with_all_its_records(world: World, version: int) -> None:
    append(world, 50)
    before, target = records(world), elsewhere(world)
    assert move(world, target, version=version) == 0
    settle(world)
    assert place(world) == target
    assert records(world) == before
    append(world, 1)
    assert world.broker.replicas.partition(*HERE).log.log_end_offset == 51


def test_what_is_written_meanwhile_is_moved_too(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_copying, "CHUNK_BYTES", 2000)
    append(world, 100)
    target = elsewhere(world)
    assert move(world, target) == 0

    async def write_on() -> None:
        for _ in range(50):
            append(world, 1)
            await asyncio.sleep(0)

    world.run(write_on())
    settle(world)
    assert place(world) == target
    assert world.broker.replicas.partition(*HERE).log.log_end_offset == 150
    assert records(world).count(b"v" * 500) == 150


def test_producers_are_known_after_the_move_even_if_their_records_are_gone(world: World) -> None:
    append(world, 3, producer_id=7, sequence=0)
    append(world, 2)
    topic = DeleteRecordsTopic("t", [DeleteRecordsPartition(0, 4)])
    world.ask(DeleteRecordsRequest([topic], 1000), 2)
    assert move(world, elsewhere(world)) == 0
    settle(world)
    log = world.broker.replicas.partition(*HERE).log
    assert (log.log_start_offset, log.high_watermark, log.log_end_offset) == (4, 5, 5)
    assert log.producers.load(BLOCKING).producers[7].last_sequence == 2
    assert log.epochs.load(BLOCKING).latest_epoch is not None


def test_a_log_that_begins_in_the_middle_of_a_batch_moves(world: World) -> None:
    produce(world, "t", 10)
    topic = DeleteRecordsTopic("t", [DeleteRecordsPartition(0, 4)])
    world.ask(DeleteRecordsRequest([topic], 1000), 2)
    before = world.broker.replicas.partition(*HERE).log.read(BLOCKING, 4, 10_000, 10).records.read()
    target = elsewhere(world)
    assert move(world, target) == 0
    settle(world)
    assert place(world) == target
    log = world.broker.replicas.partition(*HERE).log
    assert (log.log_start_offset, log.log_end_offset) == (4, 10)
    assert log.read(BLOCKING, 4, 10_000, 10).records.read() == before


def test_a_compacted_log_moves_with_its_gaps(world: World) -> None:
    partition = world.broker.replicas.partition(*HERE)
    for offset in (0, 5, 17):
        partition.log.append_as_follower(
            build_batch([Record(offset, 1_700_000_000_000, b"k", b"v", ())], base_offset=offset)
        )
    partition.advance()
    assert move(world, elsewhere(world)) == 0
    settle(world)
    log = world.broker.replicas.partition(*HERE).log
    assert (log.log_end_offset, log.high_watermark) == (18, 18)
    assert len(log.read(BLOCKING, 0, 10_000, 18).records) == 3 * 70


def test_log_directories_contain_the_progress_of_the_move(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(world, 10)
    monkeypatch.setattr(directory_moves.DirectoryMoves, "_start", lambda *_: None)
    target = elsewhere(world)
    assert move(world, target) == 0
    reported = {
        result.log_dir: [part for topic in result.topics for part in topic.partitions]
        for result in world.ask(DescribeLogDirsRequest(None), 4).results
    }
    (future,), (current,) = reported[target], reported[place(world)]
    assert (future.is_future_key, future.offset_lag, future.partition_size) == (True, 10, 0)
    assert (current.is_future_key, current.offset_lag) == (False, 0)


def test_moving_back_stops_the_move(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    append(world, 10)
    monkeypatch.setattr(directory_moves.DirectoryMoves, "_start", lambda *_: None)
    home = place(world)
    assert move(world, elsewhere(world)) == 0
    assert move(world, elsewhere(world)) == 0  # it is under way already
    assert world.broker.logs.moves.partitions() == [HERE]
    assert move(world, home) == 0
    assert world.broker.logs.moves.partitions() == []
    assert place(world) == home


def test_errors_are_kafkas(world: World) -> None:
    world.create_topic("x" * 240)
    assert move(world, "/disk/nowhere") == ErrorCode.LOG_DIR_NOT_FOUND
    target = elsewhere(world)
    missing = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert move(world, target, topic="missing") == missing
    assert move(world, target, index=7) == missing
    codes = [move(world, path, topic="x" * 240) for path in DIRECTORIES]
    assert sorted(codes) == [0, ErrorCode.INVALID_TOPIC_EXCEPTION]  # one of them is where it is
    assert move(world, place(world)) == 0  # it is there
    assert world.broker.logs.moves.partitions() == []


def test_nothing_is_moved_while_a_directory_is_offline(world: World) -> None:
    target = elsewhere(world)
    directory = next(each for each in world.broker.logs.directories if each.path == target)
    directory.health.failed("a test", OSError(errno.EIO, "broken"))
    assert move(world, target) == ErrorCode.KAFKA_STORAGE_ERROR
    append(world, 1)


def test_a_directory_that_fails_in_the_middle_leaves_the_partition_where_it_is(
    world: World,
) -> None:
    append(world, 20)
    home, target = place(world), elsewhere(world)
    world.disk.fail("write", f"{target}/*.log", error=errno.EIO)
    assert move(world, target) == 0
    settle(world)
    assert place(world) == home
    assert world.broker.logs.moves.partitions() == []
    append(world, 1)
    assert records(world).count(b"v" * 500) == 21


@pytest.mark.parametrize("seed", [None, *range(6)])
@pytest.mark.parametrize(
    ("kind", "error"),
    [("sync_directory", errno.EIO), ("rename", errno.EIO), ("sync_directory", errno.ENOSPC)],
)
def test_a_directory_that_fails_at_the_hand_over_leaves_all_records_for_the_next_start(
    world: World, kind: str, error: int, seed: int | None
) -> None:
    append(world, 20)
    before, home, target = records(world), place(world), elsewhere(world)
    flush(world.broker.replicas.partition(*HERE).log)
    world.disk.fail(kind, home if kind == "sync_directory" else f"{home}/*", error=error)
    assert move(world, target) == 0
    settle(world)
    with pytest.raises(BrokerError) as raised:
        append(world, 1)
    assert raised.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    described = world.ask(DescribeLogDirsRequest(None), 4).results
    (future,) = [part for each in described for topic in each.topics for part in topic.partitions]
    assert (future.is_future_key, future.offset_lag) == (True, -1)
    if seed is not None:
        world.disk.crash(Random(seed))
    reopen(world)
    settle(world)
    assert records(world) == before
    assert place(world) == target


def test_a_directory_that_fails_when_it_takes_over_has_the_records_at_the_next_start(
    world: World,
) -> None:
    append(world, 20)
    before, target = records(world), elsewhere(world)
    world.disk.fail("rename", f"{target}/*-future", error=errno.EIO)
    assert move(world, target) == 0
    settle(world)
    with pytest.raises(BrokerError) as raised:  # and not taken by a log that is deleted soon
        append(world, 1)
    assert raised.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    reopen(world)
    assert place(world) == target
    assert records(world) == before


def test_a_full_disk_at_the_hand_over_does_not_stop_it(world: World) -> None:
    append(world, 20)
    before, home, target = records(world), place(world), elsewhere(world)
    world.disk.fail("write", f"{home}/*checkpoint*", error=errno.ENOSPC)
    assert move(world, target) == 0
    settle(world)
    assert (place(world), records(world)) == (target, before)
    assert len(world.broker.logs.online) == len(DIRECTORIES)


def test_a_deleted_topic_is_not_moved(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_copying, "CHUNK_BYTES", 1000)
    append(world, 50)
    assert move(world, elsewhere(world)) == 0
    world.ask(DeleteTopicsRequest(topic_names=["t"], timeout_ms=1000), 5)
    settle(world)
    assert world.broker.logs.moves.partitions() == []
    assert world.broker.logs.directory_of(HERE) is None


def test_a_move_of_a_deleted_topic_touches_none_of_the_next_topic_of_its_name(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_copying, "CHUNK_BYTES", 1000)
    monkeypatch.setattr(directory_moves, "LOOK_AGAIN_MS", 1)
    moves = world.broker.parts.directory_moves
    with monkeypatch.context() as limited:
        limited.setattr(moves, "_bytes_per_second", lambda: 0)
        append(world, 50)
        assert move(world, elsewhere(world)) == 0
        world.ask(DeleteTopicsRequest(topic_names=["t"], timeout_ms=1000), 5)
        world.create_topic("t")
        append(world, 20)
        before, target = records(world), elsewhere(world)
        assert move(world, target) == 0
    settle(world)
    assert place(world) == target
    assert records(world) == before
    append(world, 1)
    assert world.broker.logs.get(HERE) is world.broker.replicas.partition(*HERE).log


def test_small_segments_move_no_faster_than_allowed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits, target = [], elsewhere(world)
    for _ in range(4):
        append(world, 5)
        world.broker.replicas.partition(*HERE).log.roll()

    def wait_ms(_moves: directory_moves.DirectoryMoves) -> int:
        future = world.broker.logs.moves.get(HERE)
        waits.append(None if future is None else future.log_end_offset)
        return 0

    monkeypatch.setattr(directory_moves.DirectoryMoves, "_wait_ms", wait_ms)
    assert move(world, target) == 0
    settle(world)
    assert place(world) == target
    assert waits == [5, 10, 15]


def test_a_hand_over_leaves_the_old_directory_s_checkpoints_to_a_thread(world: World) -> None:
    append(world, 10)
    old_place = world.broker.logs.directory_of(HERE)
    assert old_place is not None
    target, threads = elsewhere(world), set()
    write = old_place.checkpoints.write

    def noted(job: CheckpointJob) -> bool:
        threads.add(threading.current_thread())
        return write(job)

    old_place.checkpoints.write = noted  # type: ignore[method-assign]
    assert move(world, target) == 0
    settle(world)
    assert place(world) == target
    assert not old_place.deletions.is_pending
    assert threads
    assert threading.main_thread() not in threads


def test_a_move_continues_after_a_kill(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    append(world, 30)
    before, target = records(world), elsewhere(world)
    with monkeypatch.context() as patch:
        patch.setattr(directory_moves.DirectoryMoves, "_start", lambda *_: None)
        assert move(world, target) == 0
    reopen(world)
    settle(world)
    assert place(world) == target
    assert records(world) == before


@pytest.mark.parametrize("seed", range(8))
def test_a_power_cut_leaves_one_whole_log(world: World, seed: int) -> None:
    append(world, 30)
    assert move(world, elsewhere(world)) == 0

    async def wait_a_little() -> None:
        for _ in range(3 * seed):
            await asyncio.sleep(0)

    world.run(wait_a_little())
    synced = world.broker.replicas.partition(*HERE).log.recovery_point
    world.disk.crash(Random(seed))
    reopen(world)
    settle(world)
    log = world.broker.replicas.partition(*HERE).log
    assert log.log_end_offset >= synced
    assert world.broker.logs.moves.partitions() == []
    append(world, 1)


def reopen(world: World) -> None:
    """The process died; another one opens what is on the disk."""
    old = world.broker
    world.run(old.parts.directory_moves.close())
    world.run(old._tasks.close())
    world.disk.kill()
    old.network.stop_accepting()
    world.broker = Broker(old.settings, files=world.disk, clock=world.clock, rng=Random(8))
    world.__enter__()


def test_a_move_that_ends_late_does_not_hide_the_one_that_followed_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(world, 20)
    monkeypatch.setattr(log_copying, "CHUNK_BYTES", 1000)
    moves = world.broker.parts.directory_moves

    async def story() -> None:
        here, there = place(world), elsewhere(world)
        moves.move("t", 0, there)
        moves.stop(HERE)  # its task ends when it is next its turn
        world.broker.logs.moves.cancel(HERE)
        moves.move("t", 0, there)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert HERE in moves
        assert here != there

    world.run(story())


@pytest.mark.parametrize("is_killed_at", [0, 10, 20, 40])
@pytest.mark.parametrize("is_before", [True, False])
def test_records_that_were_deleted_do_not_come_back_by_a_move_and_a_kill(
    world: World, is_before: bool, is_killed_at: int
) -> None:
    produce(world, "t", 10)
    topic = DeleteRecordsTopic("t", [DeleteRecordsPartition(0, 4)])
    deletion = DeleteRecordsRequest([topic], 1000)
    if is_before:
        world.ask(deletion, 2)
    target = elsewhere(world)
    assert move(world, target) == 0
    if not is_before:
        world.ask(deletion, 2)

    async def go_on() -> None:
        for _ in range(is_killed_at):
            await asyncio.sleep(0)

    world.run(go_on())
    reopen(world)
    settle(world)
    assert place(world) == target
    log = world.broker.replicas.partition(*HERE).log
    assert (log.log_start_offset, log.log_end_offset) == (4, 10)
