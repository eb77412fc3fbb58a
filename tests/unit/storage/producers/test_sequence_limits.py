"""Sequences around 2^31 - 1, after which comes 0: live, from a snapshot, and from the records."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from random import Random

import pytest
from tests.unit.storage.log_making import Place, append_many, batch_of

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.records.batch import BatchHeader
from ottla.storage.log.log import Log
from ottla.storage.producers.producer_entry import WINDOW_BATCHES, ProducerEntry, WrittenBatch
from ottla.storage.producers.producer_snapshot import decode_snapshot, encode_snapshot
from ottla.storage.producers.producer_state import ProducerStates

LAST = 2**31 - 1
SIZES = (1, 2, 3, 1, 4, 1, 1, 2)  # records of the batches


def wrapped(sequence: int) -> int:
    return sequence % (LAST + 1)


def reopen_clean(place: Place, log: Log) -> Log:
    return place.reopen_clean(log)


def reopen_without_snapshots(place: Place, log: Log) -> Log:
    log.close()
    for name in place.disk.list_directory(place.path):
        if name.endswith(".snapshot"):
            place.disk.remove(f"{place.path}/{name}")
    return place.open()


def reopen_killed(place: Place, log: Log) -> Log:
    return place.reopen_killed()


def reopen_killed_after_a_roll(place: Place, log: Log) -> Log:
    log.roll()
    append_many(log, 3)
    return place.reopen_killed(log.segments.active.base_offset)


def go_on(place: Place, log: Log) -> Log:
    return log


RESTARTS = [
    go_on,
    reopen_clean,
    reopen_without_snapshots,
    reopen_killed,
    reopen_killed_after_a_roll,
]


@pytest.mark.parametrize("first", [LAST - at for at in range(sum(SIZES) + 1)])
@pytest.mark.parametrize("restart", RESTARTS, ids=lambda each: each.__name__)
def test_the_last_five_batches_are_known_as_they_cross_the_limit(
    restart: Callable[[Place, Log], Log], first: int
) -> None:
    place = Place()
    log = place.open()
    sequence, sent = first, []
    for number, size in enumerate(SIZES):
        batch = batch_of(*[b"%d" % number] * size, producer=(7, 3, sequence))
        sent.append((bytes(batch), log.append_as_leader(batch, 0).first_offset))
        sequence = wrapped(sequence + size)
    log = restart(place, log)
    for repetition, offset in sent[-WINDOW_BATCHES:]:
        repeated = log.append_as_leader(bytearray(repetition), 0)
        assert (repeated.is_duplicate, repeated.first_offset) == (True, offset)
    for step in (1, 2, LAST):  # LAST is one too few
        with pytest.raises(BrokerError) as raised:
            log.append_as_leader(batch_of(b"x", producer=(7, 3, wrapped(sequence + step))), 0)
        assert raised.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert not log.append_as_leader(batch_of(b"x", producer=(7, 3, sequence)), 0).is_duplicate


def header(offset: int, sequence: int, count: int, producer: int) -> BatchHeader:
    return BatchHeader(
        offset, 49, 0, 2, 0, 0, count - 1, 1000, 1000, producer, 0, sequence, count
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_windows_of_many_producers_are_refilled_from_interleaved_batches(seed: int) -> None:
    """Each entry of the window is checked, with its offsets, at every cut of the log."""
    random = Random(seed)
    next_sequence = {producer: LAST - random.randrange(12) for producer in range(1, 5)}
    log, offset = [], random.choice((0, 2**31 - 20, 2**62))
    live = ProducerStates(offset)
    for _ in range(40):
        producer, count = random.randrange(1, 5), random.randrange(1, 4)
        log.append(header(offset, next_sequence[producer], count, producer))
        live.apply(log[-1])
        next_sequence[producer] = wrapped(next_sequence[producer] + count)
        offset += count
        restored = ProducerStates()
        stored = encode_snapshot(live.producers)
        restored.load(decode_snapshot(stored, "s").items(), live.end_offset)
        restored.refill_windows(log)
        assert windows(restored) == windows(live)


def windows(states: ProducerStates) -> dict[int, list[tuple[int, ...]]]:
    return {
        number: [batch[:4] for batch in entry.batches()]
        for number, entry in states.producers.items()
    }


@pytest.mark.parametrize(
    ("sequence", "count"), [*product((LAST, LAST - 1, LAST - 2, 0, 5), (1, 2, 3))]
)
def test_a_batch_that_crosses_the_limit_is_found_by_both_ends(sequence: int, count: int) -> None:
    entry, last = ProducerEntry(epoch=0), wrapped(sequence + count - 1)
    entry.add_batch(0, last, 100 + count - 1, count - 1, 1000)
    written = WrittenBatch(sequence, last, 100, 100 + count - 1, 1000)
    assert entry.find(sequence, last) == written
    assert entry.find(wrapped(sequence + 1), last) is None
    assert entry.find(sequence, wrapped(last + 1)) is None


def test_only_what_was_written_directly_before_is_put_before() -> None:
    entry = ProducerEntry(epoch=0)
    entry.add_batch(0, 1, 101, 1, 1000)  # sequences 0 and 1, offsets 100 and 101
    refused = [
        WrittenBatch(LAST - 1, LAST - 1, 99, 99, 900),  # a gap in the sequence
        WrittenBatch(LAST, LAST, 100, 100, 900),  # reaches into the oldest
        WrittenBatch(0, 0, 99, 99, 900),
    ]
    assert [entry.add_older_batch(each) for each in refused] == [False] * 3
    older = WrittenBatch(LAST - 2, LAST, 95, 97, 900)
    assert entry.add_older_batch(older)
    assert entry.batches()[0] == older
