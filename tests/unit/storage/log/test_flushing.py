from __future__ import annotations

import errno
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from tests.support.steps_by_hand import JobsLater
from tests.unit.storage.log_making import PATH, SMALL, Place, append, append_many, values_of

from ottla.base.files.readers import BLOCKING
from ottla.base.scheduling.steps import Steps, run_blocking
from ottla.config.options import INT64_MAX
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.log.flushing import SEGMENTS_AT_ONCE, flush, is_flush_due
from ottla.storage.log.group_commit import SERVED_AT_ONCE, GroupCommit
from ottla.storage.log.log import Log
from ottla.storage.log.recovery import Checkpoint


class Waiter:
    def __init__(self) -> None:
        self.errors: list[Exception | None] = []

    def __call__(self, error: Exception | None) -> None:
        self.errors.append(error)


@pytest.fixture
def place() -> Place:
    return Place()


def test_what_was_synced_survives_a_power_cut(place: Place) -> None:
    log = place.open()
    append_many(log, 60)
    flush(log)
    append_many(log, 20)
    assert log.recovery_point == 60
    place.disk.crash(Random(5))
    assert len(values_of(place.open(Checkpoint(log.recovery_checkpoint)))) >= 60


@pytest.mark.parametrize("seed", range(25))
def test_segments_indexes_and_names_are_synced_with_the_records(seed: int) -> None:
    place, random = Place(), Random(seed)
    log = place.open()
    while log.log_end_offset < 100:
        append_many(log, random.randrange(1, 12))
        if random.random() < 0.3:
            flush(log)
    flush(log)
    place.disk.crash(random)
    again = place.open(Checkpoint(log.recovery_checkpoint))
    assert len(values_of(again)) == log.log_end_offset
    for segment in again.segments:
        segment.indexes.offsets.check_entries(BLOCKING, segment.size)


@pytest.mark.parametrize("seed", range(5))
def test_very_many_closed_segments_are_synced_by_several_jobs_the_oldest_first(seed: int) -> None:
    place = Place(config=replace(SMALL, segment_bytes=100))
    log = place.open()
    append_many(log, 3 * SEGMENTS_AT_ONCE)
    count = len(log.unsynced.segments)
    assert count > 2 * SEGMENTS_AT_ONCE
    job = log.begin_flush()
    assert job.end_offset == log.unsynced.segments[SEGMENTS_AT_ONCE].base_offset
    job.run()
    log.end_flush(job, None)
    assert log.recovery_point == job.end_offset
    assert len(log.unsynced.segments) == count - SEGMENTS_AT_ONCE
    if seed % 2:
        flush(log)
        assert log.recovery_point == log.log_end_offset
        assert log.unsynced.is_empty
    point = log.recovery_checkpoint
    place.disk.crash(Random(seed))
    assert len(values_of(place.open(Checkpoint(point)))) >= point


def test_records_appended_during_a_sync_are_not_covered_by_it(place: Place) -> None:
    log = place.open()
    append_many(log, 3)
    job = log.begin_flush()
    append_many(log, 3)
    job.run()
    log.end_flush(job, None)
    assert log.recovery_point == 3


def test_a_cut_during_a_sync_makes_it_count_for_nothing(place: Place) -> None:
    log = place.open()
    append_many(log, 10)
    job = log.begin_flush()
    log.truncate_to(5)
    append_many(log, 3, epoch=1)
    job.run()
    log.end_flush(job, None)
    assert log.recovery_point <= 5


@pytest.mark.parametrize("is_run_first", [True, False])
@pytest.mark.parametrize("seed", range(10))
def test_what_is_cut_and_written_again_during_a_sync_is_left_to_the_next(
    seed: int, is_run_first: bool
) -> None:
    """Closed segments that the sync had covered may have other records since."""
    place, random = Place(), Random(seed)
    log = place.open()
    append_many(log, random.randrange(20, 60))
    job = log.begin_flush()
    if is_run_first:
        job.run()
    log.truncate_to(random.randrange(log.log_end_offset))
    append_many(log, random.randrange(20, 60), epoch=1)
    if not is_run_first:
        job.run()
    log.end_flush(job, None)
    flush(log)
    place.disk.crash(random)
    again = place.open(Checkpoint(log.recovery_checkpoint))
    assert len(values_of(again)) == log.log_end_offset


