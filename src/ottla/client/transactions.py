"""Transactions whose parts may live in different processes: begun here, ended there.

The classic versions of the protocol, on purpose (InitProducerId <= 4, AddPartitionsToTxn <= 3,
Produce <= 11, EndTxn <= 4): the producer's epoch stays the same through a transaction, so producer
id and epoch can be handed to another process, which ends the transaction from a connection of its
own and may repeat that as often as it likes. (Newer versions raise the epoch with every end.)

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
from ottla.client.asking import TRANSACTION, Told, ask_coordinator, ask_until, check
from ottla.client.cluster import Cluster
from ottla.client.connection import Connection
from ottla.client.errors import ClientError, ConnectionLost, Unreachable, code_of
from ottla.client.retrying import Patience
from ottla.client.topology import by_topic
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
OPEN_STATES = ("Ongoing", "PrepareCommit", "PrepareAbort")


class ProducerIdentity(NamedTuple):
    producer_id: int
    epoch: int


NOBODY = ProducerIdentity(-1, -1)


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
    expected: ProducerIdentity = NOBODY,
) -> ProducerIdentity:
    """An identity to write with. With a transactional id, whoever had it before is fenced, and an
    open transaction of it aborted; without, it serves idempotence alone. ProducerFenced if an
    identity is `expected` and the id belongs to another by now. But that comes too late for an open
    transaction: brokers abort one of the same producer id first, whatever its epoch. Whoever must
    not do that describes the id before, and does not ask if it belongs to another."""
    request = InitProducerIdRequest(transactional_id, timeout_ms, *expected)
    where = f"InitProducerId of {transactional_id!r}" if transactional_id else "InitProducerId"

    def problems(answer: InitProducerIdResponse) -> Iterator[Told]:
        yield Told(code_of(answer.error_code), where)

    if transactional_id is None:
        answer = ask_until(cluster, request, problems, where)
    else:
        answer = ask_coordinator(
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
    """Make them part of the transaction, which this begins if it is not open yet. To be done
    before the first batch is sent to each; again does no harm."""
    topics = [AddPartitionsToTxnTopic(*item) for item in by_topic(partitions).items()]
    request = AddPartitionsToTxnRequest((), transactional_id, *identity, topics)

    def problems(answer: AddPartitionsToTxnResponse) -> Iterator[Told]:
        for topic in answer.results_by_topic_v3_and_below:
            for part in topic.results_by_partition:
                code = code_of(part.partition_error_code)
                if code == ErrorCode.OPERATION_NOT_ATTEMPTED:
                    continue  # because of another partition, which says why
                at = f"{topic.name}-{part.partition_index}"
                yield Told(code, f"AddPartitionsToTxn of {at} to {transactional_id!r}")

    if topics:
        ask_coordinator(
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
    """Commit or abort, from wherever. Returns once that is decided for good; the same again is no
    error. InvalidTransactionState: it was ended the other way, or timed out, or has nothing in
    it. ProducerFenced: the transactional id was initialised anew, which aborted it."""
    request = EndTxnRequest(transactional_id, *identity, commit)
    what = "commit" if commit else "abort"

    def problems(answer: EndTxnResponse) -> Iterator[Told]:
        where = f"EndTxn ({what}) of {transactional_id!r}, producer {identity.producer_id} epoch "
        yield Told(code_of(answer.error_code), where + str(identity.epoch))

    ask_coordinator(
        cluster, TRANSACTION, transactional_id, request, problems, "EndTxn", at_most=END_AT_MOST
    )


def describe_transactions(
    cluster: Cluster, transactional_ids: Iterable[str]
) -> dict[str, TransactionDescription]:
    """What the coordinators know of them; ids nobody has used are left out."""
    described = (_describe(cluster, each) for each in transactional_ids)
    return {each.transactional_id: each for each in described if each is not None}


def _describe(cluster: Cluster, transactional_id: str) -> TransactionDescription | None:
    def problems(answer: DescribeTransactionsResponse) -> Iterator[Told]:
        for each in answer.transaction_states:
            code = code_of(each.error_code)
            if code != ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
                yield Told(code, f"DescribeTransactions of {transactional_id!r}")

    request = DescribeTransactionsRequest([transactional_id])
    answer = ask_coordinator(
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
    """Of all brokers; `states` such as OPEN_STATES, and ids that begin with a prefix."""
    patience = Patience("ListTransactions", cluster.settings)
    wanted = list(states)
    while True:
        found = dict[str, ListedTransaction]()
        trouble = None
        for broker_id in cluster.broker_ids():
            trouble = _list_at(cluster, broker_id, id_prefix, wanted, found) or trouble
        if trouble is None:
            patience.note_success()
            return [found[each] for each in sorted(found)]
        patience.pause(trouble)


def _list_at(
    cluster: Cluster,
    broker_id: int,
    id_prefix: str,
    states: list[str],
    found: dict[str, ListedTransaction],
) -> ClientError | None:
    def build(connection: Connection) -> ListTransactionsRequest:
        if id_prefix and connection.version_of(ApiKey.LIST_TRANSACTIONS) >= PATTERN_FROM:
            pattern = re.escape(id_prefix) + ".*"
            return ListTransactionsRequest(states, transactional_id_pattern=pattern)
        return ListTransactionsRequest(states)

    def problems(answer: ListTransactionsResponse) -> Iterator[Told]:
        yield Told(code_of(answer.error_code), f"ListTransactions at broker {broker_id}")

    try:
        answer = cluster.ask_broker(broker_id, build)
    except (ConnectionLost, Unreachable) as error:
        return error
    trouble: ClientError | None = check(problems(answer))
    for each in answer.transaction_states:
        if each.transactional_id.startswith(id_prefix):
            found[each.transactional_id] = ListedTransaction(
                each.transactional_id, each.producer_id, each.transaction_state
            )
    return trouble
