"""Responses that describe a classic group."""

from __future__ import annotations

from ottla.base.scheduling.steps import Steps
from ottla.coordinators.groups.classic.group import ClassicGroup, ClassicGroupState
from ottla.protocol.messages.describe_groups_response import DescribedGroup, DescribedGroupMember
from ottla.protocol.messages.join_group_response import (
    JoinGroupResponse,
    JoinGroupResponseMember,
)

MEMBER_BYTES = 100  # overhead of a described member, without id, metadata and assignment


def joined(
    group: ClassicGroup, member_id: str, *, skip_assignment: bool = False
) -> JoinGroupResponse:
    """The response to a join; the leader's lists all members."""
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


def describing(group: ClassicGroup) -> Steps[DescribedGroup]:
    """Subscriptions are included only for a stable group: during a rebalance none are agreed.

    Restarted if the group changes meanwhile, so that all members are of one generation.
    """
    while True:
        state, generation = group.state, group.generation
        described = DescribedGroup(
            group_id=group.group_id,
            group_state=group.state_name,
            protocol_type=group.protocol_type,
            protocol_data=(group.protocol or "") if state is ClassicGroupState.STABLE else "",
            members=(yield from describing_members(group, group.protocol, state)),
        )
        if (group.state, group.generation) == (state, generation):
            return described


def describing_members(
    group: ClassicGroup, protocol: str | None, state: ClassicGroupState
) -> Steps[list[DescribedGroupMember]]:
    described = []
    for each in list(group.members.values()):
        metadata = each.metadata_or_first(protocol) if state is ClassicGroupState.STABLE else b""
        described.append(
            DescribedGroupMember(
                each.member_id,
                each.instance_id,
                each.client_id,
                each.client_host,
                metadata,
                each.assignment,
            )
        )
        yield MEMBER_BYTES + len(each.member_id) + len(metadata) + len(each.assignment)
    return described
