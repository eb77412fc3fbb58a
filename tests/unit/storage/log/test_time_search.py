from __future__ import annotations

from dataclasses import replace
from random import Random
from struct import pack_into

import pytest
from tests.support.steps_by_hand import ByHand
from tests.unit.storage.log.test_replacement import clean
from tests.unit.storage.log_making import (
    PATH,
    SMALL,
    Place,
    append,
    append_many,
    placed,
    read_records,
)

from ottla.base.scheduling.steps import Steps, run_blocking
from ottla.config.options import INT64_MAX
from ottla.protocol.records.batch import stamp_checksum
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.record import Record
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.log.log import Log
from ottla.storage.log.recovery import Checkpoint
from ottla.storage.log.time_search import HEADERS_PER_STEP, FoundTime
from ottla.testing.clock import ManualClock

NOW_MS = ManualClock().now_ms()
MAX_TIMESTAMP_POSITION = 35
ANY_TIME = replace(SMALL, message_timestamp_after_max_ms=INT64_MAX)


def append_times(log: Log, *times_ms: int, codec: int = 0) -> None:
    records = [Record(at, NOW_MS + each, b"k", b"v") for at, each in enumerate(times_ms)]
    log.append_as_leader(build_batch(records, codec=codec), 3)


def offset_at(log: Log, time_ms: int) -> int | None:
    return offset_of(run_blocking(log.finding_by_timestamp(NOW_MS + time_ms)))


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
    found = run_blocking(log.finding_by_timestamp(NOW_MS + 6))
    assert found == (NOW_MS + 7, 1, 3)


def test_times_that_go_back_are_no_obstacle() -> None:
    random = Random(3)
    place = Place(config=ANY_TIME)
    log = place.open()
    for _ in range(120):
        append_times(log, *(random.randrange(5000) for _ in range(random.randrange(1, 4))))
    assert len(log.segments) > 5
    for _ in range(2):
        records = read_records(log)
        for time_ms in range(0, 5200, 37):
            wanted = [record.offset for record in records if record.timestamp >= NOW_MS + time_ms]
            assert offset_at(log, time_ms) == (wanted[0] if wanted else None)
        log = place.reopen_clean(log)


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
    assert run_blocking(log.finding_max_timestamp()) is None
    append_times(log, 50, 90, 90)
    append_many(log, 60)
    append_times(log, 90)
    for _ in range(2):
        found = run_blocking(log.finding_max_timestamp())
        assert found is not None
        assert (found.offset, found.timestamp) == (1, NOW_MS + 90)
        log = place.reopen_clean(log)


def test_records_without_time_are_found_by_no_time() -> None:
    log = Place().open()
    log.append_as_follower(placed(build_batch([Record(0, -1, b"k", b"v")]), 0))
    assert run_blocking(log.finding_by_timestamp(0)) is None
    assert run_blocking(log.finding_max_timestamp()) == (-1, 0, 0)  # the first one, as on Kafka


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
        again.release()


def test_a_damaged_batch_is_not_searched() -> None:
    place = Place()
    log = place.open()
    append(log, b"a" * 50)
    log.close()
    place.disk.flip_bit(f"{PATH}/{0:020d}.log", 80)
    log = place.open(Checkpoint(1, 0, is_clean=True))
    with pytest.raises(CorruptLogError):
        run_blocking(log.finding_by_timestamp(0))


def append_liar(log: Log, claims_ms: int, codec: Codec = Codec.GZIP) -> None:
    """Append a batch whose header claims a later time than its records have."""
    batch = build_batch([Record(0, NOW_MS, b"k", b"v" * 50)], codec=codec)
    pack_into(">q", batch, MAX_TIMESTAMP_POSITION, NOW_MS + claims_ms)
    stamp_checksum(batch, 0, len(batch))
    log.append_as_leader(batch, 3)


def offset_of(found: FoundTime | None) -> int | None:
    return None if found is None else found.offset


