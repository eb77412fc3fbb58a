"""Generated from schemas/data/consumer_group_current_member_assignment_value.schema: ConsumerGroupCurrentMemberAssignmentValue, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    check_tag_end,
    read_compact_count,
    read_compact_nullable_count,
    read_numbers,
    read_tag,
    read_tag_count,
    skip_tags,
    uvarint,
    write_numbers,
    write_tags,
)

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack
_unpack_iib = Layout(">iib").unpack_from
_pack_iib = Layout(">iib").pack


class ConsumerGroupCurrentMemberAssignmentValue(Message):
    __slots__ = ("member_epoch", "previous_member_epoch", "state", "assigned_partitions", "partitions_pending_revocation",)
    RECORD_TYPE = 8
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        assigned_partitions: Sequence[TopicPartitions] = (),
        partitions_pending_revocation: Sequence[TopicPartitions] = (),
    ) -> None:
        self.member_epoch = member_epoch
        self.previous_member_epoch = previous_member_epoch
        self.state = state
        self.assigned_partitions = assigned_partitions
        self.partitions_pending_revocation = partitions_pending_revocation


class TopicPartitions(Struct):
    __slots__ = ("topic_id", "partitions", "assignment_epochs",)

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[int] = (),
        assignment_epochs: Sequence[int] | None = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions
        self.assignment_epochs = assignment_epochs


def _read_topic_partitionss_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicPartitions], int]:
    items: list[TopicPartitions] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        assignment_epochs: Sequence[int] | None = ()
        if not data[at]:
            at += 1
        else:
            more, at = read_tag_count(data, at)
            while more:
                more -= 1
                tag, end, at = read_tag(data, at)
                if tag == 0:
                    count, at = read_compact_nullable_count(data, at, 4)
                    assignment_epochs = None
                    if count >= 0:
                        assignment_epochs, at = read_numbers(data, at, count, "i")
                else:
                    at = end
                check_tag_end(tag, at, end)
        items.append(TopicPartitions(topic_id, partitions, assignment_epochs))
    return items, at


def _read_consumer_group_current_member_assignment_value_v0(data: memoryview, at: int) -> tuple[ConsumerGroupCurrentMemberAssignmentValue, int]:
    member_epoch, previous_member_epoch, state = _unpack_iib(data, at)
    at += 9
    count, at = read_compact_count(data, at, 18)
    assigned_partitions, at = _read_topic_partitionss_v0(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 18)
    partitions_pending_revocation, at = _read_topic_partitionss_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ConsumerGroupCurrentMemberAssignmentValue(member_epoch, previous_member_epoch, state, assigned_partitions, partitions_pending_revocation), at


def _write_topic_partitionss_v0(items: Sequence[TopicPartitions], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            write_numbers(item.partitions, "i", out)
        else:
            out.append(1)
        if not ((item.assignment_epochs is None or item.assignment_epochs)):
            out.append(0)
        else:
            tags: list[tuple[int, bytearray]] = []
            if (item.assignment_epochs is None or item.assignment_epochs):
                value = bytearray()
                if item.assignment_epochs:
                    value += uvarint(len(item.assignment_epochs) + 1)
                    write_numbers(item.assignment_epochs, "i", value)
                else:
                    value.append(0 if item.assignment_epochs is None else 1)
                tags.append((0, value))
            write_tags(tags, out)


def _write_consumer_group_current_member_assignment_value_v0(item: ConsumerGroupCurrentMemberAssignmentValue, out: bytearray) -> None:
    out += _pack_iib(item.member_epoch, item.previous_member_epoch, item.state)
    if item.assigned_partitions:
        out += uvarint(len(item.assigned_partitions) + 1)
        _write_topic_partitionss_v0(item.assigned_partitions, out)
    else:
        out.append(1)
    if item.partitions_pending_revocation:
        out += uvarint(len(item.partitions_pending_revocation) + 1)
        _write_topic_partitionss_v0(item.partitions_pending_revocation, out)
    else:
        out.append(1)
    out.append(0)


ConsumerGroupCurrentMemberAssignmentValue.DECODERS = {
    0: _read_consumer_group_current_member_assignment_value_v0,
}
ConsumerGroupCurrentMemberAssignmentValue.ENCODERS = {
    0: _write_consumer_group_current_member_assignment_value_v0,
}
