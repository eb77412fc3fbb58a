"""Generated from schemas/data/share_group_metadata_value.schema: ShareGroupMetadataValue, versions 0. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    skip_tags,
)

_unpack_iqB = Layout(">iqB").unpack_from
_pack_iqx = Layout(">iqx").pack


class ShareGroupMetadataValue(Message):
    __slots__ = ("epoch", "metadata_hash",)
    RECORD_TYPE = 11
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        epoch: int = 0,
        metadata_hash: int = 0,
    ) -> None:
        self.epoch = epoch
        self.metadata_hash = metadata_hash


def _read_share_group_metadata_value_v0(data: memoryview, at: int) -> tuple[ShareGroupMetadataValue, int]:
    epoch, metadata_hash, more = _unpack_iqB(data, at)
    at += 13
    if more:
        at = skip_tags(data, at - 1)
    return ShareGroupMetadataValue(epoch, metadata_hash), at


def _write_share_group_metadata_value_v0(item: ShareGroupMetadataValue, out: bytearray) -> None:
    out += _pack_iqx(item.epoch, item.metadata_hash)


ShareGroupMetadataValue.DECODERS = {
    0: _read_share_group_metadata_value_v0,
}
ShareGroupMetadataValue.ENCODERS = {
    0: _write_share_group_metadata_value_v0,
}
