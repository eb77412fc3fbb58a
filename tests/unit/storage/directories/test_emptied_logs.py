"""Logs without a record, because all were deleted: they continue where they were after any stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.unit.storage.log_making import batch_of
from tests.unit.storage.log_world import CONFIG, DIRECTORY, PATH, World

from ottla.base.scheduling.steps import run_blocking
from ottla.storage.files.file_names import LOG_START_OFFSETS_NAME


def by_age(world: World) -> None:
    world.clock.advance_ms(10**9)
    world.log.enforce_retention()


def by_size(world: World) -> None:
    world.log.update_config(replace(world.config, retention_bytes=0))
    world.log.enforce_retention()


def by_deleted_records(world: World) -> None:
    """The records exist, but no reader can see them."""
    world.log.advance_log_start(world.log.log_end_offset)
    world.log.enforce_retention()


def begun_elsewhere(world: World) -> None:
    world.log.truncate_fully_and_start_at(world.log.log_end_offset + 1000)


WAYS = [by_age, by_size, by_deleted_records, begun_elsewhere]


def stopped(world: World) -> None:
    world.manager.close(broker_epoch=7)


def killed(world: World) -> None:
    world.disk.kill()


def power_cut(world: World) -> None:
    world.flush()
    world.disk.crash(world.random)


def stopped_and_without_log_starts(world: World) -> None:
    world.manager.close(broker_epoch=7)
    path = f"{DIRECTORY}/{LOG_START_OFFSETS_NAME}"
    if world.disk.exists(path):
        world.disk.remove(path)


STOPS = [stopped, killed, power_cut]


def emptied(empty: Callable[[World], None]) -> World:
    world = World(3, CONFIG)
    for _ in range(30):
        world.append()
    world.log.update_high_watermark(world.log.log_end_offset)
    world.flush()
    empty(world)
    world.log.update_high_watermark(world.log.log_end_offset)
    world.clock.advance_ms(10**7)
    for _, removal in world.manager.due_removals():
        removal.run()
    for _, making in world.manager.checkpoint_jobs():
        run_blocking(making).run()
    return world


@pytest.mark.parametrize("stop", STOPS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("empty", WAYS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("times", [1, 3])
def test_an_empty_log_continues_where_it_was(
    empty: Callable[[World], None], stop: Callable[[World], None], times: int
) -> None:
    world = emptied(empty)
    start, end = world.log.log_start_offset, world.log.log_end_offset
    assert start == end > 0
    for _ in range(times):
        stop(world)
        world.reopen()
        assert (world.log.log_start_offset, world.log.log_end_offset) == (start, end)
        assert world.log.damage == ()
    sent = world.log.append_as_leader(batch_of(b"new"), 9)
    assert sent.first_offset == end


@pytest.mark.parametrize("empty", [by_age, by_size, begun_elsewhere], ids=lambda e: e.__name__)
def test_the_first_segment_alone_shows_where_the_log_starts(
    empty: Callable[[World], None],
) -> None:
    world = emptied(empty)
    start = world.log.log_start_offset
    stopped_and_without_log_starts(world)
    world.reopen()
    assert (world.log.log_start_offset, world.log.log_end_offset) == (start, start)


def test_records_that_are_gone_without_a_reason_are_noticed_nevertheless() -> None:
    world = World(3, CONFIG)
    for _ in range(30):
        world.append()
    world.log.update_high_watermark(world.log.log_end_offset)
    world.flush()
    for _, making in world.manager.checkpoint_jobs():
        run_blocking(making).run()
    world.disk.kill()
    for name in world.disk.list_directory(PATH):
        if name.endswith(".log"):
            world.disk.open(f"{PATH}/{name}").truncate(0)
    with pytest.raises(AssertionError):
        world.reopen()
    (error,) = world.manager.directories[0].table.unreadable.values()
    assert "no record is left" in str(error)
