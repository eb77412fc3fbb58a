"""State of compaction for a log is removed with it, before another topic gets its name."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from random import Random

import pytest
from tests.support.steps_by_hand import job_of
from tests.unit.storage.log_deletions import deletions_of
from tests.unit.storage.log_making import append_many

from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.topic_deletion import TopicDeletion
from ottla.broker.housekeeping import Housekeeping
from ottla.broker.storage_events import StorageEvents
from ottla.config.broker_options import BrokerConfig
from ottla.config.topic_options import TopicConfig
from ottla.storage.directories.directory_ownership import Owner
from ottla.storage.directories.log_manager import LogManager
from ottla.storage.directories.startup_settlement import settle_found
from ottla.storage.log.log import Log
from ottla.testing.clock import ManualClock
from ottla.testing.filesystem import MemoryDisk

PATH = "/data"
A = TopicPartition("a", 0)
CONFIG = TopicConfig(segment_bytes=1000, index_interval_bytes=100, cleanup_policy=("compact",))
DIRTY = replace(CONFIG, min_cleanable_dirty_ratio=0.0)


class Place:
    """A log directory with its compaction, as a broker connects them."""

    def __init__(self, disk: MemoryDisk) -> None:
        self.disk = disk
        events = StorageEvents(disk, lambda: None)
        self.logs = LogManager(disk, ManualClock(), Random(1), [PATH], events)
        self.logs.open(Owner("cluster", 1))
        self.housekeeping = Housekeeping(self.logs, events, BrokerConfig, ManualClock())
        list(self.logs.load(lambda _topic: CONFIG))
        settle_found(self.logs, lambda each, _: TopicDeletion(each), lambda *_: False)
        self.compactor = self.housekeeping.compactor_of(self.logs.directories[0])

    def create(self) -> Log:
        return self.logs.create(A, DIRTY, TopicId(b"t" * 16))

    def cleaned_to(self, offset: int) -> None:
        """As a round of compaction leaves it."""
        self.compactor.offsets.set(A, offset)
        self.compactor.offsets.job()()

    def killed(self) -> Place:
        self.disk.kill()
        return Place(self.disk)


@pytest.fixture
def place() -> Place:
    disk = MemoryDisk(clock=ManualClock())
    disk.make_directory(PATH)
    disk.sync_directory("/")
    return Place(disk)


def test_a_topic_created_again_inherits_no_clean_offset(place: Place) -> None:
    append_many(place.create(), 60)
    place.cleaned_to(50)
    place.logs.delete(deletions_of(place.logs, A))
    append_many(place.create(), 60)
    assert place.compactor.offsets.get(A) is None
    assert place.killed().compactor.offsets.get(A) is None


@pytest.mark.parametrize("steps", range(4))
def test_a_topic_created_after_a_crash_inherits_nothing_from_one_that_was_half_deleted(
    place: Place, steps: int
) -> None:
    append_many(place.create(), 60)
    place.logs.directories[0].table.write_checkpoints()
    place.cleaned_to(50)
    place.logs.begin_deleting(deletions_of(place.logs, A))
    finishing = place.logs.finishing_deletion()
    for _ in range(steps):  # the crash comes after so many of them
        if (job := next(finishing, None)) is not None:
            job_of(job)()
    again = place.killed()
    append_many(again.create(), 3)
    third = again.killed()
    found = third.logs.get(A)
    assert found is not None
    assert (found.log_end_offset, found.damage) == (3, ())
    assert third.compactor.offsets.get(A) is None


def test_a_log_that_waits_to_be_deleted_is_not_cleaned(place: Place) -> None:
    log = place.create()
    append_many(log, 60)
    log.update_high_watermark(60)
    log.health.end_use()
    assert place.compactor.begin(BLOCKING, [log], now_ms=0) is None
    log.health.begin_use()
    assert place.compactor.begin(BLOCKING, [log], now_ms=0) is not None


def test_a_round_under_way_notes_nothing_about_a_log_that_was_deleted(place: Place) -> None:
    log = place.create()
    append_many(log, 60)
    log.update_high_watermark(60)
    chosen = place.compactor.begin(BLOCKING, [log], now_ms=0)
    assert chosen is not None
    place.logs.delete(deletions_of(place.logs, A))
    assert place.compactor.states.is_called_off(A)


def test_a_stray_that_is_set_aside_leaves_no_clean_offset(place: Place) -> None:
    append_many(place.create(), 60)
    place.cleaned_to(50)
    place.logs.set_aside_strays(place.logs.logs)
    asyncio.run(place.housekeeping.remove())
    assert place.killed().compactor.offsets.get(A) is None
