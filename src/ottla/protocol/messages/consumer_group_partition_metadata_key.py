"""Generated from schemas/data/consumer_group_partition_metadata_key.schema: ConsumerGroupPartitionMetadataKey, versions 0. Do not edit."""

from __future__ import annotations


from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_string,
    write_string,
)



class ConsumerGroupPartitionMetadataKey(Message):
    __slots__ = ("group_id",)
    RECORD_TYPE = 4
    VERSIONS = range(0, 1)

    def __init__(
        self,
        group_id: str = "",
    ) -> None:
        self.group_id = group_id


def _read_consumer_group_partition_metadata_key_v0(data: memoryview, at: int) -> tuple[ConsumerGroupPartitionMetadataKey, int]:
    group_id, at = read_string(data, at)
    return ConsumerGroupPartitionMetadataKey(group_id), at


def _write_consumer_group_partition_metadata_key_v0(item: ConsumerGroupPartitionMetadataKey, out: bytearray) -> None:
    write_string(item.group_id, out)


ConsumerGroupPartitionMetadataKey.DECODERS = {
    0: _read_consumer_group_partition_metadata_key_v0,
}
ConsumerGroupPartitionMetadataKey.ENCODERS = {
    0: _write_consumer_group_partition_metadata_key_v0,
}
