"""Generated from schemas/data/share_group_target_assignment_member_key.schema: ShareGroupTargetAssignmentMemberKey, versions 0. Do not edit."""

from __future__ import annotations


from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_string,
    write_string,
)



class ShareGroupTargetAssignmentMemberKey(Message):
    __slots__ = ("group_id", "member_id",)
    RECORD_TYPE = 13
    VERSIONS = range(0, 1)

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id


def _read_share_group_target_assignment_member_key_v0(data: memoryview, at: int) -> tuple[ShareGroupTargetAssignmentMemberKey, int]:
    group_id, at = read_string(data, at)
    member_id, at = read_string(data, at)
    return ShareGroupTargetAssignmentMemberKey(group_id, member_id), at


def _write_share_group_target_assignment_member_key_v0(item: ShareGroupTargetAssignmentMemberKey, out: bytearray) -> None:
    write_string(item.group_id, out)
    write_string(item.member_id, out)


ShareGroupTargetAssignmentMemberKey.DECODERS = {
    0: _read_share_group_target_assignment_member_key_v0,
}
ShareGroupTargetAssignmentMemberKey.ENCODERS = {
    0: _write_share_group_target_assignment_member_key_v0,
}
