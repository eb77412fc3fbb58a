"""ListOffsets (key 2), versions 1 to 11.

v2 isolation level, throttle time · v4 leader epochs · v5 OFFSET_NOT_AVAILABLE · v6 flexible
encoding · v7 offset of the largest timestamp · v8, v9, v11 tiered offsets · v10 timeout for these
Without tiered storage: earliest-local is the log start, latest-tiered and earliest-pending-upload
are unknown (-1).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from ottla.base.files.readers import CACHED
from ottla.base.scheduling.steps import Steps
from ottla.base.scheduling.tasks import next_iteration
from ottla.handlers.partitions.damage import damaged
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
)
from ottla.protocol.messages.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from ottla.replication.partition import Partition
from ottla.storage.errors import CorruptLogError

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING = range(-1, -7, -1)
FIRST_VERSION = {
    LATEST: 1, EARLIEST: 1, MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9,
    EARLIEST_PENDING: 11,
}  # fmt: skip
READ_COMMITTED = 1
CONSUMER = -1
LEADER_EPOCHS_FROM = 4
OFFSET_NOT_AVAILABLE_FROM = 5
ANSWER_BYTES = 28  # of one partition


class PartitionOffset(NamedTuple):
    offset: int = -1
    timestamp: int = -1
    leader_epoch: int = -1


UNKNOWN = PartitionOffset()
Later = Callable[[], Awaitable[ListOffsetsPartitionResponse]]  # reads records


def refuse_list_offsets(
    request: ListOffsetsRequest, code: ErrorCode, _message: str
) -> ListOffsetsResponse:
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                topic.name, [failed(part.partition_index, code) for part in topic.partitions]
            )
            for topic in request.topics
        ]
    )


@handles(ApiKey.LIST_OFFSETS, refuse=refuse_list_offsets)
def list_offsets(
    request: ListOffsetsRequest, context: Context
) -> Steps[ListOffsetsResponse | Awaitable[ListOffsetsResponse]]:
    repeated = yield from finding_repeated(request)
    topics, later = [], []
    for topic in request.topics:
        answers: list[ListOffsetsPartitionResponse] = []
        topics.append(ListOffsetsTopicResponse(topic.name, answers))
        yield len(topic.name)
        for wanted in topic.partitions:
            index = wanted.partition_index
            found: ListOffsetsPartitionResponse | Later
            if index in repeated[topic.name]:
                found = failed(index, ErrorCode.INVALID_REQUEST)
            else:
                found = PartitionQuery(request, topic.name, wanted, context).answer()
            if not isinstance(found, ListOffsetsPartitionResponse):
                later.append((answers, len(answers), found))
                found = failed(index, ErrorCode.UNKNOWN_SERVER_ERROR)  # replaced when it is known
            answers.append(found)
            yield ANSWER_BYTES
    response = ListOffsetsResponse(topics=topics)
    return complete(response, later) if later else response


async def complete(
    response: ListOffsetsResponse,
    later: list[tuple[list[ListOffsetsPartitionResponse], int, Later]],
) -> ListOffsetsResponse:
    """Search the records of the remaining partitions, one partition at a time."""
    for answers, index, look_up_later in later:
        answers[index] = await look_up_later()
    return response


def finding_repeated(request: ListOffsetsRequest) -> Steps[dict[str, set[int]]]:
    """Partitions that are named more than once, by topic."""
    named: dict[str, set[int]] = {}
    repeated: dict[str, set[int]] = {}
    for topic in request.topics:
        known = named.setdefault(topic.name, set())
        twice = repeated.setdefault(topic.name, set())
        for wanted in topic.partitions:
            index = wanted.partition_index
            (twice if index in known else known).add(index)
            yield 0
        yield 0
    return repeated


@dataclass(frozen=True, slots=True)
class PartitionQuery:
    """One partition of a request. An error here leaves the others served."""

    request: ListOffsetsRequest
    topic: str
    wanted: ListOffsetsPartition
    context: Context

    def answer(self) -> ListOffsetsPartitionResponse | Later:
        try:
            found = self._begin()
        except BrokerError as error:
            return self._refused(error)
        if isinstance(found, ListOffsetsPartitionResponse):
            return found
        return partial(self._complete, found)

    def _begin(self) -> ListOffsetsPartitionResponse | Later:
        request, wanted, context = self.request, self.wanted, self.context
        if wanted.timestamp < 0 and context.version < FIRST_VERSION.get(wanted.timestamp, 99):
            raise BrokerError(ErrorCode.UNSUPPORTED_VERSION)
        partition = context.parts.replicas.partition(self.topic, wanted.partition_index)
        partition.check_leader(wanted.current_leader_epoch)
        if request.isolation_level == READ_COMMITTED and not partition.log.producers.is_loaded:
            return partial(self._load_and_begin, partition)
        end_offset = visible_end(partition, request)
        if wanted.timestamp == MAX_TIMESTAMP or wanted.timestamp >= 0:
            return partial(search, partition, end_offset, wanted, context)
        found = find(partition, wanted.timestamp, end_offset)
        return partition_response(wanted, found, context)

    async def _load_and_begin(self, partition: Partition) -> ListOffsetsPartitionResponse:
        try:
            await self.context.parts.scheduler.run(partition.log.producers.loading())
        except CorruptLogError as error:
            raise damaged(partition, error) from error
        found = self._begin()
        return found if isinstance(found, ListOffsetsPartitionResponse) else await found()

    async def _complete(self, look_up_later: Later) -> ListOffsetsPartitionResponse:
        try:
            return await look_up_later()
        except BrokerError as error:
            return self._refused(error)

    def _refused(self, error: BrokerError) -> ListOffsetsPartitionResponse:
        return failed(self.wanted.partition_index, known_code(error.code, self.context.version))


def partition_response(
    wanted: ListOffsetsPartition, found: PartitionOffset, context: Context
) -> ListOffsetsPartitionResponse:
    epoch = found.leader_epoch if context.version >= LEADER_EPOCHS_FROM else -1
    return ListOffsetsPartitionResponse(
        wanted.partition_index, 0, found.timestamp, found.offset, epoch
    )


def visible_end(partition: Partition, request: ListOffsetsRequest) -> int:
    """The end offset for this reader: followers and debug consumers read to the log end."""
    log = partition.log
    if request.replica_id != CONSUMER:
        return log.log_end_offset
    if not partition.has_caught_up:
        # The high watermark of earlier leader epochs is not known yet: offsets could go backwards.
        raise BrokerError(ErrorCode.OFFSET_NOT_AVAILABLE)
    if request.isolation_level == READ_COMMITTED:
        return log.last_stable_offset(CACHED)
    return log.high_watermark


def find(partition: Partition, timestamp: int, end_offset: int) -> PartitionOffset:
    """The offset, if it is known without reading records."""
    log = partition.log
    try:
        match timestamp:
            case -1:
                return PartitionOffset(end_offset, -1, partition.leader_epoch)
            case -2 | -4:
                epochs = log.epochs.load(CACHED)  # a leader has them in memory
                epoch = epochs.epoch_for_offset(log.log_start_offset)
                return PartitionOffset(log.log_start_offset, -1, -1 if epoch is None else epoch)
            case _:
                return UNKNOWN
    except CorruptLogError as error:
        raise damaged(partition, error) from error


async def search(
    partition: Partition, end_offset: int, wanted: ListOffsetsPartition, context: Context
) -> ListOffsetsPartitionResponse:
    """Search the records, in slices: there may be many."""
    await next_iteration()
    if wanted.timestamp == MAX_TIMESTAMP:
        finding = partition.log.finding_max_timestamp()
    else:
        finding = partition.log.finding_by_timestamp(wanted.timestamp)
    try:
        async with context.parts.time_searches:
            found = await context.parts.scheduler.run(finding)
    except CorruptLogError as error:
        raise damaged(partition, error) from error
    if found is None or found.offset >= end_offset:
        return partition_response(wanted, UNKNOWN, context)
    return partition_response(
        wanted, PartitionOffset(found.offset, found.timestamp, found.leader_epoch), context
    )


def known_code(code: ErrorCode, version: int) -> ErrorCode:
    if code == ErrorCode.OFFSET_NOT_AVAILABLE and version < OFFSET_NOT_AVAILABLE_FROM:
        return ErrorCode.LEADER_NOT_AVAILABLE
    return code


def failed(index: int, code: ErrorCode) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(index, code)
