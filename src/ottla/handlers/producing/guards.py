"""Transactional batches in a Produce request: verification before they are appended.

Promises  a partition that must not be appended to has an error, a newly verified one its guard.
          A partition whose log has the transaction already has neither, at no cost.
Leaves    requests to the coordinator to `verifying.py`, appending to `operation.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ottla.base.ids import TopicPartition
from ottla.base.scheduling.steps import Steps, run_blocking
from ottla.coordinators.transactions.transaction import ProducerIdAndEpoch
from ottla.coordinators.transactions.verifying import ClientSupport, produce_support
from ottla.handlers.serving.context import Context
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.protocol.records.batch import (
    HEADER_BYTES,
    NO_PRODUCER_ID,
    TRANSACTIONAL_BIT,
    BatchHeader,
    Buffer,
    read_header,
)
from ottla.protocol.records.checking import check_request_records
from ottla.replication.partition import Partition
from ottla.storage.producers.transaction_verification import NO_GUARD

TOPIC_IDS_FROM = 13
NO_PRODUCER = ProducerIdAndEpoch(-1, -1)
ATTRIBUTES_POSITION = 22  # the byte with the flags

# Old producers do not retry after errors of coordinators, but after NOT_ENOUGH_REPLICAS they do.
TRY_AGAIN = frozenset(
    {
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)


class TransactionalBatch(NamedTuple):
    partition: Partition
    header: BatchHeader


class ProduceGuards:
    """Guards and errors of the partitions of one request."""

    def __init__(self, request: ProduceRequest, context: Context) -> None:
        self.transactional_id = request.transactional_id
        self.context = context
        self.support = produce_support(context.version)
        self.guards: dict[TopicPartition, int] = {}  # to be verified by the coordinator
        self.errors: dict[TopicPartition, BrokerError] = {}
        self.producer = NO_PRODUCER
        self.is_needed = context.parts.verifier.is_needed(self.support)

    def check_producer(self, header: BatchHeader) -> None:
        """All batches of a request must have the same producer."""
        producer = ProducerIdAndEpoch(header.producer_id, header.producer_epoch)
        if self.producer == NO_PRODUCER:
            self.producer = producer
        elif producer != self.producer:
            raise BrokerError(
                ErrorCode.INVALID_PRODUCER_ID_MAPPING, "records of more than one producer"
            )

    def add(self, partition: Partition, header: BatchHeader) -> None:
        try:
            guard = self.context.parts.verifier.guard(
                partition, self.producer, header.base_sequence, self.support
            )
        except BrokerError as error:
            self.errors[partition.name] = error
            return
        if guard != NO_GUARD:
            self.guards[partition.name] = guard

    async def verify(self) -> None:
        """Verify the guards with the coordinator; partitions that it refuses get an error."""
        assert self.transactional_id is not None
        refused = await self.context.parts.verifier.ask(
            self.transactional_id, self.producer, self.guards, self.support
        )
        for name, code in refused.items():
            self.errors[name] = as_produce_error(code, self.support)

    def guard_of(self, name: TopicPartition) -> int:
        if self.errors and name in self.errors:
            raise self.errors[name]
        return self.guards.get(name, NO_GUARD)


def guards_of(request: ProduceRequest, context: Context) -> ProduceGuards:
    return run_blocking(guarding(request, context))


def guarding(request: ProduceRequest, context: Context) -> Steps[ProduceGuards]:
    """The guards of all partitions of a request."""
    guards = ProduceGuards(request, context)
    if not guards.is_needed:
        return guards
    batches = []
    for batch in transactional_batches(request, context):
        yield 0
        if batch is not None:
            guards.check_producer(batch.header)
            batches.append(batch)
    for batch in batches:
        guards.add(*batch)
        yield 0
    return guards


def transactional_batches(
    request: ProduceRequest, context: Context
) -> Iterator[TransactionalBatch | None]:
    """One for each partition; None for those without."""
    for topic in request.topic_data:
        for part in topic.partition_data:
            yield _transactional_batch(topic, part, context)


def _transactional_batch(
    topic: TopicProduceData, part: PartitionProduceData, context: Context
) -> TransactionalBatch | None:
    replicas = context.parts.replicas
    if part.records is None or not is_transactional(part.records):
        return None
    try:
        check_request_records(part.records, context.version)  # invalid batches are not added
        partition = (
            replicas.partition_by_id(topic.topic_id, part.index)
            if context.version >= TOPIC_IDS_FROM
            else replicas.partition(topic.name, part.index)
        )
    except BrokerError:
        return None  # the append will have the same error
    header = read_header(part.records)
    return None if header.producer_id == NO_PRODUCER_ID else TransactionalBatch(partition, header)


def finding_transactional_batch(request: ProduceRequest) -> Steps[bool]:
    """As `has_transactional_batch`, for very many partitions."""
    for topic in request.topic_data:
        for part in topic.partition_data:
            if part.records is not None and is_transactional(part.records):
                return True
            yield 0
        yield 0
    return False


def has_transactional_batch(request: ProduceRequest) -> bool:
    """Whether a batch is transactional: the transactional id of the request is not conclusive."""
    for topic in request.topic_data:
        for part in topic.partition_data:
            records = part.records
            if (
                records is not None
                and len(records) >= HEADER_BYTES
                and records[ATTRIBUTES_POSITION] & TRANSACTIONAL_BIT  # as in `is_transactional`
            ):
                return True
    return False


def is_transactional(records: Buffer) -> bool:
    return len(records) >= HEADER_BYTES and bool(records[ATTRIBUTES_POSITION] & TRANSACTIONAL_BIT)


def as_produce_error(code: ErrorCode, support: ClientSupport) -> BrokerError:
    is_ending = code is ErrorCode.CONCURRENT_TRANSACTIONS
    if code in TRY_AGAIN or (is_ending and support is not ClientSupport.IMPLICIT):
        return BrokerError(
            ErrorCode.NOT_ENOUGH_REPLICAS, f"the transaction could not be verified: {code.name}"
        )
    if code is ErrorCode.INVALID_TXN_STATE:
        return BrokerError(code, "the partition was not added to the transaction")
    return BrokerError(code)
