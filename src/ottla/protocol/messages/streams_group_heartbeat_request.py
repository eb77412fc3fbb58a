"""Generated from schemas/streams_group_heartbeat.schema: StreamsGroupHeartbeatRequest, versions 0. Do not edit."""

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
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_unpack_ii = Layout(">ii").unpack_from
_pack_ii = Layout(">ii").pack
_unpack_iqB = Layout(">iqB").unpack_from
_pack_iqx = Layout(">iqx").pack


class StreamsGroupHeartbeatRequest(Message):
    __slots__ = ("group_id", "member_id", "member_epoch", "endpoint_information_epoch", "instance_id", "rack_id", "rebalance_timeout_ms", "topology", "active_tasks", "standby_tasks", "warmup_tasks", "process_id", "user_endpoint", "client_tags", "task_offsets", "task_end_offsets", "shutdown_application",)
    API_KEY = 88
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        endpoint_information_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        topology: Topology | None = None,
        active_tasks: Sequence[TaskIds] | None = None,
        standby_tasks: Sequence[TaskIds] | None = None,
        warmup_tasks: Sequence[TaskIds] | None = None,
        process_id: str | None = None,
        user_endpoint: Endpoint | None = None,
        client_tags: Sequence[KeyValue] | None = None,
        task_offsets: Sequence[TaskOffset] | None = None,
        task_end_offsets: Sequence[TaskOffset] | None = None,
        shutdown_application: bool = False,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.endpoint_information_epoch = endpoint_information_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.topology = topology
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = client_tags
        self.task_offsets = task_offsets
        self.task_end_offsets = task_end_offsets
        self.shutdown_application = shutdown_application


class CopartitionGroup(Struct):
    __slots__ = ("source_topics", "source_topic_regex", "repartition_source_topics",)

    def __init__(
        self,
        source_topics: Sequence[int] = (),
        source_topic_regex: Sequence[int] = (),
        repartition_source_topics: Sequence[int] = (),
    ) -> None:
        self.source_topics = source_topics
        self.source_topic_regex = source_topic_regex
        self.repartition_source_topics = repartition_source_topics


class Subtopology(Struct):
    __slots__ = ("subtopology_id", "source_topics", "source_topic_regex", "state_changelog_topics", "repartition_sink_topics", "repartition_source_topics", "copartition_groups",)

    def __init__(
        self,
        subtopology_id: str = "",
        source_topics: Sequence[str] = (),
        source_topic_regex: Sequence[str] = (),
        state_changelog_topics: Sequence[TopicInfo] = (),
        repartition_sink_topics: Sequence[str] = (),
        repartition_source_topics: Sequence[TopicInfo] = (),
        copartition_groups: Sequence[CopartitionGroup] = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.source_topics = source_topics
        self.source_topic_regex = source_topic_regex
        self.state_changelog_topics = state_changelog_topics
        self.repartition_sink_topics = repartition_sink_topics
        self.repartition_source_topics = repartition_source_topics
        self.copartition_groups = copartition_groups


class Topology(Struct):
    __slots__ = ("epoch", "subtopologies",)

    def __init__(
        self,
        epoch: int = 0,
        subtopologies: Sequence[Subtopology] = (),
    ) -> None:
        self.epoch = epoch
        self.subtopologies = subtopologies


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


class TaskIds(Struct):
    __slots__ = ("subtopology_id", "partitions",)

    def __init__(
        self,
        subtopology_id: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions = partitions


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


def _read_copartition_groups_v0(data: memoryview, at: int, count: int) -> tuple[list[CopartitionGroup], int]:
    items: list[CopartitionGroup] = []
    for _ in range(count):
        count, at = read_compact_count(data, at, 2)
        source_topics, at = read_numbers(data, at, count, "h") if count else ([], at)
        count, at = read_compact_count(data, at, 2)
        source_topic_regex, at = read_numbers(data, at, count, "h") if count else ([], at)
        count, at = read_compact_count(data, at, 2)
        repartition_source_topics, at = read_numbers(data, at, count, "h") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(CopartitionGroup(source_topics, source_topic_regex, repartition_source_topics))
    return items, at


def _read_subtopologys_v0(data: memoryview, at: int, count: int) -> tuple[list[Subtopology], int]:
    items: list[Subtopology] = []
    for _ in range(count):
        subtopology_id, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 1)
        source_topics, at = read_compact_strings(data, at, count) if count else ([], at)
        count, at = read_compact_count(data, at, 1)
        source_topic_regex, at = read_compact_strings(data, at, count) if count else ([], at)
        count, at = read_compact_count(data, at, 9)
        state_changelog_topics, at = _read_topic_infos_v0(data, at, count) if count else ([], at)
        count, at = read_compact_count(data, at, 1)
        repartition_sink_topics, at = read_compact_strings(data, at, count) if count else ([], at)
        count, at = read_compact_count(data, at, 9)
        repartition_source_topics, at = _read_topic_infos_v0(data, at, count) if count else ([], at)
        count, at = read_compact_count(data, at, 4)
        copartition_groups, at = _read_copartition_groups_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(Subtopology(subtopology_id, source_topics, source_topic_regex, state_changelog_topics, repartition_sink_topics, repartition_source_topics, copartition_groups))
    return items, at


def _read_topology_v0(data: memoryview, at: int) -> tuple[Topology, int]:
    (epoch,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 8)
    subtopologies, at = _read_subtopologys_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return Topology(epoch, subtopologies), at


def _read_task_idss_v0(data: memoryview, at: int, count: int) -> tuple[list[TaskIds], int]:
    items: list[TaskIds] = []
    for _ in range(count):
        subtopology_id, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TaskIds(subtopology_id, partitions))
    return items, at


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


