from __future__ import annotations

from tests.unit.storage.log_making import Place, append_many

from ottla.storage.log.flushing import flush
from ottla.storage.log.unsynced import Unsynced

NOW_MS = 1000


def test_a_job_takes_everything_and_leaves_nothing_behind() -> None:
    segment = Place().open().segments.active
    unsynced = Unsynced.everything(NOW_MS, [segment])
    unsynced.add_snapshot(7)
    taken = unsynced.take()
    assert (taken.segments, taken.snapshots) == ((segment,), (7,))
    assert taken.has_names
    assert taken.has_directory
    unsynced.synced(taken, NOW_MS + 1, is_current=True)
    assert unsynced.is_empty
    assert (unsynced.snapshots, unsynced.name_syncs) == ((), 0)
    assert unsynced.last_sync_ms == NOW_MS + 1


def test_what_a_failed_job_had_taken_is_unsynced_again() -> None:
    segment = Place().open().segments.active
    unsynced = Unsynced(NOW_MS)
    unsynced.add_segment(segment)
    unsynced.add_snapshot(7)
    taken = unsynced.take()
    unsynced.add_snapshot(9)
    unsynced.failed(taken)
    assert unsynced.segments == (segment,)
    assert set(unsynced.snapshots) == {7, 9}
    assert (unsynced.has_names, unsynced.has_cut, unsynced.name_syncs) == (True, True, 0)
    assert unsynced.last_sync_ms == NOW_MS


def test_a_job_beside_another_syncs_the_names_that_the_other_has_taken() -> None:
    unsynced = Unsynced(NOW_MS)
    unsynced.names_changed()
    first, second = unsynced.take(), unsynced.take()
    assert second.has_names
    unsynced.synced(first, NOW_MS, is_current=True)
    assert unsynced.take().has_names
    unsynced.synced(second, NOW_MS, is_current=True)


def test_segments_stay_unsynced_when_the_log_was_truncated_during_the_job() -> None:
    segment = Place().open().segments.active
    unsynced = Unsynced(NOW_MS)
    unsynced.add_segment(segment)
    unsynced.synced(unsynced.take(), NOW_MS, is_current=False)
    assert unsynced.segments == (segment,)


def test_segments_that_are_deleted_before_a_sync_are_forgotten() -> None:
    log = Place().open()
    for _ in range(10):
        append_many(log, 1)
        log.roll()
    log.delete_oldest(9)
    flush(log)
    assert log.unsynced.segments == ()
    assert log.unsynced.is_empty


def test_names_that_change_during_a_job_are_for_the_next() -> None:
    unsynced = Unsynced(NOW_MS)
    unsynced.names_changed()
    taken = unsynced.take()
    unsynced.names_changed()
    unsynced.synced(taken, NOW_MS, is_current=True)
    assert unsynced.has_names
