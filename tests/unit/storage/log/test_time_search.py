from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from tests.unit.storage.log_making import (
    PATH,
    SMALL,
    Place,
    append,
    append_many,
    placed,
    read_records,
)

from ottla.config.options import INT64_MAX
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.record import Record
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.log import Log
from ottla.storage.log.recovery import Checkpoint
from ottla.testing.clock import ManualClock

NOW_MS = ManualClock().now_ms()
ANY_TIME = replace(SMALL, message_timestamp_after_max_ms=INT64_MAX)


def append_times(log: Log, *times_ms: int, codec: int = 0) -> None:
    records = [Record(at, NOW_MS + each, b"k", b"v") for at, each in enumerate(times_ms)]
    log.append_as_leader(build_batch(records, codec=codec), 3)


def offset_at(log: Log, time_ms: int) -> int | None:
    found = log.find_by_timestamp(NOW_MS + time_ms)
    return None if found is None else found.offset


@pytest.mark.parametrize("codec", list(Codec))
def test_the_first_record_at_or_after_a_time_is_found_inside_a_batch(codec: Codec) -> None:
    log = Place(config=ANY_TIME).open()
    append_times(log, 0, 10, 20, codec=codec)
    append_times(log, 30, 25, 40, codec=codec)
    assert [offset_at(log, each) for each in (-5, 0, 1, 10, 21, 31, 40)] == [0, 0, 1, 1, 3, 5, 5]
    assert offset_at(log, 41) is None


def test_the_answer_has_the_record_s_time_and_leader_epoch() -> None:
    log = Place().open()
    append_times(log, 5, 7)
    found = log.find_by_timestamp(NOW_MS + 6)
    assert found == (NOW_MS + 7, 1, 3)


def test_times_that_go_back_are_no_obstacle() -> None:
    random = Random(3)
    place = Place(config=ANY_TIME)
    log = place.open()
    for _ in range(120):
        append_times(log, *(random.randrange(5000) for _ in range(random.randrange(1, 4))))
    assert len(log.segments) > 5
    for each in (log, place.reopen_clean(log)):
        records = read_records(each)
        for time_ms in range(0, 5200, 37):
            wanted = [record.offset for record in records if record.timestamp >= NOW_MS + time_ms]
            assert offset_at(each, time_ms) == (wanted[0] if wanted else None)


def test_records_before_the_start_of_the_log_are_not_found() -> None:
    log = Place().open()
    append_times(log, 10, 10, 10)
    append_times(log, 10)
    log.update_high_watermark(4)
    log.advance_log_start(2)
    assert offset_at(log, 0) == 2


def test_the_largest_time_is_the_first_record_that_has_it() -> None:
    place = Place(config=ANY_TIME)
    log = place.open()
    assert log.find_max_timestamp() is None
    append_times(log, 50, 90, 90)
    append_many(log, 60)
    append_times(log, 90)
    for each in (log, place.reopen_clean(log)):
        found = each.find_max_timestamp()
        assert found is not None
        assert (found.offset, found.timestamp) == (1, NOW_MS + 90)


def test_records_without_time_are_found_by_no_time() -> None:
    log = Place().open()
    log.append_as_follower(placed(build_batch([Record(0, -1, b"k", b"v")]), 0))
    assert log.find_by_timestamp(0) is None
    assert log.find_max_timestamp() is None


def test_a_damaged_time_index_is_built_anew_when_it_is_used() -> None:
    place = Place(config=replace(ANY_TIME, segment_bytes=100_000))
    log = place.open()
    for number in range(60):
        append_times(log, number * 10)
    log.close()
    path = f"{PATH}/{0:020d}.timeindex"
    size = place.disk.size(path)
    assert size > 100
    for position in range(size):
        place.disk.flip_bit(path, position, position % 8)
        again = place.open(Checkpoint(60, 0, is_clean=True))
        assert [offset_at(again, each) for each in range(0, 590, 45)] == [
            -(-each // 10) for each in range(0, 590, 45)
        ]
        again.let_go()


def test_a_damaged_batch_is_not_searched() -> None:
    place = Place()
    log = place.open()
    append(log, b"a" * 50)
    log.close()
    place.disk.flip_bit(f"{PATH}/{0:020d}.log", 80)
    log = place.open(Checkpoint(1, 0, is_clean=True))
    with pytest.raises(CorruptLogError):
        log.find_by_timestamp(0)
