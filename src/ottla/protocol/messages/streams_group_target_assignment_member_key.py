"""Generated from schemas/data/streams_group_target_assignment_member_key.schema: StreamsGroupTargetAssignmentMemberKey, versions 0. Do not edit."""

from __future__ import annotations


from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_string,
    write_string,
)



class StreamsGroupTargetAssignmentMemberKey(Message):
    __slots__ = ("group_id", "member_id",)
    RECORD_TYPE = 21
    VERSIONS = range(0, 1)

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id


def _read_streams_group_target_assignment_member_key_v0(data: memoryview, at: int) -> tuple[StreamsGroupTargetAssignmentMemberKey, int]:
    group_id, at = read_string(data, at)
    member_id, at = read_string(data, at)
    return StreamsGroupTargetAssignmentMemberKey(group_id, member_id), at


def _write_streams_group_target_assignment_member_key_v0(item: StreamsGroupTargetAssignmentMemberKey, out: bytearray) -> None:
    write_string(item.group_id, out)
    write_string(item.member_id, out)


StreamsGroupTargetAssignmentMemberKey.DECODERS = {
    0: _read_streams_group_target_assignment_member_key_v0,
}
StreamsGroupTargetAssignmentMemberKey.ENCODERS = {
    0: _write_streams_group_target_assignment_member_key_v0,
}
