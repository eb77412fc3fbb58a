"""Generated from schemas/data/streams_group_current_member_assignment_key.schema: StreamsGroupCurrentMemberAssignmentKey, versions 0. Do not edit."""

from __future__ import annotations


from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_string,
    write_string,
)



class StreamsGroupCurrentMemberAssignmentKey(Message):
    __slots__ = ("group_id", "member_id",)
    RECORD_TYPE = 22
    VERSIONS = range(0, 1)

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id


def _read_streams_group_current_member_assignment_key_v0(data: memoryview, at: int) -> tuple[StreamsGroupCurrentMemberAssignmentKey, int]:
    group_id, at = read_string(data, at)
    member_id, at = read_string(data, at)
    return StreamsGroupCurrentMemberAssignmentKey(group_id, member_id), at


def _write_streams_group_current_member_assignment_key_v0(item: StreamsGroupCurrentMemberAssignmentKey, out: bytearray) -> None:
    write_string(item.group_id, out)
    write_string(item.member_id, out)


StreamsGroupCurrentMemberAssignmentKey.DECODERS = {
    0: _read_streams_group_current_member_assignment_key_v0,
}
StreamsGroupCurrentMemberAssignmentKey.ENCODERS = {
    0: _write_streams_group_current_member_assignment_key_v0,
}