def _read_streams_group_heartbeat_request_v0(data: memoryview, at: int) -> tuple[StreamsGroupHeartbeatRequest, int]:
    group_id, at = read_compact_string(data, at)
    member_id, at = read_compact_string(data, at)
    member_epoch, endpoint_information_epoch = _unpack_ii(data, at)
    at += 8
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
    (rebalance_timeout_ms,) = _unpack_i(data, at)
    at += 4
    topology: Topology | None = None
    present = data[at] < 128
    at += 1
    if present:
        topology, at = _read_topology_v0(data, at)
    count, at = read_compact_nullable_count(data, at, 3)
    active_tasks: list[TaskIds] | None = None
    if count >= 0:
        active_tasks, at = _read_task_idss_v0(data, at, count)
    count, at = read_compact_nullable_count(data, at, 3)
    standby_tasks: list[TaskIds] | None = None
    if count >= 0:
        standby_tasks, at = _read_task_idss_v0(data, at, count)
    count, at = read_compact_nullable_count(data, at, 3)
    warmup_tasks: list[TaskIds] | None = None
    if count >= 0:
        warmup_tasks, at = _read_task_idss_v0(data, at, count)
    process_id: str | None = None
    if data[at]:
        process_id, at = read_compact_string(data, at)
    else:
        at += 1
    user_endpoint: Endpoint | None = None
    present = data[at] < 128
    at += 1
    if present:
        user_endpoint, at = _read_endpoint_v0(data, at)
    count, at = read_compact_nullable_count(data, at, 3)
    client_tags: list[KeyValue] | None = None
    if count >= 0:
        client_tags, at = _read_key_values_v0(data, at, count)
    count, at = read_compact_nullable_count(data, at, 14)
    task_offsets: list[TaskOffset] | None = None
    if count >= 0:
        task_offsets, at = _read_task_offsets_v0(data, at, count)
    count, at = read_compact_nullable_count(data, at, 14)
    task_end_offsets: list[TaskOffset] | None = None
    if count >= 0:
        task_end_offsets, at = _read_task_offsets_v0(data, at, count)
    shutdown_application, more = _unpack_tB(data, at)
    at += 2
    if more:
        at = skip_tags(data, at - 1)
    return StreamsGroupHeartbeatRequest(group_id, member_id, member_epoch, endpoint_information_epoch, instance_id, rack_id, rebalance_timeout_ms, topology, active_tasks, standby_tasks, warmup_tasks, process_id, user_endpoint, client_tags, task_offsets, task_end_offsets, shutdown_application), at


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


