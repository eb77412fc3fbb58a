"""The requests of clients, as the group coordinator serves them.

Promises  each method returns the answer, or what will become it; when it returns, the request has
          taken effect. BrokerError refuses the whole request.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeAlias, TypeVar

from ottla.config.broker_options import BrokerConfig
from ottla.coordinators.groups import consumer_requests, group_requests, offset_requests
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.group import CONSUMER
from ottla.coordinators.groups.offset_commits import Decision
from ottla.coordinators.groups.replies import WaitingReply
from ottla.coordinators.groups.shard import GroupShard
from ottla.coordinators.groups.shared import Caller
from ottla.coordinators.groups.stepping import LoadedShard, Stepper
from ottla.coordinators.runtime import BY_COORDINATOR, Runtime, Writer
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
from ottla.protocol.messages.delete_groups_response import DeletableGroupResult
from ottla.protocol.messages.describe_groups_response import DescribedGroup
from ottla.protocol.messages.heartbeat_request import HeartbeatRequest
from ottla.protocol.messages.heartbeat_response import HeartbeatResponse
from ottla.protocol.messages.join_group_request import JoinGroupRequest
from ottla.protocol.messages.join_group_response import JoinGroupResponse
from ottla.protocol.messages.leave_group_request import LeaveGroupRequest
from ottla.protocol.messages.leave_group_response import LeaveGroupResponse
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

T = TypeVar("T")
Outcome: TypeAlias = T | Awaitable[T]
CONSUMER_GROUPS_LEVEL = 1  # of the feature


class GroupRequests:
    def __init__(
        self,
        runtime: Runtime[GroupShard],
        stepper: Stepper,
        config: BrokerConfig,
        image: Image,
    ) -> None:
        self._image = image
        self._runtime = runtime
        self._stepper = stepper
        self._config = config

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
        timeout_ms = request.session_timeout_ms
        if not (
            config.group_min_session_timeout_ms <= timeout_ms <= config.group_max_session_timeout_ms
        ):
            raise BrokerError(ErrorCode.INVALID_SESSION_TIMEOUT)
        reply = WaitingReply[JoinGroupResponse]()
        step, group_id = self._stepper.step, request.group_id
        step(shard, group_id, lambda state: group_requests.prepare_join(state, request))
        try:
            step(shard, group_id, lambda state: group_requests.join(state, request, caller, reply))
        except BrokerError as error:
            if not isinstance(shard.state.groups.get(group_id), ConsumerGroup):
                raise
            return JoinGroupResponse(error_code=error.code)  # such a group names nobody
        return reply.outcome()

    def sync(self, request: SyncGroupRequest) -> Outcome[SyncGroupResponse]:
        shard = self._shard_of_named(request.group_id)
        reply = WaitingReply[SyncGroupResponse]()
        self._stepper.step(
            shard, request.group_id, lambda state: group_requests.sync(state, request, reply)
        )
        return reply.outcome()

    def heartbeat(self, request: HeartbeatRequest) -> Outcome[HeartbeatResponse]:
        try:
            shard = self._shard_of_named(request.group_id)
        except BrokerError as error:
            if error.code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
                return HeartbeatResponse()  # nothing is known against it
            raise
        code = group_requests.heartbeat(shard.state, request)
        return self._stepper.show(shard, HeartbeatResponse(error_code=code))

    def leave(self, request: LeaveGroupRequest) -> Outcome[LeaveGroupResponse]:
        shard = self._shard_of_named(request.group_id)

        def act(state: GroupShard) -> Decision[LeaveGroupResponse]:
            records, members = group_requests.leave(state, request)
            return Decision(records, LeaveGroupResponse(members=members))

        return self._stepper.decide(shard, request.group_id, act)

    # Members of consumer groups

    def consumer_heartbeat(
        self, request: ConsumerGroupHeartbeatRequest, caller: Caller
    ) -> Outcome[ConsumerGroupHeartbeatResponse]:
        self._check_enabled()
        shard = self._shard(request.group_id)
        outcome = self._stepper.decide(
            shard,
            request.group_id,
            lambda state: consumer_requests.heartbeat(state, request, caller),
        )
        self._resolve_patterns(shard)
        return outcome

    def _check_enabled(self) -> None:
        """Consumer groups may be switched off, by the broker's settings or for the cluster."""
        is_set = CONSUMER in self._config.group_coordinator_rebalance_protocols
        if not is_set or self._image.features.get(GROUP_VERSION, 0) < CONSUMER_GROUPS_LEVEL:
            raise BrokerError(ErrorCode.UNSUPPORTED_VERSION)

    def _resolve_patterns(self, shard: LoadedShard) -> None:
        """Compare the patterns of groups with all topics, where that was asked for."""

    # Offsets

    def commit(self, request: OffsetCommitRequest, caller: Caller) -> Outcome[OffsetCommitResponse]:
        shard = self._shard(request.group_id)
        return self._stepper.write(
            shard, offset_requests.commit(shard.state, request, caller.version)
        )

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
        decision = offset_requests.commit_transactional(shard.state, request, version)
        writer = Writer(request.producer_id, request.producer_epoch)
        return self._stepper.write(shard, decision, writer, by)

    def end_transaction(
        self,
        partition: int,
        writer: Writer,
        marker: EndMarker,
        by: ProducedBy = BY_COORDINATOR,
    ) -> Outcome[None]:
        """Write the marker that makes a transaction's offsets count, or forgets them."""
        shard = self._runtime.shard_at(partition)
        end_offset = shard.write_marker(writer, marker, shard.state.shared.now_ms(), by)
        return self._stepper.answer(shard, end_offset, None)

    def fetch_offsets(
        self, wanted: OffsetFetchRequestGroup, require_stable: bool
    ) -> Outcome[OffsetFetchResponseGroup]:
        shard = self._shard(wanted.group_id)
        found = offset_requests.fetch(shard.state, wanted, require_stable)
        return self._stepper.show(shard, found)

    def delete_offsets(self, request: OffsetDeleteRequest) -> Outcome[OffsetDeleteResponse]:
        shard = self._shard_of_named(request.group_id)
        return self._stepper.write(shard, offset_requests.delete(shard.state, request))

    # Tools

    def describe(self, group_id: str, version: int) -> Outcome[DescribedGroup]:
        shard = self._shard(group_id)
        return self._stepper.show(shard, group_requests.describe(shard.state, group_id, version))

    def describe_consumers(self, group_id: str) -> Outcome[DescribedConsumerGroup]:
        self._check_enabled()
        shard = self._shard_of_named(group_id)
        return self._stepper.show(shard, consumer_requests.describe(shard.state, group_id))

    def list_groups(self, request: ListGroupsRequest) -> ListGroupsResponse:
        """What this broker coordinates; tools ask every broker."""
        if self._runtime.is_loading:
            raise BrokerError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        groups: list[ListedGroup] = []
        for shard in self._runtime.active_shards():
            groups += group_requests.list_groups(
                shard.state, request.states_filter, request.types_filter
            )
        return ListGroupsResponse(groups=groups)

    def delete_group(self, group_id: str) -> Outcome[DeletableGroupResult]:
        shard = self._shard(group_id)
        end_offset = self._stepper.step(
            shard, group_id, lambda state: group_requests.decide_delete_group(state, group_id)
        )
        return self._stepper.answer(shard, end_offset, DeletableGroupResult(group_id))
