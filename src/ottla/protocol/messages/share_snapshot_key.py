"""Generated from schemas/data/share_snapshot_key.schema: ShareSnapshotKey, versions 0. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_string,
    write_string,
)

_unpack_ui = Layout(">16si").unpack_from
_pack_ui = Layout(">16si").pack


class ShareSnapshotKey(Message):
    __slots__ = ("group_id", "topic_id", "partition",)
    RECORD_TYPE = 0
    VERSIONS = range(0, 1)

    def __init__(
        self,
        group_id: str = "",
        topic_id: bytes = ZERO_UUID,
        partition: int = 0,
    ) -> None:
        self.group_id = group_id
        self.topic_id = topic_id
        self.partition = partition


def _read_share_snapshot_key_v0(data: memoryview, at: int) -> tuple[ShareSnapshotKey, int]:
    group_id, at = read_string(data, at)
    topic_id, partition = _unpack_ui(data, at)
    at += 20
    return ShareSnapshotKey(group_id, topic_id, partition), at


def _write_share_snapshot_key_v0(item: ShareSnapshotKey, out: bytearray) -> None:
    write_string(item.group_id, out)
    out += _pack_ui(item.topic_id, item.partition)


ShareSnapshotKey.DECODERS = {
    0: _read_share_snapshot_key_v0,
}
ShareSnapshotKey.ENCODERS = {
    0: _write_share_snapshot_key_v0,
}
