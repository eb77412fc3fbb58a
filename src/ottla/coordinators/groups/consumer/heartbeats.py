"""ConsumerGroupHeartbeat: a member joins, reports, and gets its assignment.

Three parts, each of which may add records: the member and its subscription, the group's epoch and
target assignment, and the reconciliation of the member.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ottla.coordinators.groups.consumer.draft import Draft
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.consumer.member import (
    JOINING_EPOCH,
    STATIC_LEAVING_EPOCH,
    ConsumerMember,
    without_epochs,
)
from ottla.coordinators.groups.consumer.reconciliation import Owned, reconcile
from ottla.coordinators.groups.consumer.records import (
    current_record,
    member_record,
    member_tombstones,
    target_record,
)
from ottla.coordinators.groups.consumer.regexes import RegexChange, change_regex, want_refresh
from ottla.coordinators.groups.consumer.subscriptions import update_epoch
from ottla.coordinators.groups.consumer.targets import update_target
from ottla.coordinators.groups.shard_context import Caller, Deadline, TimerKind
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.consumer_group_heartbeat_request import (
    ConsumerGroupHeartbeatRequest,
)
from ottla.protocol.messages.consumer_group_heartbeat_request import (
    TopicPartitions as OwnedPartitions,
)
from ottla.protocol.messages.consumer_group_heartbeat_response import (
    Assignment,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)

UNSETTLED_INTERVAL_MS = 1000


def heartbeat(
    draft: Draft, request: ConsumerGroupHeartbeatRequest, caller: Caller
) -> ConsumerGroupHeartbeatResponse:
    owned = owned_of(request.topic_partitions)
    check_size(draft, request.member_id, request.instance_id)
    member = find_member(draft, request, owned)
    has_changed = subscribe(draft, member, updated(member, request, caller))
    update_target(draft)
    reconcile(draft, member.member_id, owned, has_new_subscription=has_changed)
    after = draft.group.members[member.member_id]
    context, group_config = draft.context, draft.context.group_config(draft.group_id)
    session = Deadline(draft.group_id, TimerKind.SESSION, after.member_id)
    timeout_ms = group_config.consumer_session_timeout_ms
    context.when_written(lambda: context.timers.start(session, timeout_ms))
    response = ConsumerGroupHeartbeatResponse(
        member_id=after.member_id,
        member_epoch=after.epoch,
        heartbeat_interval_ms=interval_ms(
            draft.group, after, group_config.consumer_heartbeat_interval_ms
        ),
    )
    if is_full(request) or after.assigned != member.assigned:
        response.assignment = assignment_of(after)
    return response


def interval_ms(group: ConsumerGroup, member: ConsumerMember, configured_ms: int) -> int:
    """The interval until the next heartbeat: short while the member is being reconciled."""
    is_settled = group.target_epoch >= group.epoch and member.is_at(group.target_epoch)
    return configured_ms if is_settled else min(configured_ms, UNSETTLED_INTERVAL_MS)


def owned_of(reported: Sequence[OwnedPartitions] | None) -> Owned:
    return None if reported is None else {each.topic_id: each.partitions for each in reported}


def is_full(request: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether the request has all fields, as when a member joins and after an error."""
    has_subscription = (
        request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
    )
    return request.member_epoch == JOINING_EPOCH or (
        request.rebalance_timeout_ms != -1
        and has_subscription
        and request.topic_partitions is not None
    )


def assignment_of(member: ConsumerMember) -> Assignment:
    assigned = without_epochs(member.assigned)
    return Assignment([TopicPartitions(each, sorted(assigned[each])) for each in sorted(assigned)])


# Member


def check_size(draft: Draft, member_id: str, instance_id: str | None) -> None:
    group, config = draft.group, draft.context.config
    size_max = min(config.group_consumer_max_size, config.ottla_group_members_max)
    if group.static_member(instance_id) is not None or member_id in group.members:
        return
    if len(group.members) >= size_max:
        raise BrokerError(
            ErrorCode.GROUP_MAX_SIZE_REACHED,
            f"The consumer group has reached its maximum capacity of {size_max} members.",
        )


