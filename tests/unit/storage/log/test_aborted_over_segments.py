"""Aborted transactions that begin in one segment and end in another, many at a time.

A reader of committed data receives every aborted transaction that has a record in what it reads,
and only transactions that were aborted: in any segment, for any size, live and after any stop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from tests.unit.storage.log_making import SMALL, Place, append_many, batch_of, marker_of

from ottla.base.files.readers import BLOCKING
from ottla.protocol.records.batch import iterate_headers
from ottla.storage.indexes.transaction_index import _ENTRY, ENTRY_BYTES, AbortedTransaction
from ottla.storage.log.aborted_search import check_transactions
from ottla.storage.log.append import ProducedBy
from ottla.storage.log.log import Log
from ottla.storage.producers.append_decisions import AppendOrigin
from ottla.storage.segments.scanning import scan_headers

COORDINATOR = ProducedBy(AppendOrigin.COORDINATOR)
PRODUCERS = range(1, 8)
CONFIG = replace(SMALL, segment_bytes=500)


class Story:
    """Writes transactions, and knows each by producer, first and last offset."""

    def __init__(self, log: Log, random: Random) -> None:
        self.log = log
        self.random = random
        self.open: dict[int, int] = {}
        self.sequences = dict.fromkeys(PRODUCERS, 0)
        self.aborted: list[tuple[int, int, int]] = []
        self.committed: list[tuple[int, int, int]] = []

    def write(self, producer: int) -> None:
        sequence = self.sequences[producer]
        batch = batch_of(b"v" * 20, producer=(producer, 0, sequence), is_transactional=True)
        offset = self.log.append_as_leader(batch, 0).first_offset
        self.sequences[producer] += 1
        self.open.setdefault(producer, offset)

    def end(self, producer: int, *, is_commit: bool) -> None:
        marker = marker_of(producer, is_commit=is_commit)
        offset = self.log.append_as_leader(marker, 0, COORDINATOR).first_offset
        ended = (producer, self.open.pop(producer), offset)
        (self.committed if is_commit else self.aborted).append(ended)

    def play(self, steps: int) -> None:
        for _ in range(steps):
            producer = self.random.choice(PRODUCERS)
            if producer in self.open and self.random.random() < 0.15:
                self.end(producer, is_commit=self.random.random() < 0.4)
            else:
                self.write(producer)
        self.log.update_high_watermark(self.log.log_end_offset)

    def check(self, log: Log) -> None:
        for offset in range(log.log_start_offset, log.log_end_offset):
            for bytes_max in (1, 300, 100_000):
                found = log.read(BLOCKING, offset, bytes_max, log.log_end_offset, with_aborted=True)
                end = offset
                for _, header in iterate_headers(found.records.read()):
                    end = header.next_offset
                reported = {
                    (e.producer_id, e.first_offset, e.last_offset) for e in found.aborted or ()
                }
                needed = {each for each in self.aborted if each[1] < end and each[2] >= offset}
                assert needed <= reported <= set(self.aborted)


def live(place: Place, log: Log) -> Log:
    return log


def stopped(place: Place, log: Log) -> Log:
    return place.reopen_clean(log)


def killed(place: Place, log: Log) -> Log:
    return place.reopen_killed()


def killed_with_little_to_recover(place: Place, log: Log) -> Log:
    return place.reopen_killed(log.segments[-2].base_offset)


def damaged(place: Place, log: Log) -> Log:
    """Each index of aborted transactions is rebuilt when it is first used."""
    log.close()
    for name in place.disk.list_directory(place.path):
        path = f"{place.path}/{name}"
        if name.endswith(".txnindex") and place.disk.size(path):
            place.disk.flip_bit(path, place.disk.size(path) - 12, 3)
    return place.reopen_clean(log)


RESTARTS = [live, stopped, killed, killed_with_little_to_recover, damaged]


@pytest.mark.parametrize("restart", RESTARTS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("seed", range(3))
def test_every_reader_receives_the_aborted_transactions_of_its_range(
    restart: Callable[[Place, Log], Log], seed: int
) -> None:
    place = Place(config=CONFIG)
    log = place.open()
    story = Story(log, Random(seed))
    story.play(150)
    spans = [sum(a <= s.base_offset <= b for s in log.segments) for _, a, b in story.aborted]
    assert max(spans) >= 3, "some reach over three segments"
    assert len(story.committed) > 3
    story.check(restart(place, log))


@pytest.mark.parametrize("restart", RESTARTS[:-1], ids=lambda each: each.__name__)
def test_a_marker_many_segments_later_is_found_though_those_between_have_none(
    restart: Callable[[Place, Log], Log],
) -> None:
    place = Place(config=CONFIG)
    log = place.open()
    story = Story(log, Random(0))
    story.write(1)
    story.write(2)
    append_many(log, 60)
    story.end(2, is_commit=True)
    append_many(log, 60)
    story.write(3)
    story.end(3, is_commit=False)
    append_many(log, 60)
    story.end(1, is_commit=False)
    log.update_high_watermark(log.log_end_offset)
    story.check(restart(place, log))


def entries_of(log: Log) -> dict[int, list[AbortedTransaction]]:
    return {
        each.base_offset: list(each.indexes.transactions.iterate(BLOCKING)) for each in log.segments
    }


def wrong(
    entry: AbortedTransaction, field: str, by: int, producers: dict[int, int]
) -> AbortedTransaction | None:
    """An entry that is wrong in one field; None where the records could not show it."""
    changed = entry._replace(**{field: getattr(entry, field) + by})
    if changed.first_offset < 0 or (
        field == "first_offset" and producers.get(changed.first_offset) == entry.producer_id
    ):
        return None
    return changed


CHANGES = [
    (field, by) for field in ("producer_id", "first_offset", "last_offset") for by in (-1, 1, 40)
] + [("last_stable_offset", 10_000)]


@pytest.mark.parametrize("policy", ["delete", "compact"])
@pytest.mark.parametrize(("field", "by"), CHANGES)
def test_an_index_with_a_wrong_entry_is_built_anew_and_a_right_one_is_not(
    field: str, by: int, policy: str, caplog: pytest.LogCaptureFixture
) -> None:
    place = Place(config=replace(CONFIG, cleanup_policy=(policy,)))
    log = place.open()
    story = Story(log, Random(5))
    story.play(60)
    for producer in list(story.open):
        story.end(producer, is_commit=False)
    append_many(log, 20)
    log.update_high_watermark(log.log_end_offset)
    producers = {
        header.base_offset: header.producer_id
        for segment in log.segments
        for _, header in scan_headers(BLOCKING, segment.open(BLOCKING), 0, segment.size)
    }
    known = entries_of(log)
    log = place.reopen_clean(log)
    for segment in log.segments:
        check_transactions(BLOCKING, log, segment)
    assert "rebuilding" not in caplog.text, "nothing is wrong"
    log.close()
    damaged = set()
    for base_offset, entries in known.items():
        changed = [wrong(entry, field, by, producers) for entry in entries]
        at = next((at for at, each in enumerate(changed) if each is not None), None)
        if at is not None:
            file = place.disk.open(f"{place.path}/{base_offset:020d}.txnindex")
            file.write_at(at * ENTRY_BYTES, _ENTRY.pack(0, *changed[at]))  # type: ignore[misc]
            damaged.add(base_offset)
    assert damaged
    log = place.reopen_clean(log)
    for segment in log.segments:
        check_transactions(BLOCKING, log, segment)
    assert entries_of(log) == known
    assert "rebuilding" in caplog.text
