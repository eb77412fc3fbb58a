from __future__ import annotations

import errno
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from tests.support.steps_by_hand import job_of
from tests.unit.storage.log.test_replacement import clean
from tests.unit.storage.log_deletions import deletion_of, deletions_of
from tests.unit.storage.log_making import append_many, batch_of, values_of

from ottla.base.clock import SystemClock
from ottla.base.files.disk import DiskFileSystem
from ottla.base.files.filesystem import FileSystem, read_file
from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.scheduling.steps import PAUSE, Job, run_blocking
from ottla.base.topic_deletion import TopicDeletion
from ottla.config.topic_options import TopicConfig
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.storage.directories import directory_checkpoints
from ottla.storage.directories.checkpoints import OffsetCheckpoint
from ottla.storage.directories.directory_loading import LoadStep
from ottla.storage.directories.directory_ownership import Owner, WrongDirectory
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.directories.log_manager import LogManager
from ottla.storage.directories.startup_settlement import settle_duplicates, settle_found
from ottla.storage.errors import CorruptLogError, StorageError
from ottla.storage.files.directory_health import OutOfResources, StorageUnavailable
from ottla.storage.files.meta_properties import MetaProperties, write_meta_properties
from ottla.storage.log.flushing import flush
from ottla.storage.log.log import Log
from ottla.testing.clock import ManualClock
from ottla.testing.disk_faults import SYNCS
from ottla.testing.filesystem import MemoryDisk
from ottla.testing.log_listener import IgnoringListener, RecordingListener

OWNER = Owner("cluster", 1)
CONFIG = TopicConfig(segment_bytes=1000, index_interval_bytes=100, file_delete_delay_ms=1000)
A, B = TopicPartition("a", 0), TopicPartition("b", 3)
PATHS = ("/one", "/two")


def only_the_first_was_deleted(topic_id: TopicId, _index: int) -> TopicDeletion | None:
    return TopicDeletion(topic_id) if topic_id == b"1" * 16 else None


class Broker:
    """The part of a broker that has log directories."""

    def __init__(self, disk: MemoryDisk, paths: Iterable[str] = PATHS) -> None:
        self.clock = ManualClock()
        self.listener = RecordingListener()
        self.manager = LogManager(disk, self.clock, Random(1), paths, self.listener)
        self.manager.open(OWNER)
        self.steps = list(self.manager.load(lambda _topic: CONFIG))
        settle_found(self.manager, lambda each, _: TopicDeletion(each), lambda *_: False)

    def log(self, partition: TopicPartition = A) -> Log:
        found = self.manager.get(partition)
        assert found is not None
        return found


@pytest.fixture
def disk() -> MemoryDisk:
    disk = MemoryDisk()
    for path in PATHS:
        disk.make_directory(path)
    disk.sync_directory("/")
    return disk


def test_logs_come_back_after_an_orderly_stop(disk: MemoryDisk) -> None:
    broker = Broker(disk)
    append_many(broker.manager.create(A, CONFIG), 30)
    append_many(broker.manager.create(B, CONFIG), 10)
    broker.log(A).advance_log_start(5)
    broker.manager.close(broker_epoch=12)
    broker = Broker(disk)
    assert broker.manager.had_clean_shutdown
    shutdown = broker.manager.directories[0].last_shutdown
    assert shutdown is not None
    assert shutdown.broker_epoch == 12
    log = broker.log(A)
    assert (log.log_start_offset, log.log_end_offset, log.high_watermark) == (5, 30, 30)
    assert len(values_of(broker.log(B))) == 10
    assert [step.bytes_read for step in broker.steps] == [0, 0]


def test_logs_are_loaded_after_a_kill_and_the_progress_is_reported(disk: MemoryDisk) -> None:
    broker = Broker(disk, ["/one"])
    append_many(broker.manager.create(A, CONFIG), 30)
    append_many(broker.manager.create(B, CONFIG), 10)
    disk.kill()
    broker = Broker(disk, ["/one"])
    assert not broker.manager.had_clean_shutdown
    assert [(step.loaded, step.total) for step in broker.steps] == [(1, 2), (2, 2)]
    assert broker.steps[0].bytes_read == broker.log(A).size_bytes
    assert len(values_of(broker.log(A))) == 30


def test_a_checkpoint_saves_reading_after_a_kill(disk: MemoryDisk) -> None:
    broker = Broker(disk, ["/one"])
    log = broker.manager.create(A, CONFIG)
    append_many(log, 60)
    flush(log)
    for _, making in broker.manager.checkpoint_jobs():
        run_blocking(making).run()
    disk.kill()
    broker = Broker(disk, ["/one"])
    assert broker.steps[0].bytes_read == broker.log().segments.active.size
    assert broker.log().recovery_point >= 59


def test_the_marker_of_an_orderly_stop_is_gone_before_anything_changes(disk: MemoryDisk) -> None:
    broker = Broker(disk)
    broker.manager.create(A, CONFIG)
    broker.manager.close()
    Broker(disk)
    disk.crash(Random(3))
    assert not Broker(disk).manager.had_clean_shutdown


