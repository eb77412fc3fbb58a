from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from random import Random
from typing import Any

import pytest
from tests.support.steps_by_hand import job_of
from tests.unit.storage.log_making import (
    PATH,
    SMALL,
    Place,
    append,
    append_many,
    batch_of,
    names_in,
    read_records,
    values_of,
)

from ottla.base.files.readers import BLOCKING
from ottla.base.scheduling.steps import Job, run_blocking
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.files.file_names import CLEANED_SUFFIX
from ottla.storage.log.flushing import flush
from ottla.storage.log.log import Log
from ottla.storage.log.recovery import Checkpoint
from ottla.storage.segments.scanning import scan_headers
from ottla.storage.segments.segment import Segment
from ottla.storage.segments.segment_files import create_segment
from ottla.testing.disk_faults import SYNCS
from ottla.testing.filesystem import MemoryDisk

COMPACTED = replace(SMALL, cleanup_policy=("compact",))


@pytest.fixture
def place() -> Place:
    return Place(config=COMPACTED)


def clean(log: Log, sources: list[Segment], keep_every: int) -> Segment:
    """What compaction would leave of some segments: every so-many-th batch, in a synced file."""
    cleaned = create_segment(
        log.context.files,
        log.path,
        sources[0].base_offset,
        log.config,
        now_ms=log.context.clock.now_ms(),
        random=Random(1),
        state=CLEANED_SUFFIX,
    )
    for source in sources:
        for position, header in scan_headers(BLOCKING, source.open(BLOCKING), 0, source.size):
            if header.base_offset % keep_every == 0:
                at = cleaned.write(source.open(BLOCKING).read_at(position, header.size_bytes))
                cleaned.note(at, header)
    cleaned.seal()
    cleaned.sync()
    cleaned.close()
    return log.open_cleaned(sources[0].base_offset)


def test_cleaned_segments_take_the_place_of_their_sources(place: Place) -> None:
    log = place.open()
    append_many(log, 100)
    sources = log.segments[:3]
    end = log.segments[3].base_offset
    assert run_blocking(log.replacing_segments([clean(log, sources, 5)], sources))
    expected = [b"%d" % offset for offset in range(100) if offset >= end or offset % 5 == 0]
    assert values_of(log) == expected
    assert log.segments.base_offsets[:2] == [0, end]
    assert len(names_in(place.disk, ".log.deleted")) == 3
    assert not names_in(place.disk, ".swap")
    assert values_of(place.reopen_clean(log)) == expected


def test_snapshots_of_replaced_segments_go_later_with_the_other_files(place: Place) -> None:
    log = place.open()
    append_many(log, 100)
    sources = log.segments[:3]
    run_blocking(log.replacing_segments([clean(log, sources, 5)], sources))
    assert len(names_in(place.disk, ".snapshot.deleted")) == 2
    assert log.snapshots.offsets() == log.segments.base_offsets[1:]
    for removal in log.context.deletions.take_all():
        removal.run()
    assert not names_in(place.disk, ".deleted")


def test_producers_whose_records_were_deleted_are_known_after_a_swap() -> None:
    """Only the snapshot of the first segment has them, if the checkpoints were lost too."""
    place = Place(config=replace(SMALL, cleanup_policy=("compact", "delete")))
    log = place.open()
    log.append_as_leader(batch_of(b"a", producer=(7, 0, 0)), 0)
    append_many(log, 60)
    log.delete_oldest(1)
    sources = log.segments[:1]
    assert run_blocking(log.replacing_segments([clean(log, sources, 5)], sources))
    place.disk.kill()
    again = place.open(Checkpoint(None))
    assert again.log_end_offset == 61
    assert 7 in again.producers.load(BLOCKING).producers


def test_readers_that_have_a_range_of_an_old_segment_can_finish(place: Place) -> None:
    log = place.open()
    append_many(log, 60)
    found = log.read(BLOCKING, 0, 1 << 20, 60)
    before = found.records.read()
    sources = log.segments[:2]
    run_blocking(log.replacing_segments([clean(log, sources, 2)], sources))
    assert found.records.read() == before


def test_appending_and_cleaning_again_go_on(place: Place) -> None:
    log = place.open()
    for _ in range(4):
        append_many(log, 60)
        sources = log.segments[:-1]
        assert run_blocking(log.replacing_segments([clean(log, sources, 7)], sources))
    assert [record.offset % 7 for record in read_records(log, 0, 200)] == [0] * 29
    log = place.reopen_clean(log)
    assert log.log_end_offset == 240


def test_sources_that_have_left_the_log_stop_the_swap(place: Place) -> None:
    log = place.open()
    append_many(log, 60)
    sources = log.segments[:2]
    cleaned = clean(log, sources, 5)
    log.advance_log_start(log.segments[1].base_offset)
    log.enforce_retention()
    expected = values_of(log)
    assert not run_blocking(log.replacing_segments([cleaned], sources))
    assert values_of(log) == expected
    assert not names_in(place.disk, ".cleaned")


