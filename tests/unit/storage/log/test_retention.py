from __future__ import annotations

from dataclasses import dataclass, replace

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

from ottla.base.files.readers import BLOCKING
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.storage.log.log import Log
from ottla.storage.log.retention import count_before_start, count_expired, count_oversized
from ottla.testing.clock import ManualClock

NOW_MS = ManualClock().now_ms()


@dataclass
class Aging:
    base_offset: int
    size: int
    newest_ms: int = 0


def segments(*sizes: int, times_ms: tuple[int, ...] = ()) -> list[Aging]:
    times_ms = times_ms or tuple(range(len(sizes)))
    return [
        Aging(at * 10, size, time)
        for at, (size, time) in enumerate(zip(sizes, times_ms, strict=True))
    ]


def expired(found: list[Aging], oldest_ms: int, deletable_end: int = 1000) -> int:
    return count_expired(found, deletable_end, 1000, oldest_ms, lambda each: each.newest_ms)


def test_expired_segments_go_from_the_oldest_on_up_to_one_that_is_not() -> None:
    found = segments(1, 1, 1, 1, times_ms=(5, 9, 20, 6))
    assert [expired(found, oldest) for oldest in (5, 6, 9, 10, 21)] == [0, 1, 1, 2, 4]


def test_an_empty_active_segment_does_not_expire() -> None:
    assert expired(segments(1, 0, times_ms=(1, 1)), 50) == 1


def test_nothing_at_the_high_watermark_expires() -> None:
    found = segments(1, 1, 1)
    assert [expired(found, 50, end) for end in (0, 9, 10, 19, 20, 999, 1000)] == [
        0, 0, 1, 1, 2, 2, 3,
    ]  # fmt: skip


def test_as_much_stays_as_was_asked_for() -> None:
    found = segments(100, 100, 100, 50)
    limits = (0, 1, 50, 51, 150, 249, 250, 251)
    counts = [count_oversized(found, 1000, 1000, limit) for limit in limits]
    assert counts == [4, 3, 3, 2, 2, 1, 1, 0]


def test_size_spares_what_is_not_replicated() -> None:
    assert count_oversized(segments(100, 100, 100), 15, 30, 0) == 1
    assert count_oversized(segments(100, 100, 100), 29, 30, 0) == 2


def test_an_empty_active_segment_stays_whatever_its_size() -> None:
    assert count_oversized(segments(100, 0), 1000, 1000, 0) == 1


def test_segments_before_the_start_of_the_log_go() -> None:
    found = segments(1, 1, 1)
    assert [count_before_start(found, start) for start in (0, 9, 10, 25, 99)] == [0, 0, 1, 2, 2]


# On a log


def filled(place: Place) -> Log:
    log = place.open()
    for number in range(60):
        append(log, b"%d" % number, timestamp=NOW_MS - 1000 + number * 10)
    return log


def test_a_log_that_may_hold_nothing_is_emptied() -> None:
    log = filled(Place(config=replace(SMALL, retention_bytes=0)))
    log.update_high_watermark(log.log_end_offset)
    log.enforce_retention()
    assert (log.log_start_offset, log.log_end_offset, log.size_bytes) == (60, 60, 0)
    assert log.enforce_retention() == 0


def test_old_records_are_deleted_and_the_start_moves() -> None:
    place = Place(config=replace(SMALL, retention_ms=600))
    log = filled(place)
    count = len(log.segments)
    deleted = log.enforce_retention()
    assert 0 < deleted < count
    assert log.log_start_offset == log.segments[0].base_offset > 0
    assert values_of(log)[0] == b"%d" % log.log_start_offset
    assert len(names_in(place.disk, ".log.deleted")) == deleted


@pytest.mark.parametrize("policy", ["delete", "compact"])
def test_segments_are_deleted_some_at_a_time(policy: str) -> None:
    place = Place(config=replace(SMALL, retention_ms=10, cleanup_policy=(policy,)))
    log = filled(place)
    log.update_high_watermark(log.log_end_offset)
    count = len(log.segments)
    if policy == "compact":  # then only what is before the start of the log
        log.advance_log_start(log.log_end_offset)
        count -= 1
    place.clock.advance_ms(5000)
    deleted = []
    while some := log.enforce_retention(2):
        deleted.append(some)
    assert max(deleted) == 2
    assert sum(deleted) == count
    assert len(log.segments) == 1


