"""Fetch (key 1), versions 4 to 18.

v4 isolation level · v5 log start offset · v7 sessions · v9 leader epochs · v10 zstd · v11 racks ·
v12 flexible encoding, divergence · v13 topics by id · v15 follower's state · v16 leader hints ·
v17 directory ids · v18 follower's high watermark
Records are not read here: an answer holds ranges of files, which the network sends. Where nothing
is to be told yet, the answer waits until enough has come or the client's patience is over.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Iterable, Iterator
from typing import NamedTuple

from ottla.handlers.context import Context
from ottla.handlers.damage import damaged
from ottla.handlers.leaders import current_leader, leader_endpoints
from ottla.handlers.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.fetch_request import FetchRequest
from ottla.protocol.messages.fetch_response import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from ottla.replication.fetch_sessions import (
    FINAL_EPOCH,
    FULL_EPOCH,
    NO_SESSION,
    FetchKey,
    FetchSession,
    WantedPartition,
)
from ottla.replication.partition import NO_EPOCH, Partition
from ottla.replication.waiting import DataWaiter, Watched
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.reading import RangeCheck

log = logging.getLogger(__name__)

TOPIC_IDS_FROM = 13
LEADER_HINTS_FROM = 16
READ_COMMITTED = 1
NOTHING = b""  # zero bytes, never null: some clients take null for a broken answer
SESSION_ERRORS = (
    ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
    ErrorCode.INVALID_FETCH_SESSION_EPOCH,
    ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
)
HINTED_ERRORS = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


class Found(NamedTuple):
    """What one partition has to tell."""

    wanted: WantedPartition
    answer: PartitionData
    partition: Partition | None
    check: RangeCheck | None


def refuse_fetch(
    request: FetchRequest, code: ErrorCode, _message: str, version: int
) -> FetchResponse:
    """Told for the whole answer where it has a place, and for every partition where names go.

    What is wrong with a session is told for the session alone.
    """
    if version >= TOPIC_IDS_FROM or code in SESSION_ERRORS:
        return FetchResponse(error_code=code)
    topics = [
        FetchableTopicResponse(
            topic.topic,
            partitions=[
                PartitionData(part.partition, code, -1, -1, -1, records=NOTHING)
                for part in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    return FetchResponse(error_code=code, responses=topics)


@handles(ApiKey.FETCH, versions=range(4, 19), refuse_in_version=refuse_fetch)
def fetch(request: FetchRequest, context: Context) -> FetchResponse | Awaitable[FetchResponse]:
    fetching = Fetching(request, context)
    if not fetching.look() and request.max_wait_ms > 0:
        return fetching.wait()
    if fetching.has_checks:
        return fetching.check()
    return fetching.answer()


class Fetching:
    """One request: what it wants, what was found, whether that is enough."""

    def __init__(self, request: FetchRequest, context: Context) -> None:
        self.request = request
        self.context = context
        self.is_committed = request.isolation_level == READ_COMMITTED
        self.follower = request.replica_id
        if request.replica_state is not None:
            self.follower = request.replica_state.replica_id
        self.is_full = request.session_epoch in (FULL_EPOCH, FINAL_EPOCH)
        self.session = self.find_session()
        self.quota = None if self.follower >= 0 else context.parts.quotas.fetch
        self.bytes_max = self.limit_bytes()
        self.found: list[Found] = []
        self.size = 0
        self.has_error = False

    # Sessions

    def find_session(self) -> FetchSession | None:
        """The session to read from. A client's request names partitions only as they change."""
        request, sessions = self.request, self.context.parts.fetch_sessions
        uses_ids = self.context.version >= TOPIC_IDS_FROM
        now_ms = self.context.parts.clock.now_ms()
        if not self.is_full:
            session = sessions.resume(request.session_id, request.session_epoch, uses_ids, now_ms)
            self.context.parts.replicas.leave(session, self.forgotten())
            session.update(self.named(), self.forgotten())
            return session
        if request.session_id != NO_SESSION:
            self.context.parts.close_fetch_session(request.session_id)
        if request.session_epoch == FINAL_EPOCH:
            return None
        wanted = list(self.named())
        session_or_none = sessions.open(len(wanted), self.follower >= 0, uses_ids, now_ms)
        if session_or_none is not None:
            session_or_none.update(wanted, ())
        return session_or_none

    def named(self) -> Iterator[WantedPartition]:
        uses_ids = self.context.version >= TOPIC_IDS_FROM
        for topic in self.request.topics:
            key = topic.topic_id if uses_ids else topic.topic
            for each in topic.partitions:
                yield WantedPartition(
                    FetchKey(key, each.partition),
                    each.fetch_offset,
                    each.partition_max_bytes,
                    each.current_leader_epoch,
                    each.last_fetched_epoch,
                    each.log_start_offset,
                )

    def forgotten(self) -> list[FetchKey]:
        uses_ids = self.context.version >= TOPIC_IDS_FROM
        return [
            FetchKey(topic.topic_id if uses_ids else topic.topic, partition)
            for topic in self.request.forgotten_topics_data
            for partition in topic.partitions
        ]

    def wanted(self) -> Iterable[WantedPartition]:
        return self.named() if self.session is None else self.session.to_look_at()

    # Looking

    def look(self) -> bool:
        """Gather what there is; whether that is enough to answer now."""
        self.found, self.size, self.has_error = [], 0, False
        for wanted in self.wanted():
            found = self.look_at(wanted)
            self.found.append(found)
            self.size += len(found.answer.records or NOTHING)
            if found.answer.error_code or found.answer.diverging_epoch is not None:
                self.has_error = True
        has_partitions = bool(self.session.partitions if self.session else self.found)
        return self.size >= self.bytes_wanted or self.has_error or not has_partitions

    def limit_bytes(self) -> int:
        """The client's wish, the broker's limit, and what the client's quota allows at once."""
        limit = self.context.parts.settings.config.fetch_max_bytes
        most = None if self.quota is None else self.quota.amount_max(self.context)
        return min(self.request.max_bytes, limit, limit if most is None else int(most))

    @property
    def bytes_wanted(self) -> int:
        """Fewer are worth waiting for more."""
        return min(self.request.min_bytes, self.bytes_max)

    def look_at(self, wanted: WantedPartition) -> Found:
        try:
            partition = self.context.parts.replicas.partition_by_key(wanted.key)
        except BrokerError as error:
            answer = failed(wanted, error.code)
            answer.aborted_transactions = ()  # as Kafka tells those it does not have from the rest
            return Found(wanted, answer, None, None)
        if self.session is not None and not self.session.is_closed:
            partition.sessions[self.session] = wanted.key
        try:
            return self.read(wanted, partition)
        except BrokerError as error:
            return Found(wanted, failed(wanted, error.code), partition, None)
        except CorruptLogError as error:
            return Found(wanted, failed(wanted, damaged(error).code), partition, None)

    def read(self, wanted: WantedPartition, partition: Partition) -> Found:
        partition.check_leader(max(NO_EPOCH, wanted.current_leader_epoch))
        if self.follower >= 0:
            partition.check_follower(self.follower, wanted.current_leader_epoch)
        answer = describe(wanted, partition, self.is_committed)
        if wanted.last_fetched_epoch >= 0:
            end = partition.divergence(wanted.last_fetched_epoch, wanted.fetch_offset)
            if end is not None:
                answer.diverging_epoch = EpochEndOffset(*end)
                return Found(wanted, answer, partition, None)
        room = max(0, self.bytes_max - self.size)
        found = partition.read(
            wanted.fetch_offset,
            min(wanted.partition_bytes_max, room),
            is_committed=self.is_committed,
            at_least_one=self.size == 0,
        )
        if len(found.records):
            answer.records = found.records
        if found.aborted is not None:
            answer.aborted_transactions = [
                AbortedTransaction(each.producer_id, each.first_offset) for each in found.aborted
            ]
        return Found(wanted, answer, partition, found.check)

    # Waiting

    async def wait(self) -> FetchResponse:
        """Until enough has come to any of the partitions, or the time is up; then look again."""
        waiter = DataWaiter(self.watched(), self.bytes_wanted - self.size)
        await waiter.wait(self.request.max_wait_ms / 1000)
        self.look()
        return await self.check()

    def watched(self) -> list[Watched]:
        """A session hears of all its partitions, so that waiting costs the same for any number."""
        if self.session is not None:
            return [self.session]
        return [found.partition for found in self.found if found.partition is not None]

    @property
    def has_checks(self) -> bool:
        return any(found.check is not None for found in self.found)

    async def check(self) -> FetchResponse:
        """Bytes that nobody has verified since they were opened are read before they are sent."""
        for at, found in enumerate(self.found):
            if found.check is None:
                continue
            try:
                await asyncio.to_thread(found.check.run)
            except Exception as error:
                self.found[at] = self.damaged(found, error)
            else:
                if not found.check.confirm():
                    found.answer.records = NOTHING  # cut meanwhile: the client asks again
        return self.answer()

    def damaged(self, found: Found, error: Exception) -> Found:
        log.error("%s: not served: %s", found.partition, error)
        answer = failed(found.wanted, ErrorCode.CORRUPT_MESSAGE)
        return Found(found.wanted, answer, found.partition, None)

    # Answering

    def answer(self) -> FetchResponse:
        if self.quota is not None:
            is_let, wait_ms = self.quota.admit(self.context, self.size)
            self.context.throttle(wait_ms)
            if not is_let:
                return self.throttled()
        told = [found for found in self.found if self.must_tell(found)]
        response = FetchResponse(
            session_id=NO_SESSION if self.session is None else self.session.id,
            responses=group_by_topic(told, self.context.version >= TOPIC_IDS_FROM),
        )
        if self.has_error:
            self.add_leader_hints(response)
        return response

    def throttled(self) -> FetchResponse:
        """Nothing this time, and the session is as it was; a new one was not opened."""
        if self.session is None or not self.is_full:
            return FetchResponse(session_id=NO_SESSION if self.session is None else self.session.id)
        self.context.parts.close_fetch_session(self.session.id)
        return FetchResponse()

    def must_tell(self, found: Found) -> bool:
        """Whether the client does not know this yet; in a full fetch everything is told."""
        if self.session is None:
            return True
        answer = found.answer
        is_news = found.wanted.tell(
            answer.error_code, answer.high_watermark, answer.log_start_offset
        )
        has_records = len(answer.records or NOTHING) > 0
        has_more = has_records or answer.error_code != 0 or answer.diverging_epoch is not None
        is_left_over = not has_more and self.has_readable(found)
        self.session.looked_at(found.wanted.key, has_more=has_more, is_left_over=is_left_over)
        return self.is_full or is_news or has_more

    def has_readable(self, found: Found) -> bool:
        """Whether the log goes on where the reader stands: others had filled the answer."""
        answer = found.answer
        end = answer.last_stable_offset if self.is_committed else answer.high_watermark
        return found.wanted.fetch_offset < end

    def add_leader_hints(self, response: FetchResponse) -> None:
        """Tell who leads instead, which saves the client a Metadata request (KIP-951)."""
        if self.context.version < LEADER_HINTS_FROM:
            return
        leaders: set[int] = set()
        for found in self.found:
            if found.answer.error_code in HINTED_ERRORS and found.partition is not None:
                name = found.partition.name
                hint = current_leader(self.context, name.topic, name.partition)
                found.answer.current_leader = LeaderIdAndEpoch(*hint)
                leaders.add(hint[0])
        if self.follower < 0:  # brokers know each other's addresses
            response.node_endpoints = [
                NodeEndpoint(*each) for each in leader_endpoints(self.context, leaders)
            ]


def describe(wanted: WantedPartition, partition: Partition, is_committed: bool) -> PartitionData:
    partition_log = partition.log
    return PartitionData(
        wanted.key.partition,
        0,
        partition_log.high_watermark,
        partition_log.last_stable_offset,
        partition_log.log_start_offset,
        aborted_transactions=() if is_committed else None,
        records=NOTHING,
    )


def failed(wanted: WantedPartition, code: ErrorCode) -> PartitionData:
    return PartitionData(
        wanted.key.partition, code, -1, -1, -1, aborted_transactions=None, records=NOTHING
    )


def group_by_topic(found: Iterable[Found], uses_ids: bool) -> list[FetchableTopicResponse]:
    """Neighbours of one topic together, in the order in which they were looked at."""
    topics: list[FetchableTopicResponse] = []
    last = None
    for each in found:
        topic = each.wanted.key.topic
        if topic != last:
            last = topic
            new = FetchableTopicResponse(partitions=[])
            if uses_ids:
                new.topic_id = topic  # type: ignore[assignment]  # bytes from version 13 on
            else:
                new.topic = topic  # type: ignore[assignment]
            topics.append(new)
        topics[-1].partitions.append(each.answer)  # type: ignore[attr-defined]  # the list above
    return topics
