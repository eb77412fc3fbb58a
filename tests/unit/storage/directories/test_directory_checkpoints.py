"""Checkpoints that are written in a thread, while the event loop makes the next."""

from __future__ import annotations

import errno
import threading
from collections.abc import Mapping
from contextlib import suppress
from random import Random

import pytest
from tests.unit.storage.log_deletions import deletions_of
from tests.unit.storage.log_making import append_many

from ottla.base.ids import TopicId, TopicPartition
from ottla.base.scheduling.steps import Steps, run_blocking
from ottla.config.topic_options import TopicConfig
from ottla.storage.directories.checkpoints import OffsetCheckpoint
from ottla.storage.directories.directory_checkpoints import CheckpointJob, DirectoryCheckpoints
from ottla.storage.directories.directory_ownership import Owner
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.directories.log_manager import LogManager
from ottla.storage.log.flushing import flush
from ottla.storage.log.log import Log
from ottla.testing.clock import ManualClock
from ottla.testing.disk_faults import CHANGES
from ottla.testing.filesystem import MemoryDisk
from ottla.testing.log_listener import IgnoringListener

PATIENCE_S = 30.0


def test_the_next_job_is_made_without_waiting_for_a_write_under_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disk = MemoryDisk()
    disk.make_directory("/data")
    checkpoints = DirectoryCheckpoints(disk, "/data")
    is_writing, may_end = threading.Event(), threading.Event()

    def write_slowly(_self: OffsetCheckpoint, _offsets: Mapping[TopicPartition, int]) -> None:
        is_writing.set()
        may_end.wait(PATIENCE_S)

    monkeypatch.setattr(OffsetCheckpoint, "write", write_slowly)
    writing = threading.Thread(target=run_blocking(checkpoints.making_job(())).run)
    writing.start()
    assert is_writing.wait(PATIENCE_S)
    making = threading.Thread(
        target=lambda: run_blocking(checkpoints.making_urgent_job(())), daemon=True
    )
    making.start()
    making.join(PATIENCE_S)
    is_waiting = making.is_alive()
    may_end.set()
    writing.join()
    assert not is_waiting


def two_logs(disk: MemoryDisk) -> tuple[LogManager, list[Log]]:
    disk.make_directory("/data")
    logs = LogManager(disk, ManualClock(), Random(1), ["/data"], IgnoringListener())
    logs.open(Owner("cluster", 1))
    list(logs.load(lambda _topic: TopicConfig()))
    names = [TopicPartition(name, 0) for name in "ab"]
    return logs, [logs.create(name, TopicConfig(), TopicId(b"t" * 16)) for name in names]


def test_a_job_that_began_before_an_urgent_one_writes_nothing_before_it_either() -> None:
    disk = MemoryDisk()
    _, made = two_logs(disk)
    checkpoints = DirectoryCheckpoints(disk, "/data")
    append_many(made[0], 3)
    flush(made[0])
    older = run_blocking(checkpoints.making_job(made))
    urgent = run_blocking(checkpoints.making_urgent_job(made[1:]))  # the first one was deleted
    assert not older.run()
    assert made[0].partition not in checkpoints.read().recovery_points
    assert urgent.run()
    assert not older.run() or older.number <= urgent.number
    assert made[0].partition not in checkpoints.read().recovery_points


@pytest.mark.parametrize("seed", range(10))
def test_jobs_that_run_in_another_order_than_they_were_made_write_nothing_older(seed: int) -> None:
    rng, disk = Random(seed), MemoryDisk()
    logs, made = two_logs(disk)
    directory = logs.directories[0]
    waiting: list[CheckpointJob] = []
    for _ in range(40):
        append_many(rng.choice(made), 1)
        if rng.random() < 0.7:
            waiting.append(run_blocking(directory.table.making_checkpoint_job()))
        elif rng.random() < 0.3:
            directory.table.write_checkpoints()
        if waiting and rng.random() < 0.5:
            before = DirectoryCheckpoints(disk, "/data").read().high_watermarks
            waiting.pop(rng.randrange(len(waiting))).run()
            after = DirectoryCheckpoints(disk, "/data").read().high_watermarks
            assert all(after[name] >= mark for name, mark in before.items())
    run_blocking(directory.table.making_checkpoint_job()).run()
    for job in waiting:
        job.run()
    marks = DirectoryCheckpoints(disk, "/data").read().high_watermarks
    assert marks == {each.partition: each.high_watermark for each in made}
    logs.release()


