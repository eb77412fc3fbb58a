"""Generated from schemas/data/offset_commit_value.schema: OffsetCommitValue, versions 0-4. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    check_tag_end,
    read_compact_string,
    read_string,
    read_tag,
    read_tag_count,
    write_compact_string,
    write_string,
    write_tags,
)

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack
_unpack_q = Layout(">q").unpack_from
_pack_q = Layout(">q").pack
_unpack_qi = Layout(">qi").unpack_from
_pack_qi = Layout(">qi").pack
_unpack_qq = Layout(">qq").unpack_from
_pack_qq = Layout(">qq").pack


class OffsetCommitValue(Message):
    __slots__ = ("offset", "leader_epoch", "metadata", "commit_timestamp", "expire_timestamp", "topic_id",)
    RECORD_TYPE = 1
    VERSIONS = range(0, 5)
    FLEXIBLE_FROM = 4

    def __init__(
        self,
        offset: int = 0,
        leader_epoch: int = -1,
        metadata: str = "",
        commit_timestamp: int = 0,
        expire_timestamp: int = -1,
        topic_id: bytes = ZERO_UUID,
    ) -> None:
        self.offset = offset
        self.leader_epoch = leader_epoch
        self.metadata = metadata
        self.commit_timestamp = commit_timestamp
        self.expire_timestamp = expire_timestamp
        self.topic_id = topic_id


def _read_offset_commit_value_v0(data: memoryview, at: int) -> tuple[OffsetCommitValue, int]:
    (offset,) = _unpack_q(data, at)
    at += 8
    metadata, at = read_string(data, at)
    (commit_timestamp,) = _unpack_q(data, at)
    at += 8
    return OffsetCommitValue(offset, -1, metadata, commit_timestamp, -1, ZERO_UUID), at


def _read_offset_commit_value_v1(data: memoryview, at: int) -> tuple[OffsetCommitValue, int]:
    (offset,) = _unpack_q(data, at)
    at += 8
    metadata, at = read_string(data, at)
    commit_timestamp, expire_timestamp = _unpack_qq(data, at)
    at += 16
    return OffsetCommitValue(offset, -1, metadata, commit_timestamp, expire_timestamp, ZERO_UUID), at


def _read_offset_commit_value_v3(data: memoryview, at: int) -> tuple[OffsetCommitValue, int]:
    offset, leader_epoch = _unpack_qi(data, at)
    at += 12
    metadata, at = read_string(data, at)
    (commit_timestamp,) = _unpack_q(data, at)
    at += 8
    return OffsetCommitValue(offset, leader_epoch, metadata, commit_timestamp, -1, ZERO_UUID), at


def _read_offset_commit_value_v4(data: memoryview, at: int) -> tuple[OffsetCommitValue, int]:
    offset, leader_epoch = _unpack_qi(data, at)
    at += 12
    metadata, at = read_compact_string(data, at)
    (commit_timestamp,) = _unpack_q(data, at)
    at += 8
    topic_id: bytes = ZERO_UUID
    if not data[at]:
        at += 1
    else:
        more, at = read_tag_count(data, at)
        while more:
            more -= 1
            tag, end, at = read_tag(data, at)
            if tag == 0:
                (topic_id,) = _unpack_u(data, at)
                at += 16
            else:
                at = end
            check_tag_end(tag, at, end)
    return OffsetCommitValue(offset, leader_epoch, metadata, commit_timestamp, -1, topic_id), at


def _write_offset_commit_value_v0(item: OffsetCommitValue, out: bytearray) -> None:
    out += _pack_q(item.offset)
    write_string(item.metadata, out)
    out += _pack_q(item.commit_timestamp)


def _write_offset_commit_value_v1(item: OffsetCommitValue, out: bytearray) -> None:
    out += _pack_q(item.offset)
    write_string(item.metadata, out)
    out += _pack_qq(item.commit_timestamp, item.expire_timestamp)


def _write_offset_commit_value_v3(item: OffsetCommitValue, out: bytearray) -> None:
    out += _pack_qi(item.offset, item.leader_epoch)
    write_string(item.metadata, out)
    out += _pack_q(item.commit_timestamp)


def _write_offset_commit_value_v4(item: OffsetCommitValue, out: bytearray) -> None:
    out += _pack_qi(item.offset, item.leader_epoch)
    write_compact_string(item.metadata, out)
    out += _pack_q(item.commit_timestamp)
    if not (item.topic_id != ZERO_UUID):
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if item.topic_id != ZERO_UUID:
            value = bytearray()
            value += _pack_u(item.topic_id)
            tags.append((0, value))
        write_tags(tags, out)


OffsetCommitValue.DECODERS = {
    0: _read_offset_commit_value_v0,
    1: _read_offset_commit_value_v1,
    2: _read_offset_commit_value_v0,
    3: _read_offset_commit_value_v3,
    4: _read_offset_commit_value_v4,
}
OffsetCommitValue.ENCODERS = {
    0: _write_offset_commit_value_v0,
    1: _write_offset_commit_value_v1,
    2: _write_offset_commit_value_v0,
    3: _write_offset_commit_value_v3,
    4: _write_offset_commit_value_v4,
}