def test_new_logs_go_where_the_fewest_are(disk: MemoryDisk) -> None:
    broker = Broker(disk)
    for number in range(6):
        broker.manager.create(TopicPartition("t", number), CONFIG)
    assert [len(directory.logs) for directory in broker.manager.directories] == [3, 3]
    second = broker.manager.directories[1]
    broker.manager.create(A, CONFIG, directory=second)
    assert broker.manager.directory_of(A) is second


def test_a_partition_has_one_log(disk: MemoryDisk) -> None:
    broker = Broker(disk)
    broker.manager.create(A, CONFIG)
    with pytest.raises(StorageError, match="already"):
        broker.manager.create(A, CONFIG)


def test_topic_ids_are_kept(disk: MemoryDisk) -> None:
    broker = Broker(disk)
    topic_id = TopicId(bytes(range(16)))
    broker.manager.create(A, CONFIG, topic_id)
    disk.kill()
    assert Broker(disk).log(A).topic_id.load(BLOCKING) == topic_id


def test_a_new_log_waits_for_no_disk(disk: MemoryDisk) -> None:
    manager = Broker(disk).manager
    disk.fail(SYNCS, times=None)
    for index in range(20):
        manager.create(TopicPartition("t", index), CONFIG, TopicId(b"t" * 16))
    disk.heal()
    assert len(manager.logs) == 20


@pytest.mark.parametrize("seed", range(20))
def test_a_log_that_was_synced_once_is_there_after_a_power_cut(disk: MemoryDisk, seed: int) -> None:
    """With its place in the directory and its topic id, though making it synced nothing."""
    topic_id = TopicId(b"a" * 16)
    log = Broker(disk).manager.create(A, CONFIG, topic_id)
    append_many(log, 5)
    flush(log)
    disk.crash(Random(seed))
    found = Broker(disk).log(A)
    assert found.topic_id.load(BLOCKING) == topic_id
    assert len(values_of(found)) == 5


@pytest.mark.parametrize("seed", range(20))
def test_a_log_that_a_kill_left_unsynced_is_synced_with_its_next_records(
    disk: MemoryDisk, seed: int
) -> None:
    topic_id = TopicId(b"a" * 16)
    Broker(disk).manager.create(A, CONFIG, topic_id)
    disk.kill()
    log = Broker(disk).log(A)
    append_many(log, 5)
    flush(log)
    disk.crash(Random(seed))
    found = Broker(disk).log(A)
    assert found.topic_id.load(BLOCKING) == topic_id
    assert len(values_of(found)) == 5


@pytest.mark.parametrize("seed", range(20))
def test_a_log_that_was_never_synced_may_lose_its_topic_id_and_nothing_else_breaks(
    disk: MemoryDisk, seed: int
) -> None:
    topic_id = TopicId(b"a" * 16)
    Broker(disk).manager.create(A, CONFIG, topic_id)
    disk.crash(Random(seed))
    manager = Broker(disk).manager
    found = manager.get(A) or manager.create(A, CONFIG, topic_id)
    assert found.topic_id.load(BLOCKING) in (None, topic_id)


def test_a_damaged_topic_id_of_records_that_were_synced_is_reported(disk: MemoryDisk) -> None:
    first = Broker(disk)
    log = first.manager.create(A, CONFIG, TopicId(b"a" * 16))
    append_many(log, 5)
    path = f"{log.path}/partition.metadata"
    first.manager.close()
    disk.flip_bit(path, 0)
    with pytest.raises(CorruptLogError):
        _ = Broker(disk).log(A).topic_id.load(BLOCKING)


def test_deleting_many_logs_syncs_their_directory_once(disk: MemoryDisk) -> None:
    manager = Broker(disk).manager
    partitions = [TopicPartition("t", index) for index in range(20)]
    for partition in partitions:
        manager.create(partition, CONFIG)
    before = disk.operations.get("sync_directory", 0)
    manager.delete(deletions_of(manager, *partitions))
    checkpoints_and_names = 3 + 1
    assert disk.operations["sync_directory"] - before <= len(PATHS) * checkpoints_and_names


def test_a_log_deleted_during_a_sync_does_not_take_its_directory_offline(
    disk: MemoryDisk,
) -> None:
    manager = Broker(disk).manager
    log = manager.create(A, CONFIG)
    append_many(log, 5)
    job = log.begin_flush()
    manager.delete(deletions_of(manager, A))
    with pytest.raises(FileNotFoundError) as raised:
        job.run()
    log.end_flush(job, raised.value)
    assert len(manager.online) == len(PATHS)


def test_an_unknown_partition_has_no_log(disk: MemoryDisk) -> None:
    assert Broker(disk).manager.get(A) is None


