"""Look-ups on the event loop: whichever files are not in memory, only jobs read those.

Every combination of kinds of files that are not cached is tried with every look-up. A read, or the
opening, of a file that is not cached fails the test unless a job does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import pytest
from tests.support.steps_by_hand import run_with
from tests.unit.storage.log_making import (
    COORDINATOR,
    SMALL,
    Place,
    append,
    append_many,
    batch_of,
    marker_of,
)

from ottla.base.files.readers import Reader
from ottla.base.ids import TopicId
from ottla.base.scheduling.steps import Job, Steps, looking_up, run_blocking
from ottla.protocol.records.compression import Codec
from ottla.storage.compaction.log_summary import request_for, summarise
from ottla.storage.compaction.plan import survey
from ottla.storage.compaction.request import CleaningLimits
from ottla.storage.log.log import Log
from ottla.storage.log.recovery import Checkpoint
from ottla.storage.log.retention import preload_retention
from ottla.testing.disk_handles import MemoryFile
from ottla.testing.filesystem import MemoryDisk

KINDS = (".log", ".index", ".timeindex", ".txnindex", ".snapshot", "checkpoint", ".metadata")
CONFIG = replace(
    SMALL, cleanup_policy=("compact", "delete"), min_compaction_lag_ms=1, max_compaction_lag_ms=5
)
EVERYTHING = 1 << 30


class StrictDisk:
    """Fails what would wait for the disk outside of a job."""

    def __init__(self, disk: MemoryDisk, monkeypatch: pytest.MonkeyPatch) -> None:
        self._disk = disk
        self._is_in_job = True
        self.jobs = 0
        read_at, open_file = MemoryFile.read_at, MemoryDisk.open

        def strict_read(file: MemoryFile, position: int, size: int) -> bytes:
            self._check(file)
            return read_at(file, position, size)

        def strict_open(disk: MemoryDisk, path: str, *, create: bool = False) -> MemoryFile:
            file = open_file(disk, path, create=create)
            self._check(file)
            return file

        monkeypatch.setattr(MemoryFile, "read_at", strict_read)
        monkeypatch.setattr(MemoryDisk, "open", strict_open)

    def _check(self, file: MemoryFile) -> None:
        assert self._is_in_job or file._content.is_cached, f"{file.path} is read on the event loop"

    def forget(self, kinds: tuple[str, ...]) -> None:
        for path, content in self._disk._names.files():
            content.is_cached = not path.endswith(kinds)

    def run(self, steps: Steps[Any]) -> Any:
        self._is_in_job = False
        try:
            return run_with(steps, self._run_job)
        finally:
            self._is_in_job = True

    def _run_job(self, job: Job) -> Any:
        self.jobs += 1
        self._is_in_job = True
        try:
            return job()
        finally:
            self._is_in_job = False


@dataclass
class Story:
    """A log with several segments, leaders, producers and aborted transactions, opened again."""

    place: Place
    checkpoint: Checkpoint

    def opened(self) -> Log:
        log = self.place.open(self.checkpoint)
        log.producers.unload()
        for segment in log.segments:
            segment.close()
            segment.is_prepared = segment.has_checked_transactions = False
            segment.checked_transactions = 0
        return log


@pytest.fixture(scope="module")
def story() -> Story:
    place = Place(config=CONFIG)
    log = place.open()
    log.topic_id.write(TopicId(b"sixteen bytes id"))
    for epoch in range(3):
        append_many(log, 6, epoch=epoch)
        log.append_as_leader(
            batch_of(b"v" * 40, producer=(epoch, 0, 0), is_transactional=True), epoch
        )
        append(log, b"between", epoch=epoch)
        log.append_as_leader(marker_of(epoch), epoch, COORDINATOR)
        log.append_as_leader(batch_of(b"packed", codec=Codec.GZIP), epoch)
        log.roll()
    append_many(log, 3, epoch=2)
    log.update_high_watermark(log.log_end_offset)
    log.close()
    place.clock.advance_ms(1000)
    return Story(place, Checkpoint(log.log_end_offset, 0, is_clean=True))


def read_from(offset: int, log: Log, reader: Reader) -> object:
    found = log.read(reader, offset, 200, log.last_stable_offset(reader), with_aborted=True)
    return found.records.position, len(found.records), found.aborted, found.check is not None


def compaction(log: Log, reader: Reader) -> object:
    now_ms = log.context.clock.now_ms()
    cleanable = survey(summarise(reader, log, 0), now_ms)
    return request_for(reader, log, cleanable, CleaningLimits(1 << 20), now_ms)


def producers(log: Log, reader: Reader) -> object:
    return sorted(log.producers.load(reader).producers)


def epochs(log: Log, reader: Reader) -> object:
    return log.epochs.load(reader).entries


def topic_id(log: Log, reader: Reader) -> object:
    return log.topic_id.load(reader)


def retention(log: Log, reader: Reader) -> object:
    preload_retention(reader, log)
    return [segment.max_timestamp for segment in log.segments]


def by_attempts(attempt: Callable[[Log, Reader], object], log: Log) -> Steps[object]:
    return looking_up(partial(attempt, log))


def retaining(log: Log) -> Steps[int]:
    """All that is due, as on the event loop."""
    total = 0
    while True:
        yield from looking_up(partial(preload_retention, log=log))
        if not (deleted := log.enforce_retention(2)):
            return total
        total += deleted


LOOK_UPS: dict[str, Callable[[Log], Steps[Any]]] = {
    "read the first": partial(by_attempts, partial(read_from, 0)),
    "read the middle": partial(by_attempts, partial(read_from, 14)),
    "read the last": partial(by_attempts, partial(read_from, 31)),
    "producers": partial(by_attempts, producers),
    "epochs": partial(by_attempts, epochs),
    "topic id": partial(by_attempts, topic_id),
    "retention": partial(by_attempts, retention),
    "compaction": partial(by_attempts, compaction),
    "time": lambda log: log.finding_by_timestamp(1),
    "largest time": lambda log: log.finding_max_timestamp(),
}


def subsets() -> Iterator[tuple[str, ...]]:
    for count in range(len(KINDS) + 1):
        yield from combinations(KINDS, count)


@pytest.mark.parametrize("name", LOOK_UPS)
def test_only_jobs_read_what_is_not_in_memory(
    story: Story, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    look_up = LOOK_UPS[name]
    expected = run_blocking(look_up(story.opened()))
    disk = StrictDisk(story.place.disk, monkeypatch)
    for kinds in subsets():
        log = story.opened()
        disk.forget(kinds)
        assert disk.run(look_up(log)) == expected, f"without {kinds}"
        log.release()
    assert disk.jobs > 0


@pytest.mark.parametrize("start", [0, 30])
@pytest.mark.parametrize("retention_bytes", [-1, 2500])
def test_segments_are_deleted_without_a_read_on_the_event_loop(
    monkeypatch: pytest.MonkeyPatch, start: int, retention_bytes: int
) -> None:
    """By whichever rules they are due."""
    config = replace(SMALL, retention_ms=500, retention_bytes=retention_bytes)
    place = Place(config=config)
    log = place.open()
    for number in range(60):
        append(log, b"%d" % number, timestamp=place.clock.now_ms() - 1000 + number * 10)
    log.advance_log_start(start)
    log = place.reopen_clean(log)
    for segment in log.segments:
        segment.close()
        segment.is_prepared = False
    disk = StrictDisk(place.disk, monkeypatch)
    disk.forget((".log", ".index", ".timeindex"))
    assert disk.run(retaining(log)) > 0
    assert disk.jobs > 0
