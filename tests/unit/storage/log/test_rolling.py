from __future__ import annotations

import errno
from dataclasses import replace

import pytest
from tests.unit.storage.log_making import (
    SMALL,
    Place,
    append,
    append_many,
    batch_of,
    names_in,
    values_of,
)

from ottla.storage.files.directory_health import StorageUnavailable
from ottla.testing.clock import ManualClock

NOW_MS = ManualClock().now_ms()
LARGE = replace(SMALL, segment_bytes=1 << 20)


def test_a_segment_that_would_get_too_large_is_closed() -> None:
    log = Place().open()
    append(log, bytes(600))
    append(log, bytes(200))
    assert len(log.segments) == 1
    append(log, bytes(200))
    assert log.segments.base_offsets == [0, 2]
    assert all(segment.size <= SMALL.segment_bytes for segment in log.segments)


def test_age_counts_between_timestamps_of_records() -> None:
    log = Place(config=replace(LARGE, segment_ms=1000)).open()
    append(log, b"a", timestamp=NOW_MS - 5000)
    append(log, b"b", timestamp=NOW_MS - 4000)
    assert len(log.segments) == 1
    append(log, b"c", timestamp=NOW_MS - 3999)
    assert log.segments.base_offsets == [0, 2]


def test_the_age_of_a_segment_outlives_a_restart() -> None:
    place = Place(config=replace(LARGE, segment_ms=1000))
    log = place.open()
    append(log, b"a", timestamp=NOW_MS - 5000)
    log = place.reopen_clean(log)
    append(log, b"b", timestamp=NOW_MS)
    assert len(log.segments) == 2


def test_without_timestamps_the_age_counts_from_creation() -> None:
    place = Place(config=replace(LARGE, segment_ms=1000))
    log = place.open()
    append(log, b"a", timestamp=-1)
    place.clock.advance_ms(1000)
    append(log, b"b", timestamp=-1)
    assert len(log.segments) == 1
    place.clock.advance_ms(1)
    append(log, b"c", timestamp=-1)
    assert len(log.segments) == 2


def test_an_empty_segment_does_not_age() -> None:
    place = Place(config=replace(LARGE, segment_ms=1000))
    log = place.open()
    place.clock.advance_ms(100_000)
    append(log, b"a")
    assert len(log.segments) == 1


def test_jitter_makes_segments_close_earlier() -> None:
    place = Place(config=replace(LARGE, segment_ms=1000, segment_jitter_ms=900))
    log = place.open()
    jitter_ms = log.segments.active.roll_jitter_ms
    assert 0 < jitter_ms < 900
    append(log, b"a", timestamp=NOW_MS - 5000)
    append(log, b"b", timestamp=NOW_MS - 4000 - jitter_ms)
    assert len(log.segments) == 1
    append(log, b"c", timestamp=NOW_MS - 3999 - jitter_ms)
    assert len(log.segments) == 2


def test_a_full_index_closes_the_segment() -> None:
    log = Place(config=replace(LARGE, segment_index_bytes=24, index_interval_bytes=0)).open()
    append_many(log, 12)
    assert len(log.segments) > 2
    assert values_of(log) == [b"%d" % offset for offset in range(12)]


def test_rolling_an_empty_segment_does_nothing() -> None:
    log = Place().open()
    assert log.roll() is log.segments[0]
    append(log, b"a")
    assert log.roll() is log.roll()
    assert log.segments.base_offsets == [0, 1]


def test_a_closed_segment_comes_with_a_snapshot_of_its_producers() -> None:
    place = Place()
    log = place.open()
    log.append_as_leader(batch_of(b"a", producer=(1, 0, 0)), 0)
    log.roll()
    assert names_in(place.disk, ".snapshot") == [f"{1:020d}.snapshot"]


def test_room_reserved_for_a_segment_is_given_back_when_it_is_closed() -> None:
    place = Place(config=replace(SMALL, preallocate=True))
    log = place.open()
    append(log, b"a")
    path = log.segments[0].path
    assert place.disk.size(path) == SMALL.segment_bytes
    log.roll()
    assert place.disk.size(path) == log.segments[0].size < SMALL.segment_bytes


def test_a_reserved_tail_of_zeros_is_no_record() -> None:
    place = Place(config=replace(SMALL, preallocate=True))
    log = place.open()
    append_many(log, 3)
    assert len(values_of(log)) == 3
    assert len(values_of(place.reopen_killed())) == 3


@pytest.mark.parametrize("kind", ["create", "write"])
def test_a_disk_too_full_for_a_segment_leaves_the_log_as_it_was(kind: str) -> None:
    place = Place()
    log = place.open()
    append(log, bytes(900))
    place.disk.fail(kind, "*", error=errno.ENOSPC, times=1)
    with pytest.raises(StorageUnavailable):
        append(log, bytes(900))
    assert log.log_end_offset == 1
    append(log, bytes(800))
    assert log.log_end_offset == 2
    assert len(values_of(place.reopen_killed())) == 2


def test_a_disk_too_full_for_a_checkpoint_leaves_the_log_as_it_was() -> None:
    place = Place()
    log = place.open()
    append(log, bytes(900))
    log.segments.active.is_repaired = True
    log.offsets.checkpoint_written(1)
    place.checkpoint_writer.error = OSError(errno.ENOSPC, "full")
    with pytest.raises(StorageUnavailable):
        append(log, bytes(900))
    assert log.health.is_online
    assert (log.segments.base_offsets, log.unsynced.segments) == ([0], ())
    place.checkpoint_writer.error = None
    append(log, bytes(900))
    assert (log.segments.base_offsets, place.checkpoints) == ([0, 1], [0])


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE, errno.ENFILE])
def test_a_segment_begins_without_a_snapshot_that_cannot_be_written(number: int) -> None:
    place = Place()
    log = place.open()
    append(log, bytes(900))
    place.disk.fail("open", "*.snapshot*", error=number, times=None)
    append(log, bytes(900))
    assert log.health.is_online
    assert log.segments.base_offsets == [0, 1]


def test_the_listener_is_called_for_each_closed_segment() -> None:
    place = Place()
    log = place.open()
    append_many(log, 30)
    assert place.listener.unsynced == [log] * (len(log.segments) - 1)


@pytest.mark.parametrize(
    ("policy", "lag_ms", "segments"),
    [
        (("compact",), 500, 2),
        (("compact", "delete"), 500, 2),
        (("delete",), 500, 1),
        (("compact",), 5000, 1),
        (("compact",), 0, 1),
    ],
)
def test_a_compacted_log_closes_its_segment_before_its_records_are_overdue(
    policy: tuple[str, ...], lag_ms: int, segments: int
) -> None:
    config = replace(LARGE, segment_ms=1000, cleanup_policy=policy, max_compaction_lag_ms=lag_ms)
    log = Place(config=config).open()
    append(log, b"a", timestamp=NOW_MS)
    append(log, b"b", timestamp=NOW_MS + 600)
    assert len(log.segments) == segments