@pytest.mark.parametrize("changes", range(10))
def test_an_older_job_undoes_nothing_that_a_later_one_wrote_before_it_was_refused(
    changes: int,
) -> None:
    disk = MemoryDisk()
    logs, made = two_logs(disk)
    table = logs.directories[0].table
    older = run_blocking(table.making_checkpoint_job())
    for log in made:
        append_many(log, 3)
    later = run_blocking(table.making_checkpoint_job())
    disk.fail(CHANGES, error=errno.ENOSPC, skip=changes)
    with suppress(OSError):
        later.run()
    disk.heal()
    written = DirectoryCheckpoints(disk, "/data").read()
    older.run()
    assert DirectoryCheckpoints(disk, "/data").read() == written
    logs.release()


@pytest.mark.parametrize("seed", range(10))
def test_no_log_starts_above_its_high_watermark_wherever_writing_ends(seed: int) -> None:
    """A disk that is full, or fails, may end it between two of the files."""
    rng, disk = Random(seed), MemoryDisk()
    logs, made = two_logs(disk)
    for _ in range(20):
        for log in made:
            append_many(log, 3)
            log.advance_log_start(rng.randint(log.log_start_offset, log.high_watermark))
        disk.fail(CHANGES, error=errno.ENOSPC, skip=rng.randrange(15))
        with suppress(OSError):
            logs.directories[0].table.write_checkpoints()
        disk.heal()
        _, starts, marks = DirectoryCheckpoints(disk, "/data").read()
        assert all(start <= marks[partition] for partition, start in starts.items())
    assert starts
    logs.release()


def test_a_deletion_is_not_finished_by_a_job_that_left_it_to_one_that_was_refused() -> None:
    disk = MemoryDisk()
    logs, (deletion_of, _) = two_logs(disk)
    directory = logs.directories[0]
    directory.table.write_checkpoints()
    logs.begin_deleting(deletions_of(logs, deletion_of.partition))
    finishing = logs.finishing_deletion()
    step = next(finishing)
    for _ in range(2):  # the directory is synced, and what is to be removed is noted
        assert callable(step)
        step = finishing.send(step())
    refuse_checkpoints(disk, directory)
    assert callable(step)
    run_rest(finishing, step())
    assert not logs.is_half_deleted(deletion_of.partition)
    assert deletion_of.partition not in DirectoryCheckpoints(disk, "/data").read().recovery_points
    logs.release()


def test_offsets_are_written_though_a_later_job_that_was_to_write_them_was_refused() -> None:
    disk = MemoryDisk()
    logs, (log, _) = two_logs(disk)
    directory = logs.directories[0]
    append_many(log, 5)
    log.advance_log_start(3)
    writing = directory.table.writing_checkpoints()
    step = next(writing)
    refuse_checkpoints(disk, directory)
    assert callable(step)
    run_rest(writing, step())
    assert DirectoryCheckpoints(disk, "/data").read().log_starts == {log.partition: 3}
    logs.release()


def refuse_checkpoints(disk: MemoryDisk, directory: LogDirectory) -> None:
    disk.fail("open", "*checkpoint*", error=errno.ENOSPC)
    with pytest.raises(OSError, match="No space"):
        directory.table.write_checkpoints()
    disk.heal()


def run_rest(steps: Steps[None], result: object) -> None:
    with suppress(StopIteration):
        step = steps.send(result)
        while callable(step):
            step = steps.send(step())
