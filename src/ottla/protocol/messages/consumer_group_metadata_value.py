"""Generated from schemas/data/consumer_group_metadata_value.schema: ConsumerGroupMetadataValue, versions 0. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    check_tag_end,
    read_tag,
    read_tag_count,
    write_tags,
)

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_q = Layout(">q").unpack_from
_pack_q = Layout(">q").pack


class ConsumerGroupMetadataValue(Message):
    __slots__ = ("epoch", "metadata_hash",)
    RECORD_TYPE = 3
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        epoch: int = 0,
        metadata_hash: int = 0,
    ) -> None:
        self.epoch = epoch
        self.metadata_hash = metadata_hash


def _read_consumer_group_metadata_value_v0(data: memoryview, at: int) -> tuple[ConsumerGroupMetadataValue, int]:
    (epoch,) = _unpack_i(data, at)
    at += 4
    metadata_hash: int = 0
    if not data[at]:
        at += 1
    else:
        more, at = read_tag_count(data, at)
        while more:
            more -= 1
            tag, end, at = read_tag(data, at)
            if tag == 0:
                (metadata_hash,) = _unpack_q(data, at)
                at += 8
            else:
                at = end
            check_tag_end(tag, at, end)
    return ConsumerGroupMetadataValue(epoch, metadata_hash), at


def _write_consumer_group_metadata_value_v0(item: ConsumerGroupMetadataValue, out: bytearray) -> None:
    out += _pack_i(item.epoch)
    if not (item.metadata_hash != 0):
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if item.metadata_hash != 0:
            value = bytearray()
            value += _pack_q(item.metadata_hash)
            tags.append((0, value))
        write_tags(tags, out)


ConsumerGroupMetadataValue.DECODERS = {
    0: _read_consumer_group_metadata_value_v0,
}
ConsumerGroupMetadataValue.ENCODERS = {
    0: _write_consumer_group_metadata_value_v0,
}
