"""What a leader answers to producers and coordinators, one story at a time."""

from __future__ import annotations

import pytest

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.records.batch import CONTROL_BIT, TRANSACTIONAL_BIT, BatchHeader
from ottla.protocol.records.control import EndMarker
from ottla.storage.producers.append_decisions import ACCEPTED, AppendDecision, AppendOrigin
from ottla.storage.producers.open_transactions import CompletedTransaction
from ottla.storage.producers.producer_state import ProducerStates
from ottla.storage.producers.transaction_verification import NO_GUARD

SEQUENCE_MAX = 2**31 - 1
DAY_MS = 24 * 3600 * 1000


COMMIT, ABORT = EndMarker(True, 0), EndMarker(False, 0)


def batch(
    sequence: int,
    offset: int = 0,
    *,
    records: int = 1,
    producer: int = 1,
    epoch: int = 0,
    transactional: bool = False,
    timestamp: int = 1000,
) -> BatchHeader:
    attributes = TRANSACTIONAL_BIT if transactional else 0
    return BatchHeader(
        offset, 49, 0, 2, 0, attributes, records - 1, timestamp, timestamp, producer, epoch,
        sequence, records,
    )  # fmt: skip


def marker_batch(offset: int, *, producer: int = 1, epoch: int = 0) -> BatchHeader:
    attributes = TRANSACTIONAL_BIT | CONTROL_BIT
    return BatchHeader(offset, 60, 0, 2, 0, attributes, 0, 2000, 2000, producer, epoch, -1, 1)


class Partition:
    """A leader's log in miniature: judges, gives offsets, applies."""

    def __init__(self) -> None:
        self.states = ProducerStates()

    def produce(self, sequence: int, records: int = 1, **fields: int) -> AppendDecision:
        header = batch(sequence, records=records, **fields)  # type: ignore[arg-type]
        decision = self.states.decide_append(header)
        if decision is ACCEPTED:
            self.states.apply(header._replace(base_offset=self.states.end_offset))
        return decision

    def end(
        self, marker: EndMarker, *, producer: int = 1, epoch: int = 0, version: int = 1
    ) -> AppendDecision | CompletedTransaction | None:
        header = marker_batch(self.states.end_offset, producer=producer, epoch=epoch)
        decision = self.states.decide_marker(header, marker, version)
        return self.states.apply(header, marker) if decision is ACCEPTED else decision


@pytest.fixture
def partition() -> Partition:
    return Partition()


def code_of(outcome: object) -> ErrorCode:
    assert isinstance(outcome, AppendDecision)
    return outcome.code


def test_sequences_that_follow_one_another_are_accepted(partition: Partition) -> None:
    assert partition.produce(0, records=3) is ACCEPTED
    assert partition.produce(3, records=2) is ACCEPTED
    assert partition.produce(5) is ACCEPTED
    assert partition.states.end_offset == 6