def test_logs_may_be_closed_several_at_a_time(tmp_path: Path) -> None:
    files = DiskFileSystem(open_files_max=5)

    def in_threads(works: Sequence[Job]) -> None:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda work: work(), works))

    for _ in range(2):
        manager = LogManager(
            files, SystemClock(), Random(1), [f"{tmp_path}/d"], RecordingListener()
        )
        manager.open(OWNER)
        list(manager.load(lambda _topic: CONFIG))
        for number in range(20):
            partition = TopicPartition("t", number)
            append_many(manager.get(partition) or manager.create(partition, CONFIG), 20)
        manager.close(run_all=in_threads)
    manager = LogManager(files, SystemClock(), Random(1), [f"{tmp_path}/d"], IgnoringListener())
    manager.open(OWNER)
    assert [step.bytes_read for step in manager.load(lambda _topic: CONFIG)] == [0] * 20
    assert [len(values_of(log)) for log in manager.logs] == [40] * 20
    manager.close()


# Owning a directory


def test_a_directory_in_use_cannot_be_taken(disk: MemoryDisk) -> None:
    Broker(disk)
    with pytest.raises(WrongDirectory, match="in use"):
        LogManager(disk, ManualClock(), Random(1), PATHS, IgnoringListener()).open(OWNER)


@pytest.mark.parametrize("owner", [Owner("other", 1), Owner("cluster", 2)])
def test_somebody_else_s_directory_is_not_touched(disk: MemoryDisk, owner: Owner) -> None:
    Broker(disk).manager.close()
    before = {name: read_file(disk, f"/one/{name}") for name in disk.list_directory("/one")}
    with pytest.raises(WrongDirectory, match="belongs to"):
        LogManager(disk, ManualClock(), Random(1), PATHS, IgnoringListener()).open(owner)
    assert before == {name: read_file(disk, f"/one/{name}") for name in disk.list_directory("/one")}


def test_directories_have_lasting_ids(disk: MemoryDisk) -> None:
    broker = Broker(disk)
    ids = [directory.directory_id for directory in broker.manager.directories]
    assert len(set(ids)) == 2
    disk.kill()
    assert [each.directory_id for each in Broker(disk).manager.directories] == ids


def test_a_copied_directory_is_noticed(disk: MemoryDisk) -> None:
    for path in PATHS:
        write_meta_properties(
            disk, f"{path}/meta.properties", MetaProperties("cluster", 1, bytes(range(16)))
        )
    with pytest.raises(WrongDirectory, match="same"):
        Broker(disk)


def test_two_directories_with_one_partition_are_refused(disk: MemoryDisk) -> None:
    broker = Broker(disk)
    broker.manager.create(A, CONFIG)
    broker.manager.directories[1].create(A, CONFIG, None)
    disk.kill()
    again = Broker(disk)
    with pytest.raises(StorageError, match="a-0 is both in /one and in /two"):
        settle_duplicates(again.manager, lambda *_: None)


@pytest.mark.parametrize("old_one", [0, 1])
def test_of_two_logs_of_one_partition_the_one_of_a_deleted_topic_goes(
    disk: MemoryDisk, old_one: int
) -> None:
    directories = Broker(disk).manager.directories
    old = directories[old_one].create(A, CONFIG, TopicId(b"1" * 16))
    append_many(old, 3)
    flush(directories[1 - old_one].create(A, CONFIG, TopicId(b"2" * 16)))
    disk.kill()
    manager = Broker(disk).manager
    settle_duplicates(manager, only_the_first_was_deleted)
    assert [log.topic_id.load(BLOCKING) for log in manager.logs] == [b"2" * 16]
    assert manager.get(A) is manager.logs[0]
    disk.crash(Random(1))
    assert Broker(disk).log(A).topic_id.load(BLOCKING) == b"2" * 16


def test_a_future_log_of_a_deleted_topic_goes(disk: MemoryDisk) -> None:
    """The log of the topic that has its name now must not move there."""
    broker = Broker(disk)
    first, second = broker.manager.directories
    first.create(A, CONFIG, TopicId(b"2" * 16))
    second.create(A, CONFIG, TopicId(b"1" * 16), is_future=True)
    disk.kill()
    manager = Broker(disk).manager
    assert manager.moves.get(A) is not None
    settle_duplicates(manager, only_the_first_was_deleted)
    assert manager.moves.get(A) is None
    assert [log.topic_id.load(BLOCKING) for log in manager.logs] == [b"2" * 16]


def test_a_disk_that_fails_to_remove_a_left_over_log_does_not_stop_the_broker(
    disk: MemoryDisk,
) -> None:
    directories = Broker(disk).manager.directories
    directories[0].create(A, CONFIG, TopicId(b"1" * 16))
    directories[1].create(A, CONFIG, TopicId(b"2" * 16))
    disk.kill()
    manager = Broker(disk).manager
    disk.fail("rename", "/one/*", times=None)
    settle_duplicates(manager, only_the_first_was_deleted)
    assert [directory.path for directory in manager.online] == ["/two"]
    found = manager.get(A)
    assert found is not None
    assert found.topic_id.load(BLOCKING) == b"2" * 16


# Creating


