"""What a broker does periodically, on a disk in memory, each job called by hand."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Coroutine, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
from tests.unit.handlers.steps.counting import CountingLoop, LineClock, LineCounter
from tests.unit.storage.log_deletions import deletions_of
from tests.unit.storage.log_making import append, append_many

from ottla.base.files.disk import DiskFileSystem
from ottla.base.files.readers import BLOCKING, Reader
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.scheduling.pacing import PAUSE_MIN_S, repeat
from ottla.base.scheduling.steps import Driver, Steps, run_blocking
from ottla.broker.housekeeping import HELPER_IDLE_MS_MAX, Housekeeping, cleaning_limits
from ottla.broker.storage_events import StorageEvents
from ottla.config.broker_options import BrokerConfig
from ottla.config.topic_options import TopicConfig
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record
from ottla.storage.compaction.cleaner_offsets import CleanerOffsets
from ottla.storage.compaction.helper import Event
from ottla.storage.compaction.helper_process import HelperProcess
from ottla.storage.compaction.request import CleanRequest
from ottla.storage.directories.directory_ownership import Owner
from ottla.storage.directories.directory_watch import COMPARED_MAX
from ottla.storage.directories.log_manager import LogManager
from ottla.storage.log.log import Log
from ottla.testing.clock import ManualClock
from ottla.testing.disk_faults import SYNCS
from ottla.testing.filesystem import MemoryDisk

PATH = "/data"
A, B = TopicPartition("a", 0), TopicPartition("b", 0)
CONFIG = TopicConfig(segment_bytes=1000, index_interval_bytes=100, file_delete_delay_ms=1000)
MANY_LOGS = 5000
MANY_SEGMENTS = 1500
LINES_MAX = 10 * COMPARED_MAX  # of a round of checks, which is bounded, and the longest
COMPACTED = replace(CONFIG, cleanup_policy=("compact",))


class Place:
    def __init__(self, disk: MemoryDisk | None = None, clock: ManualClock | None = None) -> None:
        self.clock = clock or ManualClock()
        self.disk = disk or MemoryDisk(clock=self.clock)
        self.disk.make_directory(PATH)
        self.disk.sync_directory("/")
        self.events = StorageEvents(self.disk, lambda: None)
        self.logs = LogManager(self.disk, self.clock, Random(1), [PATH], self.events)
        self.logs.open(Owner("cluster", 1))
        list(self.logs.load(lambda _topic: CONFIG))
        self.config = BrokerConfig()
        self.housekeeping = Housekeeping(self.logs, self.events, lambda: self.config, self.clock)

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run(work)

    def create(self, partition: TopicPartition, config: TopicConfig = CONFIG) -> Log:
        return self.logs.create(partition, config, TopicId(b"t" * 16))

    def clean_offset(self, partition: TopicPartition) -> int | None:
        """As a broker that starts now would find it."""
        return CleanerOffsets(self.disk, PATH).get(partition)


@pytest.fixture
def place() -> Place:
    return Place()


@pytest.mark.parametrize("seed", range(10))
def test_a_new_log_is_safe_after_the_next_round_of_syncs(place: Place, seed: int) -> None:
    place.create(A)
    place.run(place.housekeeping.flush())
    place.disk.crash(Random(seed))
    found = Place(place.disk).logs.get(A)
    assert found is not None
    assert found.topic_id.load(BLOCKING) == TopicId(b"t" * 16)


def test_an_iteration_of_the_loop_does_not_grow_with_the_logs() -> None:
    """Each of these looks at all logs."""
    counter = LineCounter()
    place = Place(clock=LineClock(counter))
    for index in range(MANY_LOGS):
        place.create(TopicPartition("t", index), COMPACTED)
    housekeeping = place.housekeeping
    for work in (housekeeping.flush, housekeeping.compact, housekeeping.watch):
        for _ in range(2):
            with asyncio.Runner(loop_factory=lambda: CountingLoop(counter)) as runner:
                counter.longest_turn = 0
                place.events.take_unsynced()
                counter.on()
                runner.run(work())
                counter.off()
        assert counter.longest_turn < LINES_MAX, work.__name__


def test_an_iteration_of_the_loop_does_not_grow_with_the_segments_of_a_log() -> None:
    """All of them are to be synced, then deleted, and then removed."""
    counter = LineCounter()
    place = Place(clock=LineClock(counter))
    log = place.create(A, replace(CONFIG, segment_bytes=100, retention_bytes=0))
    append_many(log, MANY_SEGMENTS)
    log.update_high_watermark(log.log_end_offset)
    assert len(log.segments) >= MANY_SEGMENTS
    housekeeping = place.housekeeping
    for work in (housekeeping.flush, housekeeping.retain, housekeeping.remove):
        place.clock.advance_ms(CONFIG.file_delete_delay_ms)
        with asyncio.Runner(loop_factory=lambda: CountingLoop(counter)) as runner:
            counter.longest_turn = 0
            counter.on()
            runner.run(work())
            counter.off()
        assert counter.longest_turn < 2 * LINES_MAX, work.__name__
    assert len(log.segments) == 1
    assert not place.logs.due_removals()


def test_closed_segments_are_synced_without_a_flush_setting(place: Place) -> None:
    log = place.create(A)
    append_many(log, 60)
    assert log.recovery_point == 0
    place.run(place.housekeeping.flush())
    assert log.recovery_point == 60


def test_a_broker_that_is_killed_after_a_log_was_lost_does_not_create_it_again(
    place: Place,
) -> None:
    """Though checkpoints are written once a minute, and a sync was not needed."""
    for partition in (A, B):
        log = place.create(partition)
        place.run(place.housekeeping.flush())
        append_many(log, 60)
        log.update_high_watermark(60)
    place.disk.remove_directory(f"{PATH}/{A.topic}-0")
    place.run(place.housekeeping.watch())
    place.disk.crash(Random(1))
    again = Place(place.disk)
    assert again.logs.get(A) is None
    assert again.logs.get(B) is not None
    (directory,) = again.logs.online
    assert directory.checkpoints.has_records_of(A)
    checkpoint, high_watermark = directory.checkpoints.carried_of(A)
    assert (checkpoint.recovery_point, high_watermark) == (60, 60)


def test_a_log_deleted_before_its_sync_is_passed_over(place: Place) -> None:
    append_many(place.create(A), 60)
    append_many(place.create(B), 60)
    place.logs.delete(deletions_of(place.logs, A))
    for _, removal in place.logs.due_removals():
        removal.run()
    place.run(place.housekeeping.flush())
    assert place.logs.online
    found = place.logs.get(B)
    assert found is not None
    assert found.recovery_point == 60


def test_a_sync_that_fails_takes_the_directory_offline_and_ends_nothing_else(
    place: Place,
) -> None:
    append_many(place.create(A), 60)
    place.disk.fail(SYNCS)
    place.run(place.housekeeping.flush())
    assert not place.logs.online


def test_a_file_that_cannot_be_opened_now_is_synced_the_next_time_and_others_are_now(
    place: Place,
) -> None:
    names = [TopicPartition("t", index) for index in range(6)]
    logs = [place.create(name) for name in names]
    for log in logs:
        append_many(log, 5)
    logs[2].segments.active.close()
    place.disk.fail("open", f"{logs[2].path}/*", error=errno.EMFILE)
    place.run(place.housekeeping.flush())
    assert [log.recovery_point for log in logs] == [5, 5, 0, 5, 5, 5]
    place.run(place.housekeeping.flush())
    assert logs[2].recovery_point == 5


def test_a_log_whose_sync_could_not_begin_is_synced_the_next_time(place: Place) -> None:
    log = place.create(A)
    append_many(log, 60)
    place.disk.fail("open", f"{log.path}/*.snapshot", error=errno.ENFILE)
    place.run(place.housekeeping.flush())
    assert (place.logs.logs, log.recovery_point) == ([log], 0)
    place.run(place.housekeeping.flush())
    assert log.recovery_point == 60


def test_a_disk_too_full_for_a_checkpoint_serves_what_it_has(place: Place) -> None:
    log = place.create(A)
    append_many(log, 3)
    place.disk.fail("write", "*checkpoint*", error=errno.ENOSPC, times=None)
    place.run(place.housekeeping.checkpoint())
    place.housekeeping.compactor_of(place.logs.directories[0]).offsets.set(A, 1)
    place.run(place.housekeeping.remove())
    place.housekeeping.close()
    assert place.logs.get(A) is log


def test_a_removal_that_is_refused_is_tried_again(place: Place) -> None:
    append_many(place.create(A), 5)
    place.logs.delete(deletions_of(place.logs, A))
    place.clock.advance_ms(1001)
    place.disk.fail("remove", error=errno.EMFILE)
    place.run(place.housekeeping.remove())
    assert any(name.endswith("-delete") for name in place.disk.list_directory(PATH))
    place.run(place.housekeeping.remove())
    assert not any(name.startswith("a-0") for name in place.disk.list_directory(PATH))


def test_files_are_removed_when_their_time_has_come(place: Place) -> None:
    append_many(place.create(A), 5)
    place.logs.delete(deletions_of(place.logs, A))
    place.run(place.housekeeping.remove())
    assert any(name.endswith("-delete") for name in place.disk.list_directory(PATH))
    place.clock.advance_ms(1001)
    place.run(place.housekeeping.remove())
    assert not any(name.startswith("a-0") for name in place.disk.list_directory(PATH))


def test_retention_ends_though_producers_append_old_records_all_the_time(place: Place) -> None:
    """As those who copy the history of another system: other logs are due, too."""
    log = place.create(A, replace(CONFIG, retention_ms=1000))
    appended = 0

    class Appending:
        """Runs steps, after another record was appended."""

        async def run(self, steps: Steps[Any]) -> Any:
            nonlocal appended
            appended += 1
            append(log, b"old", timestamp=0)
            log.update_high_watermark(log.log_end_offset)
            return run_blocking(steps)

    append(log, b"old", timestamp=0)
    housekeeping = Housekeeping(
        place.logs, place.events, lambda: place.config, place.clock, cast(Driver, Appending())
    )
    place.run(asyncio.wait_for(housekeeping.retain(), 10))
    assert appended <= 2
    assert log.log_start_offset > 0


def test_retention_of_a_damaged_log_leaves_the_others_cared_for(place: Place) -> None:
    damaged = place.create(A, replace(CONFIG, retention_ms=1000))
    sound = place.create(B, replace(CONFIG, retention_ms=1000))
    for log in (damaged, sound):
        append_many(log, 60)
        log.update_high_watermark(60)
    place.disk.fail("rename", f"{damaged.path}/*", error=5)
    place.clock.advance_ms(10_000)
    place.run(place.housekeeping.retain())
    assert damaged.health.error is not None


def test_a_cut_makes_what_follows_dirty_even_before_the_first_compaction(place: Place) -> None:
    log = place.create(A, COMPACTED)
    append_many(log, 60)
    offsets = CleanerOffsets(place.disk, PATH)  # an earlier run of the broker had cleaned it
    offsets.set(A, 50)
    offsets.job()()
    log.truncate_to(10)
    assert place.clean_offset(A) == 10


def test_a_topic_deleted_before_the_first_compaction_leaves_no_clean_offset(
    place: Place,
) -> None:
    """Another topic of that name would treat records as clean that were never compacted."""
    place.create(A, COMPACTED)
    offsets = CleanerOffsets(place.disk, PATH)
    offsets.set(A, 50)
    offsets.job()()
    place.logs.delete(deletions_of(place.logs, A))
    place.housekeeping.removed(A)
    place.run(place.housekeeping.remove())
    assert place.clean_offset(A) is None


def test_what_compaction_noted_is_on_disk_after_an_orderly_stop(place: Place) -> None:
    place.housekeeping.compactor_of(place.logs.directories[0]).offsets.set(A, 7)
    assert place.clean_offset(A) is None
    place.housekeeping.close()
    assert place.clean_offset(A) == 7


def test_a_record_appended_while_its_log_is_synced_is_not_counted_as_synced(
    place: Place,
) -> None:
    log = place.create(A, replace(CONFIG, flush_ms=1))
    append_many(log, 5)
    place.clock.advance_ms(10)

    async def story() -> None:
        flushing = asyncio.create_task(place.housekeeping.flush())
        await asyncio.sleep(0)  # the job is made
        append(log, b"late")
        await flushing

    place.run(story())
    assert log.recovery_point == 5


def test_producers_expire_by_the_setting_that_holds_now(place: Place) -> None:
    log = place.create(A)
    record = Record(0, place.clock.now_ms(), b"key", b"value")
    log.append_as_leader(build_batch([record], producer_id=7, producer_epoch=0, base_sequence=0), 0)
    place.clock.advance_ms(5000)
    place.run(place.housekeeping.expire_producers())
    assert 7 in log.producers.load(BLOCKING).producers
    place.config = BrokerConfig(producer_id_expiration_ms=1000)
    place.run(place.housekeeping.expire_producers())
    assert 7 not in log.producers.load(BLOCKING).producers


def test_compaction_keeps_the_limits_that_hold_now(place: Place) -> None:
    compactor = place.housekeeping.compactor_of(place.logs.directories[0])
    place.config = BrokerConfig(
        log_cleaner_dedupe_buffer_size=3_000_000,
        log_cleaner_io_max_bytes_per_second=1000.0,
        log_cleaner_threads=2,
    )
    place.run(place.housekeeping.compact())
    limits = compactor.limits
    assert (limits.map_bytes_max, limits.bytes_per_second) == (3_000_000, 1000.0)


def test_a_rate_of_nothing_does_not_stop_compaction() -> None:
    config = BrokerConfig(log_cleaner_io_max_bytes_per_second=0.0)
    assert cleaning_limits(config).bytes_per_second == float("inf")


def test_the_limits_of_compaction_are_bounded() -> None:
    config = BrokerConfig(
        log_cleaner_dedupe_buffer_size=2**63 - 1, log_cleaner_io_max_bytes_per_second=5e-324
    )
    limits = cleaning_limits(config)
    assert (limits.map_bytes_max, limits.bytes_per_second) == (2**31 - 1, 1.0)


def test_work_without_an_interval_leaves_the_loop_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []

    async def note_pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            raise asyncio.CancelledError

    async def work() -> None:
        pass

    monkeypatch.setattr("ottla.base.scheduling.pacing.asyncio.sleep", note_pause)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(repeat(work, lambda: 0))
    assert min(pauses) >= PAUSE_MIN_S


class CompactedPlace:
    """A compacted log on the real disk, and the helper processes that were started for it."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.helpers: list[HelperProcess] = []
        self.clock = ManualClock()
        files = DiskFileSystem()
        events = StorageEvents(files, lambda: None)
        self.logs = LogManager(files, self.clock, Random(1), [str(path)], events)
        self.logs.open(Owner("cluster", 1))
        list(self.logs.load(lambda _topic: COMPACTED))
        self.log = self.logs.create(A, COMPACTED, TopicId(b"t" * 16))
        self.config = BrokerConfig()
        self.housekeeping = Housekeeping(self.logs, events, lambda: self.config, self.clock)
        monkeypatch.setattr("ottla.broker.housekeeping.HelperProcess", self._start)

    def _start(self) -> HelperProcess:
        self.helpers.append(HelperProcess())
        return self.helpers[-1]

    def make_dirty(self, log: Log | None = None) -> None:
        dirty = log or self.log
        for _ in range(50):
            dirty.append_as_leader(build_batch([Record(0, 1, b"key", bytes(100))]), 0)
        dirty.update_high_watermark(dirty.log_end_offset)

    @property
    def are_gone(self) -> list[bool]:
        return [each.has_exited for each in self.helpers]

    def close(self) -> None:
        self.housekeeping.close()
        self.logs.close()


