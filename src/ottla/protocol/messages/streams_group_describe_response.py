"""Generated from schemas/streams_group_describe.schema: StreamsGroupDescribeResponse, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_nullable_count,
    read_compact_string,
    read_compact_strings,
    read_numbers,
    skip_tags,
    uvarint,
    write_compact_string,
    write_compact_strings,
    write_numbers,
)

_unpack_tB = Layout(">?B").unpack_from
_pack_tx = Layout(">?x").pack
_unpack_HB = Layout(">HB").unpack_from
_pack_Hx = Layout(">Hx").pack
_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_iB = Layout(">iB").unpack_from
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_unpack_ii = Layout(">ii").unpack_from
_pack_ii = Layout(">ii").pack
_unpack_iqB = Layout(">iqB").unpack_from
_pack_iqx = Layout(">iqx").pack
_pack_ix = Layout(">ix").pack


class StreamsGroupDescribeResponse(Message):
    __slots__ = ("throttle_time_ms", "groups",)
    API_KEY = 89
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: Sequence[DescribedGroup] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = groups


class Subtopology(Struct):
    __slots__ = ("subtopology_id", "source_topics", "repartition_sink_topics", "state_changelog_topics", "repartition_source_topics",)

    def __init__(
        self,
        subtopology_id: str = "",
        source_topics: Sequence[str] = (),
        repartition_sink_topics: Sequence[str] = (),
        state_changelog_topics: Sequence[TopicInfo] = (),
        repartition_source_topics: Sequence[TopicInfo] = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.source_topics = source_topics
        self.repartition_sink_topics = repartition_sink_topics
        self.state_changelog_topics = state_changelog_topics
        self.repartition_source_topics = repartition_source_topics


class Topology(Struct):
    __slots__ = ("epoch", "subtopologies",)

    def __init__(
        self,
        epoch: int = 0,
        subtopologies: Sequence[Subtopology] | None = None,
    ) -> None:
        self.epoch = epoch
        self.subtopologies = subtopologies


class Member(Struct):
    __slots__ = ("member_id", "member_epoch", "instance_id", "rack_id", "client_id", "client_host", "topology_epoch", "process_id", "user_endpoint", "client_tags", "task_offsets", "task_end_offsets", "assignment", "target_assignment", "is_classic",)

    def __init__(
        self,
        member_id: str = "",
        member_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        topology_epoch: int = 0,
        process_id: str = "",
        user_endpoint: Endpoint | None = None,
        client_tags: Sequence[KeyValue] = (),
        task_offsets: Sequence[TaskOffset] = (),
        task_end_offsets: Sequence[TaskOffset] = (),
        assignment: Assignment | None = None,
        target_assignment: Assignment | None = None,
        is_classic: bool = False,
    ) -> None:
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.topology_epoch = topology_epoch
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = client_tags
        self.task_offsets = task_offsets
        self.task_end_offsets = task_end_offsets
        self.assignment: Assignment = Assignment() if assignment is None else assignment
        self.target_assignment: Assignment = Assignment() if target_assignment is None else target_assignment
        self.is_classic = is_classic


class DescribedGroup(Struct):
    __slots__ = ("error_code", "error_message", "group_id", "group_state", "group_epoch", "assignment_epoch", "topology", "members", "authorized_operations",)

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        group_epoch: int = 0,
        assignment_epoch: int = 0,
        topology: Topology | None = None,
        members: Sequence[Member] = (),
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.group_epoch = group_epoch
        self.assignment_epoch = assignment_epoch
        self.topology = topology
        self.members = members
        self.authorized_operations = authorized_operations


class Endpoint(Struct):
    __slots__ = ("host", "port",)

    def __init__(
        self,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.host = host
        self.port = port


class TaskOffset(Struct):
    __slots__ = ("subtopology_id", "partition", "offset",)

    def __init__(
        self,
        subtopology_id: str = "",
        partition: int = 0,
        offset: int = 0,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partition = partition
        self.offset = offset


class Assignment(Struct):
    __slots__ = ("active_tasks", "standby_tasks", "warmup_tasks",)

    def __init__(
        self,
        active_tasks: Sequence[TaskIds] = (),
        standby_tasks: Sequence[TaskIds] = (),
        warmup_tasks: Sequence[TaskIds] = (),
    ) -> None:
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks


class TaskIds(Struct):
    __slots__ = ("subtopology_id", "partitions",)

    def __init__(
        self,
        subtopology_id: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions = partitions


class KeyValue(Struct):
    __slots__ = ("key", "value",)

    def __init__(
        self,
        key: str = "",
        value: str = "",
    ) -> None:
        self.key = key
        self.value = value


class TopicInfo(Struct):
    __slots__ = ("name", "partitions", "replication_factor", "topic_configs",)

    def __init__(
        self,
        name: str = "",
        partitions: int = 0,
        replication_factor: int = 0,
        topic_configs: Sequence[KeyValue] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions
        self.replication_factor = replication_factor
        self.topic_configs = topic_configs


def _read_key_values_v0(data: memoryview, at: int, count: int) -> tuple[list[KeyValue], int]:
    items: list[KeyValue] = []
    for _ in range(count):
        key, at = read_compact_string(data, at)
        value, at = read_compact_string(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(KeyValue(key, value))
    return items, at


def _read_topic_infos_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicInfo], int]:
    items: list[TopicInfo] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        partitions, replication_factor = _unpack_ih(data, at)
        at += 6
        count, at = read_compact_count(data, at, 3)
        topic_configs, at = _read_key_values_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicInfo(name, partitions, replication_factor, topic_configs))
    return items, at


def _read_subtopologys_v0(data: memoryview, at: int, count: int) -> tuple[list[Subtopology], int]:
    items: list[Subtopology] = []
    for _ in range(count):
        subtopology_id, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 1)
        source_topics, at = read_compact_strings(data, at, count) if count else ([], at)
        count, at = read_compact_count(data, at, 1)
        repartition_sink_topics, at = read_compact_strings(data, at, count) if count else ([], at)
        count, at = read_compact_count(data, at, 9)
        state_changelog_topics, at = _read_topic_infos_v0(data, at, count) if count else ([], at)
        count, at = read_compact_count(data, at, 9)
        repartition_source_topics, at = _read_topic_infos_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(Subtopology(subtopology_id, source_topics, repartition_sink_topics, state_changelog_topics, repartition_source_topics))
    return items, at


def _read_topology_v0(data: memoryview, at: int) -> tuple[Topology, int]:
    (epoch,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_nullable_count(data, at, 6)
    subtopologies: list[Subtopology] | None = None
    if count >= 0:
        subtopologies, at = _read_subtopologys_v0(data, at, count)
    at = skip_tags(data, at) if data[at] else at + 1
    return Topology(epoch, subtopologies), at


def _read_endpoint_v0(data: memoryview, at: int) -> tuple[Endpoint, int]:
    host, at = read_compact_string(data, at)
    port, more = _unpack_HB(data, at)
    at += 3
    if more:
        at = skip_tags(data, at - 1)
    return Endpoint(host, port), at


def _read_task_offsets_v0(data: memoryview, at: int, count: int) -> tuple[list[TaskOffset], int]:
    items: list[TaskOffset] = []
    for _ in range(count):
        subtopology_id, at = read_compact_string(data, at)
        partition, offset, more = _unpack_iqB(data, at)
        at += 13
        if more:
            at = skip_tags(data, at - 1)
        items.append(TaskOffset(subtopology_id, partition, offset))
    return items, at


def _read_task_idss_v0(data: memoryview, at: int, count: int) -> tuple[list[TaskIds], int]:
    items: list[TaskIds] = []
    for _ in range(count):
        subtopology_id, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TaskIds(subtopology_id, partitions))
    return items, at


def _read_assignment_v0(data: memoryview, at: int) -> tuple[Assignment, int]:
    count, at = read_compact_count(data, at, 3)
    active_tasks, at = _read_task_idss_v0(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 3)
    standby_tasks, at = _read_task_idss_v0(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 3)
    warmup_tasks, at = _read_task_idss_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return Assignment(active_tasks, standby_tasks, warmup_tasks), at


def _read_members_v0(data: memoryview, at: int, count: int) -> tuple[list[Member], int]:
    items: list[Member] = []
    for _ in range(count):
        member_id, at = read_compact_string(data, at)
        (member_epoch,) = _unpack_i(data, at)
        at += 4
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
        client_id, at = read_compact_string(data, at)
        client_host, at = read_compact_string(data, at)
        (topology_epoch,) = _unpack_i(data, at)
        at += 4
        process_id, at = read_compact_string(data, at)
        user_endpoint: Endpoint | None = None
        present = data[at] < 128
        at += 1
        if present:
            user_endpoint, at = _read_endpoint_v0(data, at)
        count, at = read_compact_count(data, at, 3)
        client_tags, at = _read_key_values_v0(data, at, count) if count else ([], at)
        count, at = read_compact_count(data, at, 14)
        task_offsets, at = _read_task_offsets_v0(data, at, count) if count else ([], at)
        count, at = read_compact_count(data, at, 14)
        task_end_offsets, at = _read_task_offsets_v0(data, at, count) if count else ([], at)
        assignment, at = _read_assignment_v0(data, at)
        target_assignment, at = _read_assignment_v0(data, at)
        is_classic, more = _unpack_tB(data, at)
        at += 2
        if more:
            at = skip_tags(data, at - 1)
        items.append(Member(member_id, member_epoch, instance_id, rack_id, client_id, client_host, topology_epoch, process_id, user_endpoint, client_tags, task_offsets, task_end_offsets, assignment, target_assignment, is_classic))
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
        topology: Topology | None = None
        present = data[at] < 128
        at += 1
        if present:
            topology, at = _read_topology_v0(data, at)
        count, at = read_compact_count(data, at, 28)
        members, at = _read_members_v0(data, at, count) if count else ([], at)
        authorized_operations, more = _unpack_iB(data, at)
        at += 5
        if more:
            at = skip_tags(data, at - 1)
        items.append(DescribedGroup(error_code, error_message, group_id, group_state, group_epoch, assignment_epoch, topology, members, authorized_operations))
    return items, at


def _read_streams_group_describe_response_v0(data: memoryview, at: int) -> tuple[StreamsGroupDescribeResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 20)
    groups, at = _read_described_groups_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return StreamsGroupDescribeResponse(throttle_time_ms, groups), at


def _write_key_values_v0(items: Sequence[KeyValue], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.key, out)
        write_compact_string(item.value, out)
        out.append(0)


def _write_topic_infos_v0(items: Sequence[TopicInfo], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        out += _pack_ih(item.partitions, item.replication_factor)
        if item.topic_configs:
            out += uvarint(len(item.topic_configs) + 1)
            _write_key_values_v0(item.topic_configs, out)
        else:
            out.append(1)
        out.append(0)


def _write_subtopologys_v0(items: Sequence[Subtopology], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.subtopology_id, out)
        if item.source_topics:
            out += uvarint(len(item.source_topics) + 1)
            write_compact_strings(item.source_topics, out)
        else:
            out.append(1)
        if item.repartition_sink_topics:
            out += uvarint(len(item.repartition_sink_topics) + 1)
            write_compact_strings(item.repartition_sink_topics, out)
        else:
            out.append(1)
        if item.state_changelog_topics:
            out += uvarint(len(item.state_changelog_topics) + 1)
            _write_topic_infos_v0(item.state_changelog_topics, out)
        else:
            out.append(1)
        if item.repartition_source_topics:
            out += uvarint(len(item.repartition_source_topics) + 1)
            _write_topic_infos_v0(item.repartition_source_topics, out)
        else:
            out.append(1)
        out.append(0)


def _write_topology_v0(item: Topology, out: bytearray) -> None:
    out += _pack_i(item.epoch)
    if item.subtopologies:
        out += uvarint(len(item.subtopologies) + 1)
        _write_subtopologys_v0(item.subtopologies, out)
    else:
        out.append(0 if item.subtopologies is None else 1)
    out.append(0)


def _write_endpoint_v0(item: Endpoint, out: bytearray) -> None:
    write_compact_string(item.host, out)
    out += _pack_Hx(item.port)


def _write_task_offsets_v0(items: Sequence[TaskOffset], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.subtopology_id, out)
        out += _pack_iqx(item.partition, item.offset)


def _write_task_idss_v0(items: Sequence[TaskIds], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.subtopology_id, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            write_numbers(item.partitions, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_assignment_v0(item: Assignment, out: bytearray) -> None:
    if item.active_tasks:
        out += uvarint(len(item.active_tasks) + 1)
        _write_task_idss_v0(item.active_tasks, out)
    else:
        out.append(1)
    if item.standby_tasks:
        out += uvarint(len(item.standby_tasks) + 1)
        _write_task_idss_v0(item.standby_tasks, out)
    else:
        out.append(1)
    if item.warmup_tasks:
        out += uvarint(len(item.warmup_tasks) + 1)
        _write_task_idss_v0(item.warmup_tasks, out)
    else:
        out.append(1)
    out.append(0)


def _write_members_v0(items: Sequence[Member], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.member_id, out)
        out += _pack_i(item.member_epoch)
        if item.instance_id is None:
            out.append(0)
        else:
            write_compact_string(item.instance_id, out)
        if item.rack_id is None:
            out.append(0)
        else:
            write_compact_string(item.rack_id, out)
        write_compact_string(item.client_id, out)
        write_compact_string(item.client_host, out)
        out += _pack_i(item.topology_epoch)
        write_compact_string(item.process_id, out)
        if item.user_endpoint is None:
            out.append(255)
        else:
            out.append(1)
            _write_endpoint_v0(item.user_endpoint, out)
        if item.client_tags:
            out += uvarint(len(item.client_tags) + 1)
            _write_key_values_v0(item.client_tags, out)
        else:
            out.append(1)
        if item.task_offsets:
            out += uvarint(len(item.task_offsets) + 1)
            _write_task_offsets_v0(item.task_offsets, out)
        else:
            out.append(1)
        if item.task_end_offsets:
            out += uvarint(len(item.task_end_offsets) + 1)
            _write_task_offsets_v0(item.task_end_offsets, out)
        else:
            out.append(1)
        _write_assignment_v0(item.assignment, out)
        _write_assignment_v0(item.target_assignment, out)
        out += _pack_tx(item.is_classic)


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
        if item.topology is None:
            out.append(255)
        else:
            out.append(1)
            _write_topology_v0(item.topology, out)
        if item.members:
            out += uvarint(len(item.members) + 1)
            _write_members_v0(item.members, out)
        else:
            out.append(1)
        out += _pack_ix(item.authorized_operations)


def _write_streams_group_describe_response_v0(item: StreamsGroupDescribeResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.groups:
        out += uvarint(len(item.groups) + 1)
        _write_described_groups_v0(item.groups, out)
    else:
        out.append(1)
    out.append(0)


StreamsGroupDescribeResponse.DECODERS = {
    0: _read_streams_group_describe_response_v0,
}
StreamsGroupDescribeResponse.ENCODERS = {
    0: _write_streams_group_describe_response_v0,
}
