"""What tools ask about transactions and producers, and how they end one that hangs.

The raw questions run on our broker and on Apache Kafka alike.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from tests.compatibility.clients.transactions_harness import (
    Begun,
    Producer,
    TransactionsHarness,
    settled,
)
from tests.support.java_clients import run_tool
from tests.support.oracle import Oracle
from tests.support.raw_client import RawClient

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.describe_producers_request import (
    DescribeProducersRequest,
    TopicRequest,
)
from ottla.protocol.messages.describe_producers_response import PartitionResponse
from ottla.protocol.messages.describe_transactions_request import DescribeTransactionsRequest
from ottla.protocol.messages.describe_transactions_response import TopicData, TransactionState
from ottla.protocol.messages.list_transactions_request import ListTransactionsRequest
from ottla.protocol.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from ottla.testing.broker import RunningBroker

NONE = ErrorCode.NONE
TOOL = "org.apache.kafka.tools.TransactionsCommand"


@pytest.fixture
def harness(either_bootstrap: str) -> Iterator[TransactionsHarness]:
    with RawClient(either_bootstrap) as client:
        yield TransactionsHarness.new(client)


@pytest.fixture
def own_harness(temporary_broker: RunningBroker) -> Iterator[TransactionsHarness]:
    with RawClient(temporary_broker.bootstrap_servers) as client:
        yield TransactionsHarness.new(client)


@pytest.fixture
def producer(harness: TransactionsHarness) -> Producer:
    return harness.producer()


def begin(producer: Producer) -> None:
    assert producer.add([0, 1]) == [NONE, NONE]
    assert producer.produce(b"1", b"2") == NONE


# Describing transactions


def describe(harness: TransactionsHarness, transactional_id: str | None = None) -> TransactionState:
    request = DescribeTransactionsRequest([transactional_id or harness.transactional_id])
    (state,) = harness.client.ask(request, 0).transaction_states
    assert isinstance(state, TransactionState)
    return state


def test_a_transactional_id_is_described_in_every_state(producer: Producer) -> None:
    harness = producer.harness
    state = describe(harness)
    assert (state.error_code, state.transaction_state) == (0, "Empty")
    assert (state.producer_id, state.producer_epoch) == (producer.producer_id, 0)
    assert (state.transaction_timeout_ms, state.transaction_start_time_ms) == (
        harness.timeout_ms,
        -1,
    )
    assert list(state.topics) == []
    before_ms = time.time() * 1000 - 1000
    begin(producer)
    state = describe(harness)
    assert state.transaction_state == "Ongoing"
    assert before_ms < state.transaction_start_time_ms < before_ms + 600_000
    (topic,) = state.topics
    assert TopicData(topic.topic, sorted(topic.partitions)) == TopicData(harness.topic, [0, 1])
    assert producer.end_settled(False).code == NONE
    harness.wait_markers(1)
    assert settled(lambda: describe(harness).transaction_state) in ("PrepareAbort", "CompleteAbort")


def test_ids_that_do_not_exist_are_not_found(harness: TransactionsHarness) -> None:
    harness.producer()
    state = describe(harness, "nobody's")
    assert state.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    assert state.transactional_id == "nobody's"


def test_an_empty_id_is_no_id(harness: TransactionsHarness) -> None:
    request = DescribeTransactionsRequest([""])
    (state,) = harness.client.ask(request, 0).transaction_states
    assert state.error_code == ErrorCode.INVALID_REQUEST


# Listing transactions


def listed(
    harness: TransactionsHarness, request: ListTransactionsRequest, version: int = 2
) -> list[str]:
    """States of this harness's id, as returned with the filters."""
    answer = harness.client.ask(request, version)
    assert answer.error_code == 0, answer
    return [
        each.transaction_state
        for each in answer.transaction_states
        if each.transactional_id == harness.transactional_id
    ]


