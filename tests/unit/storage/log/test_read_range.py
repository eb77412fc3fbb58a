from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from tests.unit.storage.log_making import (
    COORDINATOR,
    EVERYTHING,
    PATH,
    SMALL,
    Place,
    append,
    append_many,
    batch_of,
    marker_of,
    placed,
    read_records,
    values_of,
)

from ottla.base.files.readers import BLOCKING
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.records.batch import iterate_headers, read_header
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.log import Log
from ottla.storage.log.recovery import Checkpoint


@pytest.fixture
def place() -> Place:
    return Place()


def test_reading_continues_over_all_segments(place: Place) -> None:
    log = place.open()
    append_many(log, 100)
    assert len(log.segments) > 3
    assert values_of(log) == [b"%d" % offset for offset in range(100)]
    assert values_of(log, 57)[0] == b"57"


def test_nothing_is_read_at_the_end_of_the_log(place: Place) -> None:
    log = place.open()
    assert len(log.read(BLOCKING, 0, 100, EVERYTHING).records) == 0
    append_many(log, 3)
    found = log.read(BLOCKING, 3, 100, EVERYTHING)
    assert found.records.read() == b""


@pytest.mark.parametrize("offset", [-1, 4, 11])
def test_offsets_outside_of_the_log_are_out_of_range(place: Place, offset: int) -> None:
    log = place.open()
    append_many(log, 10)
    log.advance_log_start(5)
    with pytest.raises(BrokerError) as raised:
        log.read(BLOCKING, offset, 100, EVERYTHING)
    assert raised.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_no_record_at_or_after_the_end_offset_is_read(place: Place) -> None:
    log = place.open()
    append_many(log, 30)
    for end_offset in range(31):
        assert len(values_of(log, 0, end_offset)) == end_offset
        assert len(log.read(BLOCKING, end_offset, 1000, end_offset).records) == 0


def test_a_batch_that_the_end_offset_cuts_is_left_out(place: Place) -> None:
    log = place.open()
    append(log, b"a")
    append(log, b"b", b"c", b"d")
    assert values_of(log, 0, 3) == [b"a"]
    assert len(log.read(BLOCKING, 2, 1000, 3).records) == 0


def test_the_first_batch_comes_whole_however_few_bytes_are_wanted(place: Place) -> None:
    log = place.open()
    append(log, bytes(300))
    append(log, b"b")
    found = log.read(BLOCKING, 0, 1, EVERYTHING).records.read()
    assert read_header(found).size_bytes == len(found)
    assert len(log.read(BLOCKING, 0, 1, EVERYTHING, at_least_one=False).records) == 0


def test_a_range_has_no_more_bytes_than_wanted(place: Place) -> None:
    log = place.open()
    append_many(log, 10)
    for size in range(80, 400, 7):
        found = log.read(BLOCKING, 0, size, EVERYTHING).records
        assert len(found) == min(size, log.segments[0].size)


def test_the_batch_with_the_offset_comes_whole(place: Place) -> None:
    log = place.open()
    append(log, b"a", b"b", b"c")
    assert [record.offset for record in read_records(log, 1)] == [1, 2]
    assert read_header(log.read(BLOCKING, 1, 1000, EVERYTHING).records.read()).base_offset == 0


def test_gaps_are_passed_over_also_between_segments(place: Place) -> None:
    log = place.open()
    for offset in range(0, 3000, 100):
        log.append_as_follower(placed(batch_of(b"%d" % offset), offset))
    assert values_of(log, 101)[:2] == [b"200", b"300"]
    last_of_first = log.segments[1].base_offset - 1
    assert values_of(log, last_of_first + 1)[0] == b"%d" % (last_of_first + 100)


def reopened(place: Place, log: Log) -> Log:
    again = place.reopen_clean(log)
    again.update_high_watermark(again.log_end_offset)
    return again


def test_what_was_appended_here_needs_no_check(place: Place) -> None:
    log = place.open()
    append_many(log, 30)
    assert log.read(BLOCKING, 0, EVERYTHING, EVERYTHING).check is None


def test_what_was_found_on_disk_is_checked_once(place: Place) -> None:
    log = place.open()
    append_many(log, 30)
    log = reopened(place, log)
    found = log.read(BLOCKING, 0, 300, EVERYTHING)
    assert found.check is not None
    found.check.run()
    assert found.check.confirm()
    assert log.read(BLOCKING, 0, 300, EVERYTHING).check is None
    assert log.read(BLOCKING, 0, EVERYTHING, EVERYTHING).check is not None


def test_what_is_appended_during_a_check_is_no_damage(place: Place) -> None:
    log = place.open()
    append_many(log, 3)
    log = reopened(place, log)
    found = log.read(BLOCKING, 0, EVERYTHING, EVERYTHING)
    assert found.check is not None
    append_many(log, 2)
    found.check.run()
    assert found.check.confirm()


def test_a_recovered_log_was_checked_by_that(place: Place) -> None:
    append_many(place.open(), 30)
    assert place.reopen_killed().read(BLOCKING, 0, EVERYTHING, EVERYTHING).check is None


def test_a_check_counts_for_nothing_once_the_log_was_cut(place: Place) -> None:
    log = place.open()
    append_many(log, 5)
    log = reopened(place, log)
    found = log.read(BLOCKING, 0, EVERYTHING, EVERYTHING)
    assert found.check is not None
    found.check.run()
    log.truncate_to(3)
    assert not found.check.is_current
    assert not found.check.confirm()


