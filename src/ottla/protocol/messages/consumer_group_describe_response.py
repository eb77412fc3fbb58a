"""Generated from schemas/consumer_group_describe.schema: ConsumerGroupDescribeResponse, versions 0-1. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_compact_strings,
    read_numbers,
    skip_tags,
    uvarint,
    write_compact_string,
    write_compact_strings,
    write_numbers,
)

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack
_unpack_bB = Layout(">bB").unpack_from
_pack_bx = Layout(">bx").pack
_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_iB = Layout(">iB").unpack_from
_unpack_ii = Layout(">ii").unpack_from
_pack_ii = Layout(">ii").pack
_pack_ix = Layout(">ix").pack


class ConsumerGroupDescribeResponse(Message):
    __slots__ = ("throttle_time_ms", "groups",)
    API_KEY = 69
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: Sequence[DescribedGroup] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = groups


class Member(Struct):
    __slots__ = ("member_id", "instance_id", "rack_id", "member_epoch", "client_id", "client_host", "subscribed_topic_names", "subscribed_topic_regex", "assignment", "target_assignment", "member_type",)

    def __init__(
        self,
        member_id: str = "",
        instance_id: str | None = None,
        rack_id: str | None = None,
        member_epoch: int = 0,
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: Sequence[str] = (),
        subscribed_topic_regex: str | None = None,
        assignment: Assignment | None = None,
        target_assignment: Assignment | None = None,
        member_type: int = -1,
    ) -> None:
        self.member_id = member_id
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.member_epoch = member_epoch
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.assignment: Assignment = Assignment() if assignment is None else assignment
        self.target_assignment: Assignment = Assignment() if target_assignment is None else target_assignment
        self.member_type = member_type


class DescribedGroup(Struct):
    __slots__ = ("error_code", "error_message", "group_id", "group_state", "group_epoch", "assignment_epoch", "assignor_name", "members", "authorized_operations",)

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        group_epoch: int = 0,
        assignment_epoch: int = 0,
        assignor_name: str = "",
        members: Sequence[Member] = (),
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.group_epoch = group_epoch
        self.assignment_epoch = assignment_epoch
        self.assignor_name = assignor_name
        self.members = members
        self.authorized_operations = authorized_operations


class TopicPartitions(Struct):
    __slots__ = ("topic_id", "topic_name", "partitions",)

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.partitions = partitions


class Assignment(Struct):
    __slots__ = ("topic_partitions",)

    def __init__(
        self,
        topic_partitions: Sequence[TopicPartitions] = (),
    ) -> None:
        self.topic_partitions = topic_partitions


def _read_topic_partitionss_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicPartitions], int]:
    items: list[TopicPartitions] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        topic_name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicPartitions(topic_id, topic_name, partitions))
    return items, at


def _read_assignment_v0(data: memoryview, at: int) -> tuple[Assignment, int]:
    count, at = read_compact_count(data, at, 19)
    topic_partitions, at = _read_topic_partitionss_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return Assignment(topic_partitions), at


def _read_members_v0(data: memoryview, at: int, count: int) -> tuple[list[Member], int]:
    items: list[Member] = []
    for _ in range(count):
        member_id, at = read_compact_string(data, at)
        instance_id: str | None = None
        if data[at]:
            instance_id, at = read_compact_string(data, at)
        else:
            at += 1
        rack_id: str | None = None
        if data[at]:
            rack_id, at = read_compact_string(data, at)
        else:
            at += 1
        (member_epoch,) = _unpack_i(data, at)
        at += 4
        client_id, at = read_compact_string(data, at)
        client_host, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 1)
        subscribed_topic_names, at = read_compact_strings(data, at, count) if count else ([], at)
        subscribed_topic_regex: str | None = None
        if data[at]:
            subscribed_topic_regex, at = read_compact_string(data, at)
        else:
            at += 1
        assignment, at = _read_assignment_v0(data, at)
        target_assignment, at = _read_assignment_v0(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(Member(member_id, instance_id, rack_id, member_epoch, client_id, client_host, subscribed_topic_names, subscribed_topic_regex, assignment, target_assignment, -1))
    return items, at


def _read_described_groups_v0(data: memoryview, at: int, count: int) -> tuple[list[DescribedGroup], int]:
    items: list[DescribedGroup] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        group_id, at = read_compact_string(data, at)
        group_state, at = read_compact_string(data, at)
        group_epoch, assignment_epoch = _unpack_ii(data, at)
        at += 8
        assignor_name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 16)
        members, at = _read_members_v0(data, at, count) if count else ([], at)
        authorized_operations, more = _unpack_iB(data, at)
        at += 5
        if more:
            at = skip_tags(data, at - 1)
        items.append(DescribedGroup(error_code, error_message, group_id, group_state, group_epoch, assignment_epoch, assignor_name, members, authorized_operations))
    return items, at


def _read_consumer_group_describe_response_v0(data: memoryview, at: int) -> tuple[ConsumerGroupDescribeResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 20)
    groups, at = _read_described_groups_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ConsumerGroupDescribeResponse(throttle_time_ms, groups), at


def _read_members_v1(data: memoryview, at: int, count: int) -> tuple[list[Member], int]:
    items: list[Member] = []
    for _ in range(count):
        member_id, at = read_compact_string(data, at)
        instance_id: str | None = None
        if data[at]:
            instance_id, at = read_compact_string(data, at)
        else:
            at += 1
        rack_id: str | None = None
        if data[at]:
            rack_id, at = read_compact_string(data, at)
        else:
            at += 1
        (member_epoch,) = _unpack_i(data, at)
        at += 4
        client_id, at = read_compact_string(data, at)
        client_host, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 1)
        subscribed_topic_names, at = read_compact_strings(data, at, count) if count else ([], at)
        subscribed_topic_regex: str | None = None
        if data[at]:
            subscribed_topic_regex, at = read_compact_string(data, at)
        else:
            at += 1
        assignment, at = _read_assignment_v0(data, at)
        target_assignment, at = _read_assignment_v0(data, at)
        member_type, more = _unpack_bB(data, at)
        at += 2
        if more:
            at = skip_tags(data, at - 1)
        items.append(Member(member_id, instance_id, rack_id, member_epoch, client_id, client_host, subscribed_topic_names, subscribed_topic_regex, assignment, target_assignment, member_type))
    return items, at


def _read_described_groups_v1(data: memoryview, at: int, count: int) -> tuple[list[DescribedGroup], int]:
    items: list[DescribedGroup] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        group_id, at = read_compact_string(data, at)
        group_state, at = read_compact_string(data, at)
        group_epoch, assignment_epoch = _unpack_ii(data, at)
        at += 8
        assignor_name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 17)
        members, at = _read_members_v1(data, at, count) if count else ([], at)
        authorized_operations, more = _unpack_iB(data, at)
        at += 5
        if more:
            at = skip_tags(data, at - 1)
        items.append(DescribedGroup(error_code, error_message, group_id, group_state, group_epoch, assignment_epoch, assignor_name, members, authorized_operations))
    return items, at


def _read_consumer_group_describe_response_v1(data: memoryview, at: int) -> tuple[ConsumerGroupDescribeResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 20)
    groups, at = _read_described_groups_v1(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ConsumerGroupDescribeResponse(throttle_time_ms, groups), at


def _write_topic_partitionss_v0(items: Sequence[TopicPartitions], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        write_compact_string(item.topic_name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            write_numbers(item.partitions, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_assignment_v0(item: Assignment, out: bytearray) -> None:
    if item.topic_partitions:
        out += uvarint(len(item.topic_partitions) + 1)
        _write_topic_partitionss_v0(item.topic_partitions, out)
    else:
        out.append(1)
    out.append(0)


def _write_members_v0(items: Sequence[Member], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.member_id, out)
        if item.instance_id is None:
            out.append(0)
        else:
            write_compact_string(item.instance_id, out)
        if item.rack_id is None:
            out.append(0)
        else:
            write_compact_string(item.rack_id, out)
        out += _pack_i(item.member_epoch)
        write_compact_string(item.client_id, out)
        write_compact_string(item.client_host, out)
        if item.subscribed_topic_names:
            out += uvarint(len(item.subscribed_topic_names) + 1)
            write_compact_strings(item.subscribed_topic_names, out)
        else:
            out.append(1)
        if item.subscribed_topic_regex is None:
            out.append(0)
        else:
            write_compact_string(item.subscribed_topic_regex, out)
        _write_assignment_v0(item.assignment, out)
        _write_assignment_v0(item.target_assignment, out)
        out.append(0)


def _write_described_groups_v0(items: Sequence[DescribedGroup], out: bytearray) -> None:
    for item in items:
        out += _pack_h(item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        write_compact_string(item.group_id, out)
        write_compact_string(item.group_state, out)
        out += _pack_ii(item.group_epoch, item.assignment_epoch)
        write_compact_string(item.assignor_name, out)
        if item.members:
            out += uvarint(len(item.members) + 1)
            _write_members_v0(item.members, out)
        else:
            out.append(1)
        out += _pack_ix(item.authorized_operations)


def _write_consumer_group_describe_response_v0(item: ConsumerGroupDescribeResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.groups:
        out += uvarint(len(item.groups) + 1)
        _write_described_groups_v0(item.groups, out)
    else:
        out.append(1)
    out.append(0)


def _write_members_v1(items: Sequence[Member], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.member_id, out)
        if item.instance_id is None:
            out.append(0)
        else:
            write_compact_string(item.instance_id, out)
        if item.rack_id is None:
            out.append(0)
        else:
            write_compact_string(item.rack_id, out)
        out += _pack_i(item.member_epoch)
        write_compact_string(item.client_id, out)
        write_compact_string(item.client_host, out)
        if item.subscribed_topic_names:
            out += uvarint(len(item.subscribed_topic_names) + 1)
            write_compact_strings(item.subscribed_topic_names, out)
        else:
            out.append(1)
        if item.subscribed_topic_regex is None:
            out.append(0)
        else:
            write_compact_string(item.subscribed_topic_regex, out)
        _write_assignment_v0(item.assignment, out)
        _write_assignment_v0(item.target_assignment, out)
        out += _pack_bx(item.member_type)


def _write_described_groups_v1(items: Sequence[DescribedGroup], out: bytearray) -> None:
    for item in items:
        out += _pack_h(item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        write_compact_string(item.group_id, out)
        write_compact_string(item.group_state, out)
        out += _pack_ii(item.group_epoch, item.assignment_epoch)
        write_compact_string(item.assignor_name, out)
        if item.members:
            out += uvarint(len(item.members) + 1)
            _write_members_v1(item.members, out)
        else:
            out.append(1)
        out += _pack_ix(item.authorized_operations)


def _write_consumer_group_describe_response_v1(item: ConsumerGroupDescribeResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.groups:
        out += uvarint(len(item.groups) + 1)
        _write_described_groups_v1(item.groups, out)
    else:
        out.append(1)
    out.append(0)


ConsumerGroupDescribeResponse.DECODERS = {
    0: _read_consumer_group_describe_response_v0,
    1: _read_consumer_group_describe_response_v1,
}
ConsumerGroupDescribeResponse.ENCODERS = {
    0: _write_consumer_group_describe_response_v0,
    1: _write_consumer_group_describe_response_v1,
}
