"""Changes of a log directory that a crash ends between any two of their steps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import pytest
from tests.support.steps_by_hand import ByHand
from tests.unit.storage.log_deletions import deletions_of
from tests.unit.storage.log_making import append_many, values_of

from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.scheduling.steps import Job, run_blocking
from ottla.config.topic_options import TopicConfig
from ottla.storage.directories.directory_checkpoints import DirectoryCheckpoints
from ottla.storage.directories.directory_ownership import Owner
from ottla.storage.directories.log_manager import LogManager
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.log.flushing import flush
from ottla.storage.log.log import Log
from ottla.storage.log.log_listener import LogListener
from ottla.testing.clock import ManualClock
from ottla.testing.disk_faults import CHANGES
from ottla.testing.filesystem import MemoryDisk
from ottla.testing.log_listener import IgnoringListener

CONFIG = TopicConfig(segment_bytes=1000, index_interval_bytes=100)
A, TOPIC_ID = TopicPartition("a", 0), TopicId(b"t" * 16)
PATHS = ("/one", "/two")


@pytest.fixture
def disk() -> MemoryDisk:
    disk = MemoryDisk()
    for path in PATHS:
        disk.make_directory(path)
    disk.sync_directory("/")
    return disk


def started(disk: MemoryDisk, listener: LogListener | None = None) -> LogManager:
    manager = LogManager(disk, ManualClock(), Random(1), PATHS, listener or IgnoringListener())
    manager.open(Owner("cluster", 1))
    list(manager.load(lambda _topic: CONFIG))
    return manager


def some_log(manager: LogManager) -> Log:
    """With 30 records that are synced and committed, of which the first seven are deleted."""
    log = manager.create(A, CONFIG, TOPIC_ID, directory=manager.directories[0])
    append_many(log, 30)
    flush(log)
    log.advance_log_start(7)
    return log


@contextmanager
def killed_after(disk: MemoryDisk, changes: int) -> Iterator[None]:
    """The process ends with the next change after so many."""
    disk.fail(CHANGES, skip=changes, times=None)
    try:
        yield
    except StorageUnavailable:
        pass
    disk.heal()
    disk.kill()


@pytest.mark.parametrize("changes", range(24))
def test_a_log_that_is_set_aside_and_taken_back_keeps_its_offsets(
    disk: MemoryDisk, changes: int
) -> None:
    manager = started(disk)
    log = some_log(manager)
    manager.directories[0].table.write_checkpoints()
    manager.set_aside_strays([log])
    disk.kill()
    manager = started(disk)
    with killed_after(disk, changes):
        manager.take_back(A, TOPIC_ID, CONFIG)
        manager.finish_taking_back()
    manager = started(disk)
    again = manager.get(A) or manager.take_back(A, TOPIC_ID, CONFIG)
    assert again is not None
    offsets = again.offsets
    assert (offsets.start, offsets.high_watermark, offsets.end) == (7, 30, 30)


def test_a_future_log_takes_no_place_of_one_that_is_set_aside(disk: MemoryDisk) -> None:
    """It may lack records, and the other one may be taken back."""
    manager = started(disk)
    log = some_log(manager)
    manager.directories[0].table.write_checkpoints()
    future = manager.moves.begin(A, CONFIG, manager.directories[1])
    future.append_as_follower(log.read(BLOCKING, 7, 300, 30).records.read())
    assert future.log_end_offset < 30
    manager.set_aside_strays([log])
    disk.kill()
    manager = started(disk)
    assert manager.get(A) is None
    again = manager.take_back(A, TOPIC_ID, CONFIG)
    assert again is not None
    assert len(values_of(again)) == 23


def test_a_log_deleted_while_an_earlier_deletion_of_its_name_ends_is_still_to_be_deleted(
    disk: MemoryDisk,
) -> None:
    manager = started(disk)
    some_log(manager)
    manager.begin_deleting(deletions_of(manager, A))
    finishing = ByHand(manager.finishing_deletion())
    finishing.run_job()
    some_log(manager)
    manager.begin_deleting(deletions_of(manager, A))
    finishing.finish()
    assert manager.is_half_deleted(A)
    run_blocking(manager.finishing_deletion())
    assert not manager.is_half_deleted(A)


class RemovalsInOrder(IgnoringListener):
    """Notes whether the checkpoints still have the partition when compaction forgets it."""

    def __init__(self, disk: MemoryDisk) -> None:
        self.is_known: list[bool] = []
        self._disk = disk

    def removal_job(self, directory: str) -> Job:
        def run() -> None:
            points = DirectoryCheckpoints(self._disk, directory).read().recovery_points
            self.is_known.append(A in points)

        return run


@pytest.mark.parametrize("at_once", [True, False])
def test_compaction_forgets_a_log_before_the_checkpoints_do(
    disk: MemoryDisk, at_once: bool
) -> None:
    """After a crash in between, the next start finds the name in the checkpoints, and repeats it:
    otherwise the next topic of the name would inherit what compaction knows."""
    listener = RemovalsInOrder(disk)
    manager = started(disk, listener)
    some_log(manager)
    manager.directories[0].table.write_checkpoints()
    if at_once:
        manager.delete(deletions_of(manager, A))
    else:
        manager.begin_deleting(deletions_of(manager, A))
        run_blocking(manager.finishing_deletion())
    assert listener.is_known == [True]
    assert A not in DirectoryCheckpoints(disk, "/one").read().recovery_points
