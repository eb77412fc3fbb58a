"""EndTxn in both protocols, fencing, completing, and the last epochs of a producer id."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.coordinators.transactions.making import (
    LATER_MS,
    NOW_MS,
    PARTITIONS,
    PRODUCER,
    NewIds,
    transaction,
)

from ottla.base.ids import NO_PRODUCER_EPOCH
from ottla.coordinators.transactions.ending import (
    EndRequest,
    complete,
    decide_complete,
    decide_end,
    decide_fence,
    prepare,
    producer_afterwards,
)
from ottla.coordinators.transactions.states import ENDING, IDLE, TransactionState
from ottla.coordinators.transactions.transaction import (
    EPOCH_MAX,
    EPOCH_SPENT,
    ProducerIdAndEpoch,
    Transaction,
)
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

CLASSIC, BUMPING = 0, 2
BOTH = pytest.mark.parametrize("is_commit", [True, False])
IN_BOTH = pytest.mark.parametrize("version", [CLASSIC, BUMPING])


def end(
    current: Transaction | None,
    is_commit: bool,
    version: int,
    *,
    producer_id: int = PRODUCER,
    epoch: int = 3,
    new_id: NewIds | None = None,
) -> Transaction | None:
    wanted = EndRequest(ProducerIdAndEpoch(producer_id, epoch), is_commit, version)
    return decide_end(current, wanted, new_id or NewIds(), LATER_MS)


def ended(current: Transaction, is_commit: bool, version: int, epoch: int = 3) -> Transaction:
    changed = end(current, is_commit, version, epoch=epoch)
    assert changed is not None
    return changed


def refusal(current: Transaction | None, is_commit: bool, version: int, **by: int) -> ErrorCode:
    with pytest.raises(BrokerError) as refused:
        end(current, is_commit, version, **by)  # type: ignore[arg-type]
    return refused.value.code


ONGOING = transaction(TransactionState.ONGOING)


@BOTH
def test_a_classic_end_keeps_the_epoch(is_commit: bool) -> None:
    ending = ended(ONGOING, is_commit, CLASSIC)
    assert (ending.state, ending.epoch) == (prepare(is_commit), 3)
    assert (ending.partitions, ending.start_ms) == (PARTITIONS, NOW_MS)
    over = decide_complete(ending, LATER_MS + 1)
    assert (over.state, over.epoch, over.partitions) == (complete(is_commit), 3, frozenset())
    assert (over.start_ms, over.last_update_ms) == (NOW_MS, LATER_MS + 1)


@BOTH
def test_version_2_bumps_the_epoch(is_commit: bool) -> None:
    ending = ended(ONGOING, is_commit, BUMPING)
    assert (ending.state, ending.epoch, ending.last_epoch) == (prepare(is_commit), 4, 3)
    assert producer_afterwards(ending) == (PRODUCER, 4)
    over = decide_complete(ending, LATER_MS)
    assert (over.state, over.epoch, over.last_epoch) == (complete(is_commit), 4, 3)


@BOTH
def test_a_repeated_classic_end_is_known_by_the_state(is_commit: bool) -> None:
    over = transaction(complete(is_commit))
    assert end(over, is_commit, CLASSIC) is None
    assert refusal(over, not is_commit, CLASSIC) is ErrorCode.INVALID_TXN_STATE


@BOTH
def test_a_repeated_bumping_end_is_known_by_the_epoch_before(is_commit: bool) -> None:
    over = decide_complete(ended(ONGOING, is_commit, BUMPING), LATER_MS)
    assert end(over, is_commit, BUMPING, epoch=3) is None
    assert refusal(over, not is_commit, BUMPING, epoch=3) is ErrorCode.INVALID_TXN_STATE
    assert refusal(over, is_commit, BUMPING, epoch=2) is ErrorCode.PRODUCER_FENCED


@BOTH
def test_with_version_2_only_an_abort_needs_no_transaction(is_commit: bool) -> None:
    for state in IDLE:
        current = transaction(state)
        if is_commit:
            assert refusal(current, is_commit, BUMPING) is ErrorCode.INVALID_TXN_STATE
            continue
        ending = ended(current, is_commit, BUMPING)
        assert (ending.state, ending.epoch) == (TransactionState.PREPARE_ABORT, 4)
        assert (ending.partitions, ending.start_ms) == (frozenset(), LATER_MS)


@BOTH
def test_a_classic_end_needs_a_transaction(is_commit: bool) -> None:
    assert (
        refusal(transaction(TransactionState.EMPTY), is_commit, CLASSIC)
        is ErrorCode.INVALID_TXN_STATE
    )


@BOTH
@IN_BOTH
@pytest.mark.parametrize("state", sorted(ENDING))
def test_while_a_transaction_ends_its_producer_has_to_wait(
    is_commit: bool, version: int, state: TransactionState
) -> None:
    code = refusal(transaction(state), is_commit, version)
    assert code is ErrorCode.CONCURRENT_TRANSACTIONS


@pytest.mark.parametrize("state", sorted(ENDING))
def test_version_2_may_come_with_the_next_epoch_while_the_last_transaction_ends(
    state: TransactionState,
) -> None:
    ending = transaction(state, epoch=4, next_producer_id=77)
    for by in ({"epoch": 4}, {"epoch": 3}, {"producer_id": 77, "epoch": 0}):
        code = refusal(ending, False, BUMPING, **by)
        assert code is ErrorCode.CONCURRENT_TRANSACTIONS


@IN_BOTH
def test_others_cannot_end(version: int) -> None:
    for epoch in (2, 4):
        assert refusal(ONGOING, True, version, epoch=epoch) is ErrorCode.PRODUCER_FENCED
    code = refusal(ONGOING, True, version, producer_id=9)
    assert code is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert refusal(None, True, version) is ErrorCode.INVALID_PRODUCER_ID_MAPPING


# Epochs that are used up


def test_the_last_bump_gives_a_new_id_once_the_markers_are_written() -> None:
    new_id = NewIds()
    ending = end(
        replace(ONGOING, epoch=EPOCH_SPENT), True, BUMPING, epoch=EPOCH_SPENT, new_id=new_id
    )
    assert ending is not None
    assert (ending.producer, ending.next_producer_id) == ((PRODUCER, EPOCH_MAX), 900)
    assert producer_afterwards(ending) == (900, 0)
    over = decide_complete(ending, LATER_MS)
    assert (over.producer, over.next_producer_id) == ((900, 0), -1)
    assert over.previous_producer_id == PRODUCER
    assert end(over, True, BUMPING, epoch=EPOCH_SPENT) is None, "a repetition under the old id"
    assert refusal(over, True, BUMPING, epoch=5) is ErrorCode.INVALID_PRODUCER_ID_MAPPING


def test_a_classic_end_never_takes_a_new_id() -> None:
    new_id = NewIds()
    current = replace(ONGOING, epoch=EPOCH_SPENT)
    assert end(current, True, CLASSIC, epoch=EPOCH_SPENT, new_id=new_id) is not None
    assert new_id.given == 0


# Against the producer


def test_fencing_aborts_and_bumps() -> None:
    fenced = decide_fence(replace(ONGOING, last_epoch=2), 2, NewIds(), LATER_MS)
    assert (fenced.state, fenced.epoch, fenced.last_epoch) == (TransactionState.PREPARE_ABORT, 4, 3)
    assert fenced.bumps_epoch


@pytest.mark.parametrize("level", [0, 1])
def test_before_version_2_a_fenced_producer_cannot_ask_for_its_bump(level: int) -> None:
    fenced = decide_fence(replace(ONGOING, last_epoch=2), level, NewIds(), LATER_MS)
    assert (fenced.state, fenced.epoch, fenced.last_epoch) == (
        TransactionState.PREPARE_ABORT,
        4,
        NO_PRODUCER_EPOCH,
    )
    assert not fenced.bumps_epoch


@pytest.mark.parametrize("level", [0, 2])
def test_even_the_greatest_epoch_can_be_fenced(level: int) -> None:
    fenced = decide_fence(replace(ONGOING, epoch=EPOCH_MAX), level, NewIds(), LATER_MS)
    assert fenced.epoch == EPOCH_MAX
