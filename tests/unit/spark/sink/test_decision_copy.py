"""Which records of the decisions topic count: transactions open, committed, aborted, compacted."""

from __future__ import annotations

from ottla.protocol.records.building import build_batch
from ottla.protocol.records.control import build_end_marker
from ottla.protocol.records.record import Record
from ottla.spark.sink.decision_copy import DecisionCopy
from ottla.spark.sink.decisions import DECISION, CommitDecision, encode_decision, key_of

TOPIC_ID = bytes(16)


class Log:
    """Batches as a broker would store them."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.end_offset = 0

    def decide(self, sink: str, batch: int | None, producer: int | None = None) -> None:
        value = None if batch is None else encode_decision(CommitDecision(sink, "query", batch, ()))
        record = Record(self.end_offset, 0, key_of(DECISION, sink), value)
        built = build_batch(
            [record],
            base_offset=self.end_offset,
            producer_id=-1 if producer is None else producer,
            producer_epoch=-1 if producer is None else 0,
            base_sequence=-1 if producer is None else 0,
            is_transactional=producer is not None,
        )
        self._append(built)

    def mark(self, producer: int, *, is_commit: bool) -> None:
        marker = build_end_marker(
            is_commit, 0, producer_id=producer, producer_epoch=0, timestamp_ms=0,
            base_offset=self.end_offset,
        )  # fmt: skip
        self._append(marker)

    def _append(self, batch: bytearray) -> None:
        self.data += batch
        self.end_offset += 1


def read(log: Log, copy: DecisionCopy | None = None, stable_offset: int = 0) -> DecisionCopy:
    copy = copy or DecisionCopy(TOPIC_ID, 0)
    copy.add(log.data)
    copy.settle(stable_offset, log.end_offset)
    return copy


def batch_of(copy: DecisionCopy, sink: str) -> int | None:
    decision = copy.reader.state_of(sink).decision
    return None if decision is None else decision.batch


def test_a_decision_counts_once_its_transaction_is_committed() -> None:
    log = Log()
    log.decide("a", 1, producer=7)
    assert batch_of(read(log), "a") is None
    log.mark(7, is_commit=True)
    assert batch_of(read(log), "a") == 1


def test_what_was_handed_out_is_not_changed_by_later_records() -> None:
    """Queries of one process share the copy, and read it in threads of their own."""
    log = Log()
    log.decide("a", 1)
    copy = read(log)
    handed_out = copy.reader.copy()
    log.decide("a", None)
    log.decide("b", 2)
    read(log, copy)
    decision = handed_out.state_of("a").decision
    assert decision is not None
    assert decision.batch == 1
    assert list(handed_out.sinks()) == ["a"]


def test_an_aborted_decision_never_counts() -> None:
    log = Log()
    log.decide("a", 1, producer=7)
    log.mark(7, is_commit=True)
    log.decide("a", 2, producer=7)
    log.mark(7, is_commit=False)
    assert batch_of(read(log, stable_offset=log.end_offset), "a") == 1


def test_another_sinks_open_transaction_hides_nothing() -> None:
    log = Log()
    log.decide("dead", 1, producer=7)
    log.decide("a", 2, producer=8)
    log.mark(8, is_commit=True)
    copy = read(log, stable_offset=0)
    assert batch_of(copy, "a") == 2
    assert batch_of(copy, "dead") is None


def test_reading_continues_where_it_stopped() -> None:
    log = Log()
    log.decide("a", 1, producer=7)
    copy = read(log)
    log.mark(7, is_commit=True)
    log.decide("b", 5, producer=8)
    copy = read(log, copy)
    assert (batch_of(copy, "a"), batch_of(copy, "b")) == (1, None)
    log.mark(8, is_commit=True)
    assert batch_of(read(log, copy), "b") == 5
    assert copy.next_offset == 4


def test_a_decision_whose_marker_was_compacted_away_counts() -> None:
    log = Log()
    log.decide("a", 1, producer=7)
    assert batch_of(read(log, stable_offset=1), "a") == 1


def test_a_sink_that_was_forgotten_stays_so_even_if_its_marker_comes_late() -> None:
    log = Log()
    log.decide("a", 1, producer=7)
    log.decide("a", None)
    log.mark(7, is_commit=True)
    assert batch_of(read(log), "a") is None