@pytest.mark.parametrize(
    ("kind", "place"),
    [("create", "*.log"), ("create", "*.timeindex"), ("write", "partition.metadata")],
)
def test_a_log_that_a_full_disk_left_half_made_is_made_whole_in_the_same_directory(
    disk: MemoryDisk, kind: str, place: str
) -> None:
    manager = Broker(disk).manager
    disk.fail(kind, f"/*/{A.topic}-{A.partition}/{place}", error=errno.ENOSPC, keep_bytes=3)
    with pytest.raises(OutOfResources):
        manager.create(A, CONFIG, TopicId(b"1" * 16))
    assert len(manager.online) == 2
    (half_made,) = (each for each in manager.directories if each.has_created_in_part(A))
    other = next(each for each in manager.directories if each is not half_made)
    made = manager.create(A, CONFIG, TopicId(b"1" * 16), directory=other)
    assert made.path.startswith(half_made.path)
    append_many(made, 3)
    manager.close()
    again = Broker(disk).log()
    assert (len(values_of(again)), again.topic_id.load(BLOCKING)) == (3, b"1" * 16)


# Deleting


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE])
def test_a_deletion_that_a_full_disk_cuts_short_is_finished_later(
    disk: MemoryDisk, number: int, at_once: bool
) -> None:
    manager = Broker(disk, ["/one"]).manager
    append_many(manager.create(A, CONFIG), 3)
    if not at_once:
        manager.begin_deleting(deletions_of(manager, A))
    disk.fail("open", "*checkpoint*", error=number)
    with pytest.raises(StorageUnavailable):
        manager.delete(deletions_of(manager, A)) if at_once else run_blocking(
            manager.finishing_deletion()
        )
    assert manager.online
    assert manager.is_half_deleted(A)
    run_blocking(manager.finishing_deletion())
    assert not manager.is_half_deleted(A)
    assert manager.create(A, CONFIG).log_end_offset == 0


def test_a_deleted_partition_is_out_of_the_way_at_once_and_gone_later(disk: MemoryDisk) -> None:
    broker = Broker(disk, ["/one"])
    append_many(broker.manager.create(A, CONFIG), 10)
    found = broker.log().read(BLOCKING, 0, 1000, 10)
    broker.manager.delete(deletions_of(broker.manager, A))
    assert broker.manager.get(A) is None
    assert found.records.read()
    broker.manager.create(A, CONFIG)
    assert any(name.endswith("-delete") for name in disk.list_directory("/one"))
    broker.clock.advance_ms(1000)
    for _, removal in broker.manager.due_removals():
        removal.run()
    assert not any(name.endswith("-delete") for name in disk.list_directory("/one"))
    assert values_of(broker.log()) == []


def test_a_deletion_continues_after_a_restart(disk: MemoryDisk) -> None:
    broker = Broker(disk, ["/one"])
    append_many(broker.manager.create(A, CONFIG), 10)
    broker.manager.delete(deletions_of(broker.manager, A))
    disk.kill()
    broker = Broker(disk, ["/one"])
    assert broker.manager.get(A) is None
    for _, removal in broker.manager.due_removals():
        removal.run()
    assert not any(name.endswith("-delete") for name in disk.list_directory("/one"))


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_deletion_that_continues_leaves_the_next_partition_of_the_name_alone(
    disk: MemoryDisk, is_killed: bool
) -> None:
    broker = Broker(disk, ["/one"])
    for values in (10, 7):
        append_many(broker.manager.create(A, CONFIG), values)
        if values == 10:
            broker.manager.delete(deletions_of(broker.manager, A))
    flush(broker.log())
    disk.kill() if is_killed else broker.manager.close()
    broker = Broker(disk, ["/one"])
    assert A not in broker.listener.removed
    assert not broker.manager.is_half_deleted(A)
    for _, removal in broker.manager.due_removals():
        removal.run()
    assert len(values_of(broker.log())) == 7


def test_a_new_partition_inherits_no_recovery_point(disk: MemoryDisk) -> None:
    broker = Broker(disk, ["/one"])
    log = broker.manager.create(A, CONFIG)
    append_many(log, 50)
    flush(log)
    broker.manager.directories[0].table.write_checkpoints()
    broker.manager.delete(deletions_of(broker.manager, A))
    append_many(broker.manager.create(A, CONFIG), 3)
    disk.kill()
    log = Broker(disk, ["/one"]).log()
    assert len(values_of(log)) == 3
    assert log.damage == ()


