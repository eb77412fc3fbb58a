"""What scripts about transactions share: requests, and producers that are ready."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tests.compatibility.differential.batches import batch
from tests.compatibility.differential.session import Session, Topic

from ottla.protocol.messages.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from ottla.protocol.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from ottla.protocol.messages.describe_transactions_request import DescribeTransactionsRequest
from ottla.protocol.messages.end_txn_request import EndTxnRequest
from ottla.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.messages.init_producer_id_request import InitProducerIdRequest
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.protocol.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

TIMEOUT_MS = 600_000  # no transaction is ended while a script runs
SEVERAL_FROM = 4  # versions of AddPartitionsToTxn that name several transactions
ENDING = ("PrepareCommit", "PrepareAbort", "PrepareEpochFence")
READ_COMMITTED, READ_UNCOMMITTED = 1, 0

Places = tuple[str, Sequence[int]]  # a topic and partitions
Commit = tuple[int, int, int, str | None]  # partition, offset, leader epoch, metadata


class Producer(NamedTuple):
    transactional_id: str
    id: int
    epoch: int


def init(transactional_id: str | None, timeout_ms: int = TIMEOUT_MS) -> InitProducerIdRequest:
    return InitProducerIdRequest(transactional_id, timeout_ms)


def new_producer(session: Session, name: str) -> Producer:
    """A producer whose transactional id is its own; it is shown by `name`."""
    transactional_id = session.name(name)
    answer = session.once_ready(init(transactional_id), 4)
    session.names.define("producer", answer.producer_id, name)
    return Producer(transactional_id, answer.producer_id, answer.producer_epoch)


def add_partitions(producer: Producer, *places: Places, version: int) -> AddPartitionsToTxnRequest:
    if version >= SEVERAL_FROM:
        return AddPartitionsToTxnRequest([enlisting(producer, *places)])
    topics = [AddPartitionsToTxnTopic(*each) for each in places]
    return AddPartitionsToTxnRequest((), *producer, topics)


def enlisting(
    producer: Producer, *places: Places, verify: bool = False
) -> AddPartitionsToTxnTransaction:
    topics = [AddPartitionsToTxnTopic(*each) for each in places]
    return AddPartitionsToTxnTransaction(*producer, verify, topics)


def add_offsets(producer: Producer, group: str) -> AddOffsetsToTxnRequest:
    return AddOffsetsToTxnRequest(*producer, group)


def commit_offsets(
    producer: Producer,
    group: str,
    *topics: tuple[str, Sequence[Commit]],
    generation: int = -1,
    member: str = "",
    instance: str | None = None,
) -> TxnOffsetCommitRequest:
    chosen = [
        TxnOffsetCommitRequestTopic(
            name, [TxnOffsetCommitRequestPartition(*each) for each in commits]
        )
        for name, commits in topics
    ]
    transactional_id, producer_id, epoch = producer
    return TxnOffsetCommitRequest(
        transactional_id, group, producer_id, epoch, generation, member, instance, chosen
    )


def end(producer: Producer, *, is_commit: bool) -> EndTxnRequest:
    return EndTxnRequest(*producer, is_commit)


def write(
    producer: Producer,
    topic: Topic,
    partition: int,
    sequence: int,
    *,
    is_transactional: bool = True,
) -> ProduceRequest:
    """One record."""
    data = batch(
        b"v", producer=(producer.id, producer.epoch, sequence), is_transactional=is_transactional
    )
    places = [TopicProduceData(topic.name, topic.id, [PartitionProduceData(partition, data)])]
    return ProduceRequest(
        producer.transactional_id if is_transactional else None, -1, 30_000, places
    )


# Without a word


def enlist(session: Session, producer: Producer, *places: Places) -> None:
    session.once_ready(
        add_partitions(producer, *places, version=3),
        3,
        lambda answer: (
            answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code
        ),
    )


def store(
    session: Session,
    producer: Producer,
    topic: Topic,
    partition: int = 0,
    sequence: int = 0,
    *,
    is_transactional: bool = True,
) -> None:
    session.once_ready(
        write(producer, topic, partition, sequence, is_transactional=is_transactional),
        11,
        lambda answer: answer.responses[0].partition_responses[0].error_code,
    )


def finish(session: Session, producer: Producer, *, is_commit: bool) -> None:
    """End it as old clients do: the epoch stays."""
    session.once_ready(end(producer, is_commit=is_commit), 4)
    await_end(session, producer)


def await_end(session: Session, producer: Producer) -> None:
    """Until all markers of its transaction are written."""
    session.until(
        DescribeTransactionsRequest([producer.transactional_id]),
        0,
        lambda answer: answer.transaction_states[0].transaction_state not in ENDING,
        "the end of a transaction",
    )


# The outcome


def described(session: Session, label: str, *producers: Producer) -> None:
    ids = [each.transactional_id for each in producers]
    session.ask(label, DescribeTransactionsRequest(ids), version=0)


def stored(session: Session, label: str, topic: Topic, partition: int = 0) -> None:
    """As both kinds of readers see it."""
    for isolation, reader in ((READ_COMMITTED, "committed"), (READ_UNCOMMITTED, "uncommitted")):
        wanted = FetchPartition(partition, -1, 0, -1, -1, 1 << 20)
        request = FetchRequest(
            max_bytes=1 << 20,
            isolation_level=isolation,
            topics=[FetchTopic(topic.name, topic.id, [wanted])],
        )
        session.ask(f"{label}, {reader}", request, version=11)
