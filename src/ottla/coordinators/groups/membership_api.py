"""JoinGroup, SyncGroup, Heartbeat, LeaveGroup and administration, for both group types.

Promises  a request is rejected with BrokerError before anything has changed, except a join that
          creates a classic group: the group then exists, also in place of an empty consumer group,
          as in Kafka.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from ottla.base.scheduling.steps import Steps
from ottla.coordinators.groups import consumer_api
from ottla.coordinators.groups.classic import answers, joining, leaving, syncing
from ottla.coordinators.groups.classic.group import ClassicGroup, ClassicGroupState
from ottla.coordinators.groups.classic.stored import new_group_record
from ottla.coordinators.groups.consumer import classic_members
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.group import UNKNOWN_MEMBER, Group
from ottla.coordinators.groups.offset_commits import decide_delete_all
from ottla.coordinators.groups.shard import GroupShard, Records
from ottla.coordinators.groups.shard_context import GROUP_BYTES, Caller, Reply
from ottla.coordinators.records import CoordinatorResult
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.describe_groups_response import DescribedGroup
from ottla.protocol.messages.heartbeat_request import HeartbeatRequest
from ottla.protocol.messages.join_group_request import JoinGroupRequest
from ottla.protocol.messages.leave_group_request import LeaveGroupRequest
from ottla.protocol.messages.leave_group_response import MemberResponse
from ottla.protocol.messages.list_groups_response import ListedGroup
from ottla.protocol.messages.sync_group_request import SyncGroupRequest

DEAD_BYTES = 64  # of the response for an unknown group, without its name
LISTED_BYTES = 32
GROUP_ERRORS_FROM = (
    6  # version of DescribeGroups that distinguishes an unknown group from a dead one
)


def prepare_join(shard: GroupShard, request: JoinGroupRequest) -> Records:
    """The records of a classic group that the join creates; to be written before it."""
    group = shard.groups.get(request.group_id)
    if group is not None and not (isinstance(group, ConsumerGroup) and group.is_empty):
        return []
    if request.member_id != UNKNOWN_MEMBER:
        raise BrokerError(refusal_of_unknown_member(shard, request))
    shard.context.check_room(0, GROUP_BYTES)
    before = [] if group is None else group.tombstones()
    return [*before, new_group_record(request.group_id, shard.context.now_ms())]


def refusal_of_unknown_member(shard: GroupShard, request: JoinGroupRequest) -> ErrorCode:
    """A group that only holds offsets checks the protocols first, as in Kafka."""
    group = shard.find(request.group_id)
    names = {each.name for each in request.protocols}
    if isinstance(group, ClassicGroup) and not group.supports(request.protocol_type, names):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    return ErrorCode.UNKNOWN_MEMBER_ID


def join(shard: GroupShard, request: JoinGroupRequest, caller: Caller, reply: Reply) -> Records:
    group = shard.groups[request.group_id]
    if isinstance(group, ConsumerGroup):
        return consumer_api.join_classic(shard, group, request, caller, reply)
    return joining.join(group, request, caller, reply)


def sync(shard: GroupShard, request: SyncGroupRequest, reply: Reply) -> Records:
    group = with_members(shard, request.group_id)
    if isinstance(group, ConsumerGroup):
        shard.context.answer(reply, classic_members.sync(group, request, shard.context))
        return []
    return syncing.sync(group, request, reply)


def heartbeat(shard: GroupShard, request: HeartbeatRequest) -> ErrorCode:
    group = with_members(shard, request.group_id)
    if isinstance(group, ConsumerGroup):
        return classic_members.heartbeat(group, request, shard.context)
    return syncing.heartbeat(group, request)


def leave(shard: GroupShard, request: LeaveGroupRequest) -> CoordinatorResult[list[MemberResponse]]:
    if not request.members:  # an empty list is accepted for every group
        return CoordinatorResult([], [])
    group = with_members(shard, request.group_id)
    if isinstance(group, ConsumerGroup):
        return consumer_api.leave_classic(shard, group, request)
    return leaving.leave(group, request)


def with_members(shard: GroupShard, group_id: str) -> ClassicGroup | ConsumerGroup:
    group = shard.groups.get(group_id)
    if group is None:
        raise BrokerError(ErrorCode.UNKNOWN_MEMBER_ID)
    return group


# Administration


def describe(shard: GroupShard, group_id: str, version: int) -> Steps[DescribedGroup]:
    group = shard.find(group_id)
    if isinstance(group, ClassicGroup):
        return (yield from answers.describing(group))
    dead = DescribedGroup(group_id=group_id, group_state=ClassicGroupState.DEAD.value)
    if version >= GROUP_ERRORS_FROM:
        what = "not found" if group is None else "is not a classic group"
        error = BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} {what}.")
        dead.error_code, dead.error_message = error.code, error.message
    yield DEAD_BYTES + 2 * len(group_id)
    return dead


def list_groups(
    shard: GroupShard, states: Container[str], types: Container[str]
) -> Steps[list[ListedGroup]]:
    """All groups, or those with the given states and types, which are in lower case."""
    listed = []
    for group in shard.all_groups():
        state = group.state_name
        if (not states or state.lower() in states) and (not types or group.group_type in types):
            listed.append(ListedGroup(group.group_id, group.protocol_type, state, group.group_type))
            yield LISTED_BYTES + len(group.group_id) + len(group.protocol_type)
        yield 0
    return listed


def lowered(texts: Iterable[str]) -> Steps[set[str]]:
    found = set()
    for each in texts:
        found.add(each.strip().lower())
        yield 0
    return found


def decide_delete_group(shard: GroupShard, group_id: str) -> Records:
    group = existing(shard, group_id)
    group.check_delete()
    return [*decide_delete_all(group_id, shard.offsets), *group.tombstones()]


def existing(shard: GroupShard, group_id: str) -> Group:
    group = shard.find(group_id)
    if group is None:
        raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND)
    return group
