"""Generated from schemas/data/group_metadata_key.schema: GroupMetadataKey, versions 0. Do not edit."""

from __future__ import annotations


from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_string,
    write_string,
)



class GroupMetadataKey(Message):
    __slots__ = ("group",)
    RECORD_TYPE = 2
    VERSIONS = range(0, 1)

    def __init__(
        self,
        group: str = "",
    ) -> None:
        self.group = group


def _read_group_metadata_key_v0(data: memoryview, at: int) -> tuple[GroupMetadataKey, int]:
    group, at = read_string(data, at)
    return GroupMetadataKey(group), at


def _write_group_metadata_key_v0(item: GroupMetadataKey, out: bytearray) -> None:
    write_string(item.group, out)


GroupMetadataKey.DECODERS = {
    0: _read_group_metadata_key_v0,
}
GroupMetadataKey.ENCODERS = {
    0: _write_group_metadata_key_v0,
}
