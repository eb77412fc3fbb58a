"""What the group coordinator does for each kind of request; handlers call it.

Promises  a request has taken effect when its method returns; what may still be awaited is that its
          records are replicated, or that other members do their part.
Leaves    the decisions to the `*_api.py` modules, their order with the log to the runtime.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Set
from functools import partial
from typing import TypeAlias, TypeVar

from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import Steps
from ottla.config.broker_options import BrokerConfig
from ottla.coordinators.batches import NOBODY, Writer
from ottla.coordinators.groups import consumer_api, membership_api, offset_api
from ottla.coordinators.groups.commit_drafts import CommitDraft, drafting_commit
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.deferred_work import DeferredWork
from ottla.coordinators.groups.group import CONSUMER
from ottla.coordinators.groups.offset_commits import (
    TOMBSTONES_MAX,
    CommitRules,
    WriteRecords,
    forgetting_all,
)
from ottla.coordinators.groups.replies import WaitingReply
from ottla.coordinators.groups.shard import GroupShard, LoadedShard, Records
from ottla.coordinators.groups.shared import Caller
from ottla.coordinators.internal_topic import InternalTopic
from ottla.coordinators.records import Change
from ottla.coordinators.runtime import BY_COORDINATOR, Runtime
from ottla.metadata.features import GROUP_VERSION
from ottla.metadata.image import Image
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.consumer_group_describe_response import (
    DescribedGroup as DescribedConsumerGroup,
)
from ottla.protocol.messages.consumer_group_heartbeat_request import (
    ConsumerGroupHeartbeatRequest,
)
from ottla.protocol.messages.consumer_group_heartbeat_response import (
    ConsumerGroupHeartbeatResponse,
)
from ottla.protocol.messages.describe_groups_response import DescribedGroup
from ottla.protocol.messages.heartbeat_request import HeartbeatRequest
from ottla.protocol.messages.heartbeat_response import HeartbeatResponse
from ottla.protocol.messages.join_group_request import JoinGroupRequest
from ottla.protocol.messages.join_group_response import JoinGroupResponse
from ottla.protocol.messages.leave_group_request import LeaveGroupRequest
from ottla.protocol.messages.leave_group_response import LeaveGroupResponse, MemberResponse
from ottla.protocol.messages.list_groups_request import ListGroupsRequest
from ottla.protocol.messages.list_groups_response import ListedGroup, ListGroupsResponse
from ottla.protocol.messages.offset_commit_request import OffsetCommitRequest
from ottla.protocol.messages.offset_commit_response import OffsetCommitResponse
from ottla.protocol.messages.offset_delete_request import OffsetDeleteRequest
from ottla.protocol.messages.offset_delete_response import OffsetDeleteResponse
from ottla.protocol.messages.offset_fetch_request import OffsetFetchRequestGroup
from ottla.protocol.messages.offset_fetch_response import OffsetFetchResponseGroup
from ottla.protocol.messages.sync_group_request import SyncGroupRequest
from ottla.protocol.messages.sync_group_response import SyncGroupResponse
from ottla.protocol.messages.txn_offset_commit_request import TxnOffsetCommitRequest
from ottla.protocol.messages.txn_offset_commit_response import TxnOffsetCommitResponse
from ottla.protocol.records.control import EndMarker
from ottla.storage.log.append import ProducedBy

A = TypeVar("A")
T = TypeVar("T")
Outcome: TypeAlias = T | Awaitable[T]
PROTOCOLS_MAX = 100  # of a classic member
LEAVING_MAX = 20  # members in one step
CONSUMER_GROUPS_LEVEL = 1  # of the feature


class GroupService:
    def __init__(
        self,
        topic: InternalTopic,
        runtime: Runtime[GroupShard],
        deferred: DeferredWork,
        config: BrokerConfig,
        image: Image,
        scheduler: StepScheduler,
    ) -> None:
        self.topic = topic
        self._runtime = runtime
        self._deferred = deferred
        self._config = config
        self._image = image
        self._scheduler = scheduler

    def _shard(self, group_id: str) -> LoadedShard:
        return self._runtime.shard(group_id)

    def _shard_of_named(self, group_id: str) -> LoadedShard:
        if not group_id:
            raise BrokerError(ErrorCode.INVALID_GROUP_ID)
        return self._runtime.shard(group_id)

    # Members of classic groups

    def join(self, request: JoinGroupRequest, caller: Caller) -> Outcome[JoinGroupResponse]:
        shard = self._shard_of_named(request.group_id)
        config = self._config
        if len(request.protocols) > PROTOCOLS_MAX:
            what = f"A member may offer at most {PROTOCOLS_MAX} protocols."
            raise BrokerError(ErrorCode.INVALID_REQUEST, what)
        timeout_ms = request.session_timeout_ms
        if not (
            config.group_min_session_timeout_ms <= timeout_ms <= config.group_max_session_timeout_ms
        ):
            raise BrokerError(ErrorCode.INVALID_SESSION_TIMEOUT)
        shard.state.check_usable(request.group_id)
        reply = WaitingReply[JoinGroupResponse]()
        step = self._runtime.step
        step(shard, lambda state: membership_api.prepare_join(state, request))
        try:
            step(shard, lambda state: membership_api.join(state, request, caller, reply))
        except BrokerError as error:
            if not isinstance(shard.state.groups.get(request.group_id), ConsumerGroup):
                raise
            return JoinGroupResponse(error_code=error.code)  # such a group names nobody
        self._deferred.start(shard)
        return reply.outcome()

    def sync(self, request: SyncGroupRequest) -> Outcome[SyncGroupResponse]:
        shard = self._shard_of_named(request.group_id)
        reply = WaitingReply[SyncGroupResponse]()
        self._runtime.step(shard, lambda state: membership_api.sync(state, request, reply))
        return reply.outcome()

    def member_ids(self, group_id: str) -> Set[str]:
        """Who is in a group that is coordinated here."""
        group = self._shard_of_named(group_id).state.groups.get(group_id)
        return frozenset() if group is None else group.members.keys()

    def heartbeat(self, request: HeartbeatRequest) -> Outcome[HeartbeatResponse]:
        try:
            shard = self._shard_of_named(request.group_id)
        except BrokerError as error:
            if error.code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
                return HeartbeatResponse()  # nothing is known against it
            raise
        code = membership_api.heartbeat(shard.state, request)
        return self._runtime.show(shard, HeartbeatResponse(error_code=code))

    def leave(self, request: LeaveGroupRequest) -> Outcome[LeaveGroupResponse]:
        shard = self._shard_of_named(request.group_id)

        def act(state: GroupShard) -> Change[LeaveGroupResponse]:
            records, members = membership_api.leave(state, request)
            return Change(records, LeaveGroupResponse(members=members))

        return self._runtime.decide(shard, act)

    async def leave_together(self, request: LeaveGroupRequest) -> LeaveGroupResponse:
        """The same for many members, some at a time: each of them leaves by itself."""
        shard = self._shard_of_named(request.group_id)
        response = await self._scheduler.run_later(self._leaving(shard, request))
        shown = self._runtime.show(shard, response)
        return await shown if isinstance(shown, Awaitable) else shown

    def _leaving(self, shard: LoadedShard, request: LeaveGroupRequest) -> Steps[LeaveGroupResponse]:
        answers: list[MemberResponse] = []
        for at in range(0, len(request.members), LEAVING_MAX):
            some = request.members[at : at + LEAVING_MAX]
            part = LeaveGroupRequest(request.group_id, members=some)

            def act(state: GroupShard, part: LeaveGroupRequest = part) -> Records:
                records, members = membership_api.leave(state, part)
                answers.extend(members)
                return records

            shard.check_current()
            self._runtime.step(shard, act)
            yield 0
        return LeaveGroupResponse(members=answers)

    # Members of consumer groups

    def consumer_heartbeat(
        self, request: ConsumerGroupHeartbeatRequest, caller: Caller
    ) -> Outcome[ConsumerGroupHeartbeatResponse]:
        self.check_enabled()
        shard = self._shard(request.group_id)
        shard.state.check_usable(request.group_id)
        outcome = self._runtime.decide(
            shard, lambda state: consumer_api.heartbeat(state, request, caller)
        )
        self._deferred.start(shard)
        return outcome

    def check_enabled(self) -> None:
        """Consumer groups may be switched off, by the broker's settings or for the cluster."""
        is_set = CONSUMER in self._config.group_coordinator_rebalance_protocols
        if not is_set or self._image.features.get(GROUP_VERSION, 0) < CONSUMER_GROUPS_LEVEL:
            raise BrokerError(ErrorCode.UNSUPPORTED_VERSION)

    # Offsets

    def commit(self, request: OffsetCommitRequest, caller: Caller) -> Outcome[OffsetCommitResponse]:
        shard = self._shard(request.group_id)
        shard.state.check_usable(request.group_id)
        return self._runtime.decide(
            shard, lambda state: offset_api.commit(state, request, caller.version)
        )

    def commit_many(
        self, request: OffsetCommitRequest, caller: Caller
    ) -> Steps[Awaitable[OffsetCommitResponse]]:
        """The same for many offsets: nothing has changed before what this returns is done."""

        def rules() -> CommitRules:
            shard.state.check_usable(request.group_id)
            return offset_api.commit_rules(shard.state, request, caller.version)

        shard = self._shard(request.group_id)
        draft = self._draft(shard, rules())
        response = yield from drafting_commit(draft, request.topics)
        return self._write_draft(shard, draft, response, rules)

    def _draft(self, shard: LoadedShard, rules: CommitRules) -> CommitDraft:
        return CommitDraft(rules, shard.partition.log.config.max_message_bytes)

    async def _write_draft(
        self,
        shard: LoadedShard,
        draft: CommitDraft,
        response: A,
        rules: Callable[[], CommitRules],
        writer: Writer = NOBODY,
        by: ProducedBy = BY_COORDINATOR,
    ) -> A:
        """Ask the group again, and write all of it; answer when it is replicated."""
        runtime, end_offset = self._runtime, shard.log_end_offset
        if len(draft):
            batch = await self._scheduler.in_thread(partial(draft.encode, writer, runtime.format))
            shard.check_current()
            draft.check_again(rules().check)
            apply = partial(draft.apply, shard.state.offsets, writer.producer_id)
            end_offset = runtime.write_batch(shard, batch, apply, by)
        outcome = runtime.answer(shard, end_offset, response)
        return await outcome if isinstance(outcome, Awaitable) else outcome

    async def commit_many_transactional(
        self, request: TxnOffsetCommitRequest, version: int, by: ProducedBy = BY_COORDINATOR
    ) -> TxnOffsetCommitResponse:
        """As `commit_transactional`, for many offsets."""

        def rules() -> CommitRules:
            shard.state.check_usable(request.group_id)
            return offset_api.transactional_rules(shard.state, request, version)

        shard = self._shard_of_named(request.group_id)
        draft = self._draft(shard, rules())
        response = await self._scheduler.run(
            offset_api.drafting_commit_transactional(shard.state, request, draft)
        )
        writer = Writer(request.producer_id, request.producer_epoch)
        with offset_api.producer_errors():
            return await self._write_draft(shard, draft, response, rules, writer, by)

    def commit_transactional(
        self,
        request: TxnOffsetCommitRequest,
        version: int,
        by: ProducedBy = BY_COORDINATOR,
    ) -> Outcome[TxnOffsetCommitResponse]:
        """Offsets that count once the producer's transaction commits.

        The transaction must have been verified; `by` carries the guard that was given for that.
        """
        shard = self._shard_of_named(request.group_id)
        shard.state.check_usable(request.group_id)
        writer = Writer(request.producer_id, request.producer_epoch)
        return self._runtime.decide(
            shard,
            lambda state: offset_api.commit_transactional(state, request, version),
            writer,
            by,
        )

    def end_transaction(
        self,
        partition: int,
        writer: Writer,
        marker: EndMarker,
        by: ProducedBy = BY_COORDINATOR,
    ) -> Outcome[None]:
        """Write the marker that makes a transaction's offsets count, or forgets them."""
        shard = self._runtime.shard_at(partition)
        end_offset = self._runtime.write_marker(shard, writer, marker, by)
        return self._runtime.answer(shard, end_offset, None)

    def fetch_offsets(
        self,
        shard: LoadedShard,
        wanted: OffsetFetchRequestGroup,
        require_stable: bool,
        *,
        at_once: bool = False,
    ) -> Steps[OffsetFetchResponseGroup]:
        """`at_once` if nothing else runs before the last slice: then nothing is copied."""
        return offset_api.fetch(shard.state, wanted, require_stable, at_once=at_once)

    def delete_offsets(
        self, shard: LoadedShard, request: OffsetDeleteRequest
    ) -> Steps[OffsetDeleteResponse]:
        if not request.group_id:
            raise BrokerError(ErrorCode.INVALID_GROUP_ID)
        return offset_api.delete(shard.state, request, self._writing(shard))

    def _writing(self, shard: LoadedShard) -> WriteRecords:
        return lambda records: self._runtime.write(shard, records)

    # Reading. What is read of shards may be shown when their logs are replicated.

    def shard_of(self, group_id: str) -> LoadedShard:
        """BrokerError if the group is not coordinated here."""
        return self._runtime.shard(group_id)

    def unreplicated(self, shards: Iterable[LoadedShard]) -> dict[LoadedShard, int]:
        return self._runtime.unreplicated(shards)

    async def replicated(
        self, waiting: Mapping[LoadedShard, int]
    ) -> dict[LoadedShard, BrokerError]:
        return await self._runtime.all_replicated(waiting)

    # Tools

    def describe(self, shard: LoadedShard, group_id: str, version: int) -> Steps[DescribedGroup]:
        return membership_api.describe(shard.state, group_id, version)

    def describe_consumers(
        self, shard: LoadedShard, group_id: str
    ) -> Steps[DescribedConsumerGroup]:
        if not group_id:
            raise BrokerError(ErrorCode.INVALID_GROUP_ID)
        return consumer_api.describe(shard.state, group_id)

    def list_groups(self, request: ListGroupsRequest) -> Steps[ListGroupsResponse]:
        """What this broker coordinates; tools ask every broker."""
        if self._runtime.is_loading:
            raise BrokerError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        states = yield from membership_api.lowered(request.states_filter)
        types = yield from membership_api.lowered(request.types_filter)
        groups: list[ListedGroup] = []
        for shard in list(self._runtime.active_shards()):
            groups += yield from membership_api.list_groups(shard.state, states, types)
        return ListGroupsResponse(groups=groups)

    def delete_group(self, shard: LoadedShard, group_id: str) -> Steps[None]:
        """Many offsets are forgotten some at a time, while nobody may use the group.

        To be run to its end: else the group keeps some of its offsets.
        """
        state = shard.state
        membership_api.existing(state, group_id).check_delete()
        state.check_usable(group_id)
        state.deleting.add(group_id)
        try:
            # Again if a transaction has ended meanwhile, and its offsets were committed.
            while state.offsets.count_of(group_id) > TOMBSTONES_MAX:
                yield from forgetting_all(state.offsets, group_id, self._writing(shard))
            shard.check_current()
        finally:
            state.deleting.discard(group_id)
        self._runtime.step(shard, lambda state: membership_api.decide_delete_group(state, group_id))
