"""EndTxn in every state, request by request: our broker and Apache Kafka answer as in the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from tests.compatibility.clients.transactions_harness import (
    Begun,
    Producer,
    TransactionsHarness,
    settled,
)
from tests.support.raw_client import RawClient
from tests.unit.coordinators.transactions.end_table import (
    REQUESTS,
    SENDERS,
    TABLE,
    History,
    shown,
)

from ottla.protocol.error_codes import ErrorCode

CLASSIC, BUMPING = 3, 5
OTHER_ID = 4711


def add(producer: Producer) -> None:
    assert settled(lambda: producer.add()[0]) is ErrorCode.NONE


def add_offsets(producer: Producer) -> None:
    assert settled(lambda: producer.add_offsets()) is ErrorCode.NONE


def produce(producer: Producer) -> None:
    assert producer.produce_settled(version=12) is ErrorCode.NONE


def end(producer: Producer, is_commit: bool, version: int) -> None:
    """Repeated until its markers are written."""
    assert producer.end(is_commit, version=version).code is ErrorCode.NONE
    assert producer.end_settled(is_commit, version=version).code is ErrorCode.NONE


def fence(producer: Producer) -> None:
    """The new producer has to repeat the request: the transaction of the last one is aborted."""
    assert producer.harness.init().code is ErrorCode.CONCURRENT_TRANSACTIONS
    settled(lambda: producer.with_epoch(producer.epoch + 1).end(True, version=BUMPING).code)


def init_again(producer: Producer) -> None:
    producer.harness.init_settled()


STEPS: Mapping[str, Callable[[Producer], None]] = {
    "add": add,
    "add offsets": add_offsets,
    "produce": produce,
    "commit": lambda producer: end(producer, True, CLASSIC),
    "abort": lambda producer: end(producer, False, CLASSIC),
    "commit v2": lambda producer: end(producer, True, BUMPING),
    "abort v2": lambda producer: end(producer, False, BUMPING),
    "fence": fence,
    "init": init_again,
}


def answer(client: RawClient, history: History, request: str, sender: str) -> str:
    """What this request gets after this history."""
    harness = TransactionsHarness.new(client)
    producer = harness.producer()
    for step in history.steps:
        STEPS[step](producer)
    epoch = producer.epoch + history.bumps
    who = Producer(
        harness, OTHER_ID if sender == "other id" else producer.producer_id, epoch + SENDERS[sender]
    )
    is_commit = request.startswith("commit")
    version = BUMPING if request.endswith("v2") else CLASSIC
    begun: Begun = who.end_settled(is_commit, version=version)
    if begun.code is ErrorCode.NONE and version == CLASSIC:
        return "ok"
    return shown(begun.code, begun.epoch - epoch)


@pytest.mark.parametrize("history", TABLE, ids=lambda each: each.name)
def test_end_txn_is_answered_as_in_the_table(either_bootstrap: str, history: History) -> None:
    with RawClient(either_bootstrap) as client:
        found = {
            request: tuple(answer(client, history, request, sender) for sender in SENDERS)
            for request in REQUESTS
        }
    assert found == TABLE[history]
