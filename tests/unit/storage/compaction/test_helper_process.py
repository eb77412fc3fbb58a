"""Compaction in another process, on a real disk."""

from __future__ import annotations

import os
import socket
import subprocess
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.storage.compaction.compaction_world import PARTITION

from ottla.base.files.disk import DiskFileSystem
from ottla.base.files.readers import BLOCKING
from ottla.base.scheduling.steps import run_blocking
from ottla.config.topic_options import TopicConfig
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record
from ottla.storage.compaction.cleaner_offsets import CleanerOffsets
from ottla.storage.compaction.compactor import Compactor, Round
from ottla.storage.compaction.helper import Event, write_message
from ottla.storage.compaction.helper_process import COMMAND, HelperProcess
from ottla.storage.compaction.request import (
    CleanedGroup,
    CleanFailure,
    CleaningLimits,
    CleanSummary,
)
from ottla.storage.log.log import Log
from ottla.storage.log.recovery import Checkpoint, open_log
from ottla.testing.clock import ManualClock
from ottla.testing.log_listener import log_context

CONFIG = TopicConfig(cleanup_policy=("compact",), segment_bytes=10_000, file_delete_delay_ms=0)


class Place:
    """A log directory with one log, on the real disk."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.path = directory / "t-0"
        self.path.mkdir()
        self.clock = ManualClock()
        self.files = DiskFileSystem()
        self.log = self.open(Checkpoint())
        self.compactor = Compactor(CleanerOffsets(self.files, str(directory)), CleaningLimits())

    def open(self, checkpoint: Checkpoint) -> Log:
        context = log_context(self.files, self.clock, str(self.directory))
        return open_log(context, PARTITION, str(self.path), CONFIG, checkpoint)

    def fill(self, batches: int) -> None:
        """Ten keys over and over."""
        rows = [Record(at, 1, b"%d" % at, os.urandom(20)) for at in range(10)]
        for _ in range(batches):
            self.log.append_as_leader(build_batch(rows), 0)
        self.log.roll()
        self.log.update_high_watermark(self.log.log_end_offset)

    def begin(self, limits: CleaningLimits | None = None) -> Round:
        round_ = self.compactor.begin(BLOCKING, [self.log], self.clock.now_ms())
        assert round_ is not None
        if limits is not None:
            round_.request = replace(round_.request, limits=limits)
        return round_

    def clean(self, round_: Round, helper: HelperProcess) -> list[Event]:
        events = []
        for event in helper.run(round_.request):
            events.append(event)
            run_blocking(self.compactor.taking(round_, event))
        return events

    def cleaned_files(self) -> list[Path]:
        return list(self.path.glob("*.cleaned"))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_helper_cleans_and_the_log_swaps(place: Place) -> None:
    place.fill(batches=100)
    round_ = place.begin()
    with closing(HelperProcess()) as helper:
        *groups, summary = place.clean(round_, helper)
    assert groups
    assert all(isinstance(group, CleanedGroup) for group in groups)
    assert isinstance(summary, CleanSummary)
    assert (summary.end_offset, summary.counts.records_kept) == (1000, 10)
    assert place.compactor.offsets.get(PARTITION) == 1000
    assert place.cleaned_files() == []
    place.log.close()
    reopened = place.open(Checkpoint(1000, 0, is_clean=True))
    assert (reopened.log_end_offset, reopened.damage) == (1000, ())


def test_damage_is_reported_as_such(place: Place) -> None:
    place.fill(batches=3)
    file = Path(place.log.segments[0].path)
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    round_ = place.begin()
    with closing(HelperProcess()) as helper:
        (event,) = helper.run(round_.request)
    assert isinstance(event, CleanFailure)
    assert event.is_damaged
    assert file.name in event.message


def test_a_helper_does_one_round_after_the_other(place: Place) -> None:
    with closing(HelperProcess()) as helper:
        for number in range(1, 4):
            place.fill(batches=100)
            *_, summary = place.clean(place.begin(), helper)
            assert isinstance(summary, CleanSummary)
            assert summary.end_offset == number * 1000
            assert not helper.has_exited


def test_a_helper_whose_round_is_given_up_does_no_other(place: Place) -> None:
    place.fill(batches=300)
    helper = HelperProcess()
    events = helper.run(place.begin().request)
    assert isinstance(next(events), CleanedGroup)
    events.close()
    assert helper.has_exited


def test_a_helper_stands_back_for_the_broker(place: Place) -> None:
    place.fill(batches=3)
    with closing(HelperProcess()) as helper:
        place.clean(place.begin(), helper)
        assert os.getpriority(os.PRIO_PROCESS, helper.pid) > os.getpriority(os.PRIO_PROCESS, 0)


def test_a_helper_that_is_killed_leaves_only_cleaned_files(place: Place) -> None:
    place.fill(batches=300)
    before = {path.name: path.read_bytes() for path in place.path.glob("*.log")}
    # So slow that it would take an hour: it is certainly in the middle when it dies.
    round_ = place.begin(CleaningLimits(bytes_per_second=100))
    helper = HelperProcess()
    events = helper.run(round_.request)
    os.kill(helper.pid, 9)
    (event,) = events
    assert isinstance(event, CleanFailure)
    assert not event.is_damaged
    run_blocking(place.compactor.taking(round_, event))
    assert {path.name: path.read_bytes() for path in place.path.glob("*.log")} == before
    assert place.cleaned_files() == []
    assert place.begin() is not None


def test_a_round_can_be_given_up_at_any_time(place: Place) -> None:
    place.fill(batches=300)
    round_ = place.begin(CleaningLimits(bytes_per_second=100))
    helper = HelperProcess()
    helper.close()
    place.compactor.abandon(round_)
    assert place.cleaned_files() == []


def links_in(directory: Path) -> set[str]:
    """Of a process that opens and closes files meanwhile."""
    found = set()
    for path in directory.iterdir():
        with suppress(FileNotFoundError):
            found.add(os.readlink(path))
    return found


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks into /proc")
def test_a_helper_inherits_no_socket() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.set_inheritable(True)
        helper = HelperProcess()
        try:
            found = links_in(Path(f"/proc/{helper.pid}/fd"))
        finally:
            helper.close()
    assert not [target for target in found if target.startswith("socket:")]


def test_a_helper_ends_by_itself_when_its_broker_is_gone(place: Place) -> None:
    place.fill(batches=300)
    round_ = place.begin(CleaningLimits(bytes_per_second=100))
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        write_message(process.stdin, round_.request)
        process.stdin.close()
        assert process.wait(timeout=300) == 1


def test_a_helper_whose_broker_died_before_it_was_there_touches_nothing(place: Place) -> None:
    place.fill(batches=3)
    request = place.begin().request
    reading, writing = os.pipe()
    with open(writing, "wb") as pipe:
        write_message(pipe, request)
    with open(reading, "rb") as pipe:
        ended = subprocess.run(COMMAND, stdin=pipe, capture_output=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (1, b"")
    assert place.cleaned_files() == []


def test_a_helper_that_gets_no_request_ends() -> None:
    assert (
        subprocess.run(COMMAND, stdin=subprocess.DEVNULL, timeout=300, check=False).returncode == 1
    )