def test_a_gap_in_the_sequences_is_out_of_order(partition: Partition) -> None:
    partition.produce(0, records=3)
    assert code_of(partition.produce(4)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_each_of_the_five_newest_batches_is_recognised_when_it_is_sent_again(
    partition: Partition,
) -> None:
    for number in range(7):
        partition.produce(2 * number, records=2, timestamp=100 + number)
    for number in range(2, 7):
        duplicate = partition.produce(2 * number, records=2).duplicate
        assert duplicate is not None
        assert (duplicate.base_offset, duplicate.timestamp) == (2 * number, 100 + number)
    assert partition.states.end_offset == 14


def test_a_batch_older_than_the_window_is_out_of_order(partition: Partition) -> None:
    for number in range(6):
        partition.produce(number)
    assert code_of(partition.produce(0)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_batch_with_an_equal_start_but_another_end_is_no_duplicate(
    partition: Partition,
) -> None:
    partition.produce(0, records=3)
    assert code_of(partition.produce(0, records=2)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_the_sequence_after_the_largest_is_zero(partition: Partition) -> None:
    partition.produce(SEQUENCE_MAX - 1, records=2)
    assert partition.produce(0) is ACCEPTED


def test_a_batch_may_wrap_inside_and_is_still_recognised(partition: Partition) -> None:
    partition.produce(SEQUENCE_MAX - 1, records=4)
    assert partition.produce(2) is ACCEPTED
    duplicate = partition.produce(SEQUENCE_MAX - 1, records=4).duplicate
    assert duplicate is not None
    assert (duplicate.first_sequence, duplicate.last_sequence) == (SEQUENCE_MAX - 1, 1)


def test_an_unknown_producer_may_begin_at_any_sequence(partition: Partition) -> None:
    assert partition.produce(4711) is ACCEPTED
    assert partition.produce(4712) is ACCEPTED


def test_an_older_epoch_is_fenced(partition: Partition) -> None:
    partition.produce(0, epoch=3)
    assert code_of(partition.produce(1, epoch=2)) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_new_epoch_begins_at_sequence_zero(partition: Partition) -> None:
    partition.produce(0, epoch=3)
    assert code_of(partition.produce(1, epoch=4)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert partition.produce(0, epoch=4) is ACCEPTED
    assert partition.produce(1, epoch=4) is ACCEPTED


def test_a_batch_of_the_epoch_before_is_fenced_and_no_duplicate(partition: Partition) -> None:
    partition.produce(0, epoch=0)
    partition.produce(0, epoch=1)
    assert code_of(partition.produce(0, epoch=0)) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_records_without_a_producer_id_are_not_checked() -> None:
    states = ProducerStates()
    header = batch(-1, 5, producer=-1, epoch=-1)
    assert states.decide_append(header) is ACCEPTED
    assert states.apply(header) is None
    assert (states.end_offset, states.is_empty) == (6, True)


def test_a_coordinator_writes_without_sequences_but_not_with_an_old_epoch() -> None:
    states = ProducerStates()
    states.apply(batch(-1, 0, epoch=5, transactional=True))
    again = batch(-1, 1, epoch=5, transactional=True)
    assert states.decide_append(again, AppendOrigin.COORDINATOR) is ACCEPTED
    late = batch(-1, 1, epoch=4, transactional=True)
    decision = states.decide_append(late, AppendOrigin.COORDINATOR)
    assert decision.code == ErrorCode.INVALID_PRODUCER_EPOCH


def test_what_the_leader_sent_is_taken_as_it_is() -> None:
    states = ProducerStates()
    states.apply(batch(0, 0, epoch=5))
    assert states.decide_append(batch(9, 1, epoch=2), AppendOrigin.REPLICATION) is ACCEPTED
    states.apply(batch(9, 1, epoch=2))
    assert states.producers[1].epoch == 2


def test_deciding_changes_nothing() -> None:
    states = ProducerStates()
    states.apply(batch(0, 0))
    for sequence in (0, 1, 7):
        states.decide_append(batch(sequence, transactional=True))
    states.decide_marker(marker_batch(1), COMMIT, 1)
    assert states.end_offset == 1
    assert [written.last_sequence for written in states.producers[1].batches()] == [0]


# Transactions


def test_an_open_transaction_holds_back_the_last_stable_offset(partition: Partition) -> None:
    partition.produce(0, producer=2)
    partition.produce(0, records=2, transactional=True)
    assert partition.states.first_unstable_offset == 1
    assert partition.states.last_stable_offset(high_watermark=3) == 1
    assert partition.states.last_stable_offset(high_watermark=0) == 0


def test_a_completed_transaction_holds_it_back_until_its_marker_is_replicated(
    partition: Partition,
) -> None:
    partition.produce(0, records=2, transactional=True)
    partition.end(COMMIT)
    states = partition.states
    assert states.first_undecided_offset is None
    states.high_watermark_advanced(2)
    assert states.last_stable_offset(2) == 0
    states.high_watermark_advanced(3)
    assert states.last_stable_offset(3) == 3


def test_an_aborted_transaction_is_reported_with_the_last_stable_offset(
    partition: Partition,
) -> None:
    partition.produce(0, producer=1, transactional=True)
    partition.produce(0, producer=2, transactional=True)
    assert partition.end(ABORT, producer=2) == CompletedTransaction(2, 1, 2, True, 0)
    assert partition.end(ABORT, producer=1) == CompletedTransaction(1, 0, 3, True, 4)


def test_the_oldest_unreplicated_transaction_counts_not_the_first_to_end(
    partition: Partition,
) -> None:
    partition.produce(0, producer=1, transactional=True)
    partition.produce(0, producer=2, transactional=True)
    partition.end(COMMIT, producer=2)
    partition.end(COMMIT, producer=1)
    states = partition.states
    states.high_watermark_advanced(3)  # past the marker of the second producer only
    assert states.first_unstable_offset == 0
    states.high_watermark_advanced(4)
    assert states.first_unstable_offset is None


def test_a_marker_without_records_ends_nothing_but_fences(partition: Partition) -> None:
    assert partition.end(ABORT, epoch=4) is None
    assert code_of(partition.produce(0, epoch=3)) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert code_of(partition.produce(1, epoch=4)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert partition.produce(0, epoch=4) is ACCEPTED


def test_sequences_go_on_after_a_marker_of_the_same_epoch(partition: Partition) -> None:
    partition.produce(0, transactional=True)
    partition.end(COMMIT)
    assert partition.produce(0, transactional=True).duplicate is not None
    assert partition.produce(1, transactional=True) is ACCEPTED


def test_plain_records_between_those_of_a_transaction_are_refused(partition: Partition) -> None:
    partition.produce(0, transactional=True)
    assert code_of(partition.produce(1)) == ErrorCode.INVALID_TXN_STATE


def test_a_marker_of_an_older_epoch_is_fenced(partition: Partition) -> None:
    partition.produce(0, epoch=2, transactional=True)
    assert code_of(partition.end(ABORT, epoch=1)) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_marker_of_an_older_coordinator_is_fenced(partition: Partition) -> None:
    partition.produce(0, transactional=True)
    partition.end(EndMarker(True, coordinator_epoch=7))
    partition.produce(1, transactional=True)
    outcome = partition.end(EndMarker(False, coordinator_epoch=6))
    assert code_of(outcome) == ErrorCode.TRANSACTION_COORDINATOR_FENCED


def test_a_marker_of_version_2_must_bump_the_epoch(partition: Partition) -> None:
    partition.produce(0, epoch=2, transactional=True)
    assert code_of(partition.end(ABORT, epoch=2, version=2)) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert partition.end(ABORT, epoch=3, version=2) == CompletedTransaction(1, 0, 1, True, 2)


def test_a_marker_of_version_2_may_be_repeated_while_no_transaction_is_open(
    partition: Partition,
) -> None:
    partition.produce(0, epoch=2, transactional=True)
    partition.end(COMMIT, epoch=3, version=2)
    assert partition.end(COMMIT, epoch=3, version=2) is None
    partition.produce(0, epoch=3, transactional=True)
    assert code_of(partition.end(COMMIT, epoch=3, version=2)) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_the_last_epoch_of_all_ends_its_transaction_itself(partition: Partition) -> None:
    partition.produce(0, epoch=0x7FFF, transactional=True)
    outcome = partition.end(COMMIT, epoch=0x7FFF, version=2)
    assert outcome == CompletedTransaction(1, 0, 1, False, 2)


def test_a_marker_emptied_by_compaction_changes_nothing() -> None:
    states = ProducerStates()
    assert states.apply(marker_batch(3)._replace(records_count=0), None) is None
    assert (states.end_offset, states.is_empty) == (4, True)


# Time and truncation


def test_an_idle_producer_is_forgotten_but_not_while_its_transaction_is_open(
    partition: Partition,
) -> None:
    partition.produce(0, producer=1, timestamp=1000)
    partition.produce(0, producer=2, timestamp=1000, transactional=True)
    partition.produce(0, producer=3, timestamp=1001)
    assert partition.states.expire(1000 + DAY_MS, DAY_MS) == 1
    assert sorted(partition.states.producers) == [2, 3]


def test_deleting_old_records_keeps_the_producers_known(partition: Partition) -> None:
    partition.produce(0)
    partition.states.log_start_advanced(10)
    assert partition.states.end_offset == 10
    assert partition.produce(1) is ACCEPTED


def test_a_reset_forgets_everything(partition: Partition) -> None:
    partition.produce(0, transactional=True)
    partition.states.reset(50)
    assert partition.states.is_empty
    assert partition.states.end_offset == 50


# Verification (KIP-890)


def decide(states: ProducerStates, header: BatchHeader, guard: int) -> AppendDecision:
    return states.decide_append(header, guard=guard, verification_enabled=True)


def test_the_first_records_of_a_transaction_need_the_guard_of_their_verification() -> None:
    states = ProducerStates()
    first = batch(0, transactional=True)
    assert decide(states, first, NO_GUARD).code == ErrorCode.INVALID_TXN_STATE
    guard = states.start_verification(1, 0, 0, False, now_ms=0)
    assert decide(states, first, guard) is ACCEPTED
    assert decide(states, first, guard + 1).code == ErrorCode.INVALID_TXN_STATE
    states.apply(first)
    assert decide(states, batch(1, transactional=True), NO_GUARD) is ACCEPTED
    assert states.start_verification(1, 1, 0, False, now_ms=0) == NO_GUARD


def test_a_guard_is_worth_nothing_after_the_marker_that_overtook_it() -> None:
    states = ProducerStates()
    guard = states.start_verification(1, 0, 0, False, now_ms=0)
    states.apply(marker_batch(0), ABORT)
    assert decide(states, batch(0, transactional=True), guard).code == ErrorCode.INVALID_TXN_STATE
    assert states.start_verification(1, 0, 0, False, now_ms=0) != guard


def test_a_marker_of_version_2_spares_the_verification_of_the_next_transaction() -> None:
    states = ProducerStates()
    states.apply(batch(0, transactional=True, epoch=4))
    guard = states.start_verification(1, 0, 5, True, now_ms=0)
    states.apply(marker_batch(1, epoch=5), COMMIT)
    assert decide(states, batch(0, epoch=5, transactional=True), guard) is ACCEPTED


def test_a_batch_that_overtook_a_lower_one_in_the_verification_is_out_of_order() -> None:
    states = ProducerStates()
    guard = states.start_verification(1, 4, 0, False, now_ms=0)
    assert states.start_verification(1, 2, 0, False, now_ms=0) == guard
    decision = decide(states, batch(4, transactional=True), guard)
    assert decision.code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert decide(states, batch(2, transactional=True), guard) is ACCEPTED


def test_a_producer_without_state_begins_at_zero_where_epochs_are_bumped() -> None:
    states = ProducerStates()
    guard = states.start_verification(1, 7, 0, True, now_ms=0)
    decision = decide(states, batch(7, transactional=True), guard)
    assert decision.code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    guard = states.start_verification(1, 0, 0, True, now_ms=0)
    assert decide(states, batch(0, transactional=True), guard) is ACCEPTED


def test_an_old_epoch_is_refused_before_anyone_is_asked() -> None:
    states = ProducerStates()
    states.apply(batch(0, epoch=3))
    assert states.decide_verification(1, 2).code == ErrorCode.INVALID_PRODUCER_EPOCH
    assert states.decide_verification(1, 3) is ACCEPTED
    assert states.decide_verification(99, 0) is ACCEPTED


def test_a_verification_that_never_ended_is_forgotten() -> None:
    states = ProducerStates()
    guard = states.start_verification(1, 0, 0, False, now_ms=1000)
    states.expire(1000 + DAY_MS - 1, DAY_MS)
    assert decide(states, batch(0, transactional=True), guard) is ACCEPTED
    states.expire(1000 + DAY_MS, DAY_MS)
    assert decide(states, batch(0, transactional=True), guard) is not ACCEPTED
