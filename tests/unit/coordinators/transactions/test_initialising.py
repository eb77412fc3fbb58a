"""InitProducerId: epochs, fencing, continuing after an error, epochs that are used up."""

from __future__ import annotations

import pytest
from tests.unit.coordinators.transactions.making import (
    EMPTY,
    ID,
    LATER_MS,
    NOW_MS,
    PRODUCER,
    NewIds,
    transaction,
)

from ottla.base.ids import NO_PRODUCER_EPOCH
from ottla.coordinators.transactions.initialising import InitRequest, decide_init, must_abort_first
from ottla.coordinators.transactions.states import ENDING, IDLE, TransactionState
from ottla.coordinators.transactions.transaction import (
    EPOCH_MAX,
    EPOCH_SPENT,
    ProducerIdAndEpoch,
    Transaction,
)
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError


def init(
    current: Transaction | None,
    expected: tuple[int, int] | None = None,
    new_id: NewIds | None = None,
) -> Transaction:
    was = None if expected is None else ProducerIdAndEpoch(*expected)
    return decide_init(current, InitRequest(ID, 30_000, was), new_id or NewIds(), LATER_MS)


def test_a_new_id_begins_with_a_new_producer_and_epoch_zero() -> None:
    made = init(None)
    assert made.producer == (900, 0)
    assert (made.state, made.timeout_ms, made.last_update_ms) == (
        TransactionState.EMPTY,
        30_000,
        LATER_MS,
    )


@pytest.mark.parametrize("state", sorted(IDLE))
def test_a_new_producer_gets_the_next_epoch_and_fences_earlier_ones(
    state: TransactionState,
) -> None:
    made = init(transaction(state, last_epoch=2))
    assert made.producer == (PRODUCER, 4)
    assert made.last_epoch == NO_PRODUCER_EPOCH
    assert (made.state, made.start_ms, made.partitions) == (TransactionState.EMPTY, -1, frozenset())
    with pytest.raises(BrokerError, match="FENCED"):
        init(made, (PRODUCER, 3))


def test_who_continues_gets_the_next_epoch_and_the_same_again() -> None:
    made = init(EMPTY, (PRODUCER, 3))
    assert (made.epoch, made.last_epoch) == (4, 3)
    again = init(made, (PRODUCER, 3))
    assert (again.epoch, again.last_epoch) == (4, 3)


@pytest.mark.parametrize("expected", [(PRODUCER, 2), (PRODUCER, 4), (41, 3), (41, EPOCH_SPENT)])
def test_a_producer_with_another_id_is_fenced(expected: tuple[int, int]) -> None:
    with pytest.raises(BrokerError) as refused:
        init(EMPTY, expected)
    assert refused.value.code is ErrorCode.PRODUCER_FENCED


def test_used_up_epochs_lead_to_another_producer_id() -> None:
    made = init(transaction(TransactionState.COMPLETE_ABORT, epoch=EPOCH_SPENT))
    assert made.producer == (900, 0)
    assert (made.previous_producer_id, made.last_epoch) == (PRODUCER, NO_PRODUCER_EPOCH)


def test_who_continues_with_used_up_epochs_may_ask_again_under_the_old_id() -> None:
    made = init(transaction(TransactionState.EMPTY, epoch=EPOCH_SPENT), (PRODUCER, EPOCH_SPENT))
    assert made.producer == (900, 0)
    again = init(made, (PRODUCER, EPOCH_SPENT))
    assert again.producer == (900, 0)


@pytest.mark.parametrize("state", sorted(IDLE))
@pytest.mark.parametrize("epoch", [0, 1, 3, EPOCH_SPENT - 2, EPOCH_SPENT - 1, EPOCH_SPENT])
@pytest.mark.parametrize("has_last", [False, True])
def test_only_who_has_the_current_epoch_or_the_last_one_continues_up_to_the_last_of_all_epochs(
    epoch: int, has_last: bool, state: TransactionState
) -> None:
    current = transaction(
        state, epoch=epoch, last_epoch=epoch - 1 if has_last else NO_PRODUCER_EPOCH
    )
    bumped = (900, 0) if epoch == EPOCH_SPENT else (PRODUCER, epoch + 1)
    assert init(current).producer == bumped
    for expected in {0, 1, 2, 3, epoch - 2, epoch - 1, epoch, epoch + 1, EPOCH_SPENT, EPOCH_MAX}:
        if expected == epoch:
            assert init(current, (PRODUCER, expected)).producer == bumped
        elif has_last and expected == epoch - 1 >= 0:
            again = init(current, (PRODUCER, expected))
            assert (again.producer, again.last_epoch) == (current.producer, expected)
        elif expected >= 0:
            with pytest.raises(BrokerError, match="FENCED"):
                init(current, (PRODUCER, expected))


@pytest.mark.parametrize("state", sorted(ENDING))
def test_while_a_transaction_ends_producers_have_to_wait(state: TransactionState) -> None:
    for expected in (None, ProducerIdAndEpoch(41, 7)):
        with pytest.raises(BrokerError) as refused:
            must_abort_first(transaction(state), InitRequest(ID, 30_000, expected))
        assert refused.value.code is ErrorCode.CONCURRENT_TRANSACTIONS


def test_only_an_open_transaction_must_be_aborted_first() -> None:
    wanted = InitRequest(ID, 30_000, None)
    assert must_abort_first(transaction(TransactionState.ONGOING), wanted)
    assert not any(must_abort_first(transaction(state), wanted) for state in IDLE)
    assert not must_abort_first(None, wanted)


def test_a_producer_id_is_taken_only_where_one_is_used() -> None:
    new_id = NewIds()
    init(EMPTY, new_id=new_id)
    with pytest.raises(BrokerError):
        init(transaction(TransactionState.ONGOING, start_ms=NOW_MS), new_id=new_id)
    assert new_id.given == 0
