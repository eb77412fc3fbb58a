"""Members of a consumer group that use the classic protocol, during a migration.

JoinGroup moves them to a new epoch, SyncGroup returns their assignment, Heartbeat requests that
they join again. Members do not wait for each other: each is reconciled independently, and its epoch
is its generation.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ottla.base.ids import TopicId
from ottla.coordinators.groups.classic.member import protocols_of, rebalance_timeout_of
from ottla.coordinators.groups.consumer.draft import Draft
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.consumer.heartbeats import (
    check_size,
    held_instance,
    join_static,
    subscribe,
)
from ottla.coordinators.groups.consumer.member import (
    ClassicSide,
    ConsumerMember,
    MemberState,
    without_epochs,
)
from ottla.coordinators.groups.consumer.reconciliation import Owned, reconcile
from ottla.coordinators.groups.consumer.targets import update_target
from ottla.coordinators.groups.embedded_protocol import (
    CONSUMER_PROTOCOL,
    decode_subscription,
    embedded_version,
    encode_assignment,
)
from ottla.coordinators.groups.group import UNKNOWN_MEMBER
from ottla.coordinators.groups.shard_context import Caller, Deadline, ShardContext, TimerKind
from ottla.metadata.image import Image
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError, MalformedMessage
from ottla.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from ottla.protocol.messages.heartbeat_request import HeartbeatRequest
from ottla.protocol.messages.join_group_request import JoinGroupRequest
from ottla.protocol.messages.join_group_response import JoinGroupResponse
from ottla.protocol.messages.sync_group_request import SyncGroupRequest
from ottla.protocol.messages.sync_group_response import SyncGroupResponse

MEMBER_ID_REQUIRED_FROM = 4
SUBSCRIPTION_ITEMS_MAX = 20_000  # topics, and assigned partitions
DOWNGRADING = ("downgrade", "bidirectional")
DOWNGRADE_MEMBERS_MAX = 1000  # a downgrade is one step and one batch

# Joining


def join(draft: Draft, request: JoinGroupRequest, caller: Caller) -> JoinGroupResponse:
    """Save the member, and reconcile it unless the group is downgraded."""
    before = draft.group
    check_joining(draft, request)
    is_unknown = request.member_id == UNKNOWN_MEMBER
    member_id = draft.context.new_id() if is_unknown else request.member_id
    is_static = request.group_instance_id is not None
    if is_unknown and not is_static and caller.version >= MEMBER_ID_REQUIRED_FROM:
        return JoinGroupResponse(error_code=ErrorCode.MEMBER_ID_REQUIRED, member_id=member_id)
    member = find_member(draft, request, member_id, is_unknown)
    subscription = subscription_of(request)
    has_changed = subscribe(draft, member, updated(member, request, subscription, caller))
    is_downgrade = must_downgrade(before, draft, request)
    if not is_downgrade:
        update_target(draft)
    if not is_downgrade or draft.group.target_epoch == draft.group.epoch:
        owned = owned_by_name(subscription, draft.context.image)
        reconcile(draft, member_id, owned, has_new_subscription=has_changed)
    return joined(draft.group.members[member_id])


def must_downgrade(before: ConsumerGroup, draft: Draft, request: JoinGroupRequest) -> bool:
    """Whether the join downgrades the group: only if it replaces a static member, as in Kafka;
    otherwise a downgrade follows when a member leaves."""
    is_in_place = before.static_member(request.group_instance_id) is not None
    return is_in_place and can_downgrade(draft.group, (), draft.context)


def joined(member: ConsumerMember) -> JoinGroupResponse:
    """Without a leader or a list of members: the coordinator assigns."""
    return JoinGroupResponse(
        generation_id=member.epoch,
        protocol_type=CONSUMER_PROTOCOL,
        protocol_name=classic_side(member).protocols[0].name,
        member_id=member.member_id,
    )


def check_joining(draft: Draft, request: JoinGroupRequest) -> None:
    if policy_of(draft.context) == "disabled":
        raise BrokerError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    check_size(draft, request.member_id, request.group_instance_id)
    names = {each.name for each in request.protocols}
    if request.protocol_type != CONSUMER_PROTOCOL or not can_agree(draft.group, names):
        raise BrokerError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)


def can_agree(group: ConsumerGroup, names: set[str]) -> bool:
    """Whether all classic members could agree on a protocol after a downgrade."""
    for member in group.members.values():
        if member.classic is not None:
            names = names & {each.name for each in member.classic.protocols}
    return bool(names)


def find_member(
    draft: Draft, request: JoinGroupRequest, member_id: str, is_unknown: bool
) -> ConsumerMember:
    group, instance_id = draft.group, request.group_instance_id
    if instance_id is None:
        return group.members.get(member_id) or ConsumerMember(member_id)
    if is_unknown:
        return join_static(draft, member_id, instance_id, speaks_classic=True)
    return held_instance(group, member_id, instance_id)


def subscription_of(request: JoinGroupRequest) -> ConsumerProtocolSubscription:
    """The subscription, which is the same for all protocols."""
    try:
        return decode_subscription(request.protocols[0].metadata, SUBSCRIPTION_ITEMS_MAX)
    except MalformedMessage as error:
        raise BrokerError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, str(error)) from error


def updated(
    member: ConsumerMember,
    request: JoinGroupRequest,
    subscription: ConsumerProtocolSubscription,
    caller: Caller,
) -> ConsumerMember:
    return replace(
        member,
        instance_id=request.group_instance_id or member.instance_id,
        rack_id=subscription.rack_id or member.rack_id,
        rebalance_timeout_ms=rebalance_timeout_of(request),
        topics=frozenset(subscription.topics),
        regex="",
        client_id=caller.client_id,
        client_host=caller.client_host,
        classic=ClassicSide(request.session_timeout_ms, protocols_of(request)),
    )


def owned_by_name(subscription: ConsumerProtocolSubscription, image: Image) -> Owned:
    owned: dict[bytes, Sequence[int]] = {}
    for each in subscription.owned_partitions:
        topic = image.topic(each.topic)
        if topic is not None:
            owned[topic.id] = each.partitions
    return owned


def can_downgrade(group: ConsumerGroup, leaving: Collection[str], context: ShardContext) -> bool:
    """Whether only classic members would remain, and a downgrade is possible."""
    going = [each for name in leaving if (each := group.members.get(name)) is not None]
    staying = len(group.members) - len(going)
    staying_classic = group.classic_count - sum(each.speaks_classic for each in going)
    return (
        0 < staying == staying_classic
        and policy_of(context) in DOWNGRADING
        and staying <= min(context.config.group_max_size, DOWNGRADE_MEMBERS_MAX)
    )


def policy_of(context: ShardContext) -> str:
    return context.config.group_consumer_migration_policy.lower()


def watch_joined(context: ShardContext, group_id: str, member: ConsumerMember) -> None:
    """Start the timeout of a member that has joined, and has to sync."""
    timers = context.timers
    timers.cancel(Deadline(group_id, TimerKind.MEMBER_JOIN, member.member_id))
    renew_session(context, group_id, member)
    sync = Deadline(group_id, TimerKind.MEMBER_SYNC, member.member_id)
    timers.start(sync, member.rebalance_timeout_ms)


# Syncing


def sync(
    group: ConsumerGroup, request: SyncGroupRequest, context: ShardContext
) -> SyncGroupResponse:
    member = classic_member(group, request.member_id, request.group_instance_id)
    check_generation(member, request.generation_id)
    check_protocol(member, request)
    is_revoking = member.state is MemberState.UNREVOKED_PARTITIONS
    if group.target_epoch > member.epoch and not is_revoking:
        wait_to_join(context, group.group_id, member)
        raise BrokerError(ErrorCode.REBALANCE_IN_PROGRESS)
    context.timers.cancel(Deadline(group.group_id, TimerKind.MEMBER_SYNC, member.member_id))
    renew_session(context, group.group_id, member)
    return SyncGroupResponse(
        protocol_type=request.protocol_type,
        protocol_name=request.protocol_name,
        assignment=encoded_assignment(member, context.image),
    )


def encoded_assignment(member: ConsumerMember, image: Image) -> bytes:
    version = embedded_version(classic_side(member).protocols[0].metadata)
    named = {}
    for topic_id, partitions in without_epochs(member.assigned).items():
        topic = image.topic_by_id(TopicId(topic_id))
        if topic is not None:
            named[topic.name] = partitions
    return encode_assignment(named, version)


def check_protocol(member: ConsumerMember, request: SyncGroupRequest) -> None:
    name = classic_side(member).protocols[0].name
    is_other_type = request.protocol_type not in (None, CONSUMER_PROTOCOL)
    if is_other_type or request.protocol_name not in (None, name):
        raise BrokerError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)


# Heartbeats


def heartbeat(group: ConsumerGroup, request: HeartbeatRequest, context: ShardContext) -> ErrorCode:
    member = classic_member(group, request.member_id, request.group_instance_id)
    check_generation(member, request.generation_id)
    renew_session(context, group.group_id, member)
    if not should_join(group, member):
        return ErrorCode.NONE
    wait_to_join(context, group.group_id, member)
    return ErrorCode.REBALANCE_IN_PROGRESS


def should_join(group: ConsumerGroup, member: ConsumerMember) -> bool:
    """Whether joining again would change its assignment."""
    match member.state:
        case MemberState.UNREVOKED_PARTITIONS:
            return True
        case MemberState.UNRELEASED_PARTITIONS if not is_waiting_for_others(group, member):
            return True
    return member.epoch < group.target_epoch


def is_waiting_for_others(group: ConsumerGroup, member: ConsumerMember) -> bool:
    return any(
        group.holder_of(topic_id, partition) not in (None, member.member_id)
        for topic_id, partitions in group.target_of(member.member_id).items()
        for partition in partitions
    )


# Common functions


def classic_member(group: ConsumerGroup, member_id: str, instance_id: str | None) -> ConsumerMember:
    if instance_id is None:
        member = group.member(member_id)
    else:
        member = held_instance(group, member_id, instance_id)
    if not member.speaks_classic:
        raise BrokerError(ErrorCode.UNKNOWN_MEMBER_ID)
    return member


def classic_side(member: ConsumerMember) -> ClassicSide:
    assert member.classic is not None
    return member.classic


def check_generation(member: ConsumerMember, generation: int) -> None:
    if generation != member.epoch:
        raise BrokerError(ErrorCode.ILLEGAL_GENERATION)


def renew_session(context: ShardContext, group_id: str, member: ConsumerMember) -> None:
    deadline = Deadline(group_id, TimerKind.SESSION, member.member_id)
    context.timers.start(deadline, session_timeout_ms(context, group_id, member))


def session_timeout_ms(context: ShardContext, group_id: str, member: ConsumerMember) -> int:
    if member.classic is not None:
        return member.classic.session_timeout_ms
    return context.group_config(group_id).consumer_session_timeout_ms


def wait_to_join(context: ShardContext, group_id: str, member: ConsumerMember) -> None:
    """Start the rebalance timeout within which it has to join again."""
    deadline = Deadline(group_id, TimerKind.MEMBER_JOIN, member.member_id)
    context.timers.start_if_absent(deadline, member.rebalance_timeout_ms)
