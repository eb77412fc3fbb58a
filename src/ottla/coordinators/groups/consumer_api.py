"""ConsumerGroupHeartbeat and ConsumerGroupDescribe, and requests of classic members.

Promises  every function only decides: records are returned, and soft state changes when they are
          written. A request is rejected with BrokerError, without any change.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ottla.base.scheduling.steps import Steps
from ottla.coordinators.groups.classic.group import ClassicGroup
from ottla.coordinators.groups.consumer import (
    classic_members,
    conversion,
    describing,
    heartbeats,
    leaving,
    regexes,
)
from ottla.coordinators.groups.consumer.draft import Draft
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.consumer.member import (
    JOINING_EPOCH,
    LEAVING_EPOCH,
    STATIC_LEAVING_EPOCH,
    ConsumerMember,
    MemberState,
)
from ottla.coordinators.groups.shard_context import Caller, Deadline, Reply, TimerKind
from ottla.coordinators.records import CoordinatorRecord, CoordinatorResult
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.consumer_group_describe_response import DescribedGroup
from ottla.protocol.messages.consumer_group_heartbeat_request import (
    ConsumerGroupHeartbeatRequest,
)
from ottla.protocol.messages.consumer_group_heartbeat_response import (
    ConsumerGroupHeartbeatResponse,
)
from ottla.protocol.messages.join_group_request import JoinGroupRequest
from ottla.protocol.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from ottla.protocol.messages.leave_group_response import MemberResponse

if TYPE_CHECKING:
    from ottla.coordinators.groups.shard import GroupShard

Records = list[CoordinatorRecord]
CLIENT_MEMBER_IDS_FROM = 1  # the version of ConsumerGroupHeartbeat

# Heartbeats


def heartbeat(
    shard: GroupShard, request: ConsumerGroupHeartbeatRequest, caller: Caller
) -> CoordinatorResult[ConsumerGroupHeartbeatResponse]:
    config = shard.context.config
    check(request, caller.version, config.group_consumer_assignors)
    check_bounds(request, config.ottla_group_topics_max)
    if request.member_epoch in (LEAVING_EPOCH, STATIC_LEAVING_EPOCH):
        return leave(shard, request)
    is_joining = request.member_epoch == JOINING_EPOCH
    draft = draft_to_join(shard, request.group_id) if is_joining else draft_of(shard, request)
    answer = heartbeats.heartbeat(draft, request, caller)
    return CoordinatorResult(draft.records, answer)


def check(request: ConsumerGroupHeartbeatRequest, version: int, assignors: Collection[str]) -> None:
    """BrokerError for an invalid request."""
    needs_id = version >= CLIENT_MEMBER_IDS_FROM or request.member_epoch != JOINING_EPOCH
    has_subscription = (
        request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
    )
    is_joining = request.member_epoch == JOINING_EPOCH
    faults = {
        "MemberId can't be empty.": needs_id and not request.member_id.strip(),
        "GroupId can't be empty.": not request.group_id.strip(),
        "InstanceId can't be empty.": is_blank(request.instance_id),
        "RackId can't be empty.": is_blank(request.rack_id),
        "RebalanceTimeoutMs must be provided in first request.": is_joining
        and request.rebalance_timeout_ms == -1,
        "TopicPartitions must be empty when (re-)joining.": is_joining
        and (request.topic_partitions is None or len(request.topic_partitions) > 0),
        "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.": (
            is_joining and not has_subscription
        ),
        "InstanceId can't be null.": request.member_epoch == STATIC_LEAVING_EPOCH
        and request.instance_id is None,
        "MemberEpoch is invalid.": request.member_epoch < STATIC_LEAVING_EPOCH,
    }
    for message, is_so in faults.items():
        if is_so:
            raise BrokerError(ErrorCode.INVALID_REQUEST, message)
    if request.server_assignor is not None and request.server_assignor not in assignors:
        raise BrokerError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {request.server_assignor} is not supported. Supported assignors: "
            f"{', '.join(assignors)}.",
        )


def check_bounds(request: ConsumerGroupHeartbeatRequest, topics_max: int) -> None:
    if len(request.subscribed_topic_names or ()) > topics_max:
        what = f"SubscribedTopicNames may have {topics_max} names: subscribe with a pattern."
        raise BrokerError(ErrorCode.INVALID_REQUEST, what)


def is_blank(text: str | None) -> bool:
    return text is not None and not text.strip()


def draft_of(shard: GroupShard, request: ConsumerGroupHeartbeatRequest) -> Draft:
    return Draft(consumer_group(shard, request.group_id), shard.context)


def consumer_group(shard: GroupShard, group_id: str) -> ConsumerGroup:
    group = shard.find(group_id)
    if isinstance(group, ConsumerGroup):
        return group
    message = (
        f"Group {group_id} not found."
        if group is None
        else f"Group {group_id} is not a consumer group."
    )
    raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, message)


def draft_to_join(shard: GroupShard, group_id: str) -> Draft:
    """The group that a member joins: an existing one, a new one, or an upgraded classic one."""
    group = shard.find(group_id)
    if isinstance(group, ConsumerGroup):
        return Draft(group, shard.context)
    if isinstance(group, ClassicGroup) and not group.is_empty:
        return conversion.upgraded(group, shard.context)
    before = [] if group is None else group.tombstones()
    return Draft(ConsumerGroup(group_id), shard.context, *before)


# Leaving


def leave(
    shard: GroupShard, request: ConsumerGroupHeartbeatRequest
) -> CoordinatorResult[ConsumerGroupHeartbeatResponse]:
    draft = draft_of(shard, request)
    member = leaving.leaving_member(draft, request)
    answer = ConsumerGroupHeartbeatResponse(
        member_id=member.member_id, member_epoch=request.member_epoch
    )
    if request.member_epoch == STATIC_LEAVING_EPOCH:
        leaving.leave_temporarily(draft, member)
        return CoordinatorResult(draft.records, answer)
    return CoordinatorResult(remove(shard, draft.group, [member]), answer)


def remove(shard: GroupShard, group: ConsumerGroup, members: Collection[ConsumerMember]) -> Records:
    """Remove members; if only classic ones remain, downgrade the group."""
    leaving_ids = {each.member_id for each in members}
    if classic_members.can_downgrade(group, leaving_ids, shard.context):
        return downgrade_group(shard, group, leaving_ids, must_rebalance=True)
    draft = Draft(group, shard.context)
    leaving.remove(draft, members)
    return draft.records


def downgrade_group(
    shard: GroupShard, group: ConsumerGroup, leaving_ids: Collection[str], *, must_rebalance: bool
) -> Records:
    staying = [each for each in group.members.values() if each.member_id not in leaving_ids]

    def begin() -> None:
        classic = shard.groups[group.group_id]
        assert isinstance(classic, ClassicGroup)
        conversion.begin_classic(classic, staying, must_rebalance=must_rebalance)

    shard.context.when_written(begin)
    return conversion.downgraded(group, leaving_ids, shard.context)


# Timeouts


def expire(shard: GroupShard, group: ConsumerGroup, deadline: Deadline) -> Records:
    """A member has exceeded a timeout: remove it."""
    member = group.members.get(deadline.member_id)
    if member is None:
        return []
    if deadline.waits is TimerKind.REVOCATION and (
        member.state is not MemberState.UNREVOKED_PARTITIONS
        or member.epoch == STATIC_LEAVING_EPOCH  # it has revoked all partitions
    ):
        return []
    return remove(shard, group, [member])


# Classic members


def join_classic(
    shard: GroupShard,
    group: ConsumerGroup,
    request: JoinGroupRequest,
    caller: Caller,
    reply: Reply,
) -> Records:
    context = shard.context
    draft = Draft(group, context)
    answer = classic_members.join(draft, request, caller)
    context.answer(reply, answer)
    if answer.error_code:
        return []
    if classic_members.must_downgrade(group, draft, request):
        must_rebalance = draft.group.target_epoch < draft.group.epoch
        records = downgrade_group(shard, draft.group, (), must_rebalance=must_rebalance)
        return [*draft.records, *records]
    member = draft.group.members[answer.member_id]
    context.when_written(lambda: classic_members.watch_joined(context, group.group_id, member))
    return draft.records


def leave_classic(
    shard: GroupShard, group: ConsumerGroup, request: LeaveGroupRequest
) -> CoordinatorResult[list[MemberResponse]]:
    found: dict[str, ConsumerMember] = {}
    answers = []
    for identity in request.members:
        code = ErrorCode.NONE
        try:
            member = identified(group, identity)
            found[member.member_id] = member
        except BrokerError as error:
            code = error.code
        answers.append(MemberResponse(identity.member_id, identity.group_instance_id, code))
    return CoordinatorResult(remove(shard, group, found.values()) if found else [], answers)


def identified(group: ConsumerGroup, identity: MemberIdentity) -> ConsumerMember:
    """Tools specify only the instance id."""
    instance_id = identity.group_instance_id
    if instance_id is None:
        return group.member(identity.member_id)
    holder = group.static_member(instance_id)
    member_id = identity.member_id or (holder.member_id if holder is not None else "")
    return heartbeats.held_instance(group, member_id, instance_id)


# Patterns


def decide_resolved(
    shard: GroupShard, group_id: str, pattern: str, topics: set[str], version: int
) -> Records:
    """A pattern was compared with a version of the topic metadata."""
    group = shard.groups.get(group_id)
    if not isinstance(group, ConsumerGroup):
        return []
    return regexes.decide_resolved(group, shard.context, pattern, topics, version).records


# Tools


def describe(shard: GroupShard, group_id: str) -> Steps[DescribedGroup]:
    group = consumer_group(shard, group_id)
    default = shard.context.config.group_consumer_assignors[0]
    return describing.describing(group, default, shard.context.image)