def test_transactions_are_listed_by_state_producer_age_and_pattern(producer: Producer) -> None:
    harness = producer.harness
    begin(producer)
    plain = ListTransactionsRequest()
    assert (
        listed(harness, plain, 0)
        == listed(harness, plain, 1)
        == listed(harness, plain)
        == ["Ongoing"]
    )
    for request, expected in [
        (ListTransactionsRequest(["Ongoing"]), ["Ongoing"]),
        (ListTransactionsRequest(["Empty", "Ongoing"]), ["Ongoing"]),
        (ListTransactionsRequest(["Empty"]), []),
        (ListTransactionsRequest(["ongoing"]), []),
        (ListTransactionsRequest((), [producer.producer_id]), ["Ongoing"]),
        (ListTransactionsRequest((), [producer.producer_id + 1]), []),
        (ListTransactionsRequest(["Ongoing"], [producer.producer_id]), ["Ongoing"]),
        (ListTransactionsRequest(duration_filter=600_000), []),
        (ListTransactionsRequest(transactional_id_pattern="id-.*"), ["Ongoing"]),
        (ListTransactionsRequest(transactional_id_pattern="id"), []),
        (ListTransactionsRequest(transactional_id_pattern=""), ["Ongoing"]),
    ]:
        assert listed(harness, request) == expected, request


def test_states_that_do_not_exist_are_named(producer: Producer) -> None:
    request = ListTransactionsRequest(["Ongoing", "Sleeping"])
    answer = producer.client.ask(request, 0)
    assert list(answer.unknown_state_filters) == ["Sleeping"]


def test_a_broken_pattern_is_refused(harness: TransactionsHarness) -> None:
    request = ListTransactionsRequest(transactional_id_pattern="(")
    answer = harness.client.ask(request, 2)
    assert answer.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION


def test_a_pattern_that_would_take_forever_takes_no_time(own_harness: TransactionsHarness) -> None:
    own_harness.producer()
    request = ListTransactionsRequest(transactional_id_pattern="(i*)*(d*)*(.*)*x")
    assert own_harness.client.ask(request, 2).error_code == 0


# Describing producers


def describe_producers(
    harness: TransactionsHarness, topic: str | None = None, index: int = 0
) -> PartitionResponse:
    wanted = TopicRequest(harness.topic if topic is None else topic, [index])
    (found,) = harness.client.ask(DescribeProducersRequest([wanted]), 0).topics
    (partition,) = found.partitions
    assert isinstance(partition, PartitionResponse)
    return partition


def test_the_producers_of_a_partition_are_described(producer: Producer) -> None:
    harness = producer.harness
    assert list(describe_producers(harness).active_producers) == []
    begin(producer)
    (state,) = describe_producers(harness).active_producers
    assert (state.producer_id, state.producer_epoch) == (producer.producer_id, 0)
    assert (state.last_sequence, state.current_txn_start_offset) == (1, 0)
    assert state.coordinator_epoch == -1
    assert producer.end_settled(True).code == NONE
    harness.wait_markers(1)
    (state,) = describe_producers(harness).active_producers
    assert (state.last_sequence, state.current_txn_start_offset) == (1, -1)
    assert state.coordinator_epoch >= 0