@pytest.mark.parametrize("characters", [212, 213, 214, 215, 216, 249])
def test_a_new_partition_inherits_nothing_though_its_name_was_cut_short_to_be_deleted(
    disk: MemoryDisk, characters: int
) -> None:
    """A crash in the middle of a deletion leaves nothing but that name, and the checkpoints."""
    long, other = (TopicPartition(last * characters, 0) for last in "xy")
    broker = Broker(disk, ["/one"])
    for name in (long, other):
        append_many(broker.manager.create(name, CONFIG), 50)
        flush(broker.log(name))
    broker.manager.directories[0].table.write_checkpoints()
    broker.manager.begin_deleting(deletions_of(broker.manager, long))
    disk.kill()
    broker = Broker(disk, ["/one"])
    assert broker.manager.is_half_deleted(long)
    append_many(broker.manager.create(long, CONFIG), 3)
    disk.kill()
    broker = Broker(disk, ["/one"])
    assert len(values_of(broker.log(long))) == 3
    assert broker.log(long).damage == ()
    assert broker.log(other).recovery_point >= 49


# Strays


def test_an_unknown_log_is_reported_and_never_deleted(disk: MemoryDisk) -> None:
    broker = Broker(disk, ["/one"])
    append_many(broker.manager.create(A, CONFIG), 10)
    append_many(broker.manager.create(B, CONFIG), 10)
    strays = broker.manager.find_strays(lambda log: log.partition == A)
    assert [log.partition for log in strays] == [B]
    broker.manager.set_aside_strays(strays)
    assert broker.manager.get(B) is None
    disk.kill()
    broker = Broker(disk, ["/one"])
    directory = broker.manager.directories[0]
    assert len(directory.strays.paths) == 1
    assert directory.strays.paths[0].endswith("-stray")
    assert disk.list_directory(directory.strays.paths[0])
    broker.clock.advance_ms(10**9)
    assert broker.manager.due_removals() == []


@pytest.mark.parametrize("operation", ["rename", "write", "sync_directory"])
def test_a_disk_that_fails_while_strays_are_set_aside_does_not_stop_the_broker(
    disk: MemoryDisk, operation: str
) -> None:
    broker = Broker(disk)
    first, second = broker.manager.directories
    other = TopicPartition("c", 1)
    for partition, directory in ((A, first), (B, first), (other, second)):
        append_many(broker.manager.create(partition, CONFIG, directory=directory), 3)
    strays = broker.manager.find_strays(lambda log: log.partition != A)
    assert [log.partition for log in strays] == [A]
    disk.fail(operation, "/one*", times=None)
    broker.manager.set_aside_strays(strays)
    assert broker.manager.online == [second]
    assert len(values_of(broker.log(other))) == 3
    with pytest.raises(StorageUnavailable):
        broker.manager.get(B)
    assert broker.manager.is_out_of_reach(A)


def test_the_only_directory_may_not_fail_while_strays_are_set_aside(disk: MemoryDisk) -> None:
    broker = Broker(disk, ["/one"])
    append_many(broker.manager.create(A, CONFIG), 3)
    disk.fail("rename", "/one/*", times=None)
    with pytest.raises(StorageUnavailable):
        broker.manager.set_aside_strays(broker.manager.logs)


def test_a_disk_that_fails_while_a_move_is_finished_does_not_stop_the_broker(
    disk: MemoryDisk,
) -> None:
    broker = Broker(disk)
    first, second = broker.manager.directories
    for partition in (A, B):
        append_many(broker.manager.create(partition, CONFIG, directory=first), 3)
    broker.manager.moves.begin(A, CONFIG, second)
    first.deletions.delete([deletion_of(broker.log(A))])
    disk.kill()
    disk.fail("rename", "/two/*-future", times=None)
    broker = Broker(disk)
    assert [each.path for each in broker.manager.online] == ["/one"]
    assert len(values_of(broker.log(B))) == 3
    assert broker.manager.is_out_of_reach(A)


def test_foreign_directories_are_left_alone(disk: MemoryDisk) -> None:
    disk.make_directory("/one/lost+found")
    disk.make_directory("/one/notes")
    broker = Broker(disk)
    broker.manager.close()
    assert {"lost+found", "notes"} <= set(disk.list_directory("/one"))


# Failing


class Failures:
    """What a `FailureListener` was called with."""

    def __init__(self) -> None:
        self.lost: list[list[TopicPartition]] = []

    def directory_failed(self, lost: Iterable[TopicPartition]) -> None:
        self.lost.append(list(lost))

    def log_lost(self, partition: TopicPartition) -> None:
        self.lost.append([partition])


def test_a_failing_directory_takes_its_partitions_and_nothing_else(disk: MemoryDisk) -> None:
    broker = Broker(disk)
    failures = Failures()
    broker.manager.subscribe(failures)
    first, second = broker.manager.directories
    append_many(broker.manager.create(A, CONFIG, directory=first), 3)
    append_many(broker.manager.create(B, CONFIG, directory=second), 3)
    disk.fail("write", "/one/*", times=None)
    with pytest.raises(StorageUnavailable):
        append_many(broker.log(A), 1)
    assert failures.lost == [[A]]
    with pytest.raises(BrokerError) as raised:
        broker.manager.get(A)
    assert raised.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    append_many(broker.log(B), 3)
    assert broker.manager.online == [second]
    assert broker.manager.directory_of(TopicPartition("c", 0)) is None
    broker.manager.create(TopicPartition("c", 0), CONFIG)
    assert broker.manager.directory_of(TopicPartition("c", 0)) is second


