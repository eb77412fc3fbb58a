"""The transaction protocols request by request: the same steps on our broker and on Apache Kafka.

Each test runs on both, so what is expected here is what Kafka answers.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.compatibility.clients.transactions_harness import (
    READ_UNCOMMITTED,
    Begun,
    Producer,
    TransactionsHarness,
    settled,
)
from tests.support.raw_client import RawClient, batch_of

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest
from ottla.protocol.messages.fetch_response import AbortedTransaction

NONE = ErrorCode.NONE
FENCED = ErrorCode.PRODUCER_FENCED
OLD_EPOCH = ErrorCode.INVALID_PRODUCER_EPOCH
WRONG_ID = ErrorCode.INVALID_PRODUCER_ID_MAPPING
WRONG_STATE = ErrorCode.INVALID_TXN_STATE
ABORTABLE = ErrorCode.TRANSACTION_ABORTABLE


@pytest.fixture
def harness(either_bootstrap: str) -> Iterator[TransactionsHarness]:
    with RawClient(either_bootstrap) as client:
        yield TransactionsHarness.new(client)


@pytest.fixture
def producer(harness: TransactionsHarness) -> Producer:
    return harness.producer()


# Who a transactional id belongs to


def test_every_new_producer_gets_the_next_epoch(harness: TransactionsHarness) -> None:
    first = harness.init_settled()
    second = harness.init_settled()
    assert (first.code, first.epoch) == (NONE, 0)
    assert second == Begun(NONE, first.producer_id, 1)


@pytest.mark.parametrize("version", range(0, 6))
def test_a_transactional_id_can_be_initialised_in_every_version(
    harness: TransactionsHarness, version: int
) -> None:
    begun = settled(lambda: harness.init(version=version), lambda answer: answer.code)
    assert (begun.code, begun.epoch) == (NONE, 0)


def test_a_producer_that_says_who_it_was_continues_with_the_next_epoch(
    harness: TransactionsHarness,
) -> None:
    first = harness.init_settled()
    second = harness.init_settled(first)
    assert second == Begun(NONE, first.producer_id, 1)
    assert harness.init_settled(first) == second, "the answer may have been lost"
    assert harness.init_settled(second) == Begun(NONE, first.producer_id, 2)
    assert harness.init_settled(first) == Begun(FENCED)


def test_earlier_producers_are_fenced_by_a_new_one(harness: TransactionsHarness) -> None:
    first = harness.init_settled()
    harness.init_settled()
    assert harness.init(first) == Begun(FENCED)
    assert harness.init(first, version=3) == Begun(OLD_EPOCH)


def test_another_producer_id_is_rejected(harness: TransactionsHarness) -> None:
    first = harness.init_settled()
    assert harness.init(Begun(NONE, first.producer_id + 1, 0)) == Begun(FENCED)


def test_an_unknown_id_is_new_whatever_its_producer_had(
    harness: TransactionsHarness,
) -> None:
    begun = settled(lambda: harness.init(Begun(NONE, 4711, 11)), lambda answer: answer.code)
    assert (begun.code, begun.epoch) == (NONE, 0)
    assert begun.producer_id != 4711


@pytest.mark.parametrize("timeout_ms", [0, -1, 15 * 60 * 1000 + 1])
def test_a_timeout_must_be_within_the_brokers_limits(
    harness: TransactionsHarness, timeout_ms: int
) -> None:
    harness.init_settled()
    refused = Begun(ErrorCode.INVALID_TRANSACTION_TIMEOUT)
    assert harness.init(timeout_ms=timeout_ms) == refused


def test_an_empty_transactional_id_is_no_id(harness: TransactionsHarness) -> None:
    assert harness.init(transactional_id="") == Begun(ErrorCode.INVALID_REQUEST)


# Enlisting partitions


def test_partitions_are_enlisted_once_and_again(producer: Producer) -> None:
    assert producer.add([0]) == [NONE]
    assert producer.add([0, 1]) == [NONE, NONE]
    assert producer.add([1]) == [NONE]


@pytest.mark.parametrize(("version", "code"), [(0, OLD_EPOCH), (1, OLD_EPOCH), (2, FENCED)])
def test_an_old_epoch_cannot_enlist(producer: Producer, version: int, code: ErrorCode) -> None:
    producer.harness.init_settled()
    assert producer.add(version=version) == [code]


def test_only_the_producer_of_the_id_can_enlist(producer: Producer) -> None:
    stranger = Producer(producer.harness, producer.producer_id + 1, 0)
    assert stranger.add() == [WRONG_ID]
    assert producer.add(transactional_id="nobody's") == [WRONG_ID]


def test_one_unknown_partition_keeps_the_others_out(producer: Producer) -> None:
    unknown, untried = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.OPERATION_NOT_ATTEMPTED
    assert producer.add([0, 7]) == [untried, unknown]
    assert producer.verify() == [ABORTABLE]


def test_internal_topics_are_no_clients_business(producer: Producer) -> None:
    refused = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert producer.add([0], topic="__consumer_offsets") == [refused]
    assert producer.add([0], topic="__transaction_state") == [refused]


def test_leaders_can_ask_and_enlist(producer: Producer) -> None:
    assert producer.verify() == [ABORTABLE]
    assert producer.verify(only=False) == [NONE]
    assert producer.verify([0, 1]) == [NONE, ABORTABLE]
    assert producer.with_epoch(1).verify() == [FENCED]
    assert Producer(producer.harness, 4711, 0).verify() == [WRONG_ID]


# Writing


@pytest.mark.parametrize(
    ("version", "code"), [(9, WRONG_STATE), (10, WRONG_STATE), (11, ABORTABLE)]
)
def test_a_partition_that_was_not_enlisted_cannot_be_written_to(
    producer: Producer, version: int, code: ErrorCode
) -> None:
    assert producer.produce(version=version) == code
    assert producer.add([0]) == [NONE]
    assert producer.produce(version=version) == NONE
    assert producer.produce(version=version, partition=1) == code


@pytest.mark.parametrize("version", [12, 13])
def test_from_version_12_on_the_leader_enlists(producer: Producer, version: int) -> None:
    assert producer.produce(version=version) == NONE
    assert producer.verify([0, 1]) == [NONE, ABORTABLE]


@pytest.mark.parametrize("version", [9, 11, 12])
def test_records_of_a_fenced_producer_are_refused(producer: Producer, version: int) -> None:
    assert producer.add() == [NONE]
    assert producer.produce() == NONE
    begun = producer.harness.init_settled()
    assert begun.epoch > producer.epoch
    assert producer.produce(version=version) == OLD_EPOCH
    assert producer.produce(version=version, partition=1) == OLD_EPOCH


@pytest.mark.parametrize("version", [9, 11, 12])
def test_records_with_another_producer_id_are_rejected(producer: Producer, version: int) -> None:
    assert producer.add() == [NONE]
    stranger = Producer(producer.harness, producer.producer_id + 1_000_000, 0)
    assert stranger.produce(version=version) == WRONG_ID


def test_transactional_records_need_a_transactional_id(producer: Producer) -> None:
    assert producer.add() == [NONE]
    code = producer.produce(transactional_id=None)
    assert code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


@pytest.mark.parametrize("topic", ["__transaction_state", "__consumer_offsets"])
def test_clients_cannot_write_what_coordinators_rely_on(
    harness: TransactionsHarness, topic: str
) -> None:
    batch = batch_of(b"value", key=b"\0\0\0\0")
    code = harness.client.produce(topic, batch).error_code
    assert code == ErrorCode.INVALID_TOPIC_EXCEPTION


def test_plain_records_do_not_come_between_those_of_a_transaction(producer: Producer) -> None:
    assert producer.add() == [NONE]
    assert producer.produce() == NONE
    assert producer.produce(is_transactional=False) == WRONG_STATE


def test_sequences_count_in_transactions_too(producer: Producer) -> None:
    assert producer.add() == [NONE]
    assert producer.produce(b"1", b"2") == NONE
    assert producer.produce(sequence=7) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert producer.produce(b"1", b"2", sequence=0) == NONE, "a repetition"
    assert producer.produce(sequence=2) == NONE
    assert [header.base_sequence for header in producer.harness.headers()] == [0, 2]


def test_with_version_2_a_producer_without_state_begins_at_zero(producer: Producer) -> None:
    code = producer.produce(version=12, sequence=5)
    assert code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert producer.produce(version=12, sequence=0) == NONE


# Ending, classic


@pytest.mark.parametrize("version", range(0, 5))
@pytest.mark.parametrize("is_commit", [True, False])
def test_ending_is_answered_the_same_again(
    producer: Producer, version: int, is_commit: bool
) -> None:
    assert producer.add() == [NONE]
    assert producer.produce() == NONE
    assert producer.end(is_commit, version=version) == Begun(NONE)
    assert producer.end_settled(is_commit, version=version) == Begun(NONE)
    assert producer.end(not is_commit, version=version) == Begun(WRONG_STATE)


def test_what_was_not_begun_cannot_be_ended(producer: Producer) -> None:
    assert producer.commit() == WRONG_STATE
    assert producer.abort() == WRONG_STATE


@pytest.mark.parametrize(("version", "code"), [(0, OLD_EPOCH), (1, OLD_EPOCH), (2, FENCED)])
def test_an_old_epoch_cannot_end(producer: Producer, version: int, code: ErrorCode) -> None:
    producer.harness.init_settled()
    assert producer.commit(version=version) == code


@pytest.mark.parametrize("version", [3, 5])
def test_only_the_producer_of_the_id_can_end(producer: Producer, version: int) -> None:
    assert producer.add() == [NONE]
    assert Producer(producer.harness, 4711, 0).commit(version=version) == WRONG_ID
    assert producer.with_epoch(1).commit(version=version) == FENCED


@pytest.mark.parametrize("is_commit", [True, False])
def test_classic_markers_have_the_epoch_of_the_records(producer: Producer, is_commit: bool) -> None:
    harness = producer.harness
    assert producer.add([0, 1]) == [NONE, NONE]
    assert producer.produce() == NONE
    assert producer.end_settled(is_commit).code == NONE
    for partition in (0, 1):
        (marker,) = harness.wait_markers(1, partition)
        assert (marker.producer_id, marker.producer_epoch) == (producer.producer_id, 0)
        assert (marker.base_sequence, marker.is_transactional) == (-1, True)


def test_a_classic_producer_keeps_its_epoch_for_the_next_transaction(producer: Producer) -> None:
    for _ in range(3):
        assert settled(lambda: producer.add()[0]) == NONE
        assert producer.produce_settled() == NONE
        assert producer.commit() == NONE
    producer.harness.wait_stable()
    epochs = [header.producer_epoch for header in producer.harness.headers()]
    assert epochs == [0] * 6


def test_a_topic_that_was_deleted_keeps_no_transaction_from_ending(producer: Producer) -> None:
    harness = producer.harness
    assert producer.add() == [NONE]
    assert producer.produce() == NONE
    request = DeleteTopicsRequest(topic_names=[harness.topic], timeout_ms=30_000)
    assert harness.client.ask(request, 5).responses[0].error_code == 0
    assert producer.end_settled(True).code == NONE
    assert producer.end_settled(True).code == NONE, "until it is over"
    assert harness.init_settled() == Begun(NONE, producer.producer_id, 1)


# Ending, version 2


@pytest.mark.parametrize("is_commit", [True, False])
def test_version_2_bumps_the_epoch_with_every_end(producer: Producer, is_commit: bool) -> None:
    harness = producer.harness
    assert producer.produce(version=12) == NONE
    ended = producer.end(is_commit, version=5)
    assert ended == Begun(NONE, producer.producer_id, 1)
    assert producer.end_settled(is_commit, version=5) == ended, "the answer may have been lost"
    assert producer.end(not is_commit, version=5) == Begun(WRONG_STATE)
    (marker,) = harness.wait_markers(1)
    assert marker.producer_epoch == 1


def test_version_2_continues_with_the_new_epoch(producer: Producer) -> None:
    assert producer.produce(version=12) == NONE
    following = producer.next()
    assert following.produce_settled(version=12) == NONE
    assert producer.produce(version=12) == OLD_EPOCH
    assert producer.commit(version=5) == FENCED
    last = following.next(is_commit=False)
    assert last.epoch == 2
    last.harness.wait_stable()
    data = last.harness.fetch()
    assert data.high_watermark == 4
    assert data.aborted_transactions == [AbortedTransaction(producer.producer_id, 2)]


def test_version_2_can_abort_what_was_not_begun(producer: Producer) -> None:
    following = producer.next(is_commit=False)
    assert (following.producer_id, following.epoch) == (producer.producer_id, 1)
    assert following.end_settled(True, version=5).code == WRONG_STATE
    assert following.next(is_commit=False).epoch == 2


def test_version_2_cannot_commit_what_was_not_begun(producer: Producer) -> None:
    assert producer.commit(version=5) == WRONG_STATE
    assert producer.produce(version=12) == NONE
    following = producer.next()
    assert following.end_settled(True, version=5).code == WRONG_STATE


def test_a_producer_may_change_protocols_between_transactions(producer: Producer) -> None:
    assert producer.add() == [NONE]
    assert producer.produce() == NONE
    assert producer.end_settled(True).code == NONE
    producer.harness.wait_markers(1)
    assert producer.produce_settled(version=12) == NONE
    following = producer.next()
    assert following.epoch == 1
    assert settled(lambda: following.add()[0]) == NONE
    assert following.produce() == NONE
    assert following.end_settled(False).code == NONE
    following.harness.wait_stable()
    epochs = [header.producer_epoch for header in producer.harness.headers()]
    assert epochs == [0, 0, 0, 1, 1, 1]


# A new producer while a transaction is open


@pytest.mark.parametrize("version", [9, 12])
def test_a_new_producer_aborts_what_the_old_one_left_open(producer: Producer, version: int) -> None:
    harness = producer.harness
    producer.add()
    assert producer.produce(version=version) == NONE
    assert harness.init() == Begun(ErrorCode.CONCURRENT_TRANSACTIONS)
    begun = harness.init_settled()
    assert begun == Begun(NONE, producer.producer_id, 2), "one epoch to abort, one to continue"
    harness.wait_stable()
    assert harness.fetch().aborted_transactions == [AbortedTransaction(producer.producer_id, 0)]
    (marker,) = harness.wait_markers(1)
    assert marker.producer_epoch == 1
    assert producer.commit() == FENCED


def test_a_producer_that_continues_aborts_its_own_open_transaction(producer: Producer) -> None:
    harness = producer.harness
    producer.add()
    assert producer.produce() == NONE
    was = Begun(NONE, producer.producer_id, 0)
    assert harness.init(was) == Begun(ErrorCode.CONCURRENT_TRANSACTIONS)
    begun = harness.init_settled(was)
    assert begun == Begun(NONE, producer.producer_id, 1), "it was bumped with the abort"
    harness.wait_stable()


# What readers see


def test_readers_of_committed_data_stop_at_the_first_open_transaction(
    producer: Producer,
) -> None:
    harness = producer.harness
    assert producer.produce(is_transactional=False) == NONE
    assert producer.add() == [NONE]
    assert producer.produce() == NONE
    data = harness.fetch()
    assert (data.last_stable_offset, data.high_watermark) == (1, 2)
    assert len(data.records or b"") > 0
    assert producer.end_settled(True).code == NONE
    harness.wait_stable()
    data = harness.fetch()
    assert (data.last_stable_offset, data.high_watermark) == (3, 3)
    assert data.aborted_transactions == []
    assert harness.fetch(READ_UNCOMMITTED).aborted_transactions is None


# Offsets


@pytest.mark.parametrize("version", range(0, 5))
def test_offsets_count_once_the_transaction_commits(producer: Producer, version: int) -> None:
    harness = producer.harness
    assert producer.add_offsets() == NONE
    assert producer.commit_offset(7, version=version) == NONE
    assert harness.committed_offset() == (NONE, -1)
    unstable = harness.committed_offset(require_stable=True)
    assert unstable == (ErrorCode.UNSTABLE_OFFSET_COMMIT, -1)
    assert producer.end_settled(True).code == NONE
    stable = settled(
        lambda: harness.committed_offset(require_stable=True), lambda answer: answer[0]
    )
    assert stable == (NONE, 7)


def test_offsets_of_an_aborted_transaction_never_count(producer: Producer) -> None:
    harness = producer.harness
    assert producer.add_offsets() == NONE
    assert producer.commit_offset(7) == NONE
    assert producer.end_settled(False).code == NONE
    stable = settled(
        lambda: harness.committed_offset(require_stable=True), lambda answer: answer[0]
    )
    assert stable == (NONE, -1)


@pytest.mark.parametrize(("version", "code"), [(2, WRONG_STATE), (3, WRONG_STATE), (4, ABORTABLE)])
def test_a_group_that_was_not_enlisted_gets_no_offsets(
    producer: Producer, version: int, code: ErrorCode
) -> None:
    assert producer.commit_offset(7, version=version) == code
    assert producer.add() == [NONE]
    assert producer.commit_offset(7, version=version) == code


def test_from_version_5_on_the_group_enlists_itself(producer: Producer) -> None:
    harness = producer.harness
    assert producer.commit_offset(7, version=5) == NONE
    following = producer.next()
    stable = settled(
        lambda: harness.committed_offset(require_stable=True), lambda answer: answer[0]
    )
    assert stable == (NONE, 7)
    assert settled(lambda: following.commit_offset(8, version=5)) == NONE
    following.next(is_commit=False)
    stable = settled(
        lambda: harness.committed_offset(require_stable=True), lambda answer: answer[0]
    )
    assert stable == (NONE, 7)


@pytest.mark.parametrize("version", [3, 4, 5])
def test_offsets_of_a_fenced_producer_are_refused(producer: Producer, version: int) -> None:
    assert producer.add_offsets() == NONE
    assert producer.commit_offset(7) == NONE
    producer.harness.init_settled()
    assert producer.commit_offset(8, version=version) == OLD_EPOCH


@pytest.mark.parametrize(("version", "code"), [(1, OLD_EPOCH), (2, FENCED), (4, FENCED)])
def test_a_fenced_producer_cannot_enlist_a_group(
    producer: Producer, version: int, code: ErrorCode
) -> None:
    producer.harness.init_settled()
    assert producer.add_offsets(version=version) == code


@pytest.mark.parametrize("version", [3, 5])
def test_a_group_needs_a_name(producer: Producer, version: int) -> None:
    producer.harness.group = ""
    code = producer.commit_offset(7, version=version)
    assert code == ErrorCode.INVALID_GROUP_ID


def test_offsets_of_unknown_topics_are_refused(producer: Producer) -> None:
    assert producer.add_offsets() == NONE
    code = producer.commit_offset(7, topic="no-such-topic")
    assert code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize(
    ("generation", "member", "code"),
    [
        (3, "", ErrorCode.ILLEGAL_GENERATION),
        (3, "somebody", ErrorCode.ILLEGAL_GENERATION),
    ],
)
def test_a_member_that_the_group_does_not_know_cannot_commit(
    producer: Producer, generation: int, member: str, code: ErrorCode
) -> None:
    assert producer.add_offsets() == NONE
    assert producer.commit_offset(7, generation=generation, member=member) == code
