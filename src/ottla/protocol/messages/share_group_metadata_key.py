"""Generated from schemas/data/share_group_metadata_key.schema: ShareGroupMetadataKey, versions 0. Do not edit."""

from __future__ import annotations


from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_string,
    write_string,
)



class ShareGroupMetadataKey(Message):
    __slots__ = ("group_id",)
    RECORD_TYPE = 11
    VERSIONS = range(0, 1)

    def __init__(
        self,
        group_id: str = "",
    ) -> None:
        self.group_id = group_id


def _read_share_group_metadata_key_v0(data: memoryview, at: int) -> tuple[ShareGroupMetadataKey, int]:
    group_id, at = read_string(data, at)
    return ShareGroupMetadataKey(group_id), at


def _write_share_group_metadata_key_v0(item: ShareGroupMetadataKey, out: bytearray) -> None:
    write_string(item.group_id, out)


ShareGroupMetadataKey.DECODERS = {
    0: _read_share_group_metadata_key_v0,
}
ShareGroupMetadataKey.ENCODERS = {
    0: _write_share_group_metadata_key_v0,
}
