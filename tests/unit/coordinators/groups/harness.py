"""A shard of groups without a broker: the real runtime, a log that is a list, and a manual clock.

Clients are small: they keep what they received, and send what a test asks for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any, NamedTuple, TypeVar

from ottla.base.ids import TopicId, TopicPartition
from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import run_blocking
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.base.scheduling.timers import Timers
from ottla.config.load import load_config
from ottla.config.resource_options import GroupConfig
from ottla.coordinators.batches import COORDINATOR_ITSELF, BatchFormat, Writer
from ottla.coordinators.groups import consumer_api, membership_api, offset_api
from ottla.coordinators.groups.classic.group import ClassicGroup
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.offset_commits import DeletedTopics, forgetting_topics
from ottla.coordinators.groups.offset_expiry import expiring
from ottla.coordinators.groups.pattern_matching import matching, resolving
from ottla.coordinators.groups.record_types import GROUP_RECORDS, OFFSETS_TOPIC
from ottla.coordinators.groups.shard import GroupShard, LoadedShard, Records
from ottla.coordinators.groups.shard_context import Caller, Deadline, ShardContext
from ottla.coordinators.records import CoordinatorResult, decode_record
from ottla.coordinators.runtime import CoordinatorTopic, Runtime
from ottla.coordinators.shard import Shard
from ottla.metadata.image import Batch, Image
from ottla.metadata.records import PartitionCreated, Record, TopicCreated, TopicDeleted
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.consumer_group_heartbeat_request import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from ottla.protocol.messages.consumer_group_heartbeat_response import (
    ConsumerGroupHeartbeatResponse,
)
from ottla.protocol.messages.heartbeat_request import HeartbeatRequest
from ottla.protocol.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.protocol.messages.join_group_response import JoinGroupResponse
from ottla.protocol.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from ottla.protocol.messages.leave_group_response import MemberResponse
from ottla.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from ottla.protocol.messages.offset_fetch_request import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from ottla.protocol.messages.sync_group_request import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)
from ottla.protocol.messages.sync_group_response import SyncGroupResponse
from ottla.protocol.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from ottla.protocol.records.batch import read_header
from ottla.protocol.records.control import EndMarker, read_end_marker
from ottla.protocol.records.reading import iterate_records
from ottla.storage.log.append import Appended
from ottla.testing.clock import ManualClock

A = TypeVar("A")
T = TypeVar("T")
Owned = dict[bytes, set[int]]  # partitions by topic id
GROUP = "readers"
HOST = "/10.0.0.1"
SESSION_MS = 10_000
REBALANCE_MS = 60_000


class Logged(NamedTuple):
    """A record as it is in the log, or the end of a transaction."""

    key: bytes | None
    value: bytes | None
    writer: Writer
    is_commit: bool = False


@dataclass
class ReplyBox:
    """A client that waits."""

    response: Any = None

    def give(self, response: Any) -> None:
        assert self.response is None, "answered twice"
        self.response = response

    @property
    def is_waiting(self) -> bool:
        return self.response is None

    @property
    def code(self) -> ErrorCode:
        return ErrorCode(self.response.error_code)


class ListLog:
    """The log of one partition, replicated at once."""

    def __init__(self) -> None:
        self.records: list[Logged] = []
        self.refusal: ErrorCode | None = None  # of every append

    @property
    def log_end_offset(self) -> int:
        return len(self.records)


class ListPartition:
    """As much of a partition as a shard needs."""

    leader_epoch = 0
    name = TopicPartition(OFFSETS_TOPIC, 0)

    def __init__(self) -> None:
        self.log = ListLog()

    def append(self, batch: bytearray, _acks: int, _by: object) -> Appended:
        if self.log.refusal is not None:
            raise BrokerError(self.log.refusal)
        first_offset = self.log.log_end_offset
        header = read_header(batch)
        writer = Writer(header.producer_id, header.producer_epoch)
        if header.is_control:
            marker = read_end_marker(batch)
            assert marker is not None
            self.log.records.append(Logged(None, None, writer, marker.is_commit))
        else:
            writer = writer if header.is_transactional else COORDINATOR_ITSELF
            for record in iterate_records(bytes(batch)):
                self.log.records.append(Logged(record.key, record.value, writer))
        return Appended(first_offset, self.log.log_end_offset - 1)

    def is_replicated(self, end_offset: int) -> bool:
        return end_offset <= self.log.log_end_offset


class NoTurns(StepScheduler):
    """No other task waits for the scheduler."""

    async def next(self, *, is_new: bool = False) -> None: ...


class NoTasks(OwnedTasks):
    """Without an event loop: what is started runs to its end."""

    def start(self, work: Coroutine[Any, Any, T], *, name: str) -> asyncio.Task[T]:
        try:
            work.send(None)
        except StopIteration:
            return None  # type: ignore[return-value]
        raise AssertionError(f"{name} waits for something")


class Harness:
    def __init__(self, *settings: str) -> None:
        self.clock = ManualClock()
        self.image = Image()
        self.config = load_config(settings=settings).config
        self.group_config = GroupConfig()
        self.partition = ListPartition()
        self._ids = count(1)
        self.runtime: Runtime[GroupShard] = Runtime(
            CoordinatorTopic(OFFSETS_TOPIC, GROUP_RECORDS, BatchFormat(), lambda: 1),
            self._new_shard,
            no_load_ends,
            self.clock.now_ms,
            0,
            NoTurns(self.clock),
            NoTasks(),
        )
        self.loaded = self._load(self._new_shard())

    def _load(self, shard: GroupShard) -> LoadedShard:
        loaded = Shard(self.partition, shard)  # type: ignore[arg-type]
        loaded.activate()
        run_blocking(shard.loaded(self.clock.now_ms()))
        return loaded

    @property
    def shard(self) -> GroupShard:
        return self.loaded.state

    @property
    def log(self) -> list[Logged]:
        return self.partition.log.records

    @log.setter
    def log(self, records: list[Logged]) -> None:
        self.partition.log.records = records

    @property
    def refusal(self) -> ErrorCode | None:
        return self.partition.log.refusal

    @refusal.setter
    def refusal(self, code: ErrorCode | None) -> None:
        self.partition.log.refusal = code

    def _new_shard(self) -> GroupShard:
        timers: Timers[Deadline] = Timers(self._tick_ms)
        context = ShardContext(
            self.config,
            lambda _group_id: self.group_config,
            self.image,
            timers,
            self.clock.now_ms,
            self.new_id,
        )
        return GroupShard(context)

    def new_id(self) -> str:
        return str(next(self._ids))

    def _tick_ms(self) -> int:
        return int(self.clock.monotonic_s() * 1000)

    # Topics

    def change_metadata(self, *records: Record) -> None:
        changes = self.image.apply(Batch(self.image.offset, 1, records))
        self.shard.context.topics_version = self.image.offset
        topic_ids = {topic.name: {topic.id} for topic in changes.deleted_topics.values()}
        deleted = DeletedTopics(topic_ids, len(self.log))
        run_blocking(forgetting_topics(self.shard.offsets, deleted, self.write))

    def create_topic(self, name: str, partitions: int = 4) -> TopicId:
        topic_id = TopicId(f"{name}{self.image.offset}".encode().ljust(16, b"\1")[:16])
        created = (PartitionCreated(topic_id, i, (1,), (1,), 1) for i in range(partitions))
        self.change_metadata(TopicCreated(topic_id, name), *created)
        return topic_id

    def add_partitions(self, name: str, total: int) -> None:
        topic = self.image.topic(name)
        assert topic is not None
        indexes = range(len(topic.partitions), total)
        self.change_metadata(*(PartitionCreated(topic.id, i, (1,), (1,), 1) for i in indexes))

    def delete_topic(self, name: str) -> None:
        topic = self.image.topic(name)
        assert topic is not None
        self.change_metadata(TopicDeleted(topic.id))

    # The log

    def write(self, records: Records, writer: Writer = COORDINATOR_ITSELF) -> None:
        self.runtime.write(self.loaded, records, writer)

    def end_transaction(self, producer_id: int, *, is_commit: bool) -> None:
        self.runtime.write_marker(self.loaded, Writer(producer_id, 0), EndMarker(is_commit, 0))

    def _apply(self, shard: GroupShard, offset: int) -> None:
        logged = self.log[offset]
        if logged.key is None:
            shard.apply_marker(logged.writer, logged.is_commit)
            return
        record = decode_record(GROUP_RECORDS, logged.key, logged.value)
        assert record is not None
        shard.apply(record, logged.writer, offset)

    def step(self, act: Callable[[GroupShard], Records]) -> None:
        self.runtime.step(self.loaded, act)

    def decide(
        self, act: Callable[[GroupShard], CoordinatorResult[A]], writer: Writer = COORDINATOR_ITSELF
    ) -> A:
        answer = self.runtime.decide(self.loaded, act, writer)
        assert not isinstance(answer, Awaitable)
        return answer

    def replayed(self) -> GroupShard:
        """The state that another broker would load from the log."""
        shard = self._new_shard()
        for offset in range(len(self.log)):
            self._apply(shard, offset)
        return shard

    def restart(self) -> None:
        run_blocking(self.shard.unloaded())
        shard = self.replayed()
        shard.context.topics_version = self.image.offset
        self.loaded = self._load(shard)

    def compact(self) -> None:
        """Keep the last record of each key, and whatever an open transaction wrote."""
        last = {logged.key: at for at, logged in enumerate(self.log) if logged.key is not None}
        open_producers = set(self.shard.offsets.pending)
        self.log = [
            logged
            if logged.key is None
            or last[logged.key] == at
            or logged.writer.producer_id in open_producers
            else Logged(None, None, Writer(-2, 0))  # a hole
            for at, logged in enumerate(self.log)
        ]

    # Time

    def advance_ms(self, milliseconds: int) -> None:
        """Move time, stopping wherever something is due."""
        end_ms = self._tick_ms() + milliseconds
        timers = self.shard.context.timers
        while (due_ms := timers.next_ms) is not None and due_ms <= end_ms:
            self.clock.advance_ms(max(0, due_ms - self._tick_ms()))
            while timers.is_due and (deadline := timers.take_expired()) is not None:
                self._expire(deadline)
        self.clock.advance_ms(end_ms - self._tick_ms())

    def _expire(self, deadline: Deadline) -> None:
        try:
            self.step(lambda shard: shard.expire(deadline))
        except BrokerError:
            self.shard.context.timers.start_if_absent(deadline, 500)

    def expire_offsets(self) -> None:
        for group_id in list(self.shard.group_ids()):
            find = partial(self.shard.find, group_id)
            retention_ms = self.config.offsets_retention_minutes * 60_000
            now_ms = self.clock.now_ms()
            run_blocking(expiring(find, self.shard.offsets, now_ms, retention_ms, self.write))

    # Patterns

    def resolve_patterns(self) -> None:
        """What the service does next to its other work."""
        context = self.shard.context
        while context.unresolved:
            group_id = context.unresolved.pop()
            group = self.shard.groups[group_id]
            assert isinstance(group, ConsumerGroup)
            found, _ = run_blocking(matching(group.subscribed_regexes(), list(self.image.topics)))
            version = self.image.offset
            run_blocking(resolving(self.loaded, group_id, found, version, self.runtime))

    # Looking

    def consumers(self, group_id: str = GROUP) -> ConsumerGroup:
        group = self.shard.groups[group_id]
        assert isinstance(group, ConsumerGroup)
        return group

    def classic(self, group_id: str = GROUP) -> ClassicGroup:
        group = self.shard.groups[group_id]
        assert isinstance(group, ClassicGroup)
        return group

    # Offsets

    def commit(
        self,
        offsets: Mapping[tuple[str, int], int],
        *,
        group_id: str = GROUP,
        member_id: str = "",
        epoch: int = -1,
        instance_id: str | None = None,
        metadata: str = "",
        retention_ms: int = -1,
        version: int = 9,
    ) -> dict[tuple[str, int], ErrorCode]:
        topics: dict[str, list[OffsetCommitRequestPartition]] = {}
        for (topic, index), offset in offsets.items():
            wanted = OffsetCommitRequestPartition(index, offset, 0, metadata)
            topics.setdefault(topic, []).append(wanted)
        request = OffsetCommitRequest(
            group_id,
            epoch,
            member_id,
            instance_id,
            retention_ms,
            [
                OffsetCommitRequestTopic(name, offset_api.topic_id_of(self.shard, name), partitions)
                for name, partitions in topics.items()
            ],
        )
        answer = self.decide(lambda shard: offset_api.commit(shard, request, version))
        return {
            (topic.name, each.partition_index): ErrorCode(each.error_code)
            for topic in answer.topics
            for each in topic.partitions
        }

    def commit_in_transaction(
        self,
        producer_id: int,
        offsets: Mapping[tuple[str, int], int],
        *,
        group_id: str = GROUP,
        member_id: str = "",
        generation: int = -1,
        instance_id: str | None = None,
    ) -> None:
        request = TxnOffsetCommitRequest(
            "transaction",
            group_id,
            producer_id,
            0,
            generation,
            member_id,
            instance_id,
            [
                TxnOffsetCommitRequestTopic(topic, [TxnOffsetCommitRequestPartition(index, offset)])
                for (topic, index), offset in offsets.items()
            ],
        )
        self.decide(
            lambda shard: offset_api.commit_transactional(shard, request, 3),
            Writer(producer_id, 0),
        )

    def fetch(
        self,
        topic: str,
        partition: int,
        *,
        group_id: str = GROUP,
        require_stable: bool = False,
        topic_id: bytes = bytes(16),
    ) -> int | ErrorCode:
        """The committed offset, or what is wrong with it."""
        wanted = OffsetFetchRequestGroup(
            group_id, topics=[OffsetFetchRequestTopics(topic, topic_id, [partition])]
        )
        answer = run_blocking(offset_api.fetch(self.shard, wanted, require_stable))
        found = answer.topics[0].partitions[0]
        return ErrorCode(found.error_code) if found.error_code else found.committed_offset

    def delete_offsets(
        self, topic: str, partitions: Iterable[int], group_id: str = GROUP
    ) -> list[ErrorCode]:
        wanted = [OffsetDeleteRequestPartition(each) for each in partitions]
        request = OffsetDeleteRequest(group_id, [OffsetDeleteRequestTopic(topic, wanted)])
        answer = run_blocking(offset_api.delete(self.shard, request, self.write))
        return [ErrorCode(each.error_code) for each in answer.topics[0].partitions]

    def delete_group(self, group_id: str = GROUP) -> None:
        self.write(membership_api.decide_delete_group(self.shard, group_id))


async def no_load_ends(_shard: LoadedShard) -> None:
    raise AssertionError("a shard was loaded again")


@dataclass
class ClassicClient:
    """A member of a classic group."""

    harness: Harness
    name: str = "client"
    instance_id: str | None = None
    protocols: Mapping[str, bytes] = field(default_factory=lambda: {"range": b""})
    protocol_type: str = "consumer"
    group_id: str = GROUP
    session_ms: int = SESSION_MS
    rebalance_ms: int = REBALANCE_MS
    version: int = 9
    member_id: str = ""
    generation: int = -1
    assignment: bytes | None = None

    def send_join(self) -> ReplyBox:
        """Send one JoinGroup."""
        request = JoinGroupRequest(
            self.group_id,
            self.session_ms,
            self.rebalance_ms,
            self.member_id,
            self.instance_id,
            self.protocol_type,
            [JoinGroupRequestProtocol(*each) for each in self.protocols.items()],
        )
        caller = Caller(self.name, HOST, self.version)
        reply = ReplyBox()
        step = self.harness.step
        step(lambda shard: membership_api.prepare_join(shard, request))
        step(lambda shard: membership_api.join(shard, request, caller, reply))
        return reply

    def join(self) -> ReplyBox:
        """Send JoinGroup, again with the member id if one is given."""
        reply = self.send_join()
        if not reply.is_waiting and reply.code == ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = reply.response.member_id
            reply = self.send_join()
        return reply

    def joined(self, reply: ReplyBox) -> JoinGroupResponse:
        """Take over what the answer to a join says."""
        assert not reply.is_waiting, "the join is not answered yet"
        assert reply.code == ErrorCode.NONE, reply.code.name
        response = reply.response
        assert isinstance(response, JoinGroupResponse)
        self.member_id, self.generation = response.member_id, response.generation_id
        return response

    def sync(
        self, assignments: Mapping[str, bytes] | None = None, protocol: str | None = None
    ) -> ReplyBox:
        request = SyncGroupRequest(
            self.group_id,
            self.generation,
            self.member_id,
            self.instance_id,
            self.protocol_type,
            protocol,
            [SyncGroupRequestAssignment(*each) for each in (assignments or {}).items()],
        )
        reply = ReplyBox()
        self.harness.step(lambda shard: membership_api.sync(shard, request, reply))
        return reply

    def synced(self, reply: ReplyBox) -> bytes:
        assert not reply.is_waiting, "the sync is not answered yet"
        assert reply.code == ErrorCode.NONE, reply.code.name
        response = reply.response
        assert isinstance(response, SyncGroupResponse)
        self.assignment = response.assignment
        return response.assignment

    def heartbeat(self) -> ErrorCode:
        request = HeartbeatRequest(self.group_id, self.generation, self.member_id, self.instance_id)
        return code_of(lambda: membership_api.heartbeat(self.harness.shard, request))

    def leave(self) -> ErrorCode:
        [answer] = leave(self.harness, [MemberIdentity(self.member_id)], self.group_id)
        return ErrorCode(answer.error_code)

    def commit(self, offsets: Mapping[tuple[str, int], int]) -> ErrorCode:
        def act() -> ErrorCode:
            self.harness.commit(
                offsets,
                group_id=self.group_id,
                member_id=self.member_id,
                epoch=self.generation,
                instance_id=self.instance_id,
            )
            return ErrorCode.NONE

        return code_of(act)


@dataclass
class ConsumerClient:
    """A member of a consumer group: it adopts its assignment, and reports what it owns."""

    harness: Harness
    name: str = "client"
    topics: Sequence[str] | None = ("t",)
    regex: str | None = None
    instance_id: str | None = None
    assignor: str | None = None
    group_id: str = GROUP
    rebalance_ms: int = REBALANCE_MS
    version: int = 1
    member_id: str = ""
    epoch: int = 0
    owned: Owned = field(default_factory=dict)
    wanted: Owned | None = None  # received, and not adopted yet
    interval_ms: int = 0

    def __post_init__(self) -> None:
        self.member_id = self.member_id or f"{self.name}-{self.harness.new_id()}"

    def beat(self, *, is_full: bool = False) -> ConsumerGroupHeartbeatResponse:
        """Send one heartbeat. It applies the assignment of the previous response."""
        self.take_over()
        is_joining = self.epoch == 0
        is_full |= is_joining
        request = ConsumerGroupHeartbeatRequest(
            self.group_id,
            self.member_id,
            self.epoch,
            self.instance_id,
            None,
            self.rebalance_ms if is_full else -1,
            self.topics if is_full else None,
            self.regex if is_full else None,
            self.assignor if is_full else None,
            [] if is_joining else [TopicPartitions(*each) for each in sorted_owned(self.owned)],
        )
        answer = self.send(request)
        self.member_id, self.epoch = answer.member_id or "", answer.member_epoch
        self.interval_ms = answer.heartbeat_interval_ms
        if answer.assignment is not None:
            reported = answer.assignment.topic_partitions
            self.wanted = {each.topic_id: set(each.partitions) for each in reported}
        return answer

    def send(self, request: ConsumerGroupHeartbeatRequest) -> ConsumerGroupHeartbeatResponse:
        caller = Caller(self.name, HOST, self.version)
        answer = self.harness.decide(lambda shard: consumer_api.heartbeat(shard, request, caller))
        self.harness.resolve_patterns()
        return answer

    def take_over(self) -> None:
        if self.wanted is not None:
            self.owned, self.wanted = self.wanted, None

    def refusal(self) -> ErrorCode:
        """The code with which a heartbeat is refused."""

        def act() -> ErrorCode:
            return ErrorCode(self.beat().error_code)

        return code_of(act)

    def leave(self, epoch: int = -1) -> None:
        self.send(
            ConsumerGroupHeartbeatRequest(self.group_id, self.member_id, epoch, self.instance_id)
        )
        self.epoch, self.owned, self.wanted = 0, {}, None

    def commit(
        self, offsets: Mapping[tuple[str, int], int], *, epoch: int | None = None, version: int = 9
    ) -> ErrorCode:
        def act() -> ErrorCode:
            self.harness.commit(
                offsets,
                group_id=self.group_id,
                member_id=self.member_id,
                epoch=self.epoch if epoch is None else epoch,
                version=version,
            )
            return ErrorCode.NONE

        return code_of(act)

    @property
    def partitions(self) -> set[tuple[str, int]]:
        """What it reads, by the names of topics."""
        self.take_over()
        return {
            (topic.name, at)
            for topic_id, each in self.owned.items()
            for at in each
            if (topic := self.harness.image.topic_by_id(TopicId(topic_id))) is not None
        }


def sorted_owned(owned: Owned) -> list[tuple[bytes, list[int]]]:
    return [(topic_id, sorted(owned[topic_id])) for topic_id in sorted(owned)]


def settle(*clients: ConsumerClient, rounds: int = 10) -> None:
    """All clients send heartbeats, seconds pass, until no response contains a change."""
    for _ in range(rounds):
        for client in clients:
            client.beat()
        clients[0].harness.advance_ms(1000)


def leave(
    harness: Harness, members: list[MemberIdentity], group_id: str = GROUP
) -> list[MemberResponse]:
    request = LeaveGroupRequest(group_id, members=members)
    return harness.decide(lambda shard: membership_api.leave(shard, request))


def code_of(act: Callable[[], ErrorCode]) -> ErrorCode:
    """The code of an answer or of a refusal."""
    try:
        return act()
    except BrokerError as error:
        return error.code


def rebalance(harness: Harness, *clients: ClassicClient) -> None:
    """All clients join and sync; the leader assigns each member its own name."""
    replies = [client.join() for client in clients]
    harness.advance_ms(harness.config.group_initial_rebalance_delay_ms)
    answers = [client.joined(reply) for client, reply in zip(clients, replies, strict=True)]
    by_id = {client.member_id: client for client in clients}
    leader = by_id[answers[0].leader]
    syncs = [(client, client.sync()) for client in clients if client is not leader]
    parts = {client.member_id: client.name.encode() for client in clients}
    leader.synced(leader.sync(parts))
    for client, reply in syncs:
        client.synced(reply)