def test_the_recovery_point_is_behind_what_is_swapped(place: Place) -> None:
    log = place.open()
    append_many(log, 60)
    sources = log.segments[:2]
    run_blocking(log.replacing_segments([clean(log, sources, 5)], sources))
    assert place.checkpoints[-1] >= log.segments[1].base_offset


def test_snapshots_of_swallowed_segments_go(place: Place) -> None:
    log = place.open()
    append_many(log, 60)
    sources = log.segments[:3]
    run_blocking(log.replacing_segments([clean(log, sources, 5)], sources))
    kept = {int(name[:20]) for name in names_in(place.disk, ".snapshot")}
    assert kept == set(log.segments.base_offsets) - {0}


@pytest.mark.parametrize("steps", range(30))
@pytest.mark.parametrize("is_power_cut", [False, True], ids=["kill", "power cut"])
def test_a_crash_at_any_step_leaves_the_old_or_the_new(steps: int, is_power_cut: bool) -> None:
    place, random = Place(config=COMPACTED), Random(steps)
    log = place.open()
    append_many(log, 60)
    sources = log.segments[:3]
    end = log.segments[3].base_offset
    cleaned = clean(log, sources, 5)
    kinds = ["rename", "sync_directory", "sync", "write", "remove", "truncate"]
    place.disk.fail(kinds, skip=steps, times=None)
    try:
        run_blocking(log.replacing_segments([cleaned], sources))
    except StorageUnavailable:
        pass
    place.disk.heal()
    place.disk.crash(random) if is_power_cut else place.disk.kill()
    point = place.checkpoints[-1] if place.checkpoints else 0
    log = place.open(Checkpoint(point))
    old = [b"%d" % offset for offset in range(60)]
    new = [value for value in old if int(value) >= end or int(value) % 5 == 0]
    if not point and is_power_cut:  # nothing was synced yet, so the end may be lost
        assert values_of(log) == old[: log.log_end_offset]
        return
    assert log.log_end_offset == 60
    assert values_of(log) in (old, new) or is_old_behind(values_of(log), old, new)
    append(log, b"60")
    assert values_of(log)[-1] == b"60"
    assert not [name for name in names_in(place.disk) if name.startswith(f"{PATH}/.")]


def is_old_behind(found: list[bytes], old: list[bytes], new: list[bytes]) -> bool:
    """The last old segment, whose records the new one has too, may outlive the crash."""
    return set(new) <= set(found) <= set(old) and found == sorted(found, key=int)


def test_several_cleaned_segments_are_swapped_together(place: Place) -> None:
    log = place.open()
    append_many(log, 60)
    sources = log.segments[:4]
    halves = [clean(log, sources[:2], 3), clean(log, sources[2:], 3)]
    assert run_blocking(log.replacing_segments(halves, sources))
    end = log.segments[2].base_offset
    expected = [b"%d" % each for each in range(60) if each >= end or each % 3 == 0]
    assert values_of(log) == expected
    assert values_of(place.reopen_clean(log)) == expected


class Swapping:
    """A swap that a test takes step by step."""

    def __init__(self, place: Place) -> None:
        self.log = place.open()
        append_many(self.log, 60)
        sources = self.log.segments[:3]
        end = self.log.segments[3].base_offset
        self.old = [b"%d" % each for each in range(60)]
        self.new = [value for value in self.old if int(value) >= end or int(value) % 5 == 0]
        self._steps = self.log.replacing_segments([clean(self.log, sources, 5)], sources)
        self.result: bool | None = None

    def go_on(self) -> Job | None:
        """The next work for a thread; None at the end."""
        try:
            return job_of(next(self._steps))
        except StopIteration as end:
            self.result = end.value
            return None

    def run_with(self, at: int, event: Callable[[], None]) -> bool:
        """Run to the end, with an event before one of the jobs runs; whether there was one."""
        error: OSError | None = None
        for number in count():
            try:
                work = next(self._steps) if error is None else self._steps.throw(error)
            except StopIteration:
                return number > at
            if number == at:
                event()
            error = None
            try:
                job_of(work)()
            except OSError as refused:
                error = refused
        raise AssertionError("it has an end")

    def until_both_are_there(self) -> None:
        """The log uses the new segments, and the old ones are not gone."""
        while self.log.swaps.current is None:
            work = self.go_on()
            assert work is not None
            if self.log.swaps.current is None:
                work()


def test_a_swap_waits_for_no_disk_but_in_what_it_hands_out(place: Place) -> None:
    swapping = Swapping(place)
    while True:
        place.disk.fail(SYNCS, times=None)
        work = swapping.go_on()
        place.disk.heal()
        if work is None:
            break
        work()
    assert swapping.result
    assert values_of(swapping.log) == swapping.new


def test_readers_get_the_new_segments_while_their_names_are_synced(place: Place) -> None:
    swapping = Swapping(place)
    swapping.until_both_are_there()
    assert values_of(swapping.log) == swapping.new
    append(swapping.log, b"60")
    assert swapping.go_on() is None
    assert values_of(swapping.log) == [*swapping.new, b"60"]
    assert not names_in(place.disk, ".swap")


