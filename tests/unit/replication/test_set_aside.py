"""Logs that the metadata does not have: set aside, never deleted, and back when it has them."""

from __future__ import annotations

from random import Random

import pytest
from tests.unit.replication.test_several_directories import FIRST, PATHS, SECOND, T0, T1, World
from tests.unit.storage.log_making import append

from ottla.base.files.filesystem import read_file
from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicPartition
from ottla.metadata.image import Batch, Image
from ottla.metadata.records import PartitionChanged, TopicDeleted
from ottla.protocol.error_codes import ErrorCode
from ottla.storage.directories.deletion_reasons import CopyRemains, LogDeletion
from ottla.storage.errors import StorageError
from ottla.storage.files.file_names import PARTITION_METADATA_NAME
from ottla.storage.log.flushing import flush
from ottla.testing.disk_faults import CHANGES, SYNCS
from ottla.testing.filesystem import MemoryDisk


@pytest.fixture
def world() -> World:
    disk = MemoryDisk()
    for path in PATHS:
        disk.make_directory(path)
    disk.sync_directory("/")
    return World(disk, Image())


def marks(world: World) -> list[str]:
    """Of all partition directories of `t`; empty for one in use."""
    names = [name for path in PATHS for name in world.disk.list_directory(path)]
    return sorted(
        "-" + name.rpartition("-")[2] if "." in name else ""
        for name in names
        if name.startswith("t-")
    )


def remove_due(world: World) -> None:
    """All that is to be removed, as if its time had come."""
    for directory in world.logs.directories:
        for removal in directory.context.deletions.take_all():
            removal.run()


def started(world: World, image: Image) -> World:
    world.disk.kill()
    return World(world.disk, image)


def test_a_topic_that_the_metadata_lacks_comes_back_with_it(world: World) -> None:
    world.create_topic(FIRST)
    world.append(T0, b"zero")
    world.append(T1, b"one")
    empty = started(world, Image())
    remove_due(empty)
    assert [each.endswith("-stray") for each in marks(empty)] == [True, True]
    again = started(empty, world.image)
    assert marks(again) == ["", ""]
    assert [again.values(T0), again.values(T1)] == [[b"zero"], [b"one"]]
    again.append(T0, b"more")
    last = again.restarted()
    assert last.values(T0) == [b"zero", b"more"]
    assert not any(each.strays.paths for each in last.logs.directories)


def test_a_later_topic_with_the_same_name_is_set_aside_too(world: World) -> None:
    world.create_topic(FIRST)
    world.append(T0, b"first")
    wrong = started(world, Image())
    wrong.create_topic(SECOND)
    wrong.append(T0, b"second")
    again = started(wrong, world.image)
    assert again.values(T0) == [b"first"]
    assert {each.log.topic_id.load(BLOCKING) for each in again.replicas} == {FIRST}
    back = started(again, wrong.image)
    assert back.values(T0) == [b"second"]


def test_what_was_deleted_at_the_beginning_of_a_log_stays_deleted(world: World) -> None:
    world.create_topic(FIRST, 1)
    for value in (b"a", b"b", b"c"):
        world.append(T0, value)
    log = world.replicas.partition(*T0).log
    flush(log)
    log.update_high_watermark(3)
    log.advance_log_start(2)
    world.logs.close()
    again = started(started(world, Image()), world.image)
    found = again.replicas.partition(*T0).log
    assert (found.log_start_offset, found.log_end_offset) == (2, 3)
    assert found.recovery_point == 3


def test_a_replaced_image_that_lacks_a_topic_sets_it_aside_while_the_broker_runs(
    world: World,
) -> None:
    world.create_topic(FIRST)
    world.append(T0, b"zero")
    before = world.image.copy()
    later = Image()
    later.load((), before.offset, before.controller_epoch)
    world.publisher.replace(later)
    assert world.error(T0) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    remove_due(world)
    assert marks(world) == ["-stray", "-stray"]
    world.publisher.replace(before)
    assert world.values(T0) == [b"zero"]
    assert marks(world) == ["", ""]


def test_a_replaced_image_with_a_deletion_record_deletes(world: World) -> None:
    world.create_topic(FIRST)
    later = world.image.copy()
    later.apply(Batch(later.offset, 1, (TopicDeleted(FIRST),)))
    world.publisher.replace(later)
    remove_due(world)
    assert marks(world) == []


def test_a_log_with_another_topic_id_than_the_one_deleted_is_kept(world: World) -> None:
    world.create_topic(FIRST, 1)
    world.append(T0, b"zero")
    log = world.replicas.partition(*T0).log
    log.topic_id.write(SECOND)
    world.publish(TopicDeleted(FIRST))
    remove_due(world)
    assert marks(world) == ["-stray"]


def delete_at_the_disk(world: World, name: TopicPartition) -> str:
    """Rename its directory as an earlier version did when the metadata was lost."""
    path = f"{world.place(name).path}/{name.topic}-{name.partition}"
    world.disk.kill()
    world.disk.rename(path, f"{path}.{'0' * 32}-delete")
    return f"{path}.{'0' * 32}-delete"