def test_no_more_segments_are_looked_at_than_may_be_deleted() -> None:
    looked_at = []

    def newest_ms_of(segment: object) -> int:
        looked_at.append(segment)
        return 0

    found = segments(*[1] * 100)
    assert count_expired(found, 2000, 2000, 10, newest_ms_of, 7) == 7
    assert len(looked_at) == 7
    assert count_oversized(found, 2000, 2000, 0, 7) == 7
    assert count_before_start(found, 2000, 7) == 7


def test_when_all_is_old_an_empty_segment_remains() -> None:
    place = Place(config=replace(SMALL, retention_ms=10))
    log = filled(place)
    place.clock.advance_ms(5000)
    log.enforce_retention()
    assert (log.log_start_offset, log.log_end_offset) == (60, 60)
    assert [segment.size for segment in log.segments] == [0]
    append(log, b"new")
    assert values_of(log) == [b"new"]
    assert values_of(place.reopen_killed()) == [b"new"]


def test_a_log_shrinks_to_its_size() -> None:
    log = filled(Place(config=replace(SMALL, retention_bytes=1500)))
    assert log.enforce_retention()
    assert 1500 <= log.size_bytes < 1500 + SMALL.segment_bytes


@pytest.mark.parametrize("retention_ms", [-1, 700, 2000])
@pytest.mark.parametrize("retention_bytes", [-1, 0, 1500, 3000])
def test_a_segment_that_is_too_old_and_too_much_is_deleted_once(
    retention_ms: int, retention_bytes: int
) -> None:
    by_age = replace(SMALL, retention_ms=retention_ms)
    by_size = replace(SMALL, retention_ms=-1, retention_bytes=retention_bytes)
    together, one_by_one = filled(Place()), filled(Place())
    together.update_config(replace(by_age, retention_bytes=retention_bytes))
    deleted = together.enforce_retention()
    for rule in (by_age, by_size):
        one_by_one.update_config(rule)
        deleted -= one_by_one.enforce_retention()
    assert deleted == 0
    assert together.log_start_offset == one_by_one.log_start_offset
    assert values_of(together) == values_of(one_by_one)
    assert together.enforce_retention() == 0


def test_without_limits_everything_stays() -> None:
    place = Place(config=replace(SMALL, retention_ms=-1, retention_bytes=-1))
    log = filled(place)
    place.clock.advance_ms(10**12)
    assert log.enforce_retention() == 0


def test_a_compacted_log_is_not_deleted_by_age() -> None:
    place = Place(config=replace(SMALL, retention_ms=1, cleanup_policy=("compact",)))
    log = filled(place)
    place.clock.advance_ms(10**9)
    assert log.enforce_retention() == 0
    log.advance_log_start(30)
    assert log.enforce_retention() > 0


def test_the_age_of_closed_segments_is_known_after_a_restart() -> None:
    place = Place(config=replace(SMALL, retention_ms=600))
    log = place.reopen_clean(filled(place))
    assert log.enforce_retention() > 0
    assert values_of(log)[0] == b"%d" % log.log_start_offset


def test_records_without_time_are_as_old_as_their_file() -> None:
    place = Place(config=replace(SMALL, retention_ms=1000))
    log = place.open()
    for _ in range(30):
        append(log, bytes(20), timestamp=-1)
    assert log.enforce_retention() == 0
    place.clock.advance_ms(1001)
    log.enforce_retention()
    assert log.log_start_offset == 30


def test_deleting_records_moves_the_start_within_a_segment() -> None:
    place = Place()
    log = place.open()
    append_many(log, 20)
    assert log.advance_log_start(7)
    assert not log.advance_log_start(3)
    assert values_of(log)[0] == b"7"
    assert log.epochs.load(BLOCKING).entries == ((0, 7),)


def test_records_above_the_high_watermark_cannot_be_deleted() -> None:
    log = Place().open()
    append_many(log, 20)
    log.update_high_watermark(10)
    with pytest.raises(BrokerError) as raised:
        log.advance_log_start(11)
    assert raised.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_producers_stay_known_when_their_records_are_deleted() -> None:
    place = Place(config=replace(SMALL, retention_ms=10))
    log = place.open()
    log.append_as_leader(batch_of(b"a", producer=(1, 0, 0)), 0)
    append_many(log, 40)
    place.clock.advance_ms(5000)
    log.enforce_retention()
    assert log.producers.load(BLOCKING).producers[1].last_sequence == 0
    log = place.reopen_killed()
    assert log.producers.load(BLOCKING).producers[1].last_sequence == 0
