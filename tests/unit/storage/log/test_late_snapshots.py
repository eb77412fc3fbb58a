"""Snapshots of very many producers, which are encoded in a thread while the log continues."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from tests.support.steps_by_hand import JobsLater
from tests.unit.storage.log_making import SMALL, Place, batch_of, names_in

from ottla.base.files.filesystem import parent_directory
from ottla.base.files.readers import BLOCKING
from ottla.storage.log import snapshotting
from ottla.storage.log.flushing import flush
from ottla.storage.log.recovery import Checkpoint
from ottla.storage.producers.producer_snapshot import encode_snapshot

MANY = 20  # producers that count as very many here
SEGMENT = replace(SMALL, segment_bytes=100_000)


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshotting, "ENCODED_HERE_MAX", MANY - 1)


class Story:
    def __init__(self) -> None:
        self.threads = JobsLater()
        self.place = Place(config=SEGMENT, start=self.threads)
        self.log = self.place.open()

    def write(self, sequence: int = 0, producers: int = MANY) -> None:
        for producer_id in range(producers):
            self.log.append_as_leader(batch_of(b"v", producer=(producer_id, 0, sequence)), 0)
        self.log.update_high_watermark(self.log.log_end_offset)

    def write_next(self, producer_id: int) -> None:
        """A batch that follows on the producer's last one."""
        known = self.log.producers.load(BLOCKING).producers.get(producer_id)
        sequence = 0 if known is None else known.last_sequence + 1
        self.log.append_as_leader(batch_of(b"v", producer=(producer_id, 0, sequence)), 0)
        self.log.update_high_watermark(self.log.log_end_offset)

    @property
    def state(self) -> bytes:
        return encode_snapshot(self.log.producers.load(BLOCKING).producers)

    def snapshot(self, offset: int) -> bytes:
        path = self.log.snapshots.path(offset)
        file = self.place.disk.open(path)
        return bytes(file.read_at(0, file.size()))


def test_the_snapshot_is_of_the_moment_in_which_the_segment_was_closed() -> None:
    story = Story()
    story.write()
    offset, state = story.log.log_end_offset, story.state
    story.log.roll()
    story.write(1)
    assert offset not in story.log.snapshots
    assert names_in(story.place.disk, ".snapshot") == []
    story.threads.run_all()
    assert story.snapshot(offset) == state != story.state
    assert story.log.snapshots.newest == offset
    assert story.log.producers.encodings == 0


def test_few_producers_are_written_at_once() -> None:
    story = Story()
    story.write(producers=MANY - 1)
    story.log.roll()
    assert story.log.snapshots.newest == story.log.log_end_offset
    assert not story.threads.waiting


def test_where_the_log_was_cut_meanwhile_nothing_is_written() -> None:
    story = Story()
    story.write()
    story.log.roll()
    story.write(1)
    story.log.truncate_to(5)
    story.write(1)
    story.threads.run_all()
    assert names_in(story.place.disk, ".snapshot") == []


def test_where_the_log_was_closed_meanwhile_its_end_is_written_and_nothing_more() -> None:
    story = Story()
    story.write()
    story.log.roll()
    story.write(1)
    state, end = story.state, story.log.log_end_offset
    story.log.close()
    story.threads.run_all()
    assert len(names_in(story.place.disk, ".snapshot")) == 1
    story.log = story.place.open(Checkpoint(end, 0, is_clean=True))
    assert story.state == state


@pytest.mark.parametrize("is_written", [False, True])
def test_a_kill_costs_no_producer_whether_it_was_written_or_not(is_written: bool) -> None:
    story = Story()
    story.write()
    boundary = story.log.log_end_offset
    story.log.roll()
    story.write(1)
    if is_written:
        story.threads.run_all()
    state = story.state
    flush(story.log)
    story.log = story.place.reopen_killed(boundary)
    assert story.state == state


