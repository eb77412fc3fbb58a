"""Generated from schemas/data/share_group_current_member_assignment_value.schema: ShareGroupCurrentMemberAssignmentValue, versions 0. Do not edit."""

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
_unpack_iib = Layout(">iib").unpack_from
_pack_iib = Layout(">iib").pack


class ShareGroupCurrentMemberAssignmentValue(Message):
    __slots__ = ("member_epoch", "previous_member_epoch", "state", "assigned_partitions",)
    RECORD_TYPE = 14
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        assigned_partitions: Sequence[TopicPartitions] = (),
    ) -> None:
        self.member_epoch = member_epoch
        self.previous_member_epoch = previous_member_epoch
        self.state = state
        self.assigned_partitions = assigned_partitions


class TopicPartitions(Struct):
    __slots__ = ("topic_id", "partitions",)

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


def _read_topic_partitionss_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicPartitions], int]:
    items: list[TopicPartitions] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicPartitions(topic_id, partitions))
    return items, at


def _read_share_group_current_member_assignment_value_v0(data: memoryview, at: int) -> tuple[ShareGroupCurrentMemberAssignmentValue, int]:
    member_epoch, previous_member_epoch, state = _unpack_iib(data, at)
    at += 9
    count, at = read_compact_count(data, at, 18)
    assigned_partitions, at = _read_topic_partitionss_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ShareGroupCurrentMemberAssignmentValue(member_epoch, previous_member_epoch, state, assigned_partitions), at


def _write_topic_partitionss_v0(items: Sequence[TopicPartitions], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            write_numbers(item.partitions, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_share_group_current_member_assignment_value_v0(item: ShareGroupCurrentMemberAssignmentValue, out: bytearray) -> None:
    out += _pack_iib(item.member_epoch, item.previous_member_epoch, item.state)
    if item.assigned_partitions:
        out += uvarint(len(item.assigned_partitions) + 1)
        _write_topic_partitionss_v0(item.assigned_partitions, out)
    else:
        out.append(1)
    out.append(0)


ShareGroupCurrentMemberAssignmentValue.DECODERS = {
    0: _read_share_group_current_member_assignment_value_v0,
}
ShareGroupCurrentMemberAssignmentValue.ENCODERS = {
    0: _write_share_group_current_member_assignment_value_v0,
}