def test_the_listener_is_called_once_no_directory_is_left(disk: MemoryDisk) -> None:
    broker = Broker(disk)
    first, second = broker.manager.directories
    first.health.failed("testing", OSError(errno.EIO, "broken"))
    assert broker.listener.storage_failures == 0
    second.health.failed("testing", OSError(errno.EIO, "broken"))
    assert broker.listener.storage_failures == 1


def test_a_directory_that_failed_is_not_marked_as_closed_in_order(disk: MemoryDisk) -> None:
    broker = Broker(disk)
    first, second = broker.manager.directories
    append_many(broker.manager.create(A, CONFIG, directory=first), 3)
    append_many(broker.manager.create(B, CONFIG, directory=second), 3)
    disk.fail("sync", "/one/*.log", times=None)
    broker.manager.close()
    disk.heal()
    again = Broker(disk)
    first, second = again.manager.directories
    assert first.last_shutdown is None
    assert second.last_shutdown is not None
    assert len(values_of(again.log(A))) == 3


def test_a_directory_that_cannot_be_read_is_left_out_at_start(disk: MemoryDisk) -> None:
    broker = Broker(disk)
    append_many(broker.manager.create(B, CONFIG, directory=broker.manager.directories[1]), 3)
    broker.manager.close()
    disk.fail(["list", "open"], "/one*", times=None)
    broker = Broker(disk)
    assert [directory.path for directory in broker.manager.online] == ["/two"]
    assert len(values_of(broker.log(B))) == 3


def test_without_any_directory_there_is_nothing_to_do(disk: MemoryDisk) -> None:
    disk.fail(["list", "open", "lock"], "*", times=None)
    with pytest.raises(StorageUnavailable, match="no log directory"):
        Broker(disk)


def test_a_log_that_cannot_be_opened_leaves_the_others(disk: MemoryDisk) -> None:
    broker = Broker(disk, ["/one"])
    append_many(broker.manager.create(A, CONFIG), 60)
    append_many(broker.manager.create(B, CONFIG), 3)
    broker.manager.close()
    for name in disk.list_directory("/one/a-0"):
        if name.endswith((".snapshot", "index")):
            disk.remove(f"/one/a-0/{name}")
    disk.flip_bit("/one/a-0/00000000000000000000.log", 16, 3)
    broker = Broker(disk, ["/one"])
    assert len(values_of(broker.log(B))) == 3
    log = broker.manager.get(A)
    assert log is None or log.log_end_offset <= 60


def test_a_damaged_log_does_not_keep_the_others_from_being_closed(disk: MemoryDisk) -> None:
    broker = Broker(disk, ["/one"])
    for partition in (A, B):
        append_many(broker.manager.create(partition, CONFIG), 12)
    broker.manager.close()
    for name in disk.list_directory("/one/a-0"):
        if name.endswith(".snapshot"):
            disk.remove(f"/one/a-0/{name}")
    disk.flip_bit("/one/a-0/00000000000000000000.log", 16, 3)
    broker = Broker(disk, ["/one"])
    append_many(broker.log(B), 1)
    broker.manager.close()
    broker = Broker(disk, ["/one"])
    assert broker.manager.had_clean_shutdown
    assert len(values_of(broker.log(B))) == 13


@pytest.mark.parametrize("name", ["recovery-point", "log-start", "replication"])
def test_damaged_checkpoints_cost_time_and_no_records(disk: MemoryDisk, name: str) -> None:
    broker = Broker(disk, ["/one"])
    append_many(broker.manager.create(A, CONFIG), 60)
    broker.manager.close()
    disk.flip_bit(f"/one/{name}-offset-checkpoint", 0, 6)
    broker = Broker(disk, ["/one"])
    assert len(values_of(broker.log())) == 60


def test_a_log_start_above_the_high_watermark_is_not_believed(disk: MemoryDisk) -> None:
    broker = Broker(disk, ["/one"])
    log = broker.manager.create(A, CONFIG)
    append_many(log, 60)
    log.advance_log_start(5)
    broker.manager.close()
    path = "/one/log-start-offset-checkpoint"
    content = read_file(disk, path)
    disk.flip_bit(path, content.index(b"5"), 3)  # 5 becomes "=", no number
    broker = Broker(disk, ["/one"])
    assert len(values_of(broker.log())) >= 55


def test_checkpoints_of_logs_that_are_not_open_are_kept(disk: MemoryDisk) -> None:
    broker = Broker(disk, ["/one"])
    for partition in (A, B):
        log = broker.manager.create(partition, CONFIG)
        append_many(log, 20)
        flush(log)
    broker.manager.directories[0].table.write_checkpoints()
    disk.kill()
    directory = LogDirectory(
        disk, ManualClock(), Random(1), "/one", RecordingListener(), lambda _path: None
    )
    directory.checkpoints.read()
    directory.table.write_checkpoints()  # with no log open
    offsets = directory.checkpoints.read()
    assert set(offsets.recovery_points) == {A, B}