def test_the_next_sync_includes_a_snapshot_that_came_after_the_last_one() -> None:
    story = Story()
    noted = story.place.listener.unsynced
    story.write()
    offset, state = story.log.log_end_offset, story.state
    story.log.roll()
    story.write(1)
    flush(story.log)
    noted.clear()
    story.threads.run_all()
    assert noted == [story.log]
    flush(story.log)
    story.place.disk.crash(Random(3))
    assert story.snapshot(offset) == state


def test_a_sync_that_fails_leaves_it_to_the_next_one() -> None:
    story = Story()
    story.write()
    story.log.roll()
    story.threads.run_all()
    (offset,) = story.log.unsynced.snapshots
    story.place.disk.fail("open", "*.snapshot")
    with pytest.raises(Exception, match="syncing"):
        flush(story.log)
    assert story.log.unsynced.snapshots == (offset,)


def test_segments_are_not_deleted_before_the_snapshot_that_replaces_them_is_there() -> None:
    story = Story()
    story.write()
    first = story.log.log_end_offset
    story.log.roll()
    story.threads.run_all()
    story.write(1)
    story.log.roll()
    story.write(2)
    story.log.advance_log_start(story.log.segments.active.base_offset)
    state = story.state
    assert story.log.enforce_retention() == 1  # up to the snapshot that is there
    assert story.log.segments[0].base_offset == first
    assert story.log.enforce_retention() == 0
    story.threads.run_all()
    assert story.log.enforce_retention() == 1
    flush(story.log)
    end = story.log.log_end_offset
    story.log = story.place.reopen_killed(end)
    assert story.state == state


def test_segments_that_are_closed_more_quickly_than_that_have_no_snapshot() -> None:
    story = Story()
    for sequence in range(5):
        story.write(sequence)
        story.log.roll()
    assert len(story.threads.waiting) == snapshotting.ENCODINGS_MAX
    story.threads.run_all()
    assert len(story.log.snapshots.offsets()) == snapshotting.ENCODINGS_MAX
    story.write(5)
    story.log.roll()
    story.threads.run_all()
    assert story.log.snapshots.newest == story.log.log_end_offset


@pytest.mark.parametrize("seed", range(15))
def test_every_snapshot_is_of_its_moment_however_many_are_under_way(seed: int) -> None:
    """Several are encoded at a time, and end in any order, while the log is written to and cut."""
    rng, story = Random(seed), Story()
    story.write()
    states: dict[int, bytes] = {}
    written: set[int] = set()
    for _ in range(120):
        what = rng.random()
        if what < 0.6:
            story.write_next(rng.randrange(MANY + 5))
        elif what < 0.75:
            states[story.log.log_end_offset] = story.state
            story.log.roll()
        elif what < 0.97 and story.threads.waiting:
            story.threads.run_one(rng.randrange(len(story.threads.waiting)))
        elif what >= 0.97:
            story.log.truncate_to(rng.randrange(MANY, story.log.log_end_offset + 1))
        for offset in story.log.snapshots.offsets():
            written.add(offset)
            assert story.snapshot(offset) == states[offset]
    assert written


@pytest.mark.parametrize("seed", range(10))
def test_a_late_snapshot_is_synced_after_a_sync_that_found_the_log_renamed(seed: int) -> None:
    story = Story()
    story.write()
    offset = story.log.log_end_offset
    story.log.roll()
    story.write(1)
    flush(story.log)  # so that the recovery point has passed the snapshot when it comes
    story.threads.run_all()
    job = story.log.begin_flush()
    old, new = story.log.path, f"{story.log.path}.renamed"
    story.place.disk.rename(old, new)
    story.place.disk.sync_directory(parent_directory(new))
    story.log.moved(new)
    with pytest.raises(FileNotFoundError) as failure:
        story.place.disk.sync_directory(old)
    story.log.end_flush(job, failure.value)
    flush(story.log)
    before = story.snapshot(offset)
    story.place.disk.crash(Random(seed))
    assert story.snapshot(offset) == before