@pytest.mark.parametrize("offset", [0, 7, 20, 45])
@pytest.mark.parametrize("seed", range(4))
def test_a_cut_during_a_swap_holds_after_a_power_cut(place: Place, offset: int, seed: int) -> None:
    swapping = Swapping(place)
    swapping.until_both_are_there()
    log = swapping.log
    log.truncate_to(offset)
    left = [value for value in swapping.new if int(value) < offset]
    assert values_of(log) == left
    assert swapping.go_on() is None
    flush(log)
    place.disk.crash(Random(seed))
    assert values_of(place.open(Checkpoint(place.checkpoints[-1]))) == left


def test_a_cut_before_the_new_segments_are_used_keeps_the_old_ones(place: Place) -> None:
    swapping = Swapping(place)
    work = swapping.go_on()
    assert work is not None
    work()
    swapping.log.truncate_to(20)
    while (work := swapping.go_on()) is not None:
        work()
    assert swapping.result is False
    assert values_of(swapping.log) == swapping.old[:20]
    assert not names_in(place.disk, ".cleaned")
    assert not names_in(place.disk, ".swap")


def test_retention_during_a_swap_deletes_old_and_new(place: Place) -> None:
    swapping = Swapping(place)
    swapping.until_both_are_there()
    log = swapping.log
    start = log.segments[2].base_offset
    log.advance_log_start(start)
    log.enforce_retention()
    assert swapping.go_on() is None
    assert values_of(log) == [value for value in swapping.new if int(value) >= start]
    assert not names_in(place.disk, ".swap")


def test_closing_during_a_swap_leaves_the_new_segments(place: Place) -> None:
    swapping = Swapping(place)
    swapping.until_both_are_there()
    assert values_of(place.reopen_clean(swapping.log)) == swapping.new


def test_a_log_whose_directory_is_renamed_during_a_swap_takes_both_along(place: Place) -> None:
    swapping = Swapping(place)
    swapping.until_both_are_there()
    place.disk.rename(PATH, "/data/t-0.unique-delete")
    swapping.log.moved("/data/t-0.unique-delete")
    assert swapping.go_on() is None
    assert values_of(swapping.log) == swapping.new
    assert not [name for name in place.disk.list_directory(swapping.log.path) if ".swap" in name]


def test_a_log_let_go_during_a_swap_is_left_as_it_is(place: Place) -> None:
    swapping = Swapping(place)
    swapping.until_both_are_there()
    swapping.log.release()
    place.disk.remove_directory(PATH)
    assert swapping.go_on() is None


DELETED_PATH = "/data/t-0.unique-delete"


def delete(place: Place, log: Log) -> None:
    """The partition is deleted: its directory is renamed at once, its files are removed later."""
    place.disk.rename(PATH, DELETED_PATH)
    log.moved(DELETED_PATH)
    log.release()


def rename(place: Place, log: Log) -> None:
    place.disk.rename(PATH, DELETED_PATH)
    log.moved(DELETED_PATH)


def release(_place: Place, log: Log) -> None:
    log.release()


@pytest.mark.parametrize("is_racing", [False, True])
@pytest.mark.parametrize("event", [delete, rename, release])
def test_a_log_that_is_deleted_during_a_swap_is_not_touched_and_no_failure_of_the_disk(
    event: Callable[[Place, Log], None], is_racing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`is_racing`: while a thread is about to sync the directory, whose path it has read."""
    at, has_happened = 0, True
    while has_happened:
        place = Place(config=COMPACTED)
        swapping = Swapping(place)
        log, has_happened = swapping.log, False
        written, names = list[int](), list[str]()

        def happen(place: Place = place, log: Log = log) -> None:
            event(place, log)
            written.extend(place.checkpoints)  # noqa: B023
            names.extend(place.disk.list_directory(log.path))  # noqa: B023

        def happen_during_the_sync(disk: MemoryDisk = place.disk, happen: Any = happen) -> None:
            def sync(path: str) -> None:
                racing.undo()
                happen()
                disk.sync_directory(path)

            racing.setattr(disk, "sync_directory", sync)

        with monkeypatch.context() as racing:
            has_happened = swapping.run_with(at, happen_during_the_sync if is_racing else happen)
        log.context.health.check()
        if at == 0 and names:  # the first job is the sync before the checkpoint
            assert place.checkpoints == written == []
        if names and log.is_closed:
            left = {each for each in names if ".cleaned" not in each}  # those may be removed
            assert left <= set(place.disk.list_directory(log.path)), at
        elif log.swaps.current is None:
            assert values_of(log) in (swapping.old, swapping.new), at
        at += 1
    assert at > 2


@pytest.mark.parametrize("seed", range(10))
def test_a_power_cut_between_the_steps_leaves_the_old_or_the_new(place: Place, seed: int) -> None:
    swapping = Swapping(place)
    random = Random(seed)
    for _ in range(random.randrange(5)):
        work = swapping.go_on()
        if work is None or (swapping.log.swaps.current is not None and random.random() < 0.5):
            break  # the names are not synced any more
        work()
    if not place.checkpoints:
        return
    place.disk.crash(random)
    found = values_of(place.open(Checkpoint(place.checkpoints[-1])))
    assert found in (swapping.old, swapping.new) or is_old_behind(found, swapping.old, swapping.new)
