from __future__ import annotations

from collections.abc import Callable
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
    names_in,
    placed,
    values_of,
)

from ottla.base.files.filesystem import read_file
from ottla.base.files.readers import BLOCKING
from ottla.base.scheduling.steps import run_blocking
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.flushing import flush
from ottla.storage.log.log import Log
from ottla.storage.log.recovery import Checkpoint, open_log
from ottla.testing.filesystem import MemoryDisk


@pytest.fixture
def place() -> Place:
    return Place()


def put(disk: MemoryDisk, name: str, content: bytes) -> None:
    file = disk.open(f"{PATH}/{name}", create=True)
    file.write_at(0, content)
    file.close()


def expected(count: int) -> list[bytes]:
    return [b"%d" % offset for offset in range(count)]


def test_an_empty_directory_becomes_an_empty_log(place: Place) -> None:
    log = place.open(Checkpoint(None, 7))
    assert (log.log_start_offset, log.log_end_offset) == (7, 7)
    append(log, b"a")
    assert values_of(log) == [b"a"]


def test_a_killed_log_has_all_that_was_written(place: Place) -> None:
    append_many(place.open(), 100)
    log = place.reopen_killed()
    assert values_of(log) == expected(100)
    append_many(log, 10)
    assert values_of(place.reopen_killed(50)) == expected(110)


@pytest.mark.parametrize("kept", [0, 1, 11, 60, 61, 69])
def test_a_torn_write_is_cut_off_at_the_last_whole_batch(place: Place, kept: int) -> None:
    append_many(place.open(), 5)
    place.disk.tear_last_write(keep_bytes=kept)
    log = place.open()
    assert values_of(log) == expected(4)
    append_many(log, 1)
    assert values_of(place.reopen_killed()) == expected(5)


def test_what_follows_a_bad_batch_behind_the_recovery_point_goes(place: Place) -> None:
    log = place.open()
    append_many(log, 50)
    position = log.read(BLOCKING, 20, 1, EVERYTHING).records.position
    segment = log.segments.floor(20)
    assert segment is not None
    place.disk.flip_bit(segment.path, position + 65)
    log = place.reopen_killed()
    assert values_of(log) == expected(20)
    assert log.damage == ()
    assert (
        len(names_in(place.disk, ".log"))
        == log.segments.base_offsets.index(segment.base_offset) + 1
    )


def test_a_bad_batch_that_was_synced_once_is_kept_reported_and_never_served(place: Place) -> None:
    log = place.open()
    append_many(log, 50)
    flush(log)
    segment = log.segments.active
    offset = segment.base_offset + 2
    position = log.read(BLOCKING, offset, 1, EVERYTHING).records.position
    place.disk.flip_bit(segment.path, position + 65)
    log = place.reopen_killed(recovery_point=50)
    assert log.log_end_offset == 50
    assert [damage.position for damage in log.damage] == [position]
    assert values_of(log, 0, offset) == expected(offset)
    assert values_of(log, offset + 1) == expected(50)[offset + 1 :]
    found = log.read(BLOCKING, offset, 1, EVERYTHING)
    assert found.check is not None
    with pytest.raises(CorruptLogError):
        found.check.run()


def test_damage_that_hides_the_length_of_a_batch_leaves_the_others_readable(place: Place) -> None:
    log = place.open()
    append_many(log, 50)
    flush(log)
    segment = log.segments.active
    offset = segment.base_offset + 2
    position = log.read(BLOCKING, offset, 1, EVERYTHING).records.position
    place.disk.flip_bit(segment.path, position + 9, 7)
    log = place.reopen_killed(recovery_point=50)
    assert len(log.damage) == 1
    assert values_of(log, offset + 1) == expected(50)[offset + 1 :]
    with pytest.raises(CorruptLogError):
        values_of(log, offset)
    append_many(log, 5)
    assert values_of(log, 50)[-1] == b"54"


@pytest.mark.parametrize("synced_after", range(1, 5))
def test_what_follows_damage_stays_wherever_the_recovery_point_is(
    place: Place, synced_after: int
) -> None:
    """Batches between a damaged one, which was synced, and the end of the log, which was not."""
    log = place.open()
    append_many(log, 50)
    segment = log.segments.active
    offset = segment.base_offset + 2
    position = log.read(BLOCKING, offset, 1, EVERYTHING).records.position
    place.disk.flip_bit(segment.path, position + 65)
    log = place.reopen_killed(recovery_point=offset + synced_after)
    assert log.log_end_offset == 50
    assert values_of(log, offset + 1) == expected(50)[offset + 1 :]


