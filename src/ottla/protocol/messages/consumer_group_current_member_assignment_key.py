"""Generated from schemas/data/consumer_group_current_member_assignment_key.schema: ConsumerGroupCurrentMemberAssignmentKey, versions 0. Do not edit."""

from __future__ import annotations


from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_string,
    write_string,
)



class ConsumerGroupCurrentMemberAssignmentKey(Message):
    __slots__ = ("group_id", "member_id",)
    RECORD_TYPE = 8
    VERSIONS = range(0, 1)

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id


def _read_consumer_group_current_member_assignment_key_v0(data: memoryview, at: int) -> tuple[ConsumerGroupCurrentMemberAssignmentKey, int]:
    group_id, at = read_string(data, at)
    member_id, at = read_string(data, at)
    return ConsumerGroupCurrentMemberAssignmentKey(group_id, member_id), at


def _write_consumer_group_current_member_assignment_key_v0(item: ConsumerGroupCurrentMemberAssignmentKey, out: bytearray) -> None:
    write_string(item.group_id, out)
    write_string(item.member_id, out)


ConsumerGroupCurrentMemberAssignmentKey.DECODERS = {
    0: _read_consumer_group_current_member_assignment_key_v0,
}
ConsumerGroupCurrentMemberAssignmentKey.ENCODERS = {
    0: _write_consumer_group_current_member_assignment_key_v0,
}
