"""LeaveGroup: removes members, several since v3; tools remove static members by instance id."""

from __future__ import annotations

from ottla.coordinators.groups.classic.group import ClassicGroup
from ottla.coordinators.groups.classic.rebalance import after_removal, drop_member
from ottla.coordinators.groups.group import UNKNOWN_MEMBER
from ottla.coordinators.records import CoordinatorResult
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from ottla.protocol.messages.leave_group_response import MemberResponse


def leave(
    group: ClassicGroup, request: LeaveGroupRequest
) -> CoordinatorResult[list[MemberResponse]]:
    answers = [
        MemberResponse(each.member_id, each.group_instance_id, leave_one(group, each))
        for each in request.members
    ]
    count = sum(each.error_code == ErrorCode.NONE for each in answers)
    return CoordinatorResult(
        after_removal(group, f"{count} members leave") if count else [], answers
    )


def leave_one(group: ClassicGroup, identity: MemberIdentity) -> ErrorCode:
    member_id, instance_id = identity.member_id, identity.group_instance_id
    if member_id in group.membership.pending:
        group.membership.remove(member_id)
        return ErrorCode.NONE
    if member_id == UNKNOWN_MEMBER:
        member_id = group.membership.instances.get(instance_id or "", UNKNOWN_MEMBER)
    try:
        group.membership.check_member(member_id, instance_id)
    except BrokerError as error:
        return error.code
    drop_member(group, group.members[member_id])
    return ErrorCode.NONE