@pytest.mark.parametrize("recovery_point", [0, 5, 9, 10])
def test_records_of_an_older_leader_that_a_crash_restored_go(
    place: Place, recovery_point: int
) -> None:
    log = place.open()
    append_many(log, 5, epoch=1)
    append_many(log, 5, epoch=3)
    append_many(log, 2, epoch=2)
    log = place.reopen_killed(recovery_point)
    assert values_of(log) == expected(10)
    assert log.epochs.load(BLOCKING).entries == ((1, 0), (3, 5))


def test_a_log_that_lost_its_synced_end_says_so(place: Place) -> None:
    log = place.open()
    append_many(log, 50)
    flush(log)
    active = log.segments.active
    place.disk.kill()
    file = place.disk.open(active.path)
    file.truncate(100)
    again = place.open(Checkpoint(50))
    assert again.log_end_offset < 50
    assert values_of(again) == expected(again.log_end_offset)
    assert "50 was synced" in str(again.damage[-1])


@pytest.mark.parametrize("is_clean", [True, False])
@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
@pytest.mark.parametrize("do", ["remove", "cut", "fill"])
def test_missing_short_and_long_indexes_are_built_again(
    place: Place, is_clean: bool, suffix: str, do: str
) -> None:
    place.config = replace(SMALL, index_interval_bytes=50)
    log = place.open()
    append_many(log, 60)
    log.close()
    for name in names_in(place.disk, suffix):
        if do == "remove":
            place.disk.remove(f"{PATH}/{name}")
            continue
        file = place.disk.open(f"{PATH}/{name}")
        file.truncate(5) if do == "cut" else file.write_at(file.size(), bytes(range(1, 50)))
    log = place.open(Checkpoint(60, 0, is_clean))
    assert values_of(log) == expected(60)
    assert [values_of(log, offset)[0] for offset in range(60)] == expected(60)
    assert run_blocking(log.finding_max_timestamp()) is not None
    append_many(log, 10)
    assert values_of(log) == expected(70)


def test_an_index_without_records_is_removed(place: Place) -> None:
    append_many(place.open(), 5)
    put(place.disk, f"{90:020d}.index", bytes(16))
    put(place.disk, f"{90:020d}.txnindex", bytes(34))
    log = place.reopen_killed()
    assert values_of(log) == expected(5)
    assert names_in(place.disk, ".index") == [f"{0:020d}.index"]


def test_strangers_files_are_left_alone(place: Place) -> None:
    append_many(place.open(), 5)
    put(place.disk, "notes.txt", b"mine")
    assert values_of(place.reopen_killed()) == expected(5)
    assert read_file(place.disk, f"{PATH}/notes.txt") == b"mine"


def test_an_orderly_stop_is_opened_without_reading_the_records(place: Place) -> None:
    log = place.open()
    append_many(log, 300)
    log.close()
    place.disk.operations.clear()
    log = place.open(Checkpoint(300, 0, is_clean=True))
    assert place.disk.operations["read"] < 10
    assert values_of(log) == expected(300)


def test_a_clean_log_that_does_not_end_where_it_should_is_recovered(place: Place) -> None:
    log = place.open()
    append_many(log, 20)
    log.close()
    file = place.disk.open(log.segments.active.path)
    file.write_at(file.size(), b"\x01" * 40)
    log = place.open(Checkpoint(20, 0, is_clean=True))
    assert values_of(log) == expected(20)
    append_many(log, 5)
    assert values_of(log) == expected(25)


def test_a_log_that_ends_before_its_start_starts_over(place: Place) -> None:
    append_many(place.open(), 20)
    place.disk.kill()
    log = place.open(Checkpoint(0, log_start_offset=90))
    assert (log.log_start_offset, log.log_end_offset) == (90, 90)
    append(log, b"x")
    assert values_of(log) == [b"x"]