def test_a_delete_directory_of_a_topic_that_was_not_deleted_is_taken_back(world: World) -> None:
    world.create_topic(FIRST)
    world.append(T0, b"zero")
    delete_at_the_disk(world, T0)
    again = World(world.disk, world.image)
    remove_due(again)
    assert again.values(T0) == [b"zero"]


def test_a_delete_directory_of_an_unknown_topic_is_set_aside(world: World) -> None:
    world.create_topic(FIRST, 1)
    world.append(T0, b"zero")
    delete_at_the_disk(world, T0)
    again = World(world.disk, Image())
    remove_due(again)
    assert marks(again) == ["-stray"]
    back = started(again, world.image)
    assert back.values(T0) == [b"zero"]


def test_a_delete_directory_that_does_not_say_whose_it_is_is_deleted_only_without_records(
    world: World,
) -> None:
    world.create_topic(FIRST, 2)
    world.append(T0, b"zero")
    for name in (T0, T1):
        path = delete_at_the_disk(world, name)
        world.disk.remove(f"{path}/{PARTITION_METADATA_NAME}")
    again = World(world.disk, Image())
    remove_due(again)
    assert marks(again) == ["-stray"]


def test_a_delete_directory_of_a_partition_that_has_moved_is_deleted(world: World) -> None:
    world.create_topic(FIRST, 1)
    world.append(T0, b"zero")
    old = world.place(T0)
    new = next(each for each in world.logs.directories if each is not old)
    current = world.replicas.partition(*T0).log
    future = world.logs.moves.begin(T0, current.config, new)
    future.append_as_follower(read_file(world.disk, current.segments.active.path))
    world.logs.moves.finish(T0)
    again = world.restarted()
    remove_due(again)
    assert marks(again) == [""]
    assert again.values(T0) == [b"zero"]


def test_a_partition_whose_directory_was_removed_is_offline_and_gets_no_new_log(
    world: World,
) -> None:
    world.create_topic(FIRST)
    world.append(T0, b"zero")
    log = world.replicas.partition(*T0).log
    flush(log)
    place = world.place(T0)
    place.table.write_checkpoints()
    world.disk.kill()
    saved = f"{place.path}/t-0"
    world.disk.rename(saved, "/saved")
    without = World(world.disk, world.image)
    assert without.error(T0) == ErrorCode.KAFKA_STORAGE_ERROR
    assert without.values(T1) == []
    without.logs.close()
    world.disk.rename("/saved", saved)
    assert World(world.disk, world.image).values(T0) == [b"zero"]


def test_a_lost_partition_can_be_deleted_and_created_again(world: World) -> None:
    world.create_topic(FIRST)
    world.append(T0, b"zero")
    flush(world.replicas.partition(*T0).log)
    world.place(T0).table.write_checkpoints()
    world.disk.kill()
    world.disk.remove_directory(f"{world.place(T0).path}/t-0")
    without = World(world.disk, world.image)
    without.publish(TopicDeleted(FIRST))
    without.create_topic(SECOND)
    without.append(T0, b"new")
    assert without.values(T0) == [b"new"]
    assert without.restarted().values(T0) == [b"new"]


def test_while_a_directory_is_missing_no_new_logs_are_created(
    world: World,
) -> None:
    world.create_topic(FIRST)
    ids = [each.directory_id for each in world.logs.directories if each.directory_id]
    assert len(ids) == 2
    world.append(T1, b"one")
    world.disk.kill()
    world.disk.rename("/two", "/saved")
    world.disk.make_directory("/two")
    image = world.image
    missing = World(world.disk, image, ids)
    assert missing.error(T1) == ErrorCode.KAFKA_STORAGE_ERROR
    assert len(missing.logs.expected.ids) == 3
    missing.publish(TopicDeleted(FIRST))
    world.disk.kill()
    again = World(world.disk, image, missing.logs.expected.ids)
    assert len(again.logs.expected.ids) == 2  # nothing is missed any more


def test_metadata_with_earlier_leader_epochs_than_the_log_leads_nothing(world: World) -> None:
    world.create_topic(FIRST, 1)
    older = world.image.copy()
    world.publish(PartitionChanged(FIRST, 0, 1, leader=1, leader_epoch=5))
    append(world.replicas.partition(*T0).log, b"zero", epoch=5)
    wrong = started(world, older)
    assert wrong.error(T0) == ErrorCode.KAFKA_STORAGE_ERROR
    assert started(wrong, world.image).values(T0) == [b"zero"]


