"""EndTxn in every state: the decisions answer as in the table, before and after loading the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from tests.unit.coordinators.transactions.end_table import (
    REQUESTS,
    SENDERS,
    TABLE,
    History,
    shown,
)
from tests.unit.coordinators.transactions.making import EMPTY, ID, NOW_MS, PARTITIONS, NewIds

from ottla.coordinators.transactions.ending import (
    EndRequest,
    decide_complete,
    decide_end,
    decide_fence,
    producer_afterwards,
)
from ottla.coordinators.transactions.enlisting import decide_add_partitions
from ottla.coordinators.transactions.initialising import InitRequest, decide_init
from ottla.coordinators.transactions.record_types import record_of, transaction_of
from ottla.coordinators.transactions.transaction import ProducerIdAndEpoch, Transaction
from ottla.protocol.errors import BrokerError

CLASSIC, BUMPING = 0, 2
CLUSTER_VERSION = 2
OTHER_ID = 4711


def add(current: Transaction, version: int) -> Transaction:
    added = decide_add_partitions(current, current.producer, PARTITIONS, version, NOW_MS)
    assert added is not None
    return added


def end(current: Transaction, is_commit: bool, version: int) -> Transaction:
    ending = decide_end(current, EndRequest(current.producer, is_commit, version), NewIds(), NOW_MS)
    assert ending is not None
    return decide_complete(ending, NOW_MS)


STEPS: Mapping[str, Callable[[Transaction], Transaction]] = {
    "add": lambda current: add(current, CLASSIC),
    "add offsets": lambda current: add(current, CLASSIC),
    "produce": lambda current: add(current, BUMPING),
    "commit": lambda current: end(current, True, CLASSIC),
    "abort": lambda current: end(current, False, CLASSIC),
    "commit v2": lambda current: end(current, True, BUMPING),
    "abort v2": lambda current: end(current, False, BUMPING),
    "fence": lambda current: decide_complete(
        decide_fence(current, CLUSTER_VERSION, NewIds(), NOW_MS), NOW_MS
    ),
    "init": lambda current: decide_init(current, InitRequest(ID, 60_000, None), NewIds(), NOW_MS),
}


def loaded(current: Transaction) -> Transaction:
    """As the next coordinator finds it in the log."""
    record = record_of(current, CLUSTER_VERSION)
    assert record.value is not None
    return transaction_of(ID, record.value)  # type: ignore[arg-type]


def answer(current: Transaction, request: str, sender: str) -> str:
    producer_id = OTHER_ID if sender == "other id" else current.producer_id
    producer = ProducerIdAndEpoch(producer_id, current.epoch + SENDERS[sender])
    version = BUMPING if request.endswith("v2") else CLASSIC
    wanted = EndRequest(producer, request.startswith("commit"), version)
    try:
        ending = decide_end(current, wanted, NewIds(), NOW_MS)
    except BrokerError as error:
        return shown(error.code, 0)
    if version == CLASSIC:
        return "ok"
    afterwards = current.producer if ending is None else producer_afterwards(ending)
    return f"ok {afterwards.epoch - current.epoch:+}"


@pytest.mark.parametrize("history", TABLE, ids=lambda each: each.name)
def test_end_txn_is_answered_as_in_the_table(history: History) -> None:
    current = EMPTY
    for step in history.steps:
        current = STEPS[step](current)
    assert current.epoch == EMPTY.epoch + history.bumps
    for found in (current, loaded(current)):
        answers = {
            request: tuple(answer(found, request, sender) for sender in SENDERS)
            for request in REQUESTS
        }
        assert answers == TABLE[history]