@pytest.mark.parametrize("seed", range(10))
def test_what_follows_a_lost_end_survives_a_power_cut(seed: int) -> None:
    """The checkpoint has a recovery point above the next segments: they would not be read."""
    place, random = Place(), Random(seed)
    log = place.open()
    append_many(log, 100)
    flush(log)
    place.disk.kill()
    place.disk.open(log.segments[2].path).truncate(70)
    for segment in log.segments[3:]:
        place.disk.remove(segment.path)
    log = place.open(Checkpoint(100))
    assert log.log_end_offset < 50
    count = len(log.segments)
    while len(log.segments) < count + 2:
        append_many(log, 1)
    assert log.log_end_offset < 100
    assert place.checkpoints[-1] <= log.segments[-3].base_offset
    flush(log)
    place.disk.crash(random)
    again = place.open(Checkpoint(min(place.checkpoints[-1], log.recovery_checkpoint)))
    assert values_of(again) == expected(log.log_end_offset)
    for segment in again.segments:
        segment.indexes.offsets.check_entries(BLOCKING, segment.size)


def test_a_segment_behind_a_lost_end_is_dropped(place: Place) -> None:
    log = place.open()
    append_many(log, 60)
    first, second = log.segments[0], log.segments[1]
    place.disk.kill()
    file = place.disk.open(first.path)
    file.truncate(70 * 3)
    log = place.open(Checkpoint(0))
    assert values_of(log) == expected(3)
    assert second.base_offset > 3
    append_many(log, 2)
    assert values_of(place.reopen_killed()) == expected(5)


@pytest.mark.parametrize("log_start_offset", [0, 35])
def test_a_log_that_lost_synced_records_before_other_segments_can_be_opened(
    place: Place, log_start_offset: int
) -> None:
    log = place.open()
    append_many(log, 60)
    flush(log)
    second = log.segments[1]
    place.disk.kill()
    place.disk.open(second.path).truncate(70)
    log = place.open(Checkpoint(second.base_offset + 5, log_start_offset))
    assert log.damage
    assert log.log_end_offset == max(second.base_offset, log_start_offset)
    append(log, b"x")
    assert values_of(log)[-1] == b"x"


def test_gaps_that_compaction_left_before_the_recovery_point_stay(place: Place) -> None:
    place.config = replace(SMALL, cleanup_policy=("compact",))
    log = place.open()
    append_many(log, 60)
    flush(log)
    first = log.segments[0]
    place.disk.kill()
    file = place.disk.open(first.path)
    file.truncate(70 * 3)
    log = place.open(Checkpoint(60))
    assert values_of(log)[:4] == [b"0", b"1", b"2", b"%d" % log.segments[1].base_offset]
    assert log.log_end_offset == 60


@pytest.mark.parametrize("is_foreign", [True, False])
def test_gaps_that_were_accepted_once_stay_after_a_power_cut(
    place: Place, is_foreign: bool
) -> None:
    """The recovery point was unknown when the log was opened for the first time."""
    place.config = replace(SMALL, cleanup_policy=("compact",))
    log = place.open()
    append_many(log, 60)
    flush(log)
    place.disk.kill()
    place.disk.open(log.segments[0].path).truncate(70 * 3)
    log = place.open(Checkpoint(0 if is_foreign else None, is_foreign=is_foreign))
    values = values_of(log)
    assert len(values) > 40
    place.disk.crash(Random(1))
    assert values_of(place.open(Checkpoint(place.checkpoints[-1]))) == values


def test_producers_and_transactions_are_those_of_the_records(place: Place) -> None:
    log = place.open()
    for sequence in range(40):
        log.append_as_leader(batch_of(bytes(30), producer=(1, 0, sequence)), 0)
    log.append_as_leader(batch_of(b"t", producer=(2, 0, 0), is_transactional=True), 0)
    log.append_as_leader(marker_of(2), 0, COORDINATOR)
    log.append_as_leader(batch_of(b"u", producer=(3, 1, 0), is_transactional=True), 0)
    aborted = log.read(BLOCKING, 0, EVERYTHING, EVERYTHING, with_aborted=True).aborted
    for recovery_point in (0, 20):
        again = place.reopen_killed(recovery_point)
        states = again.producers.load(BLOCKING)
        assert states.producers[1].last_sequence == 39
        assert states.has_open_transaction(3, 1)
        assert states.first_undecided_offset == 42
        assert again.read(BLOCKING, 40, EVERYTHING, EVERYTHING, with_aborted=True).aborted != []
        assert again.append_as_leader(batch_of(bytes(30), producer=(1, 0, 37)), 0).is_duplicate
    assert aborted == []


def test_damaged_snapshots_are_replaced_by_older_ones_and_the_records(place: Place) -> None:
    log = place.open()
    for sequence in range(60):
        log.append_as_leader(batch_of(bytes(30), producer=(1, 0, sequence)), 0)
    log.close()
    for name in names_in(place.disk, ".snapshot")[1:]:
        place.disk.flip_bit(f"{PATH}/{name}", 10)
    log = place.open(Checkpoint(60, 0, is_clean=True))
    assert log.producers.load(BLOCKING).producers[1].last_sequence == 59


