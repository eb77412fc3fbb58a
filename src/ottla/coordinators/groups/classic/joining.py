"""JoinGroup: how a member joins the next generation.

v4 and later  a client without a member id first gets one (MEMBER_ID_REQUIRED), so that a lost
response does not leave a member without a client.
v5 and later  static members: a client that returns with its instance id replaces its old member,
without a rebalance if the group is stable (KIP-345).
v9            then the leader is asked to skip the assignment, which already exists (KIP-814).
"""

from __future__ import annotations

from dataclasses import replace

from ottla.config.broker_options import BrokerConfig
from ottla.coordinators.groups.classic.answers import joined
from ottla.coordinators.groups.classic.group import ClassicGroup, ClassicGroupState
from ottla.coordinators.groups.classic.member import (
    ClassicMember,
    bytes_of,
    elect,
    new_member,
    protocols_of,
    rebalance_timeout_of,
)
from ottla.coordinators.groups.classic.rebalance import (
    Records,
    complete_if_joined,
    prepare_rebalance,
    rebalance_or_complete,
)
from ottla.coordinators.groups.classic.stored import generation_of, generation_record
from ottla.coordinators.groups.group import UNKNOWN_MEMBER
from ottla.coordinators.groups.shard_context import NEW_MEMBER_TIMEOUT_MS, Caller, Reply, TimerKind
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.join_group_request import JoinGroupRequest
from ottla.protocol.messages.join_group_response import JoinGroupResponse

MEMBER_ID_REQUIRED_FROM = 4
SKIP_ASSIGNMENT_FROM = 9
NAME_CHARACTERS_MAX = 1000  # of the client id in a member id: responses have length limits


def join(group: ClassicGroup, request: JoinGroupRequest, caller: Caller, reply: Reply) -> Records:
    """Let a member join. The reply is sent now, or when all others have joined."""
    check_room(group, request)
    if not accepts(group, request.member_id):
        return reject_when_full(group, request, reply)
    names = {each.name for each in request.protocols}
    if not group.supports(request.protocol_type, names):
        raise BrokerError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if request.member_id == UNKNOWN_MEMBER:
        return join_unknown(group, request, caller, reply)
    if request.member_id in group.membership.pending and request.group_instance_id is None:
        return add(group, request, request.member_id, caller, reply)
    group.membership.check_member(request.member_id, request.group_instance_id)
    return rejoin(group, request, group.members[request.member_id], reply)


def accepts(group: ClassicGroup, member_id: str) -> bool:
    """Whether there is room for the member. During a join phase only joined members count, so
    that a group over its limit rejects those that join last."""
    size_max = size_max_of(group.context.config)
    member = group.members.get(member_id)
    if group.state is ClassicGroupState.PREPARING_REBALANCE:
        return (member is not None and member.is_joining) or group.membership.joining < size_max
    return group.is_empty or member is not None or len(group.members) < size_max


def size_max_of(config: BrokerConfig) -> int:
    return min(config.group_max_size, config.ottla_group_members_max)


def check_room(group: ClassicGroup, request: JoinGroupRequest) -> None:
    """BrokerError if there is no memory for the member's metadata."""
    holder = group.membership.instances.get(request.group_instance_id or "", request.member_id)
    known = group.members.get(holder)
    wanted_bytes = bytes_of(request.member_id, protocols_of(request))
    group.context.check_room(group.held_bytes, wanted_bytes - (known.held_bytes if known else 0))


def reject_when_full(group: ClassicGroup, request: JoinGroupRequest, reply: Reply) -> Records:
    """The group is full: reject the request and remove the member, if it was one."""
    refusal = JoinGroupResponse(error_code=ErrorCode.GROUP_MAX_SIZE_REACHED)
    group.context.answer(reply, refusal)
    group.membership.remove(request.member_id)
    return complete_if_joined(group)


def join_unknown(
    group: ClassicGroup, request: JoinGroupRequest, caller: Caller, reply: Reply
) -> Records:
    """A client without a member id."""
    instance_id = request.group_instance_id
    name = (instance_id or caller.client_id)[:NAME_CHARACTERS_MAX]
    member_id = f"{name}-{group.context.new_id()}"
    if instance_id is not None:
        holder = group.members.get(group.membership.instances.get(instance_id, ""))
        if holder is not None:
            return join_again(group, request, holder, member_id, caller, reply)
    elif caller.version >= MEMBER_ID_REQUIRED_FROM:
        group.membership.add_pending(member_id)
        timers = group.context.timers
        timers.start(
            group.membership.deadline(TimerKind.SESSION, member_id), request.session_timeout_ms
        )
        refusal = JoinGroupResponse(error_code=ErrorCode.MEMBER_ID_REQUIRED, member_id=member_id)
        group.context.answer(reply, refusal)
        return []
    return add(group, request, member_id, caller, reply)