def test_no_flipped_bit_is_ever_served() -> None:
    size = 1
    position = 0
    while position < size:
        for bit in (position % 8, (position + 5) % 8):
            place = Place()
            log = place.open()
            append_many(log, 6)
            good, size = batches_of(log), log.segments[0].size
            log.close()
            place.disk.flip_bit(log.segments[0].path, position, bit)
            assert set(serve_all(place)) <= set(good), f"bit {bit} of byte {position}"
        position += 1
    assert position > 400


def batches_of(log: Log) -> list[bytes]:
    data = b"".join(segment.open(BLOCKING).read_at(0, segment.size) for segment in log.segments)
    return [data[at : at + header.size_bytes] for at, header in iterate_headers(data)]


def serve_all(place: Place) -> list[bytes]:
    """Every batch that can be had from a log which was closed in order with six records."""
    served = []
    log = place.open(Checkpoint(6, 0, is_clean=True))
    for offset in range(6):
        try:
            found = log.read(BLOCKING, offset, 1, EVERYTHING)
            if found.check is not None:
                found.check.run()
            served += [found.records.read()] if len(found.records) else []
        except (CorruptLogError, BrokerError):
            continue
    log.release()
    return served


def test_damage_is_reported_with_file_and_position(place: Place) -> None:
    log = place.open()
    append_many(log, 5)
    second = log.read(BLOCKING, 1, 1, EVERYTHING).records.position
    log.close()
    path = log.segments[0].path
    place.disk.flip_bit(path, second + 65)
    log = reopened_closed(place, log)
    found = log.read(BLOCKING, 0, EVERYTHING, EVERYTHING)
    assert found.check is not None
    with pytest.raises(CorruptLogError) as raised:
        found.check.run()
    assert (raised.value.path, raised.value.position) == (path, second)


def reopened_closed(place: Place, log: Log) -> Log:
    return place.open(Checkpoint(log.log_end_offset, 0, is_clean=True))


# Aborted transactions


def transaction(log: Log, producer_id: int, *values: bytes) -> None:
    entry = log.producers.load(BLOCKING).producers.get(producer_id)
    sequence = 0 if entry is None else entry.last_sequence + 1
    for at, value in enumerate(values):
        producer = (producer_id, 0, sequence + at)
        log.append_as_leader(batch_of(value, producer=producer, is_transactional=True), 0)


def test_readers_of_committed_data_receive_what_to_skip(place: Place) -> None:
    log = place.open()
    transaction(log, 1, b"a", b"b")
    transaction(log, 2, b"c")
    log.append_as_leader(marker_of(2, is_commit=True), 0, COORDINATOR)
    log.append_as_leader(marker_of(1), 0, COORDINATOR)
    found = log.read(BLOCKING, 0, EVERYTHING, EVERYTHING, with_aborted=True)
    assert found.aborted is not None
    assert [(each.producer_id, each.first_offset) for each in found.aborted] == [(1, 0)]
    assert log.read(BLOCKING, 0, EVERYTHING, EVERYTHING).aborted is None


def test_a_marker_in_a_later_segment_is_found(place: Place) -> None:
    log = place.open()
    transaction(log, 1, b"a")
    append_many(log, 60)
    log.append_as_leader(marker_of(1), 0, COORDINATOR)
    assert len(log.segments) > 2
    found = log.read(BLOCKING, 0, 100, EVERYTHING, with_aborted=True)
    assert found.aborted is not None
    assert [each.producer_id for each in found.aborted] == [1]


@pytest.mark.parametrize("seed", range(12))
def test_a_transaction_index_that_was_built_anew_survives_a_power_cut(seed: int) -> None:
    place = Place(config=replace(SMALL, segment_bytes=2000))
    log = place.open()
    for producer_id in range(1, 9):
        transaction(log, producer_id, b"a")
        log.append_as_leader(marker_of(producer_id), 0, COORDINATOR)
    append_many(log, 20)
    expected = log.read(BLOCKING, 0, 2000, EVERYTHING, with_aborted=True).aborted
    assert expected is not None
    assert len(expected) == 8
    log.close()
    place.disk.flip_bit(f"{PATH}/{0:020d}.txnindex", 9, 3)  # of the producer id
    again = reopened_closed(place, log)
    assert again.read(BLOCKING, 0, 2000, EVERYTHING, with_aborted=True).aborted == expected
    place.disk.crash(Random(seed))
    again = place.open(Checkpoint(log.log_end_offset))
    assert again.read(BLOCKING, 0, 2000, EVERYTHING, with_aborted=True).aborted == expected


def test_a_damaged_transaction_index_is_built_anew_when_it_is_used(place: Place) -> None:
    log = place.open()
    transaction(log, 1, b"a")
    append_many(log, 3)
    log.append_as_leader(marker_of(1), 0, COORDINATOR)
    expected = log.read(BLOCKING, 0, 1000, EVERYTHING, with_aborted=True).aborted
    log.close()
    path = f"{PATH}/{0:020d}.txnindex"
    for position in range(place.disk.size(path)):
        place.disk.flip_bit(path, position, position % 8)
        again = reopened_closed(place, log)
        assert again.read(BLOCKING, 0, 1000, EVERYTHING, with_aborted=True).aborted == expected
        again.release()
