"""What happens in a living group when one of its records is written.

Promises  nothing happens before: a record that cannot be written leaves the group where it was.
"""

from __future__ import annotations

from ottla.coordinators.groups.classic.answers import joined
from ottla.coordinators.groups.classic.group import ClassicGroup, Returning, State
from ottla.protocol.messages.group_metadata_value import GroupMetadataValue
from ottla.protocol.messages.sync_group_response import SyncGroupResponse

SKIP_ASSIGNMENT_FROM = 9  # the version of JoinGroup


def take_over(group: ClassicGroup, value: GroupMetadataValue) -> None:
    """From now on it is as the record says."""
    group.stored = value
    if not value.members:
        become_empty(group, value)
    elif group.returning is not None:
        take_place(group, group.returning)
    elif group.state is State.COMPLETING_REBALANCE:
        become_stable(group, value)


def become_empty(group: ClassicGroup, value: GroupMetadataValue) -> None:
    group.state = State.EMPTY
    group.generation = value.generation
    group.protocol = group.leader = None
    group.pending_sync.clear()
    group.hold_assignments(0)
    group.note_subscriptions()


def become_stable(group: ClassicGroup, value: GroupMetadataValue) -> None:
    """Every member gets its part of the leader's assignment, and has to show that it is alive."""
    for each in value.members:
        group.members[each.member_id].assignment = each.assignment
    group.hold_assignments(sum(len(each.assignment) for each in value.members))
    group.state = State.STABLE
    for member in group.members.values():
        response = SyncGroupResponse(
            protocol_type=group.protocol_type,
            protocol_name=group.protocol,
            assignment=member.assignment,
        )
        if group.answer_sync(member, response):
            group.renew_session(member)


def take_place(group: ClassicGroup, returning: Returning) -> None:
    """A static member goes on where it was, under its new id."""
    old, new, version = returning
    former_leader = group.leader or ""
    group.returning = None
    group.fence(old)
    group.replace(old, new)
    group.renew_session(new)
    is_leader = group.leader == new.member_id
    skips = is_leader and version >= SKIP_ASSIGNMENT_FROM
    answer = joined(group, new.member_id, skip_assignment=skips)
    if version < SKIP_ASSIGNMENT_FROM:
        # A leader would assign anew, and nobody would hear of it. It is told that its old id leads.
        answer.leader, answer.members = former_leader, ()
    group.answer_join(new, answer)
