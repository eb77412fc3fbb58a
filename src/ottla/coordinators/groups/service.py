"""The requests of the group coordinator, called by handlers; those for offsets are in `offsets`.

Promises  a request has taken effect when its method returns; the result may have to be awaited
          until its records are replicated, or until other members have joined or synced.
Leaves    the decisions to the `*_api.py` modules, the order of changes and the log to the runtime.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Set
from typing import TypeAlias, TypeVar

from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import Steps
from ottla.config.broker_options import BrokerConfig
from ottla.coordinators.groups import consumer_api, membership_api
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.deferred_work import DeferredWork
from ottla.coordinators.groups.group import CONSUMER
from ottla.coordinators.groups.offset_commits import (
    TOMBSTONES_MAX,
    forgetting_all,
)
from ottla.coordinators.groups.offset_service import OffsetService
from ottla.coordinators.groups.replies import WaitingReply
from ottla.coordinators.groups.shard import GroupShard, LoadedShard, Records
from ottla.coordinators.groups.shard_context import Caller
from ottla.coordinators.internal_topic import InternalTopic
from ottla.coordinators.records import CoordinatorResult
from ottla.coordinators.runtime import Runtime
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
from ottla.protocol.messages.sync_group_request import SyncGroupRequest
from ottla.protocol.messages.sync_group_response import SyncGroupResponse

T = TypeVar("T")
Outcome: TypeAlias = T | Awaitable[T]
PROTOCOLS_MAX = 100  # per classic member
LEAVING_MAX = 20  # members per step
CONSUMER_GROUPS_LEVEL = 1  # feature level


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
        self.offsets = OffsetService(runtime, scheduler)
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
            # consumer groups do not return the member id
            return JoinGroupResponse(error_code=error.code)
        self._deferred.start(shard)
        return reply.outcome()

    def sync(self, request: SyncGroupRequest) -> Outcome[SyncGroupResponse]:
        shard = self._shard_of_named(request.group_id)
        reply = WaitingReply[SyncGroupResponse]()
        self._runtime.step(shard, lambda state: membership_api.sync(state, request, reply))
        return reply.outcome()

    def member_ids(self, group_id: str) -> Set[str]:
        """The members of a group that is coordinated here."""
        group = self._shard_of_named(group_id).state.groups.get(group_id)
        return frozenset() if group is None else group.members.keys()

    def heartbeat(self, request: HeartbeatRequest) -> Outcome[HeartbeatResponse]:
        try:
            shard = self._shard_of_named(request.group_id)
        except BrokerError as error:
            if error.code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
                return HeartbeatResponse()  # assume that the session is valid
            raise
        code = membership_api.heartbeat(shard.state, request)
        return self._runtime.answers.show(shard, HeartbeatResponse(error_code=code))

    def leave(self, request: LeaveGroupRequest) -> Outcome[LeaveGroupResponse]:
        shard = self._shard_of_named(request.group_id)

        def act(state: GroupShard) -> CoordinatorResult[LeaveGroupResponse]:
            records, members = membership_api.leave(state, request)
            return CoordinatorResult(records, LeaveGroupResponse(members=members))

        return self._runtime.decide(shard, act)

    async def leave_together(self, request: LeaveGroupRequest) -> LeaveGroupResponse:
        """The same for many members, in slices: each leaves independently."""
        shard = self._shard_of_named(request.group_id)
        response = await self._scheduler.run_later(self._leaving(shard, request))
        shown = self._runtime.answers.show(shard, response)
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
        """BrokerError if consumer groups are disabled, by the broker's settings or for the
        cluster."""
        is_set = CONSUMER in self._config.group_coordinator_rebalance_protocols
        if not is_set or self._image.features.get(GROUP_VERSION, 0) < CONSUMER_GROUPS_LEVEL:
            raise BrokerError(ErrorCode.UNSUPPORTED_VERSION)

    # Reading. State of a shard may be returned once its log is replicated.

    def shard_of(self, group_id: str) -> LoadedShard:
        """BrokerError if the group is not coordinated here."""
        return self._runtime.shard(group_id)

    async def replicated(
        self, waiting: Mapping[LoadedShard, int]
    ) -> dict[LoadedShard, BrokerError]:
        return await self._runtime.answers.all_replicated(waiting)

    # Administration

    def describe(self, shard: LoadedShard, group_id: str, version: int) -> Steps[DescribedGroup]:
        return membership_api.describe(shard.state, group_id, version)

    def describe_consumers(
        self, shard: LoadedShard, group_id: str
    ) -> Steps[DescribedConsumerGroup]:
        if not group_id:
            raise BrokerError(ErrorCode.INVALID_GROUP_ID)
        return consumer_api.describe(shard.state, group_id)

    def list_groups(self, request: ListGroupsRequest) -> Steps[ListGroupsResponse]:
        """The groups coordinated by this broker; clients query every broker."""
        if self._runtime.is_loading:
            raise BrokerError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        states = yield from membership_api.lowered(request.states_filter)
        types = yield from membership_api.lowered(request.types_filter)
        groups: list[ListedGroup] = []
        for shard in list(self._runtime.active_shards()):
            groups += yield from membership_api.list_groups(shard.state, states, types)
        return ListGroupsResponse(groups=groups)

    def delete_group(self, shard: LoadedShard, group_id: str) -> Steps[None]:
        """Many offsets are deleted in slices, while requests for the group are rejected.

        Must run to its end: otherwise some offsets remain.
        """
        state = shard.state
        membership_api.existing(state, group_id).check_delete()
        state.check_usable(group_id)
        state.deleting.add(group_id)
        try:
            # Repeated if a transaction has committed offsets meanwhile.
            while state.offsets.count_of(group_id) > TOMBSTONES_MAX:
                yield from forgetting_all(state.offsets, group_id, self._runtime.writer(shard))
            shard.check_current()
        finally:
            state.deleting.discard(group_id)
        self._runtime.step(shard, lambda state: membership_api.decide_delete_group(state, group_id))