def test_an_older_checkpoint_job_writes_nothing_after_a_newer_one(disk: MemoryDisk) -> None:
    broker = Broker(disk, ["/one"])
    log = broker.manager.create(A, CONFIG)
    append_many(log, 20)
    flush(log)
    directory = broker.manager.directories[0]
    old = run_blocking(directory.table.making_checkpoint_job())
    log.truncate_to(5)
    old.run()
    assert directory.checkpoints.read().recovery_points[A] <= 5


def test_a_checkpoint_job_pauses_between_logs(
    disk: MemoryDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory_checkpoints, "LOGS_AT_ONCE", 2)
    broker = Broker(disk, ["/one"])
    for partition in range(10):
        broker.manager.create(TopicPartition("many", partition), CONFIG)
    steps = list(broker.manager.directories[0].table.making_checkpoint_job())
    assert steps == [PAUSE] * 5


def test_a_checkpoint_job_writes_nothing_if_a_log_is_cut_during_a_pause(
    disk: MemoryDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory_checkpoints, "LOGS_AT_ONCE", 1)
    broker = Broker(disk, ["/one"])
    log = broker.manager.create(A, CONFIG)
    broker.manager.create(B, CONFIG)
    append_many(log, 20)
    flush(log)
    directory = broker.manager.directories[0]
    making = directory.table.making_checkpoint_job()
    assert next(making) is PAUSE  # it has seen A
    log.truncate_to(5)
    run_blocking(making).run()
    assert directory.checkpoints.read().recovery_points[A] <= 5


def test_a_checkpoint_job_says_nothing_of_a_log_that_is_deleted_during_a_pause(
    disk: MemoryDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory_checkpoints, "LOGS_AT_ONCE", 1)
    broker = Broker(disk, ["/one"])
    log = broker.manager.create(A, CONFIG)
    broker.manager.create(B, CONFIG)
    append_many(log, 20)
    flush(log)
    directory = broker.manager.directories[0]
    making = directory.table.making_checkpoint_job()
    assert next(making) is PAUSE  # it has seen A
    broker.manager.delete(deletions_of(broker.manager, A))
    run_blocking(making).run()
    assert A not in directory.checkpoints.read().recovery_points


# Moving between directories


def test_a_future_log_takes_the_place_of_the_current_one(disk: MemoryDisk) -> None:
    broker = Broker(disk)
    first, second = broker.manager.directories
    append_many(broker.manager.create(A, CONFIG, directory=first), 10)
    future = broker.manager.moves.begin(A, CONFIG, second)
    future.append_as_follower(broker.log().read(BLOCKING, 0, 1 << 20, 10).records.read())
    assert broker.manager.moves.get(A) is future
    assert broker.manager.moves.finish(A) is future
    assert broker.manager.directory_of(A) is second
    assert len(values_of(broker.log())) == 10
    append_many(broker.log(), 5)
    broker.manager.close()
    assert len(values_of(Broker(disk).log())) == 15


def test_a_future_log_is_recognised_after_a_restart(disk: MemoryDisk) -> None:
    broker = Broker(disk)
    first, second = broker.manager.directories
    append_many(broker.manager.create(A, CONFIG, directory=first), 10)
    broker.manager.moves.begin(A, CONFIG, second)
    disk.kill()
    broker = Broker(disk)
    assert broker.manager.moves.get(A) is not None
    assert len(values_of(broker.log())) == 10
    broker.manager.delete(deletions_of(broker.manager, A))
    assert broker.manager.moves.get(A) is None


def test_a_move_that_a_crash_interrupted_is_finished(disk: MemoryDisk) -> None:
    broker = Broker(disk)
    first, second = broker.manager.directories
    append_many(broker.manager.create(A, CONFIG, directory=first), 10)
    future = broker.manager.moves.begin(A, CONFIG, second)
    future.append_as_follower(broker.log().read(BLOCKING, 0, 1 << 20, 10).records.read())
    first.deletions.delete([deletion_of(broker.log())])
    disk.kill()
    broker = Broker(disk)
    assert len(values_of(broker.log())) == 10
    assert broker.manager.moves.get(A) is None


# On the real disk


def test_all_of_it_on_the_real_disk(tmp_path: Path) -> None:
    files: FileSystem = DiskFileSystem(open_files_max=3)

    def started() -> tuple[LogManager, list[LoadStep]]:
        manager = LogManager(
            files, SystemClock(), Random(1), [f"{tmp_path}/d"], RecordingListener()
        )
        manager.open(OWNER)
        return manager, list(manager.load(lambda _topic: CONFIG))

    manager, _ = started()
    logs = [manager.create(TopicPartition("t", number), CONFIG) for number in range(4)]
    for log in logs:
        append_many(log, 40)
        log.append_as_leader(batch_of(b"x", producer=(1, 0, 0)), 0)
    logs[0].truncate_to(20)
    manager.close()
    manager, _ = started()
    assert [log.log_end_offset for log in manager.logs] == [20, 41, 41, 41]
    append_many(manager.logs[0], 20)
    for directory in manager.directories:
        directory.release()  # as a kill would
    manager, steps = started()
    assert [len(values_of(log)) for log in manager.logs] == [40, 41, 41, 41]
    assert sum(step.bytes_read for step in steps) > 0
    manager.delete(deletions_of(manager, TopicPartition("t", 1)))
    manager.close()


