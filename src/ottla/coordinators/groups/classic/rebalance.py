"""The rebalance of a classic group.

    Empty -> PreparingRebalance -> CompletingRebalance -> Stable -> PreparingRebalance ...

Owns      which members must join before the next generation starts, the timeouts, and the removal
          of members that do not join in time.
Promises  every function changes only soft state and returns the records to write; the effect of a
          record takes place when it is written (`stored.py`).
"""

from __future__ import annotations

import logging

from ottla.base.log_messages.log_text import shown
from ottla.coordinators.groups.classic.answers import joined
from ottla.coordinators.groups.classic.group import ClassicGroup, ClassicGroupState
from ottla.coordinators.groups.classic.member import ClassicMember, elect
from ottla.coordinators.groups.classic.stored import empty_record
from ottla.coordinators.groups.shard_context import TimerKind
from ottla.coordinators.records import CoordinatorRecord
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.join_group_response import JoinGroupResponse
from ottla.protocol.messages.sync_group_response import SyncGroupResponse

log = logging.getLogger(__name__)

Records = list[CoordinatorRecord]

RETRY_MS = 500  # after a record could not be written


def rebalance_or_complete(group: ClassicGroup, reason: str) -> Records:
    """The group has changed: start a rebalance, or check whether the current one can complete."""
    if group.state is ClassicGroupState.PREPARING_REBALANCE:
        return complete_if_joined(group)
    return prepare_rebalance(group, reason)


def prepare_rebalance(group: ClassicGroup, reason: str) -> Records:
    if group.state is ClassicGroupState.COMPLETING_REBALANCE:
        reset_assignments(group, ErrorCode.REBALANCE_IN_PROGRESS)
    stop_waiting_for_sync(group)
    group.prepare()
    log.info(
        "group %s: rebalance after generation %s: %s",
        shown(group.group_id),
        group.generation,
        shown(reason),
    )
    if group.is_first_rebalance:
        wait_for_more(group)
        return []
    if group.membership.has_all_joined:
        return complete_join(group)
    wait_for_joins(group)
    return []


def wait_for_joins(group: ClassicGroup) -> None:
    group.context.timers.start(
        group.membership.deadline(TimerKind.JOIN), group.membership.rebalance_timeout_ms
    )


# The first rebalance of a group


def wait_for_more(group: ClassicGroup) -> None:
    """The members of a new group arrive one after another: delay the first rebalance for all of
    them."""
    delay_ms = group.context.config.group_initial_rebalance_delay_ms
    group.begin_first_wait(delay_ms)
    group.context.timers.start(group.membership.deadline(TimerKind.INITIAL_JOIN), delay_ms)


def wait_on_or_complete(group: ClassicGroup) -> Records:
    """The delay has ended. If new members joined during it, it is extended, up to a limit."""
    if not group.has_new_member or group.first_wait_ms == 0:
        return complete_join(group)
    delay_ms = group.extend_first_wait(group.context.config.group_initial_rebalance_delay_ms)
    group.context.timers.start(group.membership.deadline(TimerKind.INITIAL_JOIN), delay_ms)
    return []


# The end of joining


def complete_if_joined(group: ClassicGroup) -> Records:
    is_waiting = (
        group.state is ClassicGroupState.PREPARING_REBALANCE and not group.is_first_rebalance
    )
    return complete_join(group) if is_waiting and group.membership.has_all_joined else []


def complete_join(group: ClassicGroup) -> Records:
    """Start the next generation with the members that have joined; static members have a longer
    timeout."""
    for waits in (TimerKind.JOIN, TimerKind.INITIAL_JOIN):
        group.context.timers.cancel(group.membership.deadline(waits))
    group.membership.remove_all(
        each.member_id
        for each in group.members.values()
        if not each.is_joining and not each.is_static
    )
    if not group.members:
        group.context.when_refused(lambda _code: try_again_to_end(group))
        return [empty_record(group)]
    if not group.membership.elect_leader():
        # Only static members, and none has joined: they will join, or their sessions will expire.
        log.warning("group %s: no member has joined the rebalance", shown(group.group_id))
        wait_for_joins(group)
        return []
    begin_generation(group)
    return []


def begin_generation(group: ClassicGroup) -> None:
    group.begin_generation(elect(group.membership.common_protocols, group.members.values()))
    for member in group.members.values():
        group.membership.answer_join(member, joined(group, member.member_id))
        group.membership.renew_session(member)
        member.is_new = False
    group.context.timers.start(
        group.membership.deadline(TimerKind.SYNC), group.membership.rebalance_timeout_ms
    )


# Syncing


def reset_assignments(group: ClassicGroup, code: ErrorCode) -> None:
    for member in group.members.values():
        member.assignment = b""
        if group.membership.answer_sync(member, SyncGroupResponse(error_code=code)):
            group.membership.renew_session(member)


def stop_waiting_for_sync(group: ClassicGroup) -> None:
    group.membership.pending_sync.clear()
    group.context.timers.cancel(group.membership.deadline(TimerKind.SYNC))


# Timeouts


def expire_join(group: ClassicGroup) -> Records:
    """The join timeout has expired."""
    if group.state is not ClassicGroupState.PREPARING_REBALANCE:
        return []
    return wait_on_or_complete(group) if group.is_first_rebalance else complete_join(group)


def expire_sync(group: ClassicGroup) -> Records:
    """The sync timeout has expired: remove the members that did not sync."""
    late = [member_id for member_id in group.members if member_id in group.membership.pending_sync]
    if not late or group.state not in (
        ClassicGroupState.COMPLETING_REBALANCE,
        ClassicGroupState.STABLE,
    ):
        return []
    group.membership.remove_all(late)
    return prepare_rebalance(group, f"{len(late)} members have not synced in time")


def expire_session(group: ClassicGroup, member_id: str) -> Records:
    member = group.members.get(member_id)
    if member is None:
        group.membership.take_back(member_id)
        return complete_if_joined(group)
    if member.keeps_session:
        return []
    log.info("group %s: session of member %s has expired", shown(group.group_id), shown(member_id))
    return remove_member(group, member)


def remove_member(group: ClassicGroup, member: ClassicMember) -> Records:
    drop_member(group, member)
    return after_removal(group, f"member {member.member_id} was removed")


def drop_member(group: ClassicGroup, member: ClassicMember) -> None:
    """A waiting client has to join as a new member."""
    refusal = JoinGroupResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID)
    group.membership.answer_join(member, refusal)
    group.membership.answer_sync(member, SyncGroupResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID))
    group.membership.remove(member.member_id)


def after_removal(group: ClassicGroup, reason: str) -> Records:
    if group.state in (ClassicGroupState.STABLE, ClassicGroupState.COMPLETING_REBALANCE):
        return prepare_rebalance(group, reason)
    return complete_if_joined(group)


# Rejected records


def join_again(group: ClassicGroup, code: ErrorCode) -> None:
    """The assignment was not written: members get the error and join the next generation."""
    reset_assignments(group, code)
    stop_waiting_for_sync(group)
    group.prepare_again()
    wait_for_joins(group)


def try_again_to_end(group: ClassicGroup) -> None:
    """The record of an empty group was not written: retry later."""
    group.context.timers.start(group.membership.deadline(TimerKind.JOIN), RETRY_MS)
