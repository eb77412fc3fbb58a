"""Members that leave a consumer group: by request, temporarily, or by session timeout."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ottla.coordinators.groups.consumer.draft import Draft
from ottla.coordinators.groups.consumer.heartbeats import held_instance
from ottla.coordinators.groups.consumer.member import (
    NOTHING,
    STATIC_LEAVING_EPOCH,
    ConsumerMember,
)
from ottla.coordinators.groups.consumer.records import current_record, member_tombstones
from ottla.coordinators.groups.consumer.regexes import forget_unused
from ottla.coordinators.groups.consumer.subscriptions import update_epoch
from ottla.protocol.messages.consumer_group_heartbeat_request import (
    ConsumerGroupHeartbeatRequest,
)


def leaving_member(draft: Draft, request: ConsumerGroupHeartbeatRequest) -> ConsumerMember:
    if request.instance_id is None:
        return draft.group.member(request.member_id)
    return held_instance(draft.group, request.member_id, request.instance_id)


def leave_temporarily(draft: Draft, member: ConsumerMember) -> None:
    """The client of a static member restarts: its partitions are kept.

    They get epoch 0: the returning member has a new id and epoch.
    """
    kept = {topic_id: dict.fromkeys(each, 0) for topic_id, each in member.assigned.items()}
    away = replace(member, epoch=STATIC_LEAVING_EPOCH, assigned=kept, revoking=NOTHING)
    draft.put(current_record(draft.group_id, away))


def remove(draft: Draft, members: Collection[ConsumerMember]) -> None:
    """Remove the members, and start a new epoch."""
    for member in members:
        draft.put(*member_tombstones(draft.group_id, member.member_id))
    forget_unused(draft)
    update_epoch(draft, has_changed=True)