def driven(steps: Steps[FoundTime | None]) -> tuple[int | None, int, int]:
    """The offset that was found, and how often work was handed out and others had a turn."""
    by_hand = ByHand(steps)
    found = by_hand.finish()
    return offset_of(found), by_hand.jobs, by_hand.pauses


def test_batches_that_claim_too_much_are_opened_elsewhere_one_after_the_other() -> None:
    log = Place(config=replace(ANY_TIME, segment_bytes=100_000)).open()
    for _ in range(50):
        append_liar(log, 100)
    append_times(log, 100)
    found, handed_out, _ = driven(log.finding_by_timestamp(NOW_MS + 100))
    assert (found, handed_out) == (50, 50)


def test_a_long_scan_of_headers_lets_others_have_their_turn() -> None:
    config = replace(ANY_TIME, segment_bytes=1_000_000, index_interval_bytes=1_000_000)
    log = Place(config=config).open()
    for _ in range(1000):
        append_times(log, 0)
    append_times(log, 5)
    found, handed_out, pauses = driven(log.finding_by_timestamp(NOW_MS + 5))
    assert (found, handed_out, pauses) == (1000, 0, 1000 // HEADERS_PER_STEP)


def test_a_log_that_is_cut_during_a_search_is_searched_again() -> None:
    log = Place(config=replace(ANY_TIME, segment_bytes=100_000)).open()
    append_times(log, 0)
    append_times(log, 50, codec=Codec.GZIP)
    append_times(log, 60)
    steps = ByHand(log.finding_by_timestamp(NOW_MS + 50))
    steps.run_job()
    log.truncate_to(1)
    append_times(log, 70)
    assert offset_of(steps.finish()) == 1
    assert offset_at(log, 50) == 1


def test_segments_deleted_during_a_search_are_not_returned() -> None:
    log = Place(config=ANY_TIME).open()
    for number in range(60):
        append_times(log, number, codec=Codec.GZIP)
    log.update_high_watermark(60)
    steps = ByHand(log.finding_by_timestamp(NOW_MS))
    steps.run_job()
    start = log.segments[2].base_offset
    log.advance_log_start(start)
    log.enforce_retention()
    assert offset_of(steps.finish()) == start


def test_a_log_closed_during_a_search_ends_it() -> None:
    log = Place(config=ANY_TIME).open()
    append_times(log, 0, codec=Codec.GZIP)
    steps = ByHand(log.finding_by_timestamp(NOW_MS))
    steps.run_job()
    log.close()
    with pytest.raises(StorageUnavailable):
        steps.finish()


def test_segments_compacted_away_and_removed_during_a_search_are_no_failing_disk() -> None:
    log = Place(config=replace(ANY_TIME, cleanup_policy=("compact",))).open()
    append_times(log, 100, 0, codec=Codec.GZIP)
    for number in range(60):
        append_times(log, number, codec=Codec.GZIP)
    log.update_high_watermark(log.log_end_offset)
    log.advance_log_start(1)  # the first batch is opened without a result
    steps = ByHand(log.finding_by_timestamp(NOW_MS + 40))
    steps.run_job()
    sources = log.segments[1:-1]
    run_blocking(log.replacing_segments([clean(log, sources, 1)], sources))
    for removal in log.context.deletions.take_all():
        removal.run()
    assert offset_of(steps.finish()) == 42
    assert log.health.is_online


def test_segments_compacted_away_while_the_largest_time_is_looked_for_are_no_failing_disk() -> None:
    place = Place(config=replace(ANY_TIME, cleanup_policy=("compact",)))
    log = place.open()
    for number in range(60):
        append_times(log, -number, codec=Codec.GZIP)
    log = place.reopen_clean(log)
    steps = ByHand(log.finding_max_timestamp())
    while not log.segments[-2].is_prepared:
        steps.run_step()
    sources = log.segments[:2]
    run_blocking(log.replacing_segments([clean(log, sources, 1)], sources))
    for removal in log.context.deletions.take_all():
        removal.run()
    assert offset_of(steps.finish()) == 0
    assert log.health.is_online
