from __future__ import annotations

from random import Random

import pytest
from tests.unit.storage.log_making import (
    COORDINATOR,
    PATH,
    Place,
    append,
    append_many,
    batch_of,
    marker_of,
    names_in,
    placed,
    values_of,
)

from ottla.base.files.readers import BLOCKING
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.log.flushing import flush
from ottla.storage.log.leader_epochs import EpochEndOffset
from ottla.storage.log.recovery import Checkpoint


@pytest.fixture
def place() -> Place:
    return Place()


@pytest.mark.parametrize("offset", [0, 1, 17, 50, 99])
def test_records_from_the_offset_on_are_forgotten(place: Place, offset: int) -> None:
    log = place.open()
    append_many(log, 100)
    assert log.truncate_to(offset)
    assert log.log_end_offset == offset
    assert values_of(log) == [b"%d" % each for each in range(offset)]
    append(log, b"new")
    expected = values_of(log)
    assert expected[-1] == b"new"
    assert values_of(place.reopen_killed()) == expected


def test_a_segment_whose_first_batch_is_damaged_can_be_removed_from_its_beginning(
    place: Place,
) -> None:
    """Its headers are not read: the length of a batch may be what is damaged."""
    log = place.open()
    append_many(log, 5)
    log.roll()
    append_many(log, 5)
    active = log.segments.active
    for position in range(8, 17):  # length, leader epoch, magic
        place.disk.flip_bit(active.path, position, 6)
    log.truncate_to(active.base_offset)
    assert log.log_end_offset == 5
    append(log, b"new")
    assert len(values_of(place.reopen_killed())) == 6


def test_cutting_behind_the_end_changes_nothing(place: Place) -> None:
    log = place.open()
    append_many(log, 5)
    assert not log.truncate_to(5)
    assert not log.truncate_to(99)
    assert log.log_end_offset == 5


def test_an_epoch_noted_without_records_gives_way_to_the_next_leader_s(place: Place) -> None:
    log = place.open()
    append_many(log, 5, epoch=1)
    log.epochs.announce(2)
    log.truncate_to(5)
    assert log.epochs.load(BLOCKING).entries == ((1, 0),)


def test_within_a_batch_the_whole_of_it_goes(place: Place) -> None:
    log = place.open()
    append(log, b"a")
    append(log, b"b", b"c", b"d")
    log.truncate_to(3)
    assert log.log_end_offset == 1


def test_in_a_gap_the_log_ends_with_its_last_batch(place: Place) -> None:
    log = place.open()
    log.append_as_follower(placed(batch_of(b"a"), 0) + placed(batch_of(b"b"), 50))
    log.truncate_to(20)
    assert log.log_end_offset == 1
    assert place.reopen_killed().log_end_offset == 1


def test_offsets_and_epochs_above_the_end_go_down_with_it(place: Place) -> None:
    log = place.open()
    append_many(log, 10, epoch=1)
    append_many(log, 10, epoch=2)
    log.advance_log_start(7)
    log.truncate_to(9)
    assert (log.log_start_offset, log.high_watermark) == (7, 9)
    assert log.epochs.load(BLOCKING).entries == ((1, 7),)
    log.truncate_to(5)
    assert (log.log_start_offset, log.high_watermark) == (5, 5)


def test_producers_are_those_of_the_records_that_are_left(place: Place) -> None:
    log = place.open()
    for sequence in range(60):
        log.append_as_leader(batch_of(bytes(40), producer=(1, 0, sequence)), 0)
    log.append_as_leader(batch_of(b"t", producer=(2, 0, 0), is_transactional=True), 0)
    log.truncate_to(30)
    assert log.producers.load(BLOCKING).producers[1].last_sequence == 29
    assert 2 not in log.producers.load(BLOCKING).producers
    log.append_as_leader(batch_of(b"x", producer=(1, 0, 30)), 1)


def test_an_abort_that_is_cut_off_leaves_the_transaction_open(place: Place) -> None:
    log = place.open()
    log.append_as_leader(batch_of(b"t", producer=(2, 0, 0), is_transactional=True), 0)
    log.append_as_leader(marker_of(2), 0, COORDINATOR)
    log.truncate_to(1)
    assert log.producers.load(BLOCKING).has_open_transaction(2, 0)
    assert log.read(BLOCKING, 0, 1000, 1, with_aborted=True).aborted == []
    log.append_as_leader(marker_of(2), 1, COORDINATOR)
    aborted = log.read(BLOCKING, 0, 1000, 2, with_aborted=True).aborted
    assert aborted is not None
    assert len(aborted) == 1