def test_the_files_of_an_unknown_topic_are_not_even_opened(world: World) -> None:
    """Recovering a log takes the settings of its topic, which are unknown."""
    world.create_topic(FIRST, 1)
    world.append(T0, b"zero")
    segment = world.replicas.partition(*T0).log.segments.active.path
    world.disk.kill()
    world.disk.open(segment).write_at(world.disk.size(segment), b"a torn batch")
    before = read_file(world.disk, segment)
    wrong = World(world.disk, Image())
    (stray,) = (path for each in wrong.logs.directories for path in each.strays.paths)
    assert read_file(world.disk, f"{stray}/{segment.rpartition('/')[2]}") == before
    assert started(wrong, world.image).values(T0) == [b"zero"]


def test_a_move_under_way_continues_when_its_topic_is_back(world: World) -> None:
    world.create_topic(FIRST, 1)
    world.append(T0, b"zero")
    old = world.place(T0)
    new = next(each for each in world.logs.directories if each is not old)
    world.logs.moves.begin(T0, world.replicas.partition(*T0).log.config, new)
    wrong = started(world, Image())
    assert marks(wrong) == ["-future", "-stray"]
    again = started(wrong, world.image)
    assert again.values(T0) == [b"zero"]
    assert again.logs.moves.partitions() == [T0]


def test_a_move_whose_old_log_was_removed_is_not_completed(world: World) -> None:
    world.create_topic(FIRST, 1)
    world.append(T0, b"zero")
    log, old = world.replicas.partition(*T0).log, world.place(T0)
    new = next(each for each in world.logs.directories if each is not old)
    world.logs.moves.begin(T0, log.config, new)
    flush(log)
    old.table.write_checkpoints()
    world.disk.kill()
    world.disk.rename(log.path, "/saved")
    without = World(world.disk, world.image)
    assert without.error(T0) == ErrorCode.KAFKA_STORAGE_ERROR
    world.disk.kill()
    world.disk.rename("/saved", log.path)
    assert World(world.disk, world.image).values(T0) == [b"zero"]


def test_a_move_is_finished_though_the_checkpoint_still_has_the_old_log(world: World) -> None:
    world.create_topic(FIRST, 1)
    world.append(T0, b"zero")
    log, old = world.replicas.partition(*T0).log, world.place(T0)
    flush(log)
    old.table.write_checkpoints()
    new = next(each for each in world.logs.directories if each is not old)
    future = world.logs.moves.begin(T0, log.config, new)
    future.append_as_follower(read_file(world.disk, log.segments.active.path))
    flush(future)
    old.deletions.make_way(LogDeletion(log, CopyRemains(future)))
    again = world.restarted()
    assert again.values(T0) == [b"zero"]
    assert again.place(T0).path == new.path
    remove_due(again)
    assert marks(again) == [""]


@pytest.mark.parametrize("keeps_file", [True, False])
def test_a_partition_that_lost_all_its_records_gets_no_new_log(
    world: World, keeps_file: bool
) -> None:
    world.create_topic(FIRST, 1)
    world.append(T0, b"zero")
    log = world.replicas.partition(*T0).log
    world.logs.close()
    path = log.segments.active.path
    saved = read_file(world.disk, path)
    world.disk.open(path).truncate(0)
    if not keeps_file:
        world.disk.remove(path)
    for _ in range(2):
        without = started(world, world.image)
        assert without.error(T0) == ErrorCode.KAFKA_STORAGE_ERROR
    world.disk.kill()
    world.disk.open(path, create=True).write_at(0, saved)
    assert World(world.disk, world.image).values(T0) == [b"zero"]


def crashing(disk: MemoryDisk, image: Image, skip: int, seed: int) -> bool:
    """A start that a failing disk, and then a power cut, interrupt; False if it was done before."""
    disk.fail(CHANGES | SYNCS, skip=skip, times=None)
    before = disk.operations.copy()
    try:
        World(disk, image)
    except (StorageError, OSError):
        pass
    count = sum(disk.operations.get(kind, 0) - before.get(kind, 0) for kind in CHANGES | SYNCS)
    disk.heal()
    disk.crash(Random(seed))
    return count > skip


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("is_taken_back", [False, True])
def test_a_crash_while_logs_are_set_aside_or_taken_back_loses_nothing(
    is_taken_back: bool, seed: int
) -> None:
    for skip in range(200):
        disk = MemoryDisk()
        for path in PATHS:
            disk.make_directory(path)
        disk.sync_directory("/")
        world = World(disk, Image())
        world.create_topic(FIRST)
        for name in (T0, T1):
            for value in (b"deleted", b"kept"):
                world.append(name, value)
            log = world.replicas.partition(*name).log
            flush(log)
            log.advance_log_start(1)
        for each in world.logs.directories:
            each.table.write_checkpoints()
        disk.kill()
        if is_taken_back:
            World(disk, Image())
            disk.kill()
        was_interrupted = crashing(disk, world.image if is_taken_back else Image(), skip, seed)
        again = World(disk, world.image)
        assert [again.values(T0), again.values(T1)] == [[b"kept"], [b"kept"]]
        last = again.restarted()
        assert [last.values(T0), last.values(T1)] == [[b"kept"], [b"kept"]]
        if not was_interrupted:
            break
    assert 10 < skip < 199
