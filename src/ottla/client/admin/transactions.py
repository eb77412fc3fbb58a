"""Transactions that one process begins and another ends.

Uses the classic versions of the protocol (InitProducerId <= 4, AddPartitionsToTxn <= 3, Produce <=
11, EndTxn <= 4): the producer's epoch stays the same during a transaction, so that another process
can end it with the producer id and epoch, and repeat that. (Newer versions increase the epoch with
every end.)

    identity = init_producer_id(cluster, "sink/0/0.0", timeout_ms=900_000)   # in a task
    add_partitions(cluster, "sink/0/0.0", identity, partitions)
    ...                                                                       # produce, flush
    end_transaction(cluster, "sink/0/0.0", identity, commit=True)            # in the driver
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ottla.base.ids import TopicPartition
from ottla.client.cluster.cluster import Cluster
from ottla.client.cluster.retries import Retries
from ottla.client.cluster.routed_requests import (
    TRANSACTION,
    PartResult,
    check,
    send_to_coordinator,
    send_until_successful,
)
from ottla.client.cluster.topology import by_topic
from ottla.client.connections.connection import ClientConnection
from ottla.client.errors import ClientError, ConnectionLost, Unreachable, code_of
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from ottla.protocol.messages.add_partitions_to_txn_response import AddPartitionsToTxnResponse
from ottla.protocol.messages.describe_transactions_request import DescribeTransactionsRequest
from ottla.protocol.messages.describe_transactions_response import DescribeTransactionsResponse
from ottla.protocol.messages.end_txn_request import EndTxnRequest
from ottla.protocol.messages.end_txn_response import EndTxnResponse
from ottla.protocol.messages.init_producer_id_request import InitProducerIdRequest
from ottla.protocol.messages.init_producer_id_response import InitProducerIdResponse
from ottla.protocol.messages.list_transactions_request import ListTransactionsRequest
from ottla.protocol.messages.list_transactions_response import ListTransactionsResponse

INIT_AT_MOST = 4
ADD_AT_MOST = 3
END_AT_MOST = 4
PATTERN_FROM = 2


class ProducerIdentity(NamedTuple):
    producer_id: int
    epoch: int


NO_PRODUCER = ProducerIdentity(-1, -1)


class ListedTransaction(NamedTuple):
    transactional_id: str
    producer_id: int
    state: str


@dataclass(frozen=True)
class TransactionDescription:
    transactional_id: str
    state: str  # Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit, CompleteAbort, ...
    timeout_ms: int
    start_ms: int  # -1 unless it is open
    identity: ProducerIdentity
    partitions: tuple[TopicPartition, ...]


def init_producer_id(
    cluster: Cluster,
    transactional_id: str | None = None,
    timeout_ms: int = 60_000,
    expected: ProducerIdentity = NO_PRODUCER,
) -> ProducerIdentity:
    """A producer id and epoch. With a transactional id, earlier producers of the id are fenced and
    an open transaction of it is aborted; without, the identity is for idempotence alone.
    ProducerFenced if an identity is `expected` and the id has another one now. Brokers abort an
    open transaction of the same producer id before they check that, whatever its epoch: a caller
    that must not abort it describes the id first."""
    request = InitProducerIdRequest(transactional_id, timeout_ms, *expected)
    where = f"InitProducerId of {transactional_id!r}" if transactional_id else "InitProducerId"

    def problems(answer: InitProducerIdResponse) -> Iterator[PartResult]:
        yield PartResult(code_of(answer.error_code), where)

    if transactional_id is None:
        answer = send_until_successful(cluster, request, problems, where)
    else:
        answer = send_to_coordinator(
            cluster,
            TRANSACTION,
            transactional_id,
            request,
            problems,
            "InitProducerId",
            at_most=INIT_AT_MOST,
        )
    return ProducerIdentity(answer.producer_id, answer.producer_epoch)


def add_partitions(
    cluster: Cluster,
    transactional_id: str,
    identity: ProducerIdentity,
    partitions: Iterable[TopicPartition],
) -> None:
    """Add them to the transaction, which begins with the first. Must be done before the first batch
    is sent to a partition; may be repeated."""
    topics = [AddPartitionsToTxnTopic(*item) for item in by_topic(partitions).items()]
    request = AddPartitionsToTxnRequest((), transactional_id, *identity, topics)

    def problems(answer: AddPartitionsToTxnResponse) -> Iterator[PartResult]:
        for topic in answer.results_by_topic_v3_and_below:
            for part in topic.results_by_partition:
                code = code_of(part.partition_error_code)
                if code == ErrorCode.OPERATION_NOT_ATTEMPTED:
                    continue  # because of another partition, which has the error
                at = f"{topic.name}-{part.partition_index}"
                yield PartResult(code, f"AddPartitionsToTxn of {at} to {transactional_id!r}")

    if topics:
        send_to_coordinator(
            cluster,
            TRANSACTION,
            transactional_id,
            request,
            problems,
            "AddPartitionsToTxn",
            at_most=ADD_AT_MOST,
        )


def end_transaction(
    cluster: Cluster, transactional_id: str, identity: ProducerIdentity, *, commit: bool
) -> None:
    """Commit or abort, from any process. Returns once the outcome is durable; may be repeated.
    InvalidTransactionState: it was ended the other way, timed out, or is empty. ProducerFenced:
    the transactional id was initialised again, which aborted it."""
    request = EndTxnRequest(transactional_id, *identity, commit)
    what = "commit" if commit else "abort"

    def problems(answer: EndTxnResponse) -> Iterator[PartResult]:
        where = f"EndTxn ({what}) of {transactional_id!r}, producer {identity.producer_id} epoch "
        yield PartResult(code_of(answer.error_code), where + str(identity.epoch))

    send_to_coordinator(
        cluster, TRANSACTION, transactional_id, request, problems, "EndTxn", at_most=END_AT_MOST
    )


def describe_transactions(
    cluster: Cluster, transactional_ids: Iterable[str]
) -> dict[str, TransactionDescription]:
    """As their coordinators describe them, without ids that were never used."""
    described = (_describe(cluster, each) for each in transactional_ids)
    return {each.transactional_id: each for each in described if each is not None}


def _describe(cluster: Cluster, transactional_id: str) -> TransactionDescription | None:
    def problems(answer: DescribeTransactionsResponse) -> Iterator[PartResult]:
        for each in answer.transaction_states:
            code = code_of(each.error_code)
            if code != ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
                yield PartResult(code, f"DescribeTransactions of {transactional_id!r}")

    request = DescribeTransactionsRequest([transactional_id])
    answer = send_to_coordinator(
        cluster, TRANSACTION, transactional_id, request, problems, "DescribeTransactions"
    )
    (state,) = answer.transaction_states
    if state.error_code:
        return None
    return TransactionDescription(
        transactional_id,
        state.transaction_state,
        state.transaction_timeout_ms,
        state.transaction_start_time_ms,
        ProducerIdentity(state.producer_id, state.producer_epoch),
        tuple(TopicPartition(at.topic, each) for at in state.topics for each in at.partitions),
    )


def list_transactions(
    cluster: Cluster, *, id_prefix: str = "", states: Iterable[str] = ()
) -> list[ListedTransaction]:
    """The transactions of all brokers in these states, whose ids begin with the prefix."""
    retries = Retries("ListTransactions", cluster.settings)
    wanted = list(states)
    while True:
        found = dict[str, ListedTransaction]()
        problem = None
        for broker_id in cluster.broker_ids():
            problem = _list_at(cluster, broker_id, id_prefix, wanted, found) or problem
        if problem is None:
            retries.note_success()
            return [found[each] for each in sorted(found)]
        retries.pause(problem)


def _list_at(
    cluster: Cluster,
    broker_id: int,
    id_prefix: str,
    states: list[str],
    found: dict[str, ListedTransaction],
) -> ClientError | None:
    def build(connection: ClientConnection) -> ListTransactionsRequest:
        if id_prefix and connection.version_of(ApiKey.LIST_TRANSACTIONS) >= PATTERN_FROM:
            pattern = re.escape(id_prefix) + ".*"
            return ListTransactionsRequest(states, transactional_id_pattern=pattern)
        return ListTransactionsRequest(states)

    def problems(answer: ListTransactionsResponse) -> Iterator[PartResult]:
        yield PartResult(code_of(answer.error_code), f"ListTransactions at broker {broker_id}")

    try:
        answer = cluster.ask_broker(broker_id, build)
    except (ConnectionLost, Unreachable) as error:
        return error
    problem: ClientError | None = check(problems(answer))
    for each in answer.transaction_states:
        if each.transactional_id.startswith(id_prefix):
            found[each.transactional_id] = ListedTransaction(
                each.transactional_id, each.producer_id, each.transaction_state
            )
    return problem
