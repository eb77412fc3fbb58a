"""Generated from schemas/data/share_group_target_assignment_member_value.schema: ShareGroupTargetAssignmentMemberValue, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_numbers,
    skip_tags,
    uvarint,
    write_numbers,
)

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack


class ShareGroupTargetAssignmentMemberValue(Message):
    __slots__ = ("topic_partitions",)
    RECORD_TYPE = 13
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        topic_partitions: Sequence[TopicPartition] = (),
    ) -> None:
        self.topic_partitions = topic_partitions


class TopicPartition(Struct):
    __slots__ = ("topic_id", "partitions",)

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


def _read_topic_partitions_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicPartition], int]:
    items: list[TopicPartition] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicPartition(topic_id, partitions))
    return items, at


def _read_share_group_target_assignment_member_value_v0(data: memoryview, at: int) -> tuple[ShareGroupTargetAssignmentMemberValue, int]:
    count, at = read_compact_count(data, at, 18)
    topic_partitions, at = _read_topic_partitions_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ShareGroupTargetAssignmentMemberValue(topic_partitions), at


def _write_topic_partitions_v0(items: Sequence[TopicPartition], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            write_numbers(item.partitions, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_share_group_target_assignment_member_value_v0(item: ShareGroupTargetAssignmentMemberValue, out: bytearray) -> None:
    if item.topic_partitions:
        out += uvarint(len(item.topic_partitions) + 1)
        _write_topic_partitions_v0(item.topic_partitions, out)
    else:
        out.append(1)
    out.append(0)


ShareGroupTargetAssignmentMemberValue.DECODERS = {
    0: _read_share_group_target_assignment_member_value_v0,
}
ShareGroupTargetAssignmentMemberValue.ENCODERS = {
    0: _write_share_group_target_assignment_member_value_v0,
}