def test_the_recovery_point_goes_down_on_disk_before_records_go(place: Place) -> None:
    log = place.open()
    append_many(log, 60)
    flush(log)
    place.disk.fail("truncate", "*", times=None)
    place.disk.fail("rename", "*.log", times=None)
    with pytest.raises(StorageUnavailable):
        log.truncate_to(30)
    assert place.checkpoints[-1] <= 30


def test_a_negative_offset_is_a_mistake(place: Place) -> None:
    with pytest.raises(ValueError, match="cannot be truncated"):
        place.open().truncate_to(-1)


def test_starting_anew_forgets_everything(place: Place) -> None:
    log = place.open()
    append_many(log, 60, epoch=4)
    log.truncate_fully_and_start_at(1000)
    assert (log.log_start_offset, log.log_end_offset, log.high_watermark) == (1000, 1000, 1000)
    assert log.epochs.load(BLOCKING).entries == ()
    append(log, b"new", epoch=5)
    assert values_of(log) == [b"new"]
    assert names_in(place.disk, ".log") == [f"{1000:020d}.log"]
    assert values_of(place.reopen_killed()) == [b"new"]


def test_starting_anew_where_the_log_began(place: Place) -> None:
    log = place.open()
    append_many(log, 60)
    log.truncate_fully_and_start_at(0, log_start_offset=0)
    append(log, b"new")
    assert values_of(log) == [b"new"]


def test_deleted_files_stay_for_readers_until_their_time_is_over(place: Place) -> None:
    log = place.open()
    append_many(log, 60)
    found = log.read(BLOCKING, 50, 1000, 60)
    log.truncate_to(5)
    assert names_in(place.disk, ".log.deleted")
    assert found.records.read()
    assert log.context.deletions.take_due(place.clock.now_ms()) == []
    place.clock.advance_ms(log.config.file_delete_delay_ms)
    for removal in log.context.deletions.take_due(place.clock.now_ms()):
        removal.run()
    assert not names_in(place.disk, ".deleted")


@pytest.mark.parametrize("seed", range(30))
def test_a_power_cut_at_any_step_leaves_the_beginning_of_what_was_there(seed: int) -> None:
    place, random = Place(), Random(seed)
    log = place.open()
    append_many(log, 40)
    flush(log)
    append_many(log, random.randrange(20))
    whole, offset = values_of(log), random.randrange(log.log_end_offset)
    place.disk.fail(["rename", "truncate", "sync_directory"], skip=random.randrange(8), times=None)
    try:
        log.truncate_to(offset)
    except StorageUnavailable:
        pass
    place.disk.heal()
    place.disk.crash(random)
    point = place.checkpoints[-1] if place.checkpoints else 40
    again = values_of(place.open(Checkpoint(point)))
    assert whole[: len(again)] == again
    assert len(again) >= min(offset, 40)


def test_two_logs_agree_by_their_epochs() -> None:
    leader, follower = Place().open(), Place().open()
    append_many(leader, 10, epoch=1)
    append_many(follower, 10, epoch=1)
    append_many(follower, 5, epoch=2)
    append_many(leader, 3, epoch=3)
    ours = follower.epochs.load(BLOCKING).latest_epoch
    assert ours == 2
    answer = leader.epochs.load(BLOCKING).end_offset_for(ours, leader.log_end_offset)
    assert answer == EpochEndOffset(1, 10)
    assert follower.truncate_to_epoch(answer) == 10
    follower.append_as_follower(leader.read(BLOCKING, 10, 1 << 20, 13).records.read())
    assert values_of(follower) == values_of(leader)
    assert follower.epochs.load(BLOCKING).entries == leader.epochs.load(BLOCKING).entries


@pytest.mark.parametrize("seed", range(20))
def test_the_epochs_are_those_of_the_records_however_often_they_were_cut(seed: int) -> None:
    """Also of an epoch whose records were all removed, and then sent again."""
    place, random = Place(), Random(seed)
    log = place.open()
    epochs: list[int] = []  # of each record
    for _ in range(25):
        for _ in range(random.randrange(1, 4)):
            epochs.append((epochs[-1] if epochs else 0) + random.randrange(2))
            log.append_as_follower(placed(batch_of(b"x"), len(epochs) - 1, epochs[-1]))
        if random.random() < 0.2:
            log = place.reopen_killed(random.randrange(len(epochs) + 1))
        if random.random() < 0.5:
            log.truncate_to(random.randrange(len(epochs) + 1))
            del epochs[log.log_end_offset :]
        found = log.epochs.load(BLOCKING).entries
        assert found == tuple((each, epochs.index(each)) for each in sorted(set(epochs)))


def test_a_log_with_an_unknown_epoch_is_cut_to_the_leader_s_end() -> None:
    follower = Place().open()
    append_many(follower, 10, epoch=1)
    assert follower.truncate_to_epoch(EpochEndOffset(0, 4)) in (0, 4)
    assert follower.path == PATH