def _write_copartition_groups_v0(items: Sequence[CopartitionGroup], out: bytearray) -> None:
    for item in items:
        if item.source_topics:
            out += uvarint(len(item.source_topics) + 1)
            write_numbers(item.source_topics, "h", out)
        else:
            out.append(1)
        if item.source_topic_regex:
            out += uvarint(len(item.source_topic_regex) + 1)
            write_numbers(item.source_topic_regex, "h", out)
        else:
            out.append(1)
        if item.repartition_source_topics:
            out += uvarint(len(item.repartition_source_topics) + 1)
            write_numbers(item.repartition_source_topics, "h", out)
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
        if item.source_topic_regex:
            out += uvarint(len(item.source_topic_regex) + 1)
            write_compact_strings(item.source_topic_regex, out)
        else:
            out.append(1)
        if item.state_changelog_topics:
            out += uvarint(len(item.state_changelog_topics) + 1)
            _write_topic_infos_v0(item.state_changelog_topics, out)
        else:
            out.append(1)
        if item.repartition_sink_topics:
            out += uvarint(len(item.repartition_sink_topics) + 1)
            write_compact_strings(item.repartition_sink_topics, out)
        else:
            out.append(1)
        if item.repartition_source_topics:
            out += uvarint(len(item.repartition_source_topics) + 1)
            _write_topic_infos_v0(item.repartition_source_topics, out)
        else:
            out.append(1)
        if item.copartition_groups:
            out += uvarint(len(item.copartition_groups) + 1)
            _write_copartition_groups_v0(item.copartition_groups, out)
        else:
            out.append(1)
        out.append(0)


def _write_topology_v0(item: Topology, out: bytearray) -> None:
    out += _pack_i(item.epoch)
    if item.subtopologies:
        out += uvarint(len(item.subtopologies) + 1)
        _write_subtopologys_v0(item.subtopologies, out)
    else:
        out.append(1)
    out.append(0)


def _write_task_idss_v0(items: Sequence[TaskIds], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.subtopology_id, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            write_numbers(item.partitions, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_endpoint_v0(item: Endpoint, out: bytearray) -> None:
    write_compact_string(item.host, out)
    out += _pack_Hx(item.port)


def _write_task_offsets_v0(items: Sequence[TaskOffset], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.subtopology_id, out)
        out += _pack_iqx(item.partition, item.offset)


def _write_streams_group_heartbeat_request_v0(item: StreamsGroupHeartbeatRequest, out: bytearray) -> None:
    write_compact_string(item.group_id, out)
    write_compact_string(item.member_id, out)
    out += _pack_ii(item.member_epoch, item.endpoint_information_epoch)
    if item.instance_id is None:
        out.append(0)
    else:
        write_compact_string(item.instance_id, out)
    if item.rack_id is None:
        out.append(0)
    else:
        write_compact_string(item.rack_id, out)
    out += _pack_i(item.rebalance_timeout_ms)
    if item.topology is None:
        out.append(255)
    else:
        out.append(1)
        _write_topology_v0(item.topology, out)
    if item.active_tasks:
        out += uvarint(len(item.active_tasks) + 1)
        _write_task_idss_v0(item.active_tasks, out)
    else:
        out.append(0 if item.active_tasks is None else 1)
    if item.standby_tasks:
        out += uvarint(len(item.standby_tasks) + 1)
        _write_task_idss_v0(item.standby_tasks, out)
    else:
        out.append(0 if item.standby_tasks is None else 1)
    if item.warmup_tasks:
        out += uvarint(len(item.warmup_tasks) + 1)
        _write_task_idss_v0(item.warmup_tasks, out)
    else:
        out.append(0 if item.warmup_tasks is None else 1)
    if item.process_id is None:
        out.append(0)
    else:
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
        out.append(0 if item.client_tags is None else 1)
    if item.task_offsets:
        out += uvarint(len(item.task_offsets) + 1)
        _write_task_offsets_v0(item.task_offsets, out)
    else:
        out.append(0 if item.task_offsets is None else 1)
    if item.task_end_offsets:
        out += uvarint(len(item.task_end_offsets) + 1)
        _write_task_offsets_v0(item.task_end_offsets, out)
    else:
        out.append(0 if item.task_end_offsets is None else 1)
    out += _pack_tx(item.shutdown_application)


StreamsGroupHeartbeatRequest.DECODERS = {
    0: _read_streams_group_heartbeat_request_v0,
}
StreamsGroupHeartbeatRequest.ENCODERS = {
    0: _write_streams_group_heartbeat_request_v0,
}
