"""Produce (key 0), versions 3 to 13.

v3 transactional id · v4 storage errors · v5 log start offset · v7 zstd · v8 record errors ·
v9 flexible encoding · v10 leader hints · v11 TRANSACTION_ABORTABLE · v12 enlists partitions in
transactions by itself (KIP-890) · v13 topics by id
acks=0 gets no answer at all; there an error closes the connection, which is all a client can see.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import NamedTuple

from ottla.base.fault_points import FaultPoint, reach
from ottla.base.ids import TopicId
from ottla.handlers.context import Context
from ottla.handlers.damage import damaged
from ottla.handlers.leaders import current_leader, leader_endpoints
from ottla.handlers.produce_guards import ProduceGuards, has_transactional_batch
from ottla.handlers.produce_preparation import Preparation, preparation
from ottla.handlers.quotas.request_time import exempt_time
from ottla.handlers.registry import Working, handles
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
from ottla.protocol.records.batch import Buffer
from ottla.protocol.records.checking import check_asked, named_records_max
from ottla.protocol.records.faults import InvalidRecord
from ottla.replication.partition import Partition
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.append import ProducedBy
from ottla.storage.log.preparation import Prepared

ACKS_ALL = -1
ACKS_NONE = 0
ACKS = (ACKS_ALL, ACKS_NONE, 1)
VERSIONS = range(3, 14)
TOPIC_IDS_FROM = 13
LEADER_HINTS_FROM = 10
BY_CLIENT = {version: ProducedBy(produce_version=version) for version in VERSIONS}
NO_OFFSET = -1
ADMIN_CLIENT_ID = "__admin_client"  # by which Kafka knows tools that may repair internal topics
WITHOUT_LOG_START = (
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.MESSAGE_TOO_LARGE,
    ErrorCode.RECORD_LIST_TOO_LARGE,
    ErrorCode.CORRUPT_MESSAGE,
    ErrorCode.KAFKA_STORAGE_ERROR,
)


class Unreplicated(NamedTuple):
    """An append whose acknowledgement still has to wait."""

    partition: Partition
    end_offset: int
    answer: PartitionProduceResponse


def refuse_produce(request: ProduceRequest, code: ErrorCode, message: str) -> ProduceResponse:
    if request.acks == ACKS_NONE:  # an answer would be taken for that to another request
        raise MalformedMessage(f"a produce without acknowledgement was refused: {code.name}")
    return ProduceResponse(
        [
            TopicProduceResponse(
                topic.name,
                topic.topic_id,
                [failed(part.index, code, message) for part in topic.partition_data],
            )
            for topic in request.topic_data
        ]
    )


@handles(ApiKey.PRODUCE, versions=VERSIONS, refuse=refuse_produce)
def produce(
    request: ProduceRequest, context: Context
) -> ProduceResponse | Awaitable[ProduceResponse | None] | Working | None:
    production = Production(request, context)
    if has_transactional_batch(request):
        if request.transactional_id is None:
            raise BrokerError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        production.guards = ProduceGuards(request, context)
    if context.parts.replicas.opening and request.acks in ACKS:
        production.prepared = preparation(request, context)
        if production.prepared is not None and not production.prepared.run_at_once():
            return Working(prepare_and_run(production, production.prepared))
    if production.guards is not None and production.guards.guards:
        return Working(prepare_and_run(production, None))
    return production.run()


async def prepare_and_run(
    production: Production, unprepared: Preparation | None
) -> ProduceResponse | None:
    """The first records of a transaction wait until its coordinator knows of their partitions;
    those that must be opened, until a thread has done so."""
    if production.guards is not None and production.guards.guards:
        await production.guards.verify()
    if unprepared is not None:
        await unprepared.run()
    outcome = production.run()
    return await outcome if isinstance(outcome, Awaitable) else outcome


class Production:
    """One request on its way: appends, then whatever its acknowledgement waits for."""

    __slots__ = (
        "by",
        "context",
        "guards",
        "has_error",
        "named",
        "prepared",
        "request",
        "waiting",
    )

    def __init__(self, request: ProduceRequest, context: Context) -> None:
        self.request = request
        self.context = context
        self.by = BY_CLIENT[context.version]
        self.guards: ProduceGuards | None = None  # only of transactions
        self.prepared: Preparation | None = None  # only where batches are opened
        self.waiting: list[Unreplicated] = []
        self.has_error = False
        self.named = 0  # wrong records, of all batches

    def run(self) -> ProduceResponse | Awaitable[ProduceResponse | None] | None:
        acks = self.request.acks
        topics = [self.append_topic(topic) for topic in self.request.topic_data]
        quota = self.context.parts.quotas.produce
        if quota is not None:
            self.context.throttle(quota.charge(self.context, self.context.request_bytes))
        if acks == ACKS_NONE:
            exempt_time(self.context)
            if self.has_error:
                raise MalformedMessage("a produce without acknowledgement was refused")
            return None
        response = ProduceResponse(topics)
        if self.has_error and self.context.version >= LEADER_HINTS_FROM:
            self.add_leader_hints(response)
        if self.waiting:
            return self.wait(response)
        if self.guards is not None:
            reach(FaultPoint.DATA_REPLICATED)
        return response

    def append_topic(self, topic: TopicProduceData) -> TopicProduceResponse:
        replicas = self.context.parts.replicas
        by_id = self.context.version >= TOPIC_IDS_FROM
        answers = []
        for part in topic.partition_data:
            found = partition = None
            try:
                found = (
                    replicas.partition_by_id(topic.topic_id, part.index)
                    if by_id
                    else replicas.partition(topic.name, part.index)
                )
                by = self.admit(found)
                partition = found  # from here on an error tells where the log begins
                records = part.records if self.prepared is None else self.prepared.of(part)
                answers.append(self.append(partition, part.index, records, by))
            except BrokerError as error:
                sooner = None if found is None else self.wrong_by_itself(part)
                answers.append(
                    self.refuse(part.index, sooner or error, None if sooner else partition)
                )
            except CorruptLogError as error:
                answers.append(self.refuse(part.index, damaged(error), partition))
        return TopicProduceResponse(topic.name, topic.topic_id, answers)

    def wrong_by_itself(self, part: PartitionProduceData) -> InvalidBatch | None:
        """What Kafka says before it looks at anything but the request, once that is refused."""
        if part.records is not None:
            try:
                check_asked(part.records, self.context.version)
            except InvalidBatch as error:
                return error
        return None

    def refuse(
        self, index: int, error: BrokerError, partition: Partition | None
    ) -> PartitionProduceResponse:
        self.has_error = True
        answer = refused(index, error, partition)
        if isinstance(error, InvalidRecord):
            left = named_records_max(self.context.request_bytes) - self.named
            wrong = error.named()[: max(1, left)]  # its first one, whatever other batches had
            answer.record_errors = [BatchIndexAndErrorMessage(*each) for each in wrong]
            self.named += len(wrong)
        return answer

    def admit(self, partition: Partition) -> ProducedBy:
        """Whether its log may be asked at all. Transactions are looked at before `acks` is, so a
        partition may have been enlisted by a request that is refused."""
        by = self.by
        if self.guards is not None:
            by = by._replace(guard=self.guards.guard_of(partition.name))
        if self.request.acks not in ACKS:
            raise BrokerError(ErrorCode.INVALID_REQUIRED_ACKS)
        topic = partition.name.topic
        if topic in INTERNAL_TOPICS and self.context.client_id != ADMIN_CLIENT_ID:
            # What coordinators rely on is theirs to write.
            raise BrokerError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{topic} is internal")
        return by

    def append(
        self, partition: Partition, index: int, records: Buffer | Prepared | None, by: ProducedBy
    ) -> PartitionProduceResponse:
        if records is None:
            raise InvalidBatch(ErrorCode.INVALID_RECORD, "no records")
        appended = partition.append(records, self.request.acks, by)
        if self.guards is not None:
            reach(FaultPoint.DATA_APPENDED)
        answer = PartitionProduceResponse(
            index,
            0,
            appended.first_offset,
            appended.log_append_time_ms,
            partition.log.log_start_offset,
        )
        end_offset = appended.last_offset + 1
        if self.must_wait(partition, end_offset):
            self.waiting.append(Unreplicated(partition, end_offset, answer))
        return answer

    def must_wait(self, partition: Partition, end_offset: int) -> bool:
        """All copies for acks=all; for acks=1 the leader's own, as its flush policy wants it."""
        if self.request.acks == ACKS_ALL:
            return not partition.is_replicated(end_offset)
        return self.request.acks != ACKS_NONE and partition.owes_sync(end_offset)

    async def wait(self, response: ProduceResponse) -> ProduceResponse:
        """Until every append is replicated, or the client's patience is over."""
        timeout_s = max(0, self.request.timeout_ms) / 1000
        is_all = self.request.acks == ACKS_ALL
        tasks = [
            asyncio.ensure_future(
                each.partition.wait_replicated(each.end_offset)
                if is_all
                else each.partition.wait_synced(each.end_offset)
            )
            for each in self.waiting
        ]
        await asyncio.wait(tasks, timeout=timeout_s)
        for each, task in zip(self.waiting, tasks, strict=True):
            if not task.done():
                task.cancel()
                note_failure(each.answer, BrokerError(ErrorCode.REQUEST_TIMED_OUT))
            elif (error := task.exception()) is not None:
                if not isinstance(error, BrokerError):
                    raise error
                note_failure(each.answer, error)
        if self.guards is not None:
            reach(FaultPoint.DATA_REPLICATED)
        return response

    def add_leader_hints(self, response: ProduceResponse) -> None:
        """Tell who leads instead, which saves the client a Metadata request (KIP-951)."""
        leaders: set[int] = set()
        for topic in response.responses:
            for answer in topic.partition_responses:
                if answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
                    known = self.context.parts.metadata.topic_by_id(TopicId(topic.topic_id))
                    name = topic.name if known is None else known.name
                    hint = current_leader(self.context, name, answer.index)
                    answer.current_leader = LeaderIdAndEpoch(*hint)
                    leaders.add(hint[0])
        response.node_endpoints = [
            NodeEndpoint(*each) for each in leader_endpoints(self.context, leaders)
        ]


def refused(
    index: int, error: BrokerError, partition: Partition | None
) -> PartitionProduceResponse:
    """Where the log begins is told too, unless Kafka leaves it out."""
    answer = failed(index, error.code, error.message)
    if partition is not None and error.code not in WITHOUT_LOG_START:
        answer.log_start_offset = partition.log.log_start_offset
    return answer


def failed(index: int, code: ErrorCode, message: str) -> PartitionProduceResponse:
    return PartitionProduceResponse(index, code, NO_OFFSET, error_message=message or None)


def note_failure(answer: PartitionProduceResponse, error: BrokerError) -> None:
    answer.error_code = error.code
    answer.base_offset = NO_OFFSET
    answer.log_append_time_ms = answer.log_start_offset = -1
    answer.error_message = error.message or None
