"""What members and tools are told about a classic group."""

from __future__ import annotations

from ottla.coordinators.groups.classic.group import ClassicGroup, State
from ottla.protocol.messages.describe_groups_response import DescribedGroup, DescribedGroupMember
from ottla.protocol.messages.join_group_response import (
    JoinGroupResponse,
    JoinGroupResponseMember,
)


def joined(
    group: ClassicGroup, member_id: str, *, skip_assignment: bool = False
) -> JoinGroupResponse:
    """The generation as a member is told of it; the leader is told of all members."""
    is_leader = member_id == group.leader
    return JoinGroupResponse(
        generation_id=group.generation,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol,
        leader=group.leader or "",
        skip_assignment=skip_assignment,
        member_id=member_id,
        members=members_for_leader(group) if is_leader else (),
    )


def members_for_leader(group: ClassicGroup) -> list[JoinGroupResponseMember]:
    return [
        JoinGroupResponseMember(each.member_id, each.instance_id, each.metadata(group.protocol))
        for each in group.members.values()
    ]


def describe(group: ClassicGroup) -> DescribedGroup:
    """Subscriptions are told of a stable group only: in between, nothing has been agreed on."""
    is_stable = group.state is State.STABLE
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_name,
        protocol_type=group.protocol_type,
        protocol_data=(group.protocol or "") if is_stable else "",
        members=[
            DescribedGroupMember(
                each.member_id,
                each.instance_id,
                each.client_id,
                each.client_host,
                each.metadata(group.protocol) if is_stable else b"",
                each.assignment,
            )
            for each in group.members.values()
        ],
    )
