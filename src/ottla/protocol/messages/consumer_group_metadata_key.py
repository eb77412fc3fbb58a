"""Generated from schemas/data/consumer_group_metadata_key.schema: ConsumerGroupMetadataKey, versions 0. Do not edit."""

from __future__ import annotations


from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_string,
    write_string,
)



class ConsumerGroupMetadataKey(Message):
    __slots__ = ("group_id",)
    RECORD_TYPE = 3
    VERSIONS = range(0, 1)

    def __init__(
        self,
        group_id: str = "",
    ) -> None:
        self.group_id = group_id


def _read_consumer_group_metadata_key_v0(data: memoryview, at: int) -> tuple[ConsumerGroupMetadataKey, int]:
    group_id, at = read_string(data, at)
    return ConsumerGroupMetadataKey(group_id), at


def _write_consumer_group_metadata_key_v0(item: ConsumerGroupMetadataKey, out: bytearray) -> None:
    write_string(item.group_id, out)


ConsumerGroupMetadataKey.DECODERS = {
    0: _read_consumer_group_metadata_key_v0,
}
ConsumerGroupMetadataKey.ENCODERS = {
    0: _write_consumer_group_metadata_key_v0,
}