@pytest.mark.parametrize(
    ("topic", "index", "code"),
    [
        ("no-such-topic", 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (None, 9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("not/a/topic", 0, ErrorCode.INVALID_TOPIC_EXCEPTION),
    ],
)
def test_partitions_that_do_not_exist_have_no_producers(
    harness: TransactionsHarness, topic: str | None, index: int, code: ErrorCode
) -> None:
    assert describe_producers(harness, topic, index).error_code == code


# Ending a transaction that hangs


def write_marker(
    producer: Producer, epoch: int, *, coordinator_epoch: int = 0, version: int = 1, **fields: int
) -> ErrorCode:
    marker = WritableTxnMarker(
        producer.producer_id,
        epoch,
        False,
        [WritableTxnMarkerTopic(producer.harness.topic, [fields.get("partition", 0)])],
        coordinator_epoch,
        fields.get("transaction_version", 0),
    )
    (result,) = producer.client.ask(WriteTxnMarkersRequest([marker]), version).markers
    assert result.producer_id == producer.producer_id
    return ErrorCode(result.topics[0].partitions[0].error_code)


def test_a_tool_can_abort_what_hangs(producer: Producer) -> None:
    harness = producer.harness
    begin(producer)
    assert not harness.is_stable()
    assert write_marker(producer, 0) == NONE
    assert harness.is_stable()
    assert write_marker(producer, 0) == NONE, "once more is harmless"


@pytest.mark.parametrize("version", [1, 2])
def test_an_old_epoch_ends_nothing(producer: Producer, version: int) -> None:
    harness = producer.harness
    harness.init_settled()
    newer = Producer(harness, producer.producer_id, 1)
    begin(newer)
    assert write_marker(newer, 0, version=version) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert not harness.is_stable()


def test_an_old_coordinator_ends_nothing(producer: Producer) -> None:
    begin(producer)
    assert write_marker(producer, 0, coordinator_epoch=7) == NONE
    assert producer.produce(sequence=2) == NONE, "its coordinator still counts this partition in"
    code = write_marker(producer, 0, coordinator_epoch=6)
    assert code == ErrorCode.TRANSACTION_COORDINATOR_FENCED


def test_a_marker_of_version_2_must_bump_the_epoch(producer: Producer) -> None:
    harness = producer.harness
    begin(producer)
    code = write_marker(producer, 0, version=2, transaction_version=2)
    assert code == ErrorCode.INVALID_PRODUCER_EPOCH
    assert not harness.is_stable()
    assert write_marker(producer, 1, version=2, transaction_version=2) == NONE
    assert harness.is_stable()
    assert write_marker(producer, 1, version=2, transaction_version=2) == NONE, "a repetition"


def test_a_marker_without_a_transaction_is_rejected(producer: Producer) -> None:
    code = write_marker(producer, 0, partition=9)
    assert code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


# Kafka's own tool, against our broker


def lines_of(oracle: Oracle, broker: RunningBroker, *arguments: str) -> list[list[str]]:
    printed = run_tool(oracle, TOOL, "--bootstrap-server", broker.bootstrap_servers, *arguments)
    assert printed.status == 0, printed
    return [line.split() for line in printed.text.splitlines()]


@pytest.mark.java
def test_kafkas_tool_shows_and_aborts_transactions(
    oracle: Oracle, temporary_broker: RunningBroker, own_harness: TransactionsHarness
) -> None:
    producer = own_harness.producer()
    begin(producer)
    name, producer_id = own_harness.transactional_id, str(producer.producer_id)
    (_, *ids) = lines_of(oracle, temporary_broker, "list")
    assert [name, "1", producer_id, "Ongoing"] in ids
    (_, described) = lines_of(oracle, temporary_broker, "describe", "--transactional-id", name)
    assert described[:5] == ["1", name, producer_id, "0", "Ongoing"]
    partition = ("--topic", own_harness.topic, "--partition", "0")
    (_, shown) = lines_of(oracle, temporary_broker, "describe-producers", *partition)
    assert shown[0] == producer_id
    assert shown[-1] == "0"
    lines_of(oracle, temporary_broker, "abort", *partition, "--start-offset", "0")
    assert own_harness.is_stable()
    hanging = lines_of(oracle, temporary_broker, "find-hanging", "--broker-id", "1")
    assert len(hanging) <= 1, "only the heading"


@pytest.mark.java
def test_kafkas_tool_can_fence_a_producer(
    oracle: Oracle, temporary_broker: RunningBroker, own_harness: TransactionsHarness
) -> None:
    """The admin client calls InitProducerId for it."""
    producer = own_harness.producer()
    begin(producer)
    lines_of(
        oracle, temporary_broker, "forceTerminateTransaction", "--transactionalId",
        own_harness.transactional_id,
    )  # fmt: skip
    own_harness.wait_stable()
    assert producer.commit() == ErrorCode.PRODUCER_FENCED
    assert own_harness.init_settled().code is NONE
    assert isinstance(own_harness.init_settled(), Begun)
