"""Each decision compared as a whole with what the rules say: no field changes by accident.

The rules are written here once more, from the view of one producer: for every state, every epoch
that matters (the last ones included) and both versions of the protocol.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import pytest
from tests.unit.coordinators.transactions.making import (
    EMPTY,
    ID,
    LATER_MS,
    NOW_MS,
    PARTITIONS,
    PRODUCER,
    NewIds,
    transaction,
)

from ottla.base.ids import NO_PRODUCER_EPOCH, TopicPartition
from ottla.base.scheduling.steps import run_blocking
from ottla.coordinators.transactions.ending import (
    EndRequest,
    decide_complete,
    decide_end,
    decide_fence,
    producer_afterwards,
)
from ottla.coordinators.transactions.enlisting import decide_add_partitions
from ottla.coordinators.transactions.initialising import InitRequest, decide_init, must_abort_first
from ottla.coordinators.transactions.listing import Filter
from ottla.coordinators.transactions.states import ENDING, IDLE, TransactionState
from ottla.coordinators.transactions.transaction import (
    EPOCH_MAX,
    EPOCH_SPENT,
    ProducerIdAndEpoch,
    Transaction,
)
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

NEW_ID = 900  # the first that is given
EPOCHS = (0, 3, EPOCH_SPENT - 1, EPOCH_SPENT)
COMPLETE = {True: TransactionState.COMPLETE_COMMIT, False: TransactionState.COMPLETE_ABORT}
PREPARE = {True: TransactionState.PREPARE_COMMIT, False: TransactionState.PREPARE_ABORT}


def outcome(act: Callable[[], Transaction | None]) -> Transaction | ErrorCode | None:
    try:
        return act()
    except BrokerError as error:
        return error.code


def stepped(current: Transaction, **changes: object) -> Transaction:
    """What every change leaves behind, and these fields."""
    return replace(
        current,
        previous_producer_id=current.producer_id,
        last_update_ms=LATER_MS,
        **changes,  # type: ignore[arg-type]
    )


def bumped(current: Transaction, state: TransactionState, **changes: object) -> Transaction:
    is_spent = current.epoch >= EPOCH_SPENT
    return stepped(
        current,
        state=state,
        epoch=min(current.epoch + 1, EPOCH_MAX),
        last_epoch=current.epoch,
        next_producer_id=NEW_ID if is_spent else -1,
        client_version=2,
        **changes,
    )


@pytest.mark.parametrize("epoch", EPOCHS)
@pytest.mark.parametrize("is_commit", [True, False])
@pytest.mark.parametrize("version", [0, 1, 2])
def test_the_end_of_an_open_transaction(version: int, is_commit: bool, epoch: int) -> None:
    current = transaction(
        TransactionState.ONGOING, epoch=epoch, client_version=1, start_ms=NOW_MS - 5
    )
    end = EndRequest(current.producer, is_commit, version)
    ended = outcome(lambda: decide_end(current, end, NewIds(), LATER_MS))
    if version < 2:
        assert ended == stepped(current, state=PREPARE[is_commit], client_version=0)
    else:
        assert ended == bumped(current, PREPARE[is_commit])
    assert isinstance(ended, Transaction)
    over = decide_complete(ended, LATER_MS)
    after = producer_afterwards(ended)
    assert over == replace(
        ended,
        state=COMPLETE[is_commit],
        previous_producer_id=ended.producer_id,
        producer_id=after.producer_id,
        epoch=after.epoch,
        next_producer_id=-1,
        partitions=frozenset(),
    )
    if version < 2:
        assert after == current.producer
    elif epoch == EPOCH_SPENT:
        assert after == (NEW_ID, 0)
    else:
        assert after == (PRODUCER, epoch + 1)


def test_a_client_of_the_first_version_keeps_its_id_though_another_was_meant_for_it() -> None:
    """Only a client of version 2 is notified of its next id with the answer."""
    current = transaction(
        TransactionState.PREPARE_COMMIT, epoch=9, next_producer_id=77, client_version=1
    )
    assert producer_afterwards(current) == current.producer
    assert producer_afterwards(replace(current, client_version=2)) == (77, 0)


@pytest.mark.parametrize("state", [each for each in TransactionState if each in IDLE | ENDING])
@pytest.mark.parametrize("is_commit", [True, False])
@pytest.mark.parametrize("version", [0, 2])
def test_an_end_where_nothing_is_open(
    version: int, is_commit: bool, state: TransactionState
) -> None:
    current = transaction(state, epoch=3)

    def ended(epoch: int, producer_id: int = PRODUCER) -> Transaction | ErrorCode | None:
        end = EndRequest(ProducerIdAndEpoch(producer_id, epoch), is_commit, version)
        return outcome(lambda: decide_end(current, end, NewIds(), LATER_MS))

    if version == 0:
        expected: Transaction | ErrorCode | None = ErrorCode.INVALID_TXN_STATE
        if state in ENDING:
            expected = ErrorCode.CONCURRENT_TRANSACTIONS
        elif state is COMPLETE[is_commit]:
            expected = None
        assert ended(3) == expected
        assert ended(2) == ended(4) == ErrorCode.PRODUCER_FENCED
        assert ended(3, 41) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
        return
    if state in ENDING:
        assert {ended(epoch) for epoch in (2, 3, 4)} == {ErrorCode.CONCURRENT_TRANSACTIONS}
        return
    if is_commit:
        assert ended(3) == ErrorCode.INVALID_TXN_STATE
    else:
        assert ended(3) == bumped(current, TransactionState.PREPARE_ABORT, start_ms=LATER_MS)
    retried = ErrorCode.PRODUCER_FENCED
    if (
        state is not TransactionState.EMPTY
    ):  # the epoch before has ended its transaction, and asks again
        retried = None if state is COMPLETE[is_commit] else ErrorCode.INVALID_TXN_STATE  # type: ignore[assignment]
    assert ended(2) == retried
    assert ended(4) == ended(1) == ErrorCode.PRODUCER_FENCED
    assert ended(3, 41) == ErrorCode.INVALID_PRODUCER_ID_MAPPING


def test_only_the_producer_that_ended_with_the_last_epoch_may_retry_with_the_old_id() -> None:
    over = transaction(
        TransactionState.COMPLETE_COMMIT, producer_id=NEW_ID, epoch=0, previous_producer_id=PRODUCER
    )

    def again(producer_id: int, epoch: int) -> Transaction | ErrorCode | None:
        end = EndRequest(ProducerIdAndEpoch(producer_id, epoch), True, 2)
        return outcome(lambda: decide_end(over, end, NewIds(), LATER_MS))

    assert again(PRODUCER, EPOCH_SPENT) is None
    assert again(PRODUCER, EPOCH_SPENT - 1) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert again(41, EPOCH_SPENT) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    later = replace(over, epoch=1)
    end = EndRequest(ProducerIdAndEpoch(PRODUCER, EPOCH_SPENT), True, 2)
    code = outcome(lambda: decide_end(later, end, NewIds(), LATER_MS))
    assert code == ErrorCode.INVALID_PRODUCER_ID_MAPPING


@pytest.mark.parametrize("epoch", EPOCHS)
def test_a_transaction_that_is_fenced(epoch: int) -> None:
    current = transaction(
        TransactionState.ONGOING, epoch=epoch, last_epoch=epoch - 1, client_version=2
    )
    assert decide_fence(current, 2, NewIds(), LATER_MS) == bumped(
        current, TransactionState.PREPARE_ABORT
    )
    for version in (0, 1):
        assert decide_fence(current, version, NewIds(), LATER_MS) == stepped(
            current,
            state=TransactionState.PREPARE_ABORT,
            epoch=epoch + 1,
            last_epoch=NO_PRODUCER_EPOCH,
            client_version=0,
        )


@pytest.mark.parametrize(("state", "epoch"), [*product(sorted(IDLE), EPOCHS)])
def test_an_id_that_is_taken_over(state: TransactionState, epoch: int) -> None:
    current = transaction(state, epoch=epoch, last_epoch=7, partitions=PARTITIONS, start_ms=5)
    common = {
        "timeout_ms": 12_345,
        "state": TransactionState.EMPTY,
        "partitions": frozenset(),
        "start_ms": -1,
    }
    made = decide_init(current, InitRequest(ID, 12_345, None), NewIds(), LATER_MS)
    producer = (NEW_ID, 0) if epoch == EPOCH_SPENT else (PRODUCER, epoch + 1)
    assert made == stepped(
        current, producer_id=producer[0], epoch=producer[1], last_epoch=NO_PRODUCER_EPOCH, **common
    )
    continued = decide_init(current, InitRequest(ID, 12_345, current.producer), NewIds(), LATER_MS)
    assert continued == replace(made, last_epoch=epoch)


def test_a_stranger_does_not_even_abort_the_open_transaction() -> None:
    current = transaction(TransactionState.ONGOING)
    for expected, answer in (
        (None, True),
        (current.producer, True),
        (ProducerIdAndEpoch(PRODUCER, 1), True),  # refused once the transaction is over
        (ProducerIdAndEpoch(41, 3), ErrorCode.PRODUCER_FENCED),
        (ProducerIdAndEpoch(41, EPOCH_SPENT), ErrorCode.PRODUCER_FENCED),
    ):
        try:
            found: object = must_abort_first(current, InitRequest(ID, 1, expected))
        except BrokerError as error:
            found = error.code
        assert found == answer, expected


@pytest.mark.parametrize("state", sorted(IDLE | {TransactionState.ONGOING}))
@pytest.mark.parametrize("version", [0, 2])
def test_partitions_that_are_added(version: int, state: TransactionState) -> None:
    current = transaction(state, start_ms=NOW_MS - 9, partitions=frozenset(), client_version=1)
    new = TopicPartition("new", 7)
    is_open = state is TransactionState.ONGOING
    added = decide_add_partitions(current, current.producer, [new], version, LATER_MS)
    assert added == stepped(
        current,
        state=TransactionState.ONGOING,
        partitions=frozenset({new}),
        start_ms=NOW_MS - 9 if is_open else LATER_MS,
        client_version=version,
    )
    assert added is not None
    assert decide_add_partitions(added, added.producer, [new], version, LATER_MS + 1) is None


def test_a_transaction_has_at_most_so_many_partitions() -> None:
    names = [TopicPartition("t", number) for number in range(5)]
    full = decide_add_partitions(EMPTY, EMPTY.producer, names[:4], 2, LATER_MS, partitions_max=4)
    assert full is not None
    for wanted, code in ((names[:4], None), (names, ErrorCode.INVALID_REQUEST)):
        found = outcome(
            lambda wanted=wanted: decide_add_partitions(  # type: ignore[misc]
                full, full.producer, wanted, 2, LATER_MS, partitions_max=4
            )
        )
        assert found == code


# What tools see


def test_a_filter_leaves_out_what_does_not_fit_and_nothing_else() -> None:
    current = transaction(TransactionState.ONGOING, start_ms=NOW_MS)
    for wanted, is_included in (
        (Filter(), True),
        (Filter(state_labels={"Ongoing", "Empty"}), True),
        (Filter(state_labels={"Empty"}), False),
        (Filter(producer_ids={PRODUCER, 1}), True),
        (Filter(producer_ids={1}), False),
        (Filter(duration_ms=0), True),
        (Filter(duration_ms=LATER_MS - NOW_MS - 1), True),
        (Filter(duration_ms=LATER_MS - NOW_MS), False),
        (Filter(matches=lambda name: name == ID), True),
        (Filter(matches=lambda name: name != ID), False),
        (Filter(producer_ids={PRODUCER}, matches=lambda _name: False), False),
    ):
        assert wanted.includes(current, LATER_MS) == is_included, wanted
    assert not Filter().includes(replace(current, state=TransactionState.DEAD), LATER_MS)
    labels = {"Ongoing", "Gone"}
    assert run_blocking(Filter(state_labels=labels).finding_unknown_states()) == ["Gone"]


def test_states_have_kafkas_numbers_and_names() -> None:
    assert [(int(each), each.label) for each in TransactionState] == [
        (0, "Empty"),
        (1, "Ongoing"),
        (2, "PrepareCommit"),
        (3, "PrepareAbort"),
        (4, "CompleteCommit"),
        (5, "CompleteAbort"),
        (6, "Dead"),
        (7, "PrepareEpochFence"),
    ]
