"""One Produce request: appends, then waits for the acknowledgements it requires.

Promises  an error of one partition does not affect the others. Waiting needs neither a task nor a
          future for each partition.
Leaves    what comes before an append to `guards.py` and `preparation.py`, the response that
          waits to `pending_produce.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from functools import partial
from typing import cast

from ottla.base.fault_points import FaultPoint, reach
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.scheduling.steps import Steps
from ottla.handlers.partitions.damage import damaged
from ottla.handlers.partitions.leaders import current_leader, leader_endpoints
from ottla.handlers.partitions.producer_loading import loading_producers
from ottla.handlers.producing.acknowledgements import Acknowledgements, Unreplicated
from ottla.handlers.producing.guards import ProduceGuards
from ottla.handlers.producing.partition_answers import (
    answer_bytes,
    note_failure,
    refused,
)
from ottla.handlers.producing.pending_produce import PendingProduce
from ottla.handlers.producing.preparation import Preparation
from ottla.handlers.producing.refused_batches import REPEATED
from ottla.handlers.quotas.request_time import exempt_time
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import Deferred
from ottla.handlers.serving.served_apis import SERVED
from ottla.metadata.topic_names import INTERNAL_TOPICS
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError, InvalidBatch, MalformedMessage
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.protocol.messages.produce_response import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from ottla.protocol.records.batch import (
    HEADER_BYTES,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    BatchHeader,
    Buffer,
    read_header,
)
from ottla.protocol.records.checking import check_request_records, named_records_max
from ottla.protocol.records.faults import InvalidRecord
from ottla.replication.leader_role import ACKS_ALL
from ottla.replication.partition import Partition
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.append import ProducedBy
from ottla.storage.log.log import Log
from ottla.storage.log.preparation import Prepared

ACKS_NONE = 0
ACKS = (ACKS_ALL, ACKS_NONE, 1)
TOPIC_IDS_FROM = 13
LEADER_HINTS_FROM = 10
BY_CLIENT = {
    version: ProducedBy(produce_version=version) for version in SERVED[ApiKey.PRODUCE].versions
}
WAITING_AT_ONCE = 100  # partitions; a request that waits for more does so in slices
ADMIN_CLIENT_ID = "__admin_client"  # with which tools may write to internal topics, as in Kafka


UNREAD = PartitionProduceResponse()  # replaced when the log's producer state is read


AppendedProduce = ProduceResponse | PendingProduce | None
Produced = AppendedProduce | Awaitable[ProduceResponse]


async def until_appended(produced: Produced) -> AppendedProduce:
    """The request has taken effect; only very many partitions are still waited for here."""
    if isinstance(produced, PendingProduce) or not isinstance(produced, Awaitable):
        return produced
    return await produced


class ProduceOperation:
    __slots__ = (
        "by",
        "context",
        "guards",
        "has_error",
        "leaders",
        "named",
        "prepared",
        "request",
        "unread",
        "waiting",
    )

    def __init__(
        self,
        request: ProduceRequest,
        context: Context,
        guards: ProduceGuards | None = None,
        prepared: Preparation | None = None,
    ) -> None:
        self.request = request
        self.context = context
        self.by = BY_CLIENT[context.version]
        self.guards = guards  # only for transactions
        self.prepared = prepared  # only where batches are opened
        self.unread: list[Log] | None = None  # logs to load, if they are collected
        self.waiting: list[Unreplicated] = []
        self.has_error = False
        self.leaders: set[int] | None = None  # of partitions that are led elsewhere
        self.named = 0  # invalid records listed so far, of all batches

    @property
    def must_verify(self) -> bool:
        """Whether the coordinator must verify a transaction before anything is appended."""
        return self.guards is not None and bool(self.guards.guards)

    def run(self) -> Produced:
        return self.finish(self.append_all())

    def append_all(self) -> list[TopicProduceResponse]:
        topics = []
        for topic in self.request.topic_data:
            answers = [self.answer(topic, part) for part in topic.partition_data]
            topics.append(TopicProduceResponse(topic.name, topic.topic_id, answers))
        return topics

    def run_or_read(self) -> Produced | Deferred:
        """As `run`. Logs whose producer state must be read from files first, as after a start, are
        appended to when a thread has read it."""
        self.unread = []
        topics = self.append_all()
        return Deferred(self.read_and_finish(topics)) if self.unread else self.finish(topics)

    async def read_and_finish(self, topics: list[TopicProduceResponse]) -> AppendedProduce:
        unread, self.unread = self.unread, None
        assert unread is not None
        await self.context.parts.scheduler.run(loading_producers(unread))
        for topic, answered in zip(self.request.topic_data, topics, strict=True):
            answers = cast(list[PartitionProduceResponse], answered.partition_responses)
            for at, part in enumerate(topic.partition_data):
                if answers[at] is UNREAD:
                    answers[at] = self.answer(topic, part)
        return await until_appended(self.finish(topics))

    def running(self) -> Steps[Produced]:
        """As `run`, in slices: other requests may append between them."""
        topics = []
        for topic in self.request.topic_data:
            answers: list[PartitionProduceResponse] = []
            topics.append(TopicProduceResponse(topic.name, topic.topic_id, answers))
            for part in topic.partition_data:
                answer = self.answer(topic, part)
                answers.append(answer)
                yield answer_bytes(answer)
            yield len(topic.name)
        return self.finish(topics)

    def finish(self, topics: list[TopicProduceResponse]) -> Produced:
        quota = self.context.parts.quotas.produce
        if quota is not None:
            self.context.throttle(quota.charge(self.context, self.context.request_bytes))
        if self.request.acks == ACKS_NONE:
            exempt_time(self.context)
            if self.has_error:
                raise MalformedMessage("a produce without acknowledgement was refused")
            return None
        response = ProduceResponse(topics)
        self.add_endpoints(response)
        if self.waiting:
            is_large = len(self.waiting) > WAITING_AT_ONCE
            return self.wait(response) if is_large else PendingProduce(self, response)
        if self.guards is not None:
            reach(FaultPoint.DATA_REPLICATED)
        return response

    def answer(
        self, topic: TopicProduceData, part: PartitionProduceData
    ) -> PartitionProduceResponse:
        """Append to one partition."""
        replicas = self.context.parts.replicas
        found = partition = None
        try:
            found = (
                replicas.partition_by_id(topic.topic_id, part.index)
                if self.context.version >= TOPIC_IDS_FROM
                else replicas.partition(topic.name, part.index)
            )
            by = self.admit(found)
            partition = found  # from here on an error includes the log start offset
            producers = partition.log.producers
            if producers.in_memory is None and self.unread is not None and producers.must_be_read:
                self.unread.append(partition.log)
                return UNREAD
            if self.context.parts.refused_batches:
                self.check_order(partition, part)
            records = part.records if self.prepared is None else self.prepared.of(part)
            return self.append(partition, part.index, records, by)
        except BrokerError as error:
            sooner = None if found is None else self.error_of_batch(part)
            if sooner is None and error.code in REPEATED:
                self.note_refused(topic, part)
            answer = self.refuse(part.index, sooner or error, None if sooner else partition)
            if answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
                self.add_leader_hint(self.name_of(topic), answer)
            return answer
        except CorruptLogError as error:
            assert found is not None
            return self.refuse(part.index, damaged(found, error), partition)

    def error_of_batch(self, part: PartitionProduceData) -> InvalidBatch | None:
        """The error of the batch itself, which takes precedence, as in Kafka."""
        if part.records is not None:
            try:
                check_request_records(part.records, self.context.version)
            except InvalidBatch as error:
                return error
        return None

    def check_order(self, partition: Partition, part: PartitionProduceData) -> None:
        """BrokerError if the batch is behind one that was refused."""
        header = header_of_producer(part.records)
        if header is not None:
            states = partition.log.producers.in_memory
            entry = None if states is None else states.producers.get(header.producer_id)
            self.context.parts.refused_batches.check(partition.name, header, entry)

    def note_refused(self, topic: TopicProduceData, part: PartitionProduceData) -> None:
        header = header_of_producer(part.records)
        if header is not None:
            name = TopicPartition(self.name_of(topic), part.index)
            self.context.parts.refused_batches.note(name, header)

    def refuse(
        self, index: int, error: BrokerError, partition: Partition | None
    ) -> PartitionProduceResponse:
        self.has_error = True
        answer = refused(index, error, partition)
        if isinstance(error, InvalidRecord):
            left = named_records_max(self.context.request_bytes) - self.named
            wrong = error.named()[: max(1, left)]  # at least the first
            answer.record_errors = [BatchIndexAndErrorMessage(*each) for each in wrong]
            self.named += len(wrong)
        return answer

    def admit(self, partition: Partition) -> ProducedBy:
        """Check that the request may append. Transactions are checked before `acks`, so a refused
        request may have added its partition to a transaction."""
        by = self.by
        if self.guards is not None:
            by = by._replace(guard=self.guards.guard_of(partition.name))
        if self.request.acks not in ACKS:
            raise BrokerError(ErrorCode.INVALID_REQUIRED_ACKS)
        topic = partition.name.topic
        if topic in INTERNAL_TOPICS and self.context.client_id != ADMIN_CLIENT_ID:
            # Only coordinators write to internal topics.
            raise BrokerError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{topic} is internal")
        return by

    def append(
        self, partition: Partition, index: int, records: Buffer | Prepared | None, by: ProducedBy
    ) -> PartitionProduceResponse:
        if records is None:
            raise InvalidBatch(ErrorCode.INVALID_RECORD, "no records")
        acks = self.request.acks
        # unpacked: attributes of a NamedTuple cost more
        first_offset, last_offset, append_time_ms, _, _ = partition.append(records, acks, by)
        if self.guards is not None:
            reach(FaultPoint.DATA_APPENDED)
        log_start_offset = partition.log.offsets.start
        answer = PartitionProduceResponse(index, 0, first_offset, append_time_ms, log_start_offset)
        if must_wait(partition, last_offset + 1, acks):
            epoch = partition.leader_epoch
            self.waiting.append(Unreplicated(partition, last_offset + 1, epoch, answer))
        return answer

    async def wait(self, response: ProduceResponse) -> ProduceResponse:
        """As `PendingProduce`, for very many partitions."""
        scheduler, acknowledgements = self.context.parts.scheduler, self.acknowledgements()
        known: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        try:
            await scheduler.run(self.registering(acknowledgements))
            acknowledgements.await_all(partial(complete, known), self.timeout_ms)
            await known
        finally:
            scheduler.start(acknowledgements.leaving())
        await scheduler.run(self.noting(acknowledgements, response))
        return response

    def acknowledgements(self) -> Acknowledgements:
        return Acknowledgements(self.waiting, self.context.parts.timers)

    @property
    def timeout_ms(self) -> int:
        return max(0, self.request.timeout_ms)

    def registering(self, acknowledgements: Acknowledgements) -> Steps[None]:
        is_replicated = self.request.acks == ACKS_ALL
        for number in range(len(self.waiting)):
            acknowledgements.register(number, is_replicated=is_replicated)
            yield 0

    def noting(self, acknowledgements: Acknowledgements, response: ProduceResponse) -> Steps[None]:
        """Note the outcomes in the response."""
        timed_out = BrokerError(ErrorCode.REQUEST_TIMED_OUT)
        for number, each in enumerate(self.waiting):
            error = acknowledgements.errors.get(number, timed_out)
            if isinstance(error, BrokerError):
                note_failure(each.answer, error)
                if error.code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
                    self.add_leader_hint(each.partition.name.topic, each.answer)
            elif error is not None:
                raise error
            yield 0
        self.add_endpoints(response)
        if self.guards is not None:
            reach(FaultPoint.DATA_REPLICATED)

    def name_of(self, topic: TopicProduceData) -> str:
        known = self.context.parts.metadata.topic_by_id(TopicId(topic.topic_id))
        return topic.name if known is None else known.name

    def add_endpoints(self, response: ProduceResponse) -> None:
        if self.leaders:
            endpoints = leader_endpoints(self.context, self.leaders)
            response.node_endpoints = [NodeEndpoint(*each) for each in endpoints]

    def add_leader_hint(self, topic: str, answer: PartitionProduceResponse) -> None:
        """Add the current leader, which saves the client a Metadata request (KIP-951)."""
        if self.context.version >= LEADER_HINTS_FROM:
            hint = current_leader(self.context, topic, answer.index)
            answer.current_leader = LeaderIdAndEpoch(*hint)
            if self.leaders is None:
                self.leaders = set()
            self.leaders.add(hint[0])


def header_of_producer(records: Buffer | None) -> BatchHeader | None:
    """The header of a batch of an idempotent producer."""
    if records is None or len(records) < HEADER_BYTES:
        return None
    header = read_header(records)
    is_idempotent = header.producer_id != NO_PRODUCER_ID and header.base_sequence != NO_SEQUENCE
    return header if is_idempotent else None


def must_wait(partition: Partition, end_offset: int, acks: int) -> bool:
    """Whether to wait: for acks=all until it is replicated, for acks=1 as the flush policy
    requires."""
    if acks == ACKS_ALL:
        return not partition.is_replicated(end_offset)
    return acks != ACKS_NONE and partition.needs_sync(end_offset)


def complete(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