def test_a_failed_sync_takes_the_directory_offline_and_is_not_tried_again(place: Place) -> None:
    log = place.open()
    append(log, b"a")
    place.disk.fail("sync", "*.log", error=errno.EIO)
    with pytest.raises(StorageUnavailable):
        flush(log)
    assert log.recovery_point == 0
    tried = place.disk.operations["sync"]
    with pytest.raises(StorageUnavailable, match="offline"):
        flush(log)
    assert place.disk.operations["sync"] == tried


@pytest.mark.parametrize(
    ("operation", "pattern"), [("size", "*"), ("open", "*.snapshot"), ("sync_directory", PATH)]
)
def test_a_sync_that_cannot_begin_is_made_up_for_by_the_next(
    place: Place, operation: str, pattern: str
) -> None:
    log = place.open()
    append_many(log, 40)
    place.disk.fail(operation, pattern, error=errno.EMFILE)
    with pytest.raises(StorageUnavailable):
        flush(log)
    assert log.health.is_online
    assert (log.recovery_point, log.unsynced.name_syncs, log.unsynced.has_names) == (0, 0, True)
    flush(log)
    assert log.recovery_point == 40
    place.disk.crash(Random(3))
    assert len(values_of(place.open(Checkpoint(log.recovery_checkpoint)))) == 40


def test_a_job_that_cannot_open_its_files_changes_nothing(place: Place) -> None:
    log = place.open()
    append_many(log, 3)
    log.unsynced.names_changed()
    log.unsynced.records_removed()
    log.segments.active.close()
    place.disk.fail("open", "*", error=errno.EMFILE)
    with pytest.raises(StorageUnavailable, match="open"):
        log.begin_flush()
    assert log.unsynced.name_syncs == 0
    assert log.unsynced.has_names
    assert log.unsynced.has_cut


def test_a_disk_too_full_for_the_epochs_is_no_failed_sync(place: Place) -> None:
    log = place.open()
    append(log, b"a", epoch=3)
    place.disk.fail("write", "*leader-epoch*", error=errno.ENOSPC)
    with pytest.raises(StorageUnavailable):
        flush(log)
    assert log.health.is_online
    flush(log)
    assert log.recovery_point == 1


def test_a_sync_that_fails_for_want_of_room_has_failed(place: Place) -> None:
    log = place.open()
    append(log, b"a")
    place.disk.fail("sync", "*.log", error=errno.ENOSPC)
    with pytest.raises(StorageUnavailable):
        flush(log)
    assert not log.health.is_online


def test_a_segment_deleted_during_a_sync_is_no_failure(place: Place) -> None:
    place.config = replace(SMALL, retention_ms=0, file_delete_delay_ms=0)
    log = place.open()
    append_many(log, 40)
    job = log.begin_flush()
    place.clock.advance_ms(10)
    log.enforce_retention()
    for removal in log.context.deletions.take_due(place.clock.now_ms()):
        removal.run()
    for path in [segment.path for segment in job.taken.segments]:
        place.disk.fail("sync", path, error=errno.ENOENT)
    job.run()
    log.end_flush(job, None)


# By policy


def test_flush_messages_asks_for_a_sync_before_the_acknowledgement() -> None:
    log = Place(config=replace(SMALL, flush_messages=3)).open()
    assert [append(log, b"x").must_flush for _ in range(4)] == [False, False, True, True]
    flush(log)
    assert not append(log, b"x").must_flush


