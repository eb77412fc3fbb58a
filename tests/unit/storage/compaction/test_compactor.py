"""What the log's side does with the helper's answers while the log continues living."""

from __future__ import annotations

import errno
from dataclasses import replace

import pytest
from tests.unit.storage.compaction.compaction_world import (
    CONFIG,
    DIRECTORY,
    PARTITION,
    PATH,
    World,
)

from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicPartition
from ottla.base.scheduling.steps import run_blocking
from ottla.storage.compaction.cleaner_offsets import CleanerOffsets
from ottla.storage.compaction.cleaning_states import CleaningStates
from ottla.storage.compaction.compactor import Round
from ottla.storage.compaction.request import CleanFailure, CleaningLimits, CleanSummary
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.recovery import Checkpoint
from ottla.testing.filesystem import MemoryDisk

OTHER = TopicPartition("other", 7)


def dirty_world() -> World:
    world = World()
    for value in (b"1", b"2", b"3"):
        world.produce([(b"a", value), (b"b", value)])
        world.log.roll()
    return world


def begun(world: World) -> Round:
    round_ = world.begin()
    assert round_ is not None
    return round_


def cleaned_files(world: World) -> list[str]:
    return [name for name in world.disk.list_directory(PATH) if name.endswith(".cleaned")]


def test_a_round_moves_the_checkpoint_and_is_then_over() -> None:
    world = dirty_world()
    world.compact()
    assert world.compactor.offsets.get(PARTITION) == 6
    assert CleanerOffsets(world.disk, DIRECTORY).get(PARTITION) == 6
    assert world.begin() is None


def test_a_log_that_is_not_compacted_is_never_chosen() -> None:
    world = dirty_world()
    world.log.update_config(replace(CONFIG, cleanup_policy=("delete",)))
    assert world.begin() is None


def test_a_log_is_in_one_round_at_a_time() -> None:
    world = dirty_world()
    begun(world)
    assert world.begin() is None


def test_a_damaged_batch_ends_the_round_and_the_log_is_left_alone() -> None:
    world = dirty_world()
    before = world.present()
    world.disk.flip_bit(world.log.segments[1].path, 70)
    round_ = begun(world)
    with pytest.raises(CorruptLogError, match="wrong checksum") as raised:
        list(world.clean(round_))
    world.disk.flip_bit(world.log.segments[1].path, 70)
    run_blocking(world.compactor.taking(round_, CleanFailure(str(raised.value), is_damaged=True)))
    assert world.present() == before
    assert world.begin() is None
    assert "wrong checksum" in world.compactor.states.uncleanable[PARTITION]
    assert cleaned_files(world) == []


def test_a_full_disk_is_tried_again_later() -> None:
    world = dirty_world()
    before = world.present()
    world.disk.fail("write", "*.cleaned", error=errno.ENOSPC)
    round_ = begun(world)
    with pytest.raises(OSError, match="space"):
        list(world.clean(round_))
    run_blocking(world.compactor.taking(round_, CleanFailure("full", is_damaged=False)))
    assert world.present() == before
    assert cleaned_files(world) == []
    assert world.compact() is not None


def test_a_log_that_was_cut_meanwhile_keeps_its_segments() -> None:
    world = dirty_world()
    round_ = begun(world)
    group, summary = world.clean(round_)
    world.log.truncate_to(3)
    world.compactor.truncated(PARTITION, world.log.log_end_offset)
    before = world.present()
    run_blocking(world.compactor.taking(round_, group))
    run_blocking(world.compactor.taking(round_, summary))
    assert world.present() == before
    assert cleaned_files(world) == []
    assert world.compactor.offsets.get(PARTITION) is None


def test_an_unreported_truncation_is_noticed_by_the_segments() -> None:
    world = dirty_world()
    round_ = begun(world)
    group, summary = world.clean(round_)
    world.log.truncate_to(3)
    before = world.present()
    for event in (group, summary):
        run_blocking(world.compactor.taking(round_, event))
    assert world.present() == before
    assert world.compactor.offsets.get(PARTITION) is None


def test_segments_that_retention_deleted_meanwhile_do_not_come_back() -> None:
    world = dirty_world()
    round_ = begun(world)
    group, summary = world.clean(round_)
    world.log.advance_log_start(4)
    world.log.enforce_retention()
    for event in (group, summary):
        run_blocking(world.compactor.taking(round_, event))
    assert sorted(world.present()) == [4, 5]
    assert cleaned_files(world) == []


def test_what_is_appended_during_a_round_is_dirty_afterwards() -> None:
    world = dirty_world()
    round_ = begun(world)
    events = list(world.clean(round_))
    world.produce([(b"a", b"4")])
    for event in events:
        run_blocking(world.compactor.taking(round_, event))
    assert sorted(world.present()) == [4, 5, 6]
    world.check()
    assert world.compactor.offsets.get(PARTITION) == 6


def test_an_older_write_of_the_offsets_never_undoes_a_newer_one() -> None:
    disk = MemoryDisk()
    disk.make_directory(DIRECTORY)
    offsets = CleanerOffsets(disk, DIRECTORY)
    offsets.set(PARTITION, 5)
    older = offsets.job()
    offsets.set(PARTITION, 9)
    newer = offsets.job()
    newer()
    older()
    assert CleanerOffsets(disk, DIRECTORY).get(PARTITION) == 9


