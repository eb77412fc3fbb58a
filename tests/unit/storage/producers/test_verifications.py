"""Transactions under verification: guards, epochs that overtake one another, and their end."""

from __future__ import annotations

import pytest

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.records.batch import CONTROL_BIT, TRANSACTIONAL_BIT, BatchHeader
from ottla.protocol.records.control import EndMarker
from ottla.storage.producers.producer_state import ProducerStates
from ottla.storage.producers.transaction_verification import NO_GUARD, Verifications

PRODUCER = 7


def test_a_newer_epoch_begins_its_sequences_anew_and_an_older_one_changes_nothing() -> None:
    verifications = Verifications()
    guard = verifications.start(PRODUCER, 9, 3, True, now_ms=100)
    current = verifications.get(PRODUCER)
    assert current is not None
    assert (current.lowest_sequence, current.epoch, current.started_ms) == (9, 3, 100)
    assert verifications.start(PRODUCER, 4, 2, True, 101) == guard
    assert (current.lowest_sequence, current.epoch) == (9, 3), "a zombie's sequences do not count"
    assert verifications.start(PRODUCER, 6, 3, True, 102) == guard
    assert verifications.start(PRODUCER, 8, 3, True, 103) == guard
    assert current.lowest_sequence == 6
    assert verifications.start(PRODUCER, 20, 4, True, 104) == guard
    assert (current.lowest_sequence, current.epoch, current.started_ms) == (20, 4, 100)


def test_guards_are_never_used_twice_and_each_producer_has_its_own() -> None:
    verifications = Verifications()
    guards = [verifications.start(producer, 0, 0, False, 0) for producer in (1, 2, 3)]
    verifications.end(2)
    verifications.end(9)
    guards.append(verifications.start(2, 0, 0, False, 0))
    assert len(set(guards)) == 4
    assert NO_GUARD not in guards
    assert len(verifications) == 3


@pytest.mark.parametrize(
    ("supports_bump", "epoch", "is_kept"),
    [(True, 5, True), (True, 4, False), (True, 6, False), (False, 5, False)],
)
def test_a_marker_spares_only_the_transaction_that_comes_after_it(
    supports_bump: bool, epoch: int, is_kept: bool
) -> None:
    verifications = Verifications()
    verifications.start(PRODUCER, 0, 5, supports_bump, 0)
    verifications.marker_written(PRODUCER + 1, epoch)
    verifications.marker_written(PRODUCER, epoch)
    assert (verifications.get(PRODUCER) is not None) == is_kept


def test_an_unfinished_verification_expires_by_its_start() -> None:
    states = ProducerStates()
    guard = states.start_verification(PRODUCER, 0, 0, False, now_ms=1000)
    states.start_verification(PRODUCER, 1, 0, False, now_ms=1900)
    states.expire(1999, 1000)
    assert states.start_verification(PRODUCER, 0, 0, False, now_ms=1999) == guard
    states.expire(2000, 1000)
    assert states.start_verification(PRODUCER, 0, 0, False, now_ms=2000) != guard


def header(offset: int, sequence: int, timestamp: int, *, epoch: int = 0) -> BatchHeader:
    attributes = TRANSACTIONAL_BIT | (CONTROL_BIT if sequence < 0 else 0)
    return BatchHeader(
        offset, 49, 0, 2, 0, attributes, 0, timestamp, timestamp, PRODUCER, epoch, sequence, 1
    )  # fmt: skip


def test_verified_records_need_the_guard_that_is_current() -> None:
    states = ProducerStates()
    first = states.start_verification(PRODUCER, 0, 0, False, now_ms=0)
    states.apply(header(0, -1, 10), EndMarker(False, 0))  # the coordinator gave up on it
    second = states.start_verification(PRODUCER, 0, 0, False, now_ms=1)
    wanted = header(1, 0, 20)
    codes = [
        states.decide_append(wanted, guard=guard, verification_enabled=True).code
        for guard in (NO_GUARD, first, second)
    ]
    assert codes == [ErrorCode.INVALID_TXN_STATE, ErrorCode.INVALID_TXN_STATE, ErrorCode.NONE]
    states.apply(wanted)
    assert states.has_open_transaction(PRODUCER, 0)
    assert not states.has_open_transaction(PRODUCER, 1)
    assert not states.has_open_transaction(PRODUCER + 1, 0)
    assert states.start_verification(PRODUCER, 1, 0, False, now_ms=2) == NO_GUARD
    assert states.decide_append(header(2, 1, 30), verification_enabled=True).code is ErrorCode.NONE
