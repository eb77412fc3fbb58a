"""The state is a function of the log: however it is rebuilt, it is the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.protocol.records.batch import CONTROL_BIT, TRANSACTIONAL_BIT, BatchHeader
from ottla.protocol.records.control import EndMarker
from ottla.storage.producers.append_decisions import ACCEPTED
from ottla.storage.producers.open_transactions import CompletedTransaction
from ottla.storage.producers.producer_snapshot import decode_snapshot, encode_snapshot
from ottla.storage.producers.producer_state import ProducerStates


class Entry(NamedTuple):
    header: BatchHeader
    marker: EndMarker | None


class Attempt(NamedTuple):
    """What someone tries to append; `sequence` is relative to what is expected."""

    producer: int
    epoch: int
    sequence: int
    records: int
    transactional: bool
    marker: EndMarker | None
    version: int


ATTEMPTS = st.lists(
    st.builds(
        Attempt,
        producer=st.integers(1, 3),
        epoch=st.integers(0, 2),
        sequence=st.sampled_from([0, 0, 0, 0, 0, -1, -2, 1]),
        records=st.integers(1, 3),
        transactional=st.booleans(),
        marker=st.none() | st.builds(EndMarker, st.booleans(), st.integers(0, 2)),
        version=st.integers(1, 2),
    ),
    max_size=60,
)


@dataclass
class Leader:
    """Judges attempts and keeps the log of what was accepted."""

    states: ProducerStates = field(default_factory=ProducerStates)
    log: list[Entry] = field(default_factory=list)
    completed: list[CompletedTransaction] = field(default_factory=list)

    def attempt(self, attempt: Attempt) -> None:
        entry = Entry(self.header_of(attempt), attempt.marker)
        if entry.marker is None:
            decision = self.states.decide_append(entry.header)
        else:
            decision = self.states.decide_marker(entry.header, entry.marker, attempt.version)
        if decision is not ACCEPTED:
            return
        done = self.states.apply(entry.header, entry.marker)
        self.completed.extend([done] if done else [])
        self.log.append(entry)

    def header_of(self, attempt: Attempt) -> BatchHeader:
        known = self.states.producers.get(attempt.producer)
        expected = 0
        if known is not None and known.epoch == attempt.epoch:
            expected = known.last_sequence + 1
        attributes = TRANSACTIONAL_BIT if attempt.transactional else 0
        count, sequence = attempt.records, max(expected + attempt.sequence, 0)
        if attempt.marker is not None:
            attributes, count, sequence = TRANSACTIONAL_BIT | CONTROL_BIT, 1, -1
        now = 1000 + len(self.log)
        return BatchHeader(
            self.states.end_offset, 49, 0, 2, 0, attributes, count - 1, now, now,
            attempt.producer, attempt.epoch, sequence, count,
        )  # fmt: skip


def run(attempts: list[Attempt]) -> Leader:
    leader = Leader()
    for attempt in attempts:
        leader.attempt(attempt)
    return leader


def replayed(log: list[Entry], states: ProducerStates) -> ProducerStates:
    for entry in log:
        states.apply(entry.header, entry.marker)
    return states


def windows(states: ProducerStates) -> dict[int, list[tuple[int, ...]]]:
    """All but the timestamps: a snapshot has only the newest of each producer."""
    return {
        number: [written[:4] for written in producer.batches()]
        for number, producer in states.producers.items()
    }


def assert_same(one: ProducerStates, other: ProducerStates) -> None:
    assert encode_snapshot(one.producers) == encode_snapshot(other.producers)
    assert one.end_offset == other.end_offset
    assert one.first_undecided_offset == other.first_undecided_offset


@given(attempts=ATTEMPTS)
def test_replaying_the_log_gives_the_state_of_the_leader(attempts: list[Attempt]) -> None:
    leader = run(attempts)
    follower = replayed(leader.log, ProducerStates())
    assert_same(leader.states, follower)
    assert windows(leader.states) == windows(follower)
    assert leader.states.first_unstable_offset == follower.first_unstable_offset


@given(attempts=ATTEMPTS, data=st.data())
def test_a_snapshot_anywhere_and_the_log_after_it_give_the_state_of_the_leader(
    attempts: list[Attempt], data: st.DataObject
) -> None:
    leader = run(attempts)
    cut = data.draw(st.integers(0, len(leader.log)))
    before = replayed(leader.log[:cut], ProducerStates())
    restored = ProducerStates()
    snapshot = encode_snapshot(before.producers)
    restored.load(decode_snapshot(snapshot, "s").items(), before.end_offset)
    replayed(leader.log[cut:], restored)
    assert_same(leader.states, restored)
    for producer_id, window in windows(restored).items():
        assert window == windows(leader.states)[producer_id][-len(window) :] or not window


@given(attempts=ATTEMPTS, data=st.data())
def test_refilled_windows_hold_no_less_than_those_of_the_leader(
    attempts: list[Attempt], data: st.DataObject
) -> None:
    leader = run(attempts)
    restored = ProducerStates()
    snapshot = encode_snapshot(leader.states.producers)
    restored.load(decode_snapshot(snapshot, "s").items(), leader.states.end_offset)
    restored.refill_windows(entry.header for entry in leader.log)
    assert windows(restored) == windows(leader.states)


@given(attempts=ATTEMPTS)
@settings(max_examples=50)
def test_the_last_stable_offset_is_what_the_log_says(attempts: list[Attempt]) -> None:
    """Recompute from the whole log, at every high watermark, what the state keeps in order."""
    leader = run(attempts)
    for high_watermark in range(leader.states.end_offset + 1):
        leader.states.high_watermark_advanced(high_watermark)
        expected = expected_first_unstable(leader.log, high_watermark)
        assert leader.states.first_unstable_offset == expected


def expected_first_unstable(log: list[Entry], high_watermark: int) -> int | None:
    open_since: dict[int, int] = {}
    unstable = []
    for header, marker in log:
        if marker is None and header.is_transactional:
            open_since.setdefault(header.producer_id, header.base_offset)
        elif marker is not None and header.producer_id in open_since:
            first = open_since.pop(header.producer_id)
            unstable.extend([first] if header.base_offset >= high_watermark else [])
    return min([*unstable, *open_since.values()], default=None)


@given(attempts=ATTEMPTS)
def test_each_ended_transaction_is_reported_once_with_its_range(attempts: list[Attempt]) -> None:
    leader = run(attempts)
    open_since: dict[int, int] = {}
    expected = []
    for header, marker in leader.log:
        producer, offset = header.producer_id, header.base_offset
        if marker is None and header.is_transactional:
            open_since.setdefault(producer, offset)
        elif marker is not None and producer in open_since:
            first = open_since.pop(producer)
            stable = min(open_since.values(), default=offset + 1)
            expected.append((producer, first, offset, not marker.is_commit, stable))
    assert [tuple(done) for done in leader.completed] == expected