@pytest.fixture
def compacted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CompactedPlace]:
    place = CompactedPlace(tmp_path, monkeypatch)
    yield place
    place.close()


def test_compaction_keeps_its_helper_while_it_has_work_and_lets_it_go_later(
    compacted: CompactedPlace,
) -> None:
    async def story() -> None:
        for _ in range(2):
            compacted.make_dirty()
            await compacted.housekeeping.compact()
            assert compacted.are_gone == [False]
        await compacted.housekeeping.compact()
        assert compacted.are_gone == [False]
        compacted.clock.advance_ms(HELPER_IDLE_MS_MAX)
        await compacted.housekeeping.compact()
        assert compacted.are_gone == [True]

    asyncio.run(story())
    compactor = compacted.housekeeping.compactor_of(compacted.logs.directories[0])
    assert compactor.offsets.get(A) == compacted.log.segments.active.base_offset


def test_an_idle_helper_goes_though_compaction_fails_each_time(
    compacted: CompactedPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_reader: Reader, _logs: Iterable[Log], _now_ms: int) -> None:
        raise OSError("no log can be looked at")

    async def story() -> None:
        compacted.make_dirty()
        await compacted.housekeeping.compact()
        compactor = compacted.housekeeping.compactor_of(compacted.logs.directories[0])
        monkeypatch.setattr(compactor, "beginning", failing)
        compacted.clock.advance_ms(HELPER_IDLE_MS_MAX)
        with pytest.raises(OSError, match="looked at"):
            await compacted.housekeeping.compact()
        assert compacted.are_gone == [True]

    asyncio.run(story())


def test_every_log_is_cleaned_with_the_limits_at_that_time(
    compacted: CompactedPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after the other may take hours: a rate that is set meanwhile counts for the rest."""
    rates: list[float] = []
    run = HelperProcess.run

    def noting(helper: HelperProcess, request: CleanRequest) -> Iterator[Event]:
        rates.append(request.limits.bytes_per_second)
        compacted.config = replace(
            compacted.config, log_cleaner_io_max_bytes_per_second=1e6 * (1 + len(rates))
        )
        return run(helper, request)

    monkeypatch.setattr(HelperProcess, "run", noting)
    compacted.config = BrokerConfig(log_cleaner_io_max_bytes_per_second=1e6)
    for name in "bcd":
        partition = TopicPartition(name, 0)
        compacted.make_dirty(compacted.logs.create(partition, COMPACTED, TopicId(b"t" * 16)))
    asyncio.run(compacted.housekeeping.compact())
    assert rates == [1e6, 2e6, 3e6]