def test_old_snapshots_go_when_a_log_is_closed(place: Place) -> None:
    log = place.open()
    for _ in range(5):
        append_many(log, 2)
        log = place.reopen_clean(log)
    assert names_in(place.disk, ".snapshot") == [f"{10:020d}.snapshot"]


def test_epochs_are_noted_again(place: Place) -> None:
    log = place.open()
    append_many(log, 5, epoch=1)
    flush(log)
    append_many(log, 40, epoch=6)
    entries = log.epochs.load(BLOCKING).entries
    place.disk.remove(f"{PATH}/leader-epoch-checkpoint")
    assert place.reopen_killed(recovery_point=5).epochs.load(BLOCKING).entries == entries


def test_progress_is_reported_in_bytes(place: Place) -> None:
    log = place.open()
    append_many(log, 40)
    total = log.size_bytes
    reported: list[int] = []
    place.disk.kill()
    open_log(log.context, log.partition, PATH, place.config, Checkpoint(0), reported.append)
    assert sum(reported) == total


@pytest.mark.parametrize("seed", range(40))
def test_no_power_cut_brings_back_what_a_new_leader_replaced(seed: int) -> None:
    """Not even where the power cut loses what was written in their place."""
    place, random = Place(), Random(seed)
    log = place.open()
    append_many(log, random.randrange(1, 30), epoch=1)
    flush(log)
    log.truncate_to(random.randrange(log.log_end_offset + 1))
    kept = log.log_end_offset
    for _ in range(random.randrange(1, 30)):
        append(log, b"new%d" % log.log_end_offset, epoch=2)
    point = place.checkpoints[-1] if place.checkpoints else 0
    place.disk.crash(random)
    values = values_of(place.open(Checkpoint(point)))
    assert values[:kept] == expected(kept)
    assert values[kept:] == [b"new%d" % offset for offset in range(kept, len(values))]


# What a crash in a swap or a deletion leaves


def swapping(place: Place) -> tuple[Log, bytes]:
    log = place.open()
    append_many(log, 20)
    flush(log)
    return log, placed(batch_of(b"compacted"), 3)


def test_a_deleted_file_is_removed(place: Place) -> None:
    append_many(place.open(), 3)
    put(place.disk, f"{0:020d}.log.deleted", b"old")
    assert values_of(place.reopen_killed()) == expected(3)
    assert not names_in(place.disk, ".deleted")


def test_an_unfinished_cleaning_is_undone(place: Place) -> None:
    log, batch = swapping(place)
    put(place.disk, f"{0:020d}.log.swap", batch)
    put(place.disk, f"{0:020d}.index.cleaned", b"")
    assert values_of(place.reopen_killed()) == expected(20)
    assert not names_in(place.disk, ".swap")
    assert not names_in(place.disk, ".cleaned")
    assert log.log_end_offset == 20


def test_a_finished_cleaning_is_completed(place: Place) -> None:
    place.config = replace(SMALL, cleanup_policy=("compact",))
    log, batch = swapping(place)
    put(place.disk, f"{0:020d}.log.swap", batch)
    put(place.disk, f"{0:020d}.index.swap", b"")
    put(place.disk, f"{0:020d}.timeindex.swap", b"")
    values = values_of(place.reopen_killed(recovery_point=20))
    assert values == [b"compacted", *expected(20)[log.segments[1].base_offset :]]
    assert not names_in(place.disk, ".swap")


def test_an_index_alone_with_the_swap_suffix_gets_its_name(place: Place) -> None:
    log, _ = swapping(place)
    index = read_file(place.disk, f"{PATH}/{0:020d}.timeindex")
    place.disk.rename(f"{PATH}/{0:020d}.timeindex", f"{PATH}/{0:020d}.timeindex.swap")
    log = place.reopen_killed(recovery_point=20)
    assert values_of(log) == expected(20)
    assert read_file(place.disk, f"{PATH}/{0:020d}.timeindex") == index


def test_what_cannot_be_opened_is_an_error_with_its_place(place: Place) -> None:
    append_many(place.open(), 3)
    place.disk.kill()
    place.disk.fail("read", "*.log", times=None)
    opening: Callable[[], Log] = place.open
    with pytest.raises(OSError):
        opening()
