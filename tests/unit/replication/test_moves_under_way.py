"""Moves between log directories: which are under way, and what ends them."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable, Iterator

import pytest
from tests.unit.handlers.test_alter_replica_log_dirs import (
    HERE,
    append,
    elsewhere,
    move,
    place,
    records,
    settle,
)
from tests.unit.handlers.world import DIRECTORIES, World

from ottla.base.scheduling.steps import Steps
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.alter_replica_log_dirs_request import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from ottla.replication import directory_moves
from ottla.replication.partition import Partition
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.log import log_copying
from ottla.storage.log.flushing import flushing
from ottla.storage.log.log import Log


@pytest.fixture
def world() -> Iterator[World]:
    with World({"replica.alter.log.dirs.io.max.bytes.per.second": "1000"}) as world:
        world.create_topic("t")
        yield world


def wait_for_the_first_bytes(world: World) -> None:
    async def first_bytes() -> None:
        while (future := world.broker.logs.moves.get(HERE)) is None or not future.size_bytes:
            await asyncio.sleep(0)
        for _ in range(200):  # it continues, if nothing stops it
            await asyncio.sleep(0)

    world.run(first_bytes())


def test_a_move_is_under_way_until_it_has_ended(world: World) -> None:
    moves = world.broker.parts.directory_moves
    assert HERE not in moves
    assert move(world, elsewhere(world)) == 0
    assert HERE in moves
    settle(world)
    assert HERE not in moves
    assert world.broker.logs.moves.get(HERE) is None


def test_a_move_that_is_taken_back_ends_at_once_and_leaves_no_copy(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_copying, "CHUNK_BYTES", 1000)
    append(world, 50)  # at 1000 bytes a second it takes its time
    here, moves = place(world), world.broker.parts.directory_moves
    assert move(world, elsewhere(world)) == 0
    wait_for_the_first_bytes(world)
    (task,) = moves._running.values()
    assert not task.done()
    assert move(world, here) == 0
    world.run(asyncio.sleep(0))
    world.run(asyncio.sleep(0))
    assert task.cancelled() or task.done()
    assert HERE not in moves
    assert (place(world), world.broker.logs.moves.get(HERE)) == (here, None)
    append(world, 1)
    assert world.broker.replicas.partition(*HERE).log.log_end_offset == 51


def test_logs_that_were_copied_together_are_replaced_one_in_an_iteration_of_the_loop() -> None:
    """Each replacement waits for syncs."""
    replaced_in: list[int] = []
    with World() as world:
        world.create_topic("many", 30)
        moves, iteration = world.broker.parts.directory_moves, 0
        moved = moves._moved

        def tick() -> None:
            nonlocal iteration
            iteration += 1
            world.loop.call_soon(tick)

        def note(partition: Partition, directory: LogDirectory) -> None:
            replaced_in.append(iteration)
            moved(partition, directory)

        moves._moved = note
        tick()
        wanted = AlterReplicaLogDirTopic("many", list(range(30)))
        world.ask(AlterReplicaLogDirsRequest([AlterReplicaLogDir(DIRECTORIES[0], [wanted])]), 2)
        settle(world)
    assert len(replaced_in) >= 10
    assert len(set(replaced_in)) == len(replaced_in)


def test_nothing_is_moved_while_a_directory_is_offline(world: World) -> None:
    target = elsewhere(world)
    append(world, 3)
    (other,) = [each for each in world.broker.logs.directories if each.path == target]
    other.health.failed("a test", OSError(5, "broken"))
    assert move(world, target) == ErrorCode.KAFKA_STORAGE_ERROR
    assert HERE not in world.broker.parts.directory_moves
    assert move(world, "/no/such") == ErrorCode.LOG_DIR_NOT_FOUND
    assert move(world, place(world), topic="nobody") != 0


def test_a_move_is_no_faster_than_its_limit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is of bytes a second, and the clock here stands still."""
    monkeypatch.setattr(log_copying, "CHUNK_BYTES", 1000)
    append(world, 200)
    assert move(world, elsewhere(world)) == 0
    wait_for_the_first_bytes(world)
    future = world.broker.logs.moves.get(HERE)
    assert future is not None
    assert 0 < future.size_bytes < world.broker.replicas.partition(*HERE).log.size_bytes
    assert HERE in world.broker.parts.directory_moves


