"""Generated from schemas/data/share_group_state_partition_metadata_key.schema: ShareGroupStatePartitionMetadataKey, versions 0. Do not edit."""

from __future__ import annotations


from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_string,
    write_string,
)



class ShareGroupStatePartitionMetadataKey(Message):
    __slots__ = ("group_id",)
    RECORD_TYPE = 15
    VERSIONS = range(0, 1)

    def __init__(
        self,
        group_id: str = "",
    ) -> None:
        self.group_id = group_id


def _read_share_group_state_partition_metadata_key_v0(data: memoryview, at: int) -> tuple[ShareGroupStatePartitionMetadataKey, int]:
    group_id, at = read_string(data, at)
    return ShareGroupStatePartitionMetadataKey(group_id), at


def _write_share_group_state_partition_metadata_key_v0(item: ShareGroupStatePartitionMetadataKey, out: bytearray) -> None:
    write_string(item.group_id, out)


ShareGroupStatePartitionMetadataKey.DECODERS = {
    0: _read_share_group_state_partition_metadata_key_v0,
}
ShareGroupStatePartitionMetadataKey.ENCODERS = {
    0: _write_share_group_state_partition_metadata_key_v0,
}
