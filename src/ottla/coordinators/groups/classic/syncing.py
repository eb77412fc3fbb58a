"""SyncGroup and Heartbeat: the leader's assignment, and session renewal.

SyncGroup v5 also contains the protocol that the client expects (KIP-559).
"""

from __future__ import annotations

from ottla.coordinators.groups.classic.group import ClassicGroup, ClassicGroupState
from ottla.coordinators.groups.classic.member import ClassicMember
from ottla.coordinators.groups.classic.rebalance import Records, join_again
from ottla.coordinators.groups.classic.stored import generation_of, generation_record
from ottla.coordinators.groups.shard_context import Reply, TimerKind
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.heartbeat_request import HeartbeatRequest
from ottla.protocol.messages.sync_group_request import SyncGroupRequest
from ottla.protocol.messages.sync_group_response import SyncGroupResponse


def sync(group: ClassicGroup, request: SyncGroupRequest, reply: Reply) -> Records:
    """A member requests its assignment; the leader provides all assignments."""
    check(group, request)
    member = group.members[request.member_id]
    if group.state is ClassicGroupState.PREPARING_REBALANCE:
        raise BrokerError(ErrorCode.REBALANCE_IN_PROGRESS)
    note_synced(group, request.member_id)
    if group.state is ClassicGroupState.STABLE:
        group.context.answer(reply, synced(group, member))
        return []
    group.membership.wait_to_sync(member, reply)
    return assignment_record(group, request) if member.member_id == group.leader else []


def check(group: ClassicGroup, request: SyncGroupRequest) -> None:
    if group.is_empty:
        raise BrokerError(ErrorCode.UNKNOWN_MEMBER_ID)
    group.membership.check_member(request.member_id, request.group_instance_id)
    if request.generation_id != group.generation:
        raise BrokerError(ErrorCode.ILLEGAL_GENERATION)
    if differs(request.protocol_type, group.protocol_type) or differs(
        request.protocol_name, group.protocol
    ):
        raise BrokerError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)


def differs(asked: str | None, known: str | None) -> bool:
    return asked is not None and known is not None and asked != known


def note_synced(group: ClassicGroup, member_id: str) -> None:
    group.membership.pending_sync.discard(member_id)
    if not group.membership.pending_sync:
        group.context.timers.cancel(group.membership.deadline(TimerKind.SYNC))


def assignment_record(group: ClassicGroup, request: SyncGroupRequest) -> Records:
    """Members missing in the leader's assignment get an empty one; unknown ids are ignored."""
    assignments = {each.member_id: each.assignment for each in request.assignments}
    now_ms = group.context.now_ms()
    group.context.when_written(lambda: answer_syncs(group))
    group.context.when_refused(lambda code: join_again(group, code))
    members = group.members.values()
    return [generation_record(group.group_id, generation_of(group), members, assignments, now_ms)]


def answer_syncs(group: ClassicGroup) -> None:
    """Send every waiting member its assignment, and start its session."""
    for member in group.members.values():
        if group.membership.answer_sync(member, synced(group, member)):
            group.membership.renew_session(member)


def synced(group: ClassicGroup, member: ClassicMember) -> SyncGroupResponse:
    return SyncGroupResponse(
        protocol_type=group.protocol_type,
        protocol_name=group.protocol,
        assignment=member.assignment,
    )


def heartbeat(group: ClassicGroup, request: HeartbeatRequest) -> ErrorCode:
    group.membership.check_member(request.member_id, request.group_instance_id)
    if request.generation_id != group.generation:
        raise BrokerError(ErrorCode.ILLEGAL_GENERATION)
    group.membership.renew_session(group.members[request.member_id])
    if group.state is ClassicGroupState.PREPARING_REBALANCE:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return ErrorCode.NONE
