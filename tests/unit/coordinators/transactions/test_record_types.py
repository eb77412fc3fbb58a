"""Records of `__transaction_state`: Kafka's bytes, and back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.coordinators.transactions.making import ID, NOW_MS, PRODUCER, transaction

from ottla.base.ids import NO_PRODUCER_EPOCH
from ottla.coordinators.records import decode_record, encode_key, encode_value
from ottla.coordinators.transactions.record_types import (
    TRANSACTION_RECORDS,
    record_of,
    tombstone_of,
    transaction_of,
)
from ottla.coordinators.transactions.states import TransactionState
from ottla.coordinators.transactions.transaction import EPOCH_SPENT, Transaction
from ottla.protocol.errors import MalformedMessage
from ottla.protocol.messages.transaction_log_value import TransactionLogValue

TAGGED = {"previous_producer_id": PRODUCER, "next_producer_id": 900, "client_version": 2}


def written_and_read(known: Transaction, level: int) -> Transaction:
    record = record_of(known, level)
    read = decode_record(TRANSACTION_RECORDS, encode_key(record.key), encode_value(record))
    assert read is not None
    assert isinstance(read.value, TransactionLogValue)
    return transaction_of(ID, read.value)


@pytest.mark.parametrize("state", sorted(TransactionState))
def test_a_record_holds_everything_but_the_epoch_before(state: TransactionState) -> None:
    known = transaction(state, last_epoch=2, **TAGGED)
    read = written_and_read(known, 2)
    assert replace(read, last_epoch=2) == known


@pytest.mark.parametrize("level", [0, 1, 2])
def test_the_level_of_the_cluster_says_which_version_is_written(level: int) -> None:
    record = record_of(transaction(TransactionState.ONGOING, **TAGGED), level)
    assert record.value_version == min(level, 1)
    value = encode_value(record)
    assert value is not None
    assert int.from_bytes(value[:2], "big") == record.value_version


def test_before_version_1_what_has_no_place_is_left_out() -> None:
    read = written_and_read(transaction(TransactionState.ONGOING, **TAGGED), 0)
    assert (read.previous_producer_id, read.next_producer_id, read.client_version) == (-1, -1, 0)


def test_the_bytes_are_kafkas() -> None:
    record = record_of(transaction(TransactionState.ONGOING, client_version=2), 2)
    assert encode_key(record.key).hex() == "0000" + "0008" + b"payments".hex()
    assert encode_value(record) == bytes.fromhex(
        "0001"  # version
        "0000000000000028" "0003" "0000ea60" "01"  # producer id and epoch, timeout, Ongoing
        "02" "02" "74" "03" "00000000" "00000001" "00"  # one topic, t: partitions 0 and 1
        f"{NOW_MS:016x}" f"{NOW_MS:016x}"  # last update, start
        "01" "02" "02" "0002"  # one tagged field: the client's version
    )  # fmt: skip


def test_an_empty_transaction_has_no_list_of_partitions_at_all() -> None:
    value = record_of(transaction(TransactionState.EMPTY), 2).value
    assert isinstance(value, TransactionLogValue)
    assert value.transaction_partitions is None


def test_a_tombstone_forgets_the_id() -> None:
    record = tombstone_of(ID)
    assert encode_value(record) is None
    assert decode_record(TRANSACTION_RECORDS, encode_key(record.key), None) == record


def test_an_unknown_state_is_not_taken_for_another() -> None:
    with pytest.raises(MalformedMessage, match=r"payments.*unknown state 99"):
        transaction_of(ID, TransactionLogValue(transaction_status=99))


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (transaction(TransactionState.COMPLETE_COMMIT, client_version=2), 2),
        (transaction(TransactionState.PREPARE_ABORT, client_version=2), 2),
        (
            transaction(
                TransactionState.COMPLETE_COMMIT, client_version=2, epoch=0, previous_producer_id=39
            ),
            EPOCH_SPENT,
        ),
        (
            transaction(
                TransactionState.COMPLETE_ABORT,
                client_version=2,
                epoch=0,
                previous_producer_id=PRODUCER,
            ),
            NO_PRODUCER_EPOCH,
        ),
        (transaction(TransactionState.COMPLETE_COMMIT, client_version=0), NO_PRODUCER_EPOCH),
        (transaction(TransactionState.EMPTY, client_version=2), NO_PRODUCER_EPOCH),
        (transaction(TransactionState.ONGOING, client_version=2), NO_PRODUCER_EPOCH),
    ],
)
def test_after_an_end_with_version_2_the_previous_epoch_follows_from_the_record(
    known: Transaction, expected: int
) -> None:
    assert written_and_read(known, 2).last_epoch == expected
