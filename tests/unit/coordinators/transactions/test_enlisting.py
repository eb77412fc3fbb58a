"""AddPartitionsToTxn: beginning and widening a transaction, and asking what belongs to it."""

from __future__ import annotations

import pytest
from tests.unit.coordinators.transactions.making import (
    LATER_MS,
    NOW_MS,
    PARTITIONS,
    PRODUCER,
    transaction,
)

from ottla.base.ids import TopicPartition
from ottla.base.scheduling.steps import run_blocking
from ottla.coordinators.transactions.enlisting import decide_add_partitions, verifying
from ottla.coordinators.transactions.states import ENDING, IDLE, TransactionState
from ottla.coordinators.transactions.transaction import ProducerIdAndEpoch, Transaction
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

OWNER = ProducerIdAndEpoch(PRODUCER, 3)
MORE = TopicPartition("u", 7)


def add(
    current: Transaction | None, *partitions: TopicPartition, by: ProducerIdAndEpoch = OWNER
) -> Transaction | None:
    return decide_add_partitions(current, by, partitions, 2, LATER_MS)


@pytest.mark.parametrize("state", sorted(IDLE))
def test_the_first_partition_begins_a_transaction(state: TransactionState) -> None:
    begun = add(transaction(state), MORE)
    assert begun is not None
    assert (begun.state, begun.partitions, begun.client_version) == (
        TransactionState.ONGOING,
        frozenset({MORE}),
        2,
    )
    assert (begun.start_ms, begun.last_update_ms) == (LATER_MS, LATER_MS)


def test_more_partitions_leave_the_beginning_where_it_was() -> None:
    wider = add(transaction(TransactionState.ONGOING), MORE)
    assert wider is not None
    assert wider.partitions == PARTITIONS | {MORE}
    assert (wider.start_ms, wider.last_update_ms) == (NOW_MS, LATER_MS)


def test_partitions_that_are_there_change_nothing() -> None:
    assert add(transaction(TransactionState.ONGOING), *PARTITIONS) is None


def test_no_partitions_at_all_begin_a_transaction_too() -> None:
    begun = add(transaction(TransactionState.EMPTY))
    assert begun is not None
    assert begun.state is TransactionState.ONGOING


@pytest.mark.parametrize("state", sorted(ENDING))
@pytest.mark.parametrize("by", [OWNER, ProducerIdAndEpoch(PRODUCER, 4), ProducerIdAndEpoch(9, 0)])
def test_while_a_transaction_ends_producers_have_to_wait(
    state: TransactionState, by: ProducerIdAndEpoch
) -> None:
    """One may be the producer of the next transaction, under its new id and epoch."""
    with pytest.raises(BrokerError) as refused:
        add(transaction(state), MORE, by=by)
    assert refused.value.code is ErrorCode.CONCURRENT_TRANSACTIONS


@pytest.mark.parametrize(
    ("by", "code"),
    [
        (ProducerIdAndEpoch(PRODUCER, 2), ErrorCode.PRODUCER_FENCED),
        (ProducerIdAndEpoch(PRODUCER, 4), ErrorCode.PRODUCER_FENCED),
        (ProducerIdAndEpoch(9, 3), ErrorCode.INVALID_PRODUCER_ID_MAPPING),
    ],
)
def test_others_are_refused(by: ProducerIdAndEpoch, code: ErrorCode) -> None:
    with pytest.raises(BrokerError) as refused:
        add(transaction(TransactionState.ONGOING), MORE, by=by)
    assert refused.value.code is code
    with pytest.raises(BrokerError) as refused:
        run_blocking(verifying(transaction(TransactionState.ONGOING), by, [MORE]))
    assert refused.value.code is code


def test_an_unknown_id_has_no_producer() -> None:
    with pytest.raises(BrokerError) as refused:
        add(None, MORE)
    assert refused.value.code is ErrorCode.INVALID_PRODUCER_ID_MAPPING


def test_verifying_says_which_partitions_take_part() -> None:
    (known, *_) = PARTITIONS
    ongoing = transaction(TransactionState.ONGOING)
    codes = run_blocking(verifying(ongoing, OWNER, [known, MORE]))
    assert codes == {known: ErrorCode.NONE, MORE: ErrorCode.TRANSACTION_ABORTABLE}
    ended = transaction(TransactionState.COMPLETE_COMMIT)
    over = run_blocking(verifying(ended, OWNER, [known]))
    assert over == {known: ErrorCode.TRANSACTION_ABORTABLE}


def test_a_transaction_has_at_most_so_many_partitions() -> None:
    current = transaction(TransactionState.ONGOING)
    known = len(current.partitions)
    others = [TopicPartition("other", at) for at in range(5)]
    added = decide_add_partitions(current, OWNER, others, 2, LATER_MS, known + 5)
    assert added is not None
    assert len(added.partitions) == known + 5
    with pytest.raises(BrokerError) as refused:
        decide_add_partitions(current, OWNER, others, 2, LATER_MS, known + 4)
    assert refused.value.code is ErrorCode.INVALID_REQUEST
