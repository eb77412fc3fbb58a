"""A copy of a consumer group with records that are not written yet.

Later parts of a decision see the effects of earlier ones, while the group itself changes only when
the records are in the log.
"""

from __future__ import annotations

from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.consumer.member import ConsumerMember
from ottla.coordinators.groups.consumer.records import current_record, member_record
from ottla.coordinators.groups.shard_context import ShardContext
from ottla.coordinators.records import CoordinatorRecord


class Draft:
    def __init__(
        self, group: ConsumerGroup, context: ShardContext, *before: CoordinatorRecord
    ) -> None:
        self.group = group
        self.context = context
        self.records = list(before)
        self._is_copy = False

    @property
    def group_id(self) -> str:
        return self.group.group_id

    def put(self, *records: CoordinatorRecord) -> None:
        if records and not self._is_copy:
            self.group = self.group.copy()
            self._is_copy = True
        for record in records:
            self.records.append(record)
            self.group.apply(record.key, record.value)  # type: ignore[arg-type]

    def save_metadata(self, member: ConsumerMember) -> None:
        """Add the record of a member and its subscription."""
        if self.group.members.get(member.member_id) != member:
            self.put(member_record(self.group_id, member))

    def save_assignment(self, member: ConsumerMember) -> None:
        """Add the record of a member's current assignment."""
        if self.group.members.get(member.member_id) != member:
            self.put(current_record(self.group_id, member))