def test_an_append_to_a_full_disk_is_refused_by_the_typed_error(disk: MemoryDisk) -> None:
    broker = Broker(disk)
    log = broker.manager.create(A, CONFIG)
    append_many(log, 3)
    disk.fail("write", "*.log", error=errno.ENOSPC)
    with pytest.raises(BrokerError) as raised:
        append_many(log, 1)
    assert raised.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert broker.log() is log


@pytest.mark.parametrize("seed", range(5))
def test_a_log_half_deleted_in_one_directory_is_gone_before_its_name_is_used_in_another(
    disk: MemoryDisk, seed: int
) -> None:
    broker = Broker(disk)
    old = broker.manager.create(A, CONFIG, TopicId(b"1" * 16))
    append_many(old, 3)
    flush(old)
    broker.manager.begin_deleting(deletions_of(broker.manager, A))
    other = next(each for each in broker.manager.directories if each.context is not old.context)
    flush(broker.manager.create(A, CONFIG, TopicId(b"2" * 16), directory=other))
    disk.crash(Random(seed))
    assert Broker(disk).log(A).topic_id.load(BLOCKING) == b"2" * 16


@pytest.mark.parametrize("is_made_again_first", [True, False])
def test_a_swap_that_outlives_its_topic_leaves_the_next_one_of_that_name_alone(
    disk: MemoryDisk, is_made_again_first: bool
) -> None:
    """Neither its recovery point nor its start may be taken for those of the new log."""
    broker = Broker(disk, ["/one"])
    old = broker.manager.create(A, CONFIG, TopicId(b"1" * 16))
    append_many(old, 60)
    old.advance_log_start(50)
    sources = old.segments[:2]
    swapping = old.replacing_segments([clean(old, sources, 2)], sources)
    flush_job = job_of(next(swapping))
    broker.manager.delete(deletions_of(broker.manager, A))
    if is_made_again_first:
        append_many(broker.manager.create(A, CONFIG, TopicId(b"2" * 16)), 3)
    with suppress(FileNotFoundError):
        flush_job()
    run_blocking(swapping)
    if not is_made_again_first:
        append_many(broker.manager.create(A, CONFIG, TopicId(b"2" * 16)), 3)
    disk.kill()
    found = Broker(disk, ["/one"]).log(A)
    assert (values_of(found), found.damage) == ([b"0", b"1", b"2"], ())


def test_a_swap_under_way_when_its_topic_is_deleted_is_no_failing_disk(disk: MemoryDisk) -> None:
    broker = Broker(disk, ["/one"])
    old = broker.manager.create(A, CONFIG, TopicId(b"1" * 16))
    append_many(old, 60)
    flush(old)
    sources = old.segments[:2]
    swapping = old.replacing_segments([clean(old, sources, 2)], sources)
    result: object = None
    while old.swaps.current is None:
        job = job_of(swapping.send(result))
        if old.swaps.current is None:
            result = job()
    broker.manager.delete(deletions_of(broker.manager, A))
    old.finish_swap()  # as retention does, which may have taken it up just before
    assert old.health.is_online


@pytest.mark.parametrize("is_clean", [False, True])
def test_an_older_recovery_point_takes_no_gap_of_compaction_for_a_lost_end(
    disk: MemoryDisk, is_clean: bool
) -> None:
    compacted = replace(CONFIG, cleanup_policy=("compact",))

    def started() -> LogManager:
        manager = LogManager(disk, ManualClock(), Random(1), ["/one"], IgnoringListener())
        manager.open(OWNER)
        list(manager.load(lambda _topic: compacted))
        return manager

    manager = started()
    log = manager.create(A, compacted, TopicId(b"a" * 16))
    append_many(log, 5)
    flush(log)
    manager.directories[0].table.write_checkpoints()
    points = "/one/recovery-point-offset-checkpoint"
    older = read_file(disk, points)
    append_many(log, 60)
    flush(log)
    sources = list(log.segments)[:-1]
    run_blocking(log.replacing_segments([clean(log, sources, 1000)], sources))
    OffsetCheckpoint(disk, "/one/cleaner-offset-checkpoint").write(
        {A: log.segments.active.base_offset}
    )
    expected = values_of(log)
    assert len(expected) < 65
    manager.directories[0].table.write_checkpoints()
    if is_clean:
        manager.close()
    else:
        disk.kill()
    file = disk.open(points)
    file.truncate(0)
    file.write_at(0, older)
    found = started().get(A)
    assert found is not None
    assert found.log_end_offset == 65
    assert values_of(found) == expected
