"""A log in the middle of one thing when another happens: swaps, deletions, failing disks."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from tests.support.steps_by_hand import job_of
from tests.unit.storage.log.test_replacement import clean
from tests.unit.storage.log_making import (
    PATH,
    SMALL,
    Place,
    append_many,
    batch_of,
    names_in,
    placed,
    values_of,
)

from ottla.base.files.readers import BLOCKING
from ottla.base.scheduling.steps import run_blocking
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.log.flushing import flush
from ottla.storage.log.log import Log
from ottla.storage.log.recovery import Checkpoint
from ottla.storage.segments.segment import RELATIVE_OFFSET_MAX

COMPACTED = replace(SMALL, cleanup_policy=("compact", "delete"))


def in_the_middle_of_a_swap(place: Place) -> Log:
    """The log uses the new segments, the old ones are still there; the sync is not over."""
    log = place.open()
    append_many(log, 100)
    flush(log)
    sources = log.segments[:3]
    steps = log.replacing_segments([clean(log, sources, 5)], sources)
    for _ in range(10):
        job = job_of(next(steps))
        if log.swaps.current is not None:
            return log
        job()
    raise AssertionError("no swap began")


def test_retention_finishes_a_swap_before_it_deletes() -> None:
    place = Place(config=COMPACTED)
    log = in_the_middle_of_a_swap(place)
    assert names_in(place.disk, ".swap")
    log.update_config(replace(COMPACTED, retention_bytes=log.segments.active.size))
    assert log.enforce_retention() > 0
    assert log.swaps.current is None
    assert not names_in(place.disk, ".swap")
    kept = values_of(log)
    place.disk.kill()
    again = place.open(Checkpoint(log.recovery_point, log.log_start_offset))
    assert values_of(again) == kept
    assert again.segments.base_offsets == log.segments.base_offsets


def test_a_directory_that_is_renamed_during_a_swap_takes_the_old_segments_along() -> None:
    place = Place(config=COMPACTED)
    log = in_the_middle_of_a_swap(place)
    other = "/data/t-0.abc-delete"
    place.disk.rename(PATH, other)
    log.moved(other)
    assert log.swaps.current is not None
    assert {segment.path.rpartition("/")[0] for segment in log.swaps.current.replaced} == {other}
    log.finish_swap()
    names = place.disk.list_directory(other)
    assert not [name for name in names if ".swap" in name]
    assert len([name for name in names if name.endswith(".log.deleted")]) == 3


@pytest.mark.parametrize("seed", range(5))
def test_a_power_cut_in_the_middle_of_a_swap_leaves_old_or_new_segments(seed: int) -> None:
    place = Place(config=COMPACTED)
    log = in_the_middle_of_a_swap(place)
    end = log.segments[1].base_offset
    rest = [b"%d" % offset for offset in range(end, 100)]
    few, all_ = ([b"%d" % at for at in range(0, end, step)] for step in (5, 1))
    place.disk.crash(Random(seed))
    again = place.open(Checkpoint(100))
    assert values_of(again) in (few + rest, all_ + rest)


def test_retention_of_a_directory_that_is_offline_changes_nothing() -> None:
    place = Place(config=replace(SMALL, retention_bytes=0))
    log = place.open()
    append_many(log, 60)
    place.disk.fail("sync", "*", times=None)
    with pytest.raises(StorageUnavailable):
        flush(log)
    place.disk.heal()
    names, start = place.disk.list_directory(PATH), log.log_start_offset
    with pytest.raises(StorageUnavailable):
        log.enforce_retention()
    with pytest.raises(StorageUnavailable):
        log.advance_log_start(5)
    assert (place.disk.list_directory(PATH), log.log_start_offset) == (names, start)


def test_retention_that_cannot_rename_files_takes_the_directory_offline() -> None:
    place = Place(config=replace(SMALL, retention_bytes=0))
    log = place.open()
    append_many(log, 60)
    place.disk.fail("rename", "*.log", times=None)
    with pytest.raises(StorageUnavailable, match="deleting segments"):
        log.enforce_retention()
    assert not log.health.is_online
    place.disk.heal()
    place.disk.kill()
    again = place.open(Checkpoint(0, 0))
    assert again.log_end_offset == 60, "whatever was deleted, the log continues where it was"


def test_a_recovery_point_behind_the_end_of_the_log_means_that_nothing_is_believed() -> None:
    """Records that were once synced are missing, so those before them are looked at again too."""
    place = Place()
    log = place.open()
    append_many(log, 100)
    flush(log)
    damaged = log.segments[1]
    last = log.segments.active
    place.disk.flip_bit(damaged.path, damaged.size - 3)
    place.disk.kill()
    place.disk.open(last.path).truncate(10)
    again = place.open(Checkpoint(100))
    assert damaged.path in {each.path for each in again.damage}
    assert again.log_end_offset == last.base_offset
    place = Place()
    log = place.open()
    append_many(log, 100)
    flush(log)
    damaged = log.segments[1]
    place.disk.flip_bit(damaged.path, damaged.size - 3)
    place.disk.kill()
    believed = place.open(Checkpoint(100))
    assert not believed.damage, "behind the recovery point they are believed until they are read"
    assert believed.log_end_offset == 100


@pytest.mark.parametrize("seed", range(10))
def test_batches_that_come_together_are_laid_out_as_if_they_came_one_by_one(seed: int) -> None:
    random = Random(seed)
    together, alone = Place().open(), Place().open()
    offset = random.choice((0, 2**31 - 5, 2**40))
    for log in (together, alone):
        log.truncate_fully_and_start_at(offset)
    for _ in range(10):
        batches = []
        for _ in range(random.randrange(1, 12)):
            values = [bytes(random.randrange(300))] * random.randrange(1, 4)
            offset += random.choice((0, 0, 0, 5, RELATIVE_OFFSET_MAX - 3))
            batches.append(placed(batch_of(*values), offset))
            offset += len(values)
        together.append_as_follower(b"".join(batches))
        for batch in batches:
            alone.append_as_follower(batch)
    assert together.segments.base_offsets == alone.segments.base_offsets
    assert [each.size for each in together.segments] == [each.size for each in alone.segments]
    for one, other in zip(together.segments, alone.segments, strict=True):
        assert one.open(BLOCKING).read_at(0, one.size) == other.open(BLOCKING).read_at(
            0, other.size
        )
        indexes = [each.indexes.offsets for each in (one, other)]
        assert indexes[0].count(BLOCKING) == indexes[1].count(BLOCKING)
        assert indexes[0].last_entry(BLOCKING) == indexes[1].last_entry(BLOCKING)
    assert together.epochs.load(BLOCKING).entries == alone.epochs.load(BLOCKING).entries


def test_a_log_that_is_cut_while_it_is_synced_for_a_swap_keeps_its_old_segments() -> None:
    """The sync counts nothing then, and recovery would treat the gaps of new ones as a lost end."""
    place = Place(config=COMPACTED)
    log = place.open()
    append_many(log, 100)
    sources = log.segments[:3]
    before = values_of(log)
    steps = log.replacing_segments([clean(log, sources, 5)], sources)
    job_of(next(steps))()
    log.update_high_watermark(0)
    log.truncate_to(99)
    assert run_blocking(steps) is False
    assert values_of(log) == before[:99]
    assert not names_in(place.disk, ".cleaned")
    assert values_of(place.reopen_killed(log.recovery_point)) == before[:99]
