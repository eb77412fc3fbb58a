"""A copy of a log follows its source, whatever happens to that meanwhile, and can take over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from tests.support.steps_by_hand import run_with
from tests.unit.storage.log_making import (
    SMALL,
    Place,
    append,
    append_many,
    batch_of,
    read_records,
    values_of,
)
from tests.unit.storage.log_world import described

from ottla.base.files.readers import BLOCKING
from ottla.base.scheduling.steps import Job
from ottla.storage.log import log_copying
from ottla.storage.log.flushing import flush
from ottla.storage.log.log import Log
from ottla.storage.log.log_copying import (
    append_copied,
    copy_rest,
    copying_some,
    follow_beginning,
    is_at_end,
    prepare_to_replace,
)
from ottla.storage.log.read_range import RangeCheck
from ottla.storage.log.recovery import Checkpoint


class Pair:
    def __init__(self) -> None:
        self.source_place = Place(path="/data/t-0")
        self.target_place = Place(path="/data/t-0-future")
        self.source = self.source_place.open()
        self.target = self.target_place.open()

    def here(self, work: Callable[[], object]) -> object:
        return work()

    def copy_some(self, run_job: Callable[[Job], object]) -> int:
        return run_with(copying_some(self.source, self.target), run_job)

    def copy_all(self) -> None:
        while self.copy_some(self.here):
            pass

    def same(self) -> bool:
        start = self.source.log_start_offset
        pairs = [
            [(each.offset, each.value) for each in read_records(log, max(start, first))]
            for log, first in (
                (self.source, start),
                (self.target, self.target.log_start_offset),
            )
        ]
        return pairs[0] == pairs[1] and self.target.log_end_offset == self.source.log_end_offset


@pytest.fixture
def pair() -> Pair:
    return Pair()


def test_a_copy_has_the_same_batches_and_knows_when_it_has_them_all(pair: Pair) -> None:
    append_many(pair.source, 60)
    assert not is_at_end(pair.source, pair.target)
    first = pair.copy_some(pair.here)
    assert 0 < first < pair.source.size_bytes, "one read ends with its segment"
    pair.copy_all()
    assert pair.same()
    assert is_at_end(pair.source, pair.target)
    assert pair.copy_some(pair.here) == 0
    last = pair.source.segments.active.base_offset
    pair.target.truncate_to(last)
    assert is_at_end(pair.source, pair.target)
    pair.target.truncate_to(last - 1)
    assert not is_at_end(pair.source, pair.target)


def test_bytes_that_were_not_verified_are_checked_while_they_are_copied(pair: Pair) -> None:
    append_many(pair.source, 20)
    pair.source = pair.source_place.reopen_clean(pair.source)
    ran: list[object] = []

    def noted(work: Callable[[], object]) -> object:
        ran.append(getattr(work, "__self__", None))
        return work()

    pair.copy_some(noted)
    assert any(isinstance(each, RangeCheck) for each in ran)
    found = pair.source.read(BLOCKING, 0, 100, 20)
    assert found.check is None, "it need not be checked again"


def test_a_source_that_is_cut_while_it_is_read_is_copied_again(pair: Pair) -> None:
    append_many(pair.source, 20)

    def cut_meanwhile(work: Callable[[], object]) -> object:
        result = work()
        pair.source.truncate_to(5)
        return result

    pair.copy_some(cut_meanwhile)
    assert pair.target.log_end_offset == 0, "what was read is not what is there now"
    append(pair.source, b"other", epoch=1)
    pair.copy_all()
    assert pair.same()


@pytest.mark.parametrize("kept", [0, 10, 59])
@pytest.mark.parametrize("count", [1, 50, 60, 90])
@pytest.mark.parametrize("is_rest", [False, True])
def test_records_of_a_new_leader_that_reach_beyond_the_copy_replace_what_it_has(
    pair: Pair, kept: int, count: int, is_rest: bool
) -> None:
    """The source was truncated and written to between two reads: its end says nothing."""
    append_many(pair.source, 60)
    pair.copy_all()
    pair.source.truncate_to(kept)
    for _ in range(count):
        append(pair.source, b"new", epoch=1)
    if is_rest:
        assert copy_rest(pair.source, pair.target)
    else:
        pair.copy_all()
    assert pair.same()


def test_what_the_source_forgets_or_never_had_is_not_in_the_copy(pair: Pair) -> None:
    append_many(pair.source, 60)
    pair.copy_all()
    pair.source.truncate_to(10)
    append(pair.source, b"new", epoch=1)
    follow_beginning(pair.source, pair.target)
    assert pair.target.log_end_offset == 0, "it has more than the source"
    pair.copy_all()
    assert pair.same()
    pair.source.update_high_watermark(11)
    pair.target.truncate_to(4)
    pair.source.advance_log_start(4)
    follow_beginning(pair.source, pair.target)
    assert pair.target.log_end_offset == 4, "exactly where the source begins"
    pair.source.advance_log_start(5)
    follow_beginning(pair.source, pair.target)
    assert (pair.target.log_start_offset, pair.target.log_end_offset) == (5, 5)
    pair.copy_all()
    assert pair.same()


def test_a_source_that_begins_within_a_batch_is_copied_with_the_whole_of_it(pair: Pair) -> None:
    append(pair.source, b"a", b"b", b"c")
    append(pair.source, b"d")
    pair.source.advance_log_start(2)
    pair.copy_all()
    assert pair.target.log_end_offset == 4
    assert [each.offset for each in read_records(pair.target, 2)] == [2, 3]
    assert pair.target.segments[0].base_offset == 0
    more = batch_of(b"e")
    pair.source.append_as_leader(more, 0)
    append_copied(pair.target, bytes(more))
    assert pair.target.segments[0].base_offset == 0, "only the first batch may begin before it"
    assert pair.target.log_end_offset == 5


def test_the_rest_is_copied_at_once_if_it_is_little_and_was_verified(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    append_many(pair.source, 40)
    assert copy_rest(pair.source, pair.target)
    assert pair.same()
    append_many(pair.source, 40)
    size = pair.source.size_bytes - pair.target.size_bytes
    pair.target.truncate_to(40)
    monkeypatch.setattr(log_copying, "REST_BYTES_MAX", size - 1)
    assert not copy_rest(pair.source, pair.target)
    pair.target.truncate_to(40)
    monkeypatch.setattr(log_copying, "REST_BYTES_MAX", size)
    assert copy_rest(pair.source, pair.target)
    pair.source = pair.source_place.reopen_clean(pair.source)
    pair.target.truncate_to(70)
    assert not copy_rest(pair.source, pair.target), "that would have to be checked first"


def taken_over(source: Log, target: Log, flushed_to: int) -> None:
    copy_rest(source, target)
    prepare_to_replace(source, target, flushed_to)


def test_the_copy_knows_what_is_not_in_the_records(pair: Pair) -> None:
    source, target = pair.source, pair.target
    source.append_as_leader(batch_of(b"a", producer=(9, 4, 0)), 0)
    append_many(source, 3)
    source.advance_log_start(2)
    source.epochs.announce(7)
    source.update_config(replace(SMALL, retention_ms=77))
    source.update_high_watermark(3)
    taken_over(source, target, 0)
    assert described(target.producers.load(BLOCKING)) == described(source.producers.load(BLOCKING))
    assert (target.log_start_offset, target.high_watermark, target.log_end_offset) == (2, 3, 4)
    assert (
        target.epochs.load(BLOCKING).entries
        == source.epochs.load(BLOCKING).entries
        == ((0, 2), (7, 4))
    )
    assert target.config.retention_ms == 77
    assert target.log_end_offset in target.snapshots


@pytest.mark.parametrize("start", [0, 2, 4])
@pytest.mark.parametrize("seed", [None, 0, 1, 2, 3], ids=lambda each: f"power cut {each}")
def test_producers_whose_records_are_gone_are_known_to_the_copy_after_a_crash(
    pair: Pair, start: int, seed: int | None
) -> None:
    source, target = pair.source, pair.target
    source.append_as_leader(batch_of(b"a", producer=(9, 4, 0)), 0)
    append_many(source, 3)
    source.advance_log_start(start)
    flush(source)
    taken_over(source, target, 0)
    if seed is None:
        pair.target_place.disk.kill()
    else:
        flush(target)
        pair.target_place.disk.crash(Random(seed))
    again = pair.target_place.open(Checkpoint(target.recovery_point, target.log_start_offset))
    before = described(source.producers.load(BLOCKING), with_windows=False)
    assert described(again.producers.load(BLOCKING), with_windows=False) == before
    append(again, b"more")
    assert again.log_end_offset == 5


@pytest.mark.parametrize(
    ("synced", "flushed_to", "is_synced"),
    [(False, 0, False), (True, 0, True), (False, 10, True), (False, 99, True)],
)
def test_the_copy_is_as_safe_as_the_source_is_or_has_to_be(
    pair: Pair, synced: bool, flushed_to: int, is_synced: bool
) -> None:
    append_many(pair.source, 10)
    if synced:
        flush(pair.source)
    taken_over(pair.source, pair.target, flushed_to)
    assert pair.target.recovery_point == (10 if is_synced else 0)


@pytest.mark.parametrize("seed", range(15))
def test_whatever_happens_to_the_source_the_copy_ends_equal(seed: int) -> None:
    random, pair = Random(seed), Pair()
    source, epoch = pair.source, 0

    def cut_meanwhile(work: Callable[[], object]) -> object:
        source.update_high_watermark(source.log_start_offset)
        source.truncate_to(random.randint(source.log_start_offset, source.log_end_offset))
        return work()

    for _ in range(60):
        match random.choice((*["append"] * 3, "copy", "copy", "cut", "replace", "start", "over")):
            case "append":
                values = [b"%d" % random.randrange(99)] * random.randrange(1, 4)
                append(source, *values, epoch=epoch)
            case "copy":
                pair.copy_some(pair.here)
            case "cut" if random.random() < 0.4:
                pair.copy_some(cut_meanwhile)
                epoch += 1
            case "replace" if random.random() < 0.4:  # by other records, those of a new leader
                source.update_high_watermark(source.log_start_offset)
                source.truncate_to(random.randint(source.log_start_offset, source.log_end_offset))
                epoch += 1
                for _ in range(random.randrange(9)):
                    append(source, b"%d" % random.randrange(99), epoch=epoch)
            case "start":
                source.update_high_watermark(source.log_end_offset)
                source.advance_log_start(
                    random.randint(source.log_start_offset, source.log_end_offset)
                )
                source.enforce_retention()
            case "over" if random.random() < 0.2:
                source.truncate_fully_and_start_at(source.log_end_offset + random.randrange(9))
                epoch += 1
    pair.copy_all()
    assert copy_rest(source, pair.target)
    assert pair.same()
    assert values_of(pair.target, source.log_start_offset) == values_of(source)