def find_member(
    draft: Draft, request: ConsumerGroupHeartbeatRequest, owned: Owned
) -> ConsumerMember:
    """The existing member; a new one if it joins."""
    group = draft.group
    is_joining = request.member_epoch == JOINING_EPOCH
    member_id = request.member_id or draft.context.new_id()
    if is_joining:
        if request.instance_id is not None:
            return join_static(draft, member_id, request.instance_id, speaks_classic=False)
        return group.members.get(member_id) or ConsumerMember(member_id)
    if request.instance_id is not None:
        member = held_instance(group, member_id, request.instance_id)
    else:
        member = group.member(member_id)
    check_epoch(member, request.member_epoch, owned)
    return member


def check_epoch(member: ConsumerMember, epoch: int, owned: Owned) -> None:
    """The previous epoch is accepted if the member, which may have missed a response, owns only
    partitions that it may have."""
    if epoch == member.epoch:
        return
    if member.epoch > epoch == member.previous_epoch and owned is not None:
        assigned = member.assigned
        if all(at in assigned.get(topic, ()) for topic, each in owned.items() for at in each):
            return
    size = "greater" if epoch > member.epoch else "smaller"
    raise BrokerError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The consumer group member has a {size} member epoch ({epoch}) than the one known by the "
        f"group coordinator ({member.epoch}). The member must abandon all its partitions and "
        "rejoin.",
    )


def held_instance(group: ConsumerGroup, member_id: str, instance_id: str) -> ConsumerMember:
    """The member with an instance id; BrokerError unless it is this one."""
    member = group.static_member(instance_id)
    if member is None:
        raise BrokerError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
    if member.member_id != member_id:
        raise BrokerError(
            ErrorCode.FENCED_INSTANCE_ID,
            f"Static member {member_id} with instance id {instance_id} was fenced by member "
            f"{member.member_id}.",
        )
    return member


def join_static(
    draft: Draft, member_id: str, instance_id: str, *, speaks_classic: bool
) -> ConsumerMember:
    """A static member joins: a new one, or a returning one that replaces its old member."""
    old = draft.group.static_member(instance_id)
    if old is None:
        return draft.group.members.get(member_id) or ConsumerMember(member_id)
    if old.member_id == member_id and old.epoch == JOINING_EPOCH and not speaks_classic:
        return old  # it joined before the group, a large one, had its first target
    is_released = old.epoch == STATIC_LEAVING_EPOCH
    if not (is_released or speaks_classic or old.speaks_classic):
        raise BrokerError(
            ErrorCode.UNRELEASED_INSTANCE_ID,
            f"Static member {member_id} with instance id {instance_id} cannot join the group "
            f"because the instance id is owned by {old.member_id} member.",
        )
    new = replace(old, member_id=member_id, epoch=0, previous_epoch=0)
    target = draft.group.target_of(old.member_id)
    draft.put(
        *member_tombstones(draft.group_id, old.member_id),
        member_record(draft.group_id, new),
        target_record(draft.group_id, member_id, target),
        current_record(draft.group_id, new),
    )
    return new


def updated(
    member: ConsumerMember, request: ConsumerGroupHeartbeatRequest, caller: Caller
) -> ConsumerMember:
    """With the fields of the request; the others are unchanged."""
    names = request.subscribed_topic_names
    timeout_ms = request.rebalance_timeout_ms
    regex = request.subscribed_topic_regex
    return replace(
        member,
        instance_id=request.instance_id or member.instance_id,
        rack_id=request.rack_id or member.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
        assignor=request.server_assignor or member.assignor,
        topics=subscription(member, names),
        regex=member.regex if regex is None else regex,
        client_id=caller.client_id,
        client_host=caller.client_host,
        classic=None,
    )


def subscription(member: ConsumerMember, names: Iterable[str] | None) -> frozenset[str]:
    """The same object if the subscription has not changed: comparing equal sets takes time."""
    topics = member.topics if names is None else frozenset(names)
    return member.topics if topics == member.topics else topics


def subscribe(draft: Draft, old: ConsumerMember, new: ConsumerMember) -> bool:
    """Save the member; returns whether its subscription has changed."""
    held_bytes = draft.group.held_bytes
    draft.save_metadata(new)
    draft.context.check_room(held_bytes, draft.group.held_bytes - held_bytes)
    regex = change_regex(draft, old, new)
    want_refresh(draft)
    has_new_names = old.topics != new.topics
    # An unresolved pattern has no effect yet: the epoch changes once it is resolved.
    update_epoch(draft, has_changed=has_new_names or regex is RegexChange.RESOLVED)
    return has_new_names or regex is not RegexChange.NONE
