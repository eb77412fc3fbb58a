"""Generated from schemas/data/offset_commit_key.schema: OffsetCommitKey, versions 0. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_string,
    write_string,
)

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack


class OffsetCommitKey(Message):
    __slots__ = ("group", "topic", "partition",)
    RECORD_TYPE = 1
    VERSIONS = range(0, 1)

    def __init__(
        self,
        group: str = "",
        topic: str = "",
        partition: int = 0,
    ) -> None:
        self.group = group
        self.topic = topic
        self.partition = partition


def _read_offset_commit_key_v0(data: memoryview, at: int) -> tuple[OffsetCommitKey, int]:
    group, at = read_string(data, at)
    topic, at = read_string(data, at)
    (partition,) = _unpack_i(data, at)
    at += 4
    return OffsetCommitKey(group, topic, partition), at


def _write_offset_commit_key_v0(item: OffsetCommitKey, out: bytearray) -> None:
    write_string(item.group, out)
    write_string(item.topic, out)
    out += _pack_i(item.partition)


OffsetCommitKey.DECODERS = {
    0: _read_offset_commit_key_v0,
}
OffsetCommitKey.ENCODERS = {
    0: _write_offset_commit_key_v0,
}