def add(
    group: ClassicGroup, request: JoinGroupRequest, member_id: str, caller: Caller, reply: Reply
) -> Records:
    member = replace(new_member(request, member_id, caller), is_new=True, join_reply=reply)
    group.add(member, request.protocol_type)
    # It sends no heartbeats before it is in a generation. If its client gives up and returns as
    # another member, later rebalances must not wait for this one.
    group.membership.renew_session(member, NEW_MEMBER_TIMEOUT_MS)
    return rebalance_or_complete(group, f"member {member_id} joins ({reason_of(request)})")


def rejoin(
    group: ClassicGroup, request: JoinGroupRequest, member: ClassicMember, reply: Reply
) -> Records:
    """An existing member joins again."""
    has_changed = protocols_of(request) != member.protocols
    is_leader = member.member_id == group.leader
    must_wait = (
        group.state is ClassicGroupState.PREPARING_REBALANCE
        or has_changed
        # The leader may have reasons that its metadata does not show, such as new partitions.
        or (is_leader and group.state is ClassicGroupState.STABLE)
    )
    if not must_wait:
        # It missed a response and is already in this generation.
        group.context.answer(reply, joined(group, member.member_id))
        return []
    update(group, member, request)
    group.membership.wait_to_join(member, reply)
    return rebalance_or_complete(
        group, f"member {member.member_id} joins again ({reason_of(request)})"
    )


def update(group: ClassicGroup, member: ClassicMember, request: JoinGroupRequest) -> None:
    group.membership.update(member, protocols_of(request))
    member.rebalance_timeout_ms = rebalance_timeout_of(request)
    member.session_timeout_ms = request.session_timeout_ms


def reason_of(request: JoinGroupRequest) -> str:
    return request.reason or "no reason given"


# Returning static members


def join_again(
    group: ClassicGroup,
    request: JoinGroupRequest,
    old: ClassicMember,
    member_id: str,
    caller: Caller,
    reply: Reply,
) -> Records:
    """The client of a static member was restarted: the new one replaces the old."""
    new = replace(
        new_member(request, member_id, caller), assignment=old.assignment, join_reply=reply
    )
    members = [new if each is old else each for each in group.members.values()]
    candidates = group.membership.common_protocols_with(new, old)
    if group.state is ClassicGroupState.STABLE and elect(candidates, members) == group.protocol:
        return replace_member(group, old, new, members, caller.version)
    group.membership.fence(old)
    group.membership.replace(old, new)
    group.membership.renew_session(new)
    if group.state is ClassicGroupState.PREPARING_REBALANCE:
        return complete_if_joined(group)
    # The leader may be computing an assignment for the old id.
    return prepare_rebalance(group, f"static member {new.instance_id} came back")


def replace_member(
    group: ClassicGroup,
    old: ClassicMember,
    new: ClassicMember,
    members: list[ClassicMember],
    version: int,
) -> Records:
    """Replace the member id without a rebalance, and store it."""
    context, former_leader = group.context, group.leader or ""
    leader = new.member_id if former_leader == old.member_id else group.leader
    generation = generation_of(group)._replace(leader=leader)
    assignments = {each.member_id: each.assignment for each in members}
    record = generation_record(group.group_id, generation, members, assignments, context.now_ms())
    context.when_written(lambda: answer_return(group, old, new, former_leader, version))
    context.when_refused(
        lambda code: group.membership.answer_join(new, JoinGroupResponse(error_code=code))
    )
    return [record]


def answer_return(
    group: ClassicGroup, old: ClassicMember, new: ClassicMember, former_leader: str, version: int
) -> None:
    """The record has replaced the member id; it contains only the agreed protocol."""
    group.membership.fence(old)
    group.membership.replace(group.members[new.member_id], new)
    group.membership.renew_session(new)
    is_leader = group.leader == new.member_id
    skips = is_leader and version >= SKIP_ASSIGNMENT_FROM
    answer = joined(group, new.member_id, skip_assignment=skips)
    if version < SKIP_ASSIGNMENT_FROM:
        # A leader would compute an assignment that no member would receive. So the response names
        # its old id as leader.
        answer.leader, answer.members = former_leader, ()
    group.membership.answer_join(new, answer)