def test_a_limit_of_zero_stops_a_move_until_it_is_lifted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much time passes: what was copied before is forgotten by the meter after a while."""
    monkeypatch.setattr(log_copying, "CHUNK_BYTES", 1000)
    monkeypatch.setattr(directory_moves, "LOOK_AGAIN_MS", 1)
    moves = world.broker.parts.directory_moves
    monkeypatch.setattr(moves, "_bytes_per_second", lambda: 0)
    append(world, 20)
    target = elsewhere(world)
    assert move(world, target) == 0
    wait_for_the_first_bytes(world)
    future = world.broker.logs.moves.get(HERE)
    assert future is not None
    copied = future.size_bytes
    for _ in range(3):
        world.clock.advance_ms(3_600_000)
        world.run(asyncio.sleep(0.005))
    assert (future.size_bytes, place(world) == target) == (copied, False)
    monkeypatch.setattr(moves, "_bytes_per_second", lambda: 2**31)
    settle(world)
    assert place(world) == target
    assert world.broker.replicas.partition(*HERE).log.log_end_offset == 20


def during_the_last_sync(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Let something happen once while a move syncs what it has copied."""
    acts = [act]

    def syncing(future: Log) -> Steps[None]:
        if acts:
            acts.pop()()
        yield from flushing(future)

    monkeypatch.setattr(directory_moves, "flushing", syncing)


@pytest.fixture
def fast_world() -> Iterator[World]:
    with World() as world:
        world.create_topic("t")
        yield world


def test_what_is_written_during_the_last_sync_is_moved_too(
    fast_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(fast_world, 5)
    during_the_last_sync(monkeypatch, lambda: append(fast_world, 3))
    target = elsewhere(fast_world)
    assert move(fast_world, target) == 0
    settle(fast_world)
    assert place(fast_world) == target
    assert fast_world.broker.replicas.partition(*HERE).log.log_end_offset == 8
    assert records(fast_world).count(b"v" * 500) == 8


def test_a_topic_that_is_deleted_during_the_last_sync_is_not_taken_over(
    fast_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(fast_world, 5)
    log = fast_world.broker.replicas.partition(*HERE).log

    def delete() -> None:
        fast_world.broker.logs.moves.cancel(HERE)
        log.health.is_in_use = False

    during_the_last_sync(monkeypatch, delete)
    home = place(fast_world)
    assert move(fast_world, elsewhere(fast_world)) == 0
    settle(fast_world)
    assert fast_world.broker.logs.moves.partitions() == []
    assert place(fast_world) == home
    assert fast_world.broker.replicas.partition(*HERE).log is log


def test_without_room_a_move_is_given_up_and_can_be_asked_for_again(fast_world: World) -> None:
    append(fast_world, 20)
    home, target = place(fast_world), elsewhere(fast_world)
    fast_world.disk.fail("write", f"{target}/*.log", error=errno.ENOSPC)
    assert move(fast_world, target) == 0
    settle(fast_world)
    assert (place(fast_world), fast_world.broker.logs.moves.get(HERE)) == (home, None)
    assert move(fast_world, target) == 0
    settle(fast_world)
    assert place(fast_world) == target
    assert records(fast_world).count(b"v" * 500) == 20


def test_a_move_of_a_partition_that_cannot_be_used_does_not_stop_the_others(
    fast_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(fast_world, 20)
    moves = fast_world.broker.parts.directory_moves
    with monkeypatch.context() as stopped:
        stopped.setattr(directory_moves.DirectoryMoves, "_start", lambda *_: None)
        assert move(fast_world, elsewhere(fast_world)) == 0
    (home,) = [
        each for each in fast_world.broker.logs.directories if each.path == place(fast_world)
    ]
    home.health.failed("a test", OSError(errno.EIO, "broken"))
    moves.resume()
    assert HERE not in moves


def test_a_move_that_was_not_resumed_continues_when_it_is_asked_for_again(
    fast_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(fast_world, 20)
    target = elsewhere(fast_world)
    with monkeypatch.context() as stopped:
        stopped.setattr(directory_moves.DirectoryMoves, "_start", lambda *_: None)
        assert move(fast_world, target) == 0
    assert move(fast_world, target) == 0
    assert move(fast_world, target) == 0  # while it is under way
    settle(fast_world)
    assert place(fast_world) == target
    assert records(fast_world).count(b"v" * 500) == 20
