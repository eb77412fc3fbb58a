"""The record of a classic group: one generation with its members and their assignments.

Written when a group is created, when the leader's assignment arrives, when the id of a static
member changes, and when the last member has left. Applying it has the same effect after writing and
when loading: the group is then idle, in the generation that the record describes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ottla.coordinators.groups.classic.group import ClassicGroup
from ottla.coordinators.groups.classic.member import ClassicMember, OfferedProtocol
from ottla.coordinators.groups.record_types import GROUP_VALUE_VERSION
from ottla.coordinators.records import CoordinatorRecord
from ottla.protocol.messages.group_metadata_key import GroupMetadataKey
from ottla.protocol.messages.group_metadata_value import GroupMetadataValue, MemberMetadata


class Generation(NamedTuple):
    """The common properties of a generation."""

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
    """The next generation, without members."""
    generation = Generation(group.generation + 1, group.protocol_type, None, None)
    return generation_record(group.group_id, generation, (), {}, group.context.now_ms())


def generation_of(group: ClassicGroup) -> Generation:
    return Generation(group.generation, group.protocol_type, group.protocol, group.leader)


def apply(group: ClassicGroup, value: GroupMetadataValue) -> None:
    """Existing members keep their soft state: requests, sessions, supported protocols."""
    for member_id in group.members.keys() - {each.member_id for each in value.members}:
        group.membership.remove(member_id)
    for each in value.members:
        restored = restored_member(each, value.protocol or "")
        known = group.members.get(each.member_id)
        if known is None:
            group.membership.add(restored, value.protocol_type)
        elif is_as_stored(known, restored):
            known.assignment = each.assignment
        else:
            group.membership.replace(known, restored)
    group.membership.hold_assignments(sum(len(each.assignment) for each in value.members))
    group.restore(value)


def is_as_stored(member: ClassicMember, restored: ClassicMember) -> bool:
    """Whether a member equals the stored one; it may support more protocols."""
    return (
        member.instance_id == restored.instance_id
        and member.client_id == restored.client_id
        and member.client_host == restored.client_host
        and member.rebalance_timeout_ms == restored.rebalance_timeout_ms
        and member.session_timeout_ms == restored.session_timeout_ms
        and restored.protocols[0] in member.protocols
    )


def restored_member(stored: MemberMetadata, protocol: str) -> ClassicMember:
    """The member as it was stored: with the agreed protocol only."""
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