def test_a_paused_log_has_its_round_called_off_and_is_not_chosen() -> None:
    world = dirty_world()
    round_ = begun(world)
    events = list(world.clean(round_))
    world.compactor.states.pause(PARTITION)
    for event in events:
        run_blocking(world.compactor.taking(round_, event))
    assert len(world.present()) == 6
    assert cleaned_files(world) == []
    assert world.begin() is None
    world.compactor.states.resume(PARTITION)
    assert world.compact() is not None


def test_a_round_that_is_over_takes_nothing_more() -> None:
    world = dirty_world()
    round_ = begun(world)
    events = list(world.clean(round_))
    world.compactor.abandon(round_)
    summary = events[-1]
    assert isinstance(summary, CleanSummary)
    run_blocking(world.compactor.taking(round_, summary))
    assert world.compactor.offsets.get(PARTITION) is None


def test_a_round_is_given_up_while_the_directory_of_its_log_is_removed() -> None:
    world = dirty_world()
    round_ = begun(world)
    list(world.clean(round_))
    round_.log.context.files.remove_directory(round_.log.path)
    world.compactor.abandon(round_)
    assert round_.is_over


def test_a_checkpoint_beyond_the_log_is_corrected() -> None:
    world = dirty_world()
    world.compactor.offsets.set(PARTITION, 99)
    begun(world)
    assert world.compactor.offsets.get(PARTITION) == 0


# The checkpoint file


def test_offsets_are_there_after_a_restart() -> None:
    disk = MemoryDisk()
    disk.make_directory(DIRECTORY)
    offsets = CleanerOffsets(disk, DIRECTORY)
    offsets.set(PARTITION, 5)
    offsets.set(OTHER, 9)
    offsets.truncate(OTHER, 7)
    offsets.truncate(PARTITION, 7)
    again = CleanerOffsets(disk, DIRECTORY)
    assert (again.get(PARTITION), again.get(OTHER)) == (5, 7)
    again.remove(OTHER)
    assert not again.is_written
    again.job()()
    assert again.is_written
    assert CleanerOffsets(disk, DIRECTORY).get(OTHER) is None


def test_a_damaged_checkpoint_makes_all_logs_dirty() -> None:
    disk = MemoryDisk()
    disk.make_directory(DIRECTORY)
    disk.open(f"{DIRECTORY}/cleaner-offset-checkpoint", create=True).write_at(0, b"junk")
    assert CleanerOffsets(disk, DIRECTORY).get(PARTITION) is None


# Who may be cleaned


def test_as_many_resumes_as_pauses_are_needed() -> None:
    states = CleaningStates()
    states.pause(PARTITION)
    states.pause(PARTITION)
    states.resume(PARTITION)
    assert not states.can_begin(PARTITION)
    states.resume(PARTITION)
    assert states.can_begin(PARTITION)


def test_a_log_with_the_name_of_a_deleted_one_begins_again() -> None:
    states = CleaningStates()
    states.mark_uncleanable(PARTITION, "damaged")
    states.pause(PARTITION)
    states.forget(PARTITION)
    assert states.can_begin(PARTITION)
    assert states.uncleanable == {}


# Damage


def test_an_abort_that_no_index_knows_stops_the_round() -> None:
    """Taken for committed, its records would push out what was really committed."""
    world = World()
    world.produce([(b"a", b"committed")])
    world.produce([(b"a", b"aborted")], producer=1, is_transactional=True)
    world.end(1, is_commit=False)
    world.log.roll()
    round_ = begun(world)
    round_.request = replace(round_.request, aborted=())
    with pytest.raises(CorruptLogError, match="no index has"):
        list(world.clean(round_))


def test_a_batch_that_grows_beyond_the_limit_stops_the_round() -> None:
    world = World(limits=CleaningLimits(decompressed_bytes_max=5000))
    world.produce([(b"a", bytes(10_000))], codec=4)
    world.log.roll()
    with pytest.raises(CorruptLogError, match="zstd"):
        list(world.clean(begun(world)))


def test_a_damaged_log_keeps_no_other_from_being_cleaned() -> None:
    config = replace(CONFIG, max_compaction_lag_ms=1000)
    damaged, sound = World(config=config), World(config=config)
    for world in (damaged, sound):
        world.produce([(b"a", b"1")])
        world.log.roll()
        world.produce([(b"a", b"2")])
        world.log.roll()
    damaged.log.partition = OTHER
    damaged.log.close()
    damaged.disk.flip_bit(damaged.log.segments[0].path, 16)  # the magic of its first batch
    damaged.open(Checkpoint(2, 0, is_clean=True))
    damaged.log.partition = OTHER
    round_ = sound.compactor.begin(BLOCKING, [damaged.log, sound.log], sound.clock.now_ms())
    assert round_ is not None
    assert round_.log is sound.log
    assert list(sound.compactor.states.uncleanable) == [OTHER]
