"""The record of a classic group: one generation with its members and their assignments.

Written when a group begins, when a leader's assignment arrives, when a static member's id changes,
and when the last member is gone. What a restart finds is the last of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ottla.coordinators.groups.classic.group import ClassicGroup, State
from ottla.coordinators.groups.classic.member import ClassicMember, OfferedProtocol
from ottla.coordinators.groups.record_types import GROUP_VALUE_VERSION
from ottla.coordinators.groups.shared import Shared
from ottla.coordinators.records import CoordinatorRecord
from ottla.protocol.messages.group_metadata_key import GroupMetadataKey
from ottla.protocol.messages.group_metadata_value import GroupMetadataValue, MemberMetadata


class Generation(NamedTuple):
    """What all members of a generation share."""

    number: int
    protocol_type: str
    protocol: str | None
    leader: str | None


def generation_record(
    group_id: str,
    generation: Generation,
    members: Iterable[ClassicMember],
    assignments: Mapping[str, bytes],
    now_ms: int,
) -> CoordinatorRecord:
    value = GroupMetadataValue(
        generation.protocol_type,
        generation.number,
        generation.protocol,
        generation.leader,
        now_ms,
        [
            MemberMetadata(
                each.member_id,
                each.instance_id,
                each.client_id,
                each.client_host,
                each.rebalance_timeout_ms,
                each.session_timeout_ms,
                each.metadata(generation.protocol),
                assignments.get(each.member_id, b""),
            )
            for each in members
        ],
    )
    return CoordinatorRecord(GroupMetadataKey(group_id), value, GROUP_VALUE_VERSION)


def new_group_record(group_id: str, now_ms: int) -> CoordinatorRecord:
    return generation_record(group_id, Generation(0, "", None, None), (), {}, now_ms)


def empty_record(group: ClassicGroup) -> CoordinatorRecord:
    """The next generation, in which nobody is left."""
    generation = Generation(group.generation + 1, group.protocol_type, None, None)
    return generation_record(group.group_id, generation, (), {}, group.shared.now_ms())


def generation_of(group: ClassicGroup) -> Generation:
    return Generation(group.generation, group.protocol_type, group.protocol, group.leader)


def restored(group_id: str, value: GroupMetadataValue, shared: Shared) -> ClassicGroup:
    """The group as a record tells it: at rest."""
    group = ClassicGroup(group_id, shared)
    group.stored = value
    group.generation = value.generation
    group.protocol = value.protocol
    group.leader = value.leader
    for each in value.members:
        group.add(restored_member(each, value.protocol or ""), value.protocol_type)
    group.hold_assignments(sum(len(each.assignment) for each in value.members))
    group.protocol_type = value.protocol_type
    group.leader = value.leader
    group.state = State.STABLE if value.members else State.EMPTY
    group.note_subscriptions()
    return group


def restored_member(stored: MemberMetadata, protocol: str) -> ClassicMember:
    """Of what it could do, only what the group had agreed on is known."""
    has_timeout = stored.rebalance_timeout >= 0
    return ClassicMember(
        stored.member_id,
        stored.group_instance_id,
        stored.client_id,
        stored.client_host,
        stored.rebalance_timeout if has_timeout else stored.session_timeout,
        stored.session_timeout,
        (OfferedProtocol(protocol, stored.subscription),),
        stored.assignment,
    )