def test_flush_ms_makes_a_log_due() -> None:
    place = Place(config=replace(SMALL, flush_ms=1000))
    log = place.open()
    place.clock.advance_ms(5000)
    assert not is_flush_due(log, place.clock.now_ms())
    append(log, b"a")
    assert is_flush_due(log, place.clock.now_ms())
    flush(log)
    append(log, b"b")
    assert not is_flush_due(log, place.clock.now_ms() + 999)
    assert is_flush_due(log, place.clock.now_ms() + 1000)
    assert place.config.flush_messages == INT64_MAX


# Group commit


def committed(log: Log) -> tuple[GroupCommit, JobsLater]:
    later = JobsLater()
    return GroupCommit(log, later), later


def test_all_who_wait_are_served_by_one_sync(place: Place) -> None:
    log = place.open()
    commits, later = committed(log)
    waiters = [Waiter() for _ in range(5)]
    for waiter in waiters:
        append(log, b"x")
        commits.wait(log.log_end_offset, waiter)
    assert len(later.waiting) == 1
    later.run_one()
    assert [waiter.errors for waiter in waiters] == [[None], [], [], [], []]
    assert len(later.waiting) == 1
    later.run_one()
    assert [waiter.errors for waiter in waiters] == [[None]] * 5
    assert not later.waiting


def test_no_request_waits_for_what_is_on_disk_already(place: Place) -> None:
    log = place.open()
    append(log, b"x")
    flush(log)
    commits, later = committed(log)
    waiter = Waiter()
    commits.wait(1, waiter)
    assert waiter.errors == [None]
    assert not later.waiting


def test_a_failed_sync_is_reported_to_all_waiting_requests(place: Place) -> None:
    log = place.open()
    commits, later = committed(log)
    append(log, b"x")
    first, second, third = Waiter(), Waiter(), Waiter()
    commits.wait(1, first)
    append(log, b"y")
    commits.wait(2, second)
    place.disk.fail("sync", "*.log")
    later.run_one()
    commits.wait(2, third)
    for waiter in (first, second, third):
        assert isinstance(waiter.errors[0], StorageUnavailable)
    assert not later.waiting


def test_requests_that_wait_for_truncated_records_are_notified(place: Place) -> None:
    log = place.open()
    commits, later = committed(log)
    append_many(log, 4)
    kept, lost = Waiter(), Waiter()
    commits.wait(2, kept)
    commits.wait(4, lost)
    log.truncate_to(2)
    later.run_one()
    later.run_one()
    assert kept.errors == [None]
    assert isinstance(lost.errors[0], StorageUnavailable)


def test_one_thread_is_enough(place: Place) -> None:
    log = place.open()
    commits, waiter = GroupCommit(log, run_blocking), Waiter()
    append(log, b"x")
    commits.wait(1, waiter)
    assert waiter.errors == [None]
    assert log.recovery_point == 1


@pytest.mark.parametrize("seed", range(10))
def test_a_sync_that_overtakes_another_makes_new_files_durable_too(seed: int) -> None:
    place = Place()
    log = place.open()
    append(log, b"a" * 100)
    flush(log)
    for _ in range(6):
        append(log, b"b" * 300)  # which begins new segments
    log.begin_flush()  # made by housekeeping, and not run yet
    overtaking = log.begin_flush()
    overtaking.run()
    log.end_flush(overtaking, None)
    end_offset = log.recovery_point
    place.disk.crash(Random(seed))
    assert place.open(Checkpoint()).log_end_offset == end_offset


def test_very_many_that_waited_for_one_sync_are_served_some_at_a_time(place: Place) -> None:
    log = place.open()
    started: list[Steps[None]] = []
    commit = GroupCommit(log, started.append)
    append_many(log, 5)
    waiters = [Waiter() for _ in range(3 * SERVED_AT_ONCE)]
    for waiter in waiters:
        commit.wait(5, waiter)
    served = []
    for step in started[0]:
        if not isinstance(step, int):
            step()
        served.append(sum(len(each.errors) for each in waiters))
    assert served[0] == 0
    assert max(after - before for before, after in pairwise(served)) <= SERVED_AT_ONCE
    assert [each.errors for each in waiters] == [[None]] * len(waiters)
