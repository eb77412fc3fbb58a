"""A log is deleted while its files are in use: that is no failing disk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.unit.storage.log_making import Place, append, append_many

from ottla.base.files.readers import BLOCKING
from ottla.base.scheduling.steps import run_blocking
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.log.log import Log
from ottla.storage.log.read_range import RangeCheck


def read_again(log: Log) -> None:
    log.read(BLOCKING, 0, 1000, log.log_end_offset)


def look_for_a_time(log: Log) -> None:
    run_blocking(log.finding_by_timestamp(0))


def write_on(log: Log) -> None:
    append(log, b"late")


def retain(log: Log) -> None:
    log.update_config(replace(log.config, retention_ms=0))
    log.context.clock.advance_ms(10**15)  # type: ignore[attr-defined]  # moved by hand
    log.enforce_retention()


def cut(log: Log) -> None:
    log.truncate_to(1)


@pytest.fixture
def log() -> Log:
    log = Place().open()
    append_many(log, 3)
    return log


def remove(log: Log) -> None:
    """As a deletion does when its time has come."""
    log.release()
    log.context.files.remove_directory(log.path)


@pytest.mark.parametrize("use", [read_again, look_for_a_time, write_on, retain, cut])
def test_using_a_log_that_was_removed_leaves_its_directory_online(
    log: Log, use: Callable[[Log], None]
) -> None:
    remove(log)
    with pytest.raises(StorageUnavailable):
        use(log)
    assert log.health.is_online


def test_a_log_that_is_removed_while_it_is_synced_leaves_its_directory_online(log: Log) -> None:
    job = log.begin_flush()
    remove(log)
    with pytest.raises(OSError) as caught:
        job.run()
    try:
        log.end_flush(job, caught.value)
    except StorageUnavailable:
        pass  # the requests that wait for the sync are notified of it
    assert log.health.is_online


def test_a_range_of_a_deleted_log_is_not_served(log: Log) -> None:
    check = RangeCheck(BLOCKING, log, log.segments.active, 0, log.segments.active.size)
    assert check.is_current
    log.health.end_use()
    assert not check.is_current


def test_a_disk_that_fails_under_a_log_in_use_goes_offline(log: Log) -> None:
    log.health.failed("reading", OSError("broken"))
    assert not log.context.health.is_online
