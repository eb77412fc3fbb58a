"""Generated from schemas/streams_group_heartbeat.schema: StreamsGroupHeartbeatResponse, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_nullable_count,
    read_compact_string,
    read_numbers,
    skip_tags,
    uvarint,
    write_compact_string,
    write_numbers,
)

_unpack_HB = Layout(">HB").unpack_from
_pack_Hx = Layout(">Hx").pack
_unpack_b = Layout(">b").unpack_from
_pack_b = Layout(">b").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_unpack_iiii = Layout(">iiii").unpack_from
_pack_iiii = Layout(">iiii").pack


class StreamsGroupHeartbeatResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "error_message", "member_id", "member_epoch", "heartbeat_interval_ms", "acceptable_recovery_lag", "task_offset_interval_ms", "status", "active_tasks", "standby_tasks", "warmup_tasks", "endpoint_information_epoch", "partitions_by_user_endpoint",)
    API_KEY = 88
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str = "",
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        acceptable_recovery_lag: int = 0,
        task_offset_interval_ms: int = 0,
        status: Sequence[Status] | None = (),
        active_tasks: Sequence[TaskIds] | None = None,
        standby_tasks: Sequence[TaskIds] | None = None,
        warmup_tasks: Sequence[TaskIds] | None = None,
        endpoint_information_epoch: int = 0,
        partitions_by_user_endpoint: Sequence[EndpointToPartitions] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.acceptable_recovery_lag = acceptable_recovery_lag
        self.task_offset_interval_ms = task_offset_interval_ms
        self.status = status
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
        self.endpoint_information_epoch = endpoint_information_epoch
        self.partitions_by_user_endpoint = partitions_by_user_endpoint


class EndpointToPartitions(Struct):
    __slots__ = ("user_endpoint", "active_partitions", "standby_partitions",)

    def __init__(
        self,
        user_endpoint: Endpoint | None = None,
        active_partitions: Sequence[TopicPartition] = (),
        standby_partitions: Sequence[TopicPartition] = (),
    ) -> None:
        self.user_endpoint: Endpoint = Endpoint() if user_endpoint is None else user_endpoint
        self.active_partitions = active_partitions
        self.standby_partitions = standby_partitions


class Status(Struct):
    __slots__ = ("status_code", "status_detail",)

    def __init__(
        self,
        status_code: int = 0,
        status_detail: str = "",
    ) -> None:
        self.status_code = status_code
        self.status_detail = status_detail


class TopicPartition(Struct):
    __slots__ = ("topic", "partitions",)

    def __init__(
        self,
        topic: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


class TaskIds(Struct):
    __slots__ = ("subtopology_id", "partitions",)

    def __init__(
        self,
        subtopology_id: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions = partitions


class Endpoint(Struct):
    __slots__ = ("host", "port",)

    def __init__(
        self,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.host = host
        self.port = port


def _read_statuss_v0(data: memoryview, at: int, count: int) -> tuple[list[Status], int]:
    items: list[Status] = []
    for _ in range(count):
        (status_code,) = _unpack_b(data, at)
        at += 1
        status_detail, at = read_compact_string(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(Status(status_code, status_detail))
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


def _read_endpoint_v0(data: memoryview, at: int) -> tuple[Endpoint, int]:
    host, at = read_compact_string(data, at)
    port, more = _unpack_HB(data, at)
    at += 3
    if more:
        at = skip_tags(data, at - 1)
    return Endpoint(host, port), at


def _read_topic_partitions_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicPartition], int]:
    items: list[TopicPartition] = []
    for _ in range(count):
        topic, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicPartition(topic, partitions))
    return items, at


def _read_endpoint_to_partitionss_v0(data: memoryview, at: int, count: int) -> tuple[list[EndpointToPartitions], int]:
    items: list[EndpointToPartitions] = []
    for _ in range(count):
        user_endpoint, at = _read_endpoint_v0(data, at)
        count, at = read_compact_count(data, at, 3)
        active_partitions, at = _read_topic_partitions_v0(data, at, count) if count else ([], at)
        count, at = read_compact_count(data, at, 3)
        standby_partitions, at = _read_topic_partitions_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(EndpointToPartitions(user_endpoint, active_partitions, standby_partitions))
    return items, at


def _read_streams_group_heartbeat_response_v0(data: memoryview, at: int) -> tuple[StreamsGroupHeartbeatResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    error_message: str | None = None
    if data[at]:
        error_message, at = read_compact_string(data, at)
    else:
        at += 1
    member_id, at = read_compact_string(data, at)
    member_epoch, heartbeat_interval_ms, acceptable_recovery_lag, task_offset_interval_ms = _unpack_iiii(data, at)
    at += 16
    count, at = read_compact_nullable_count(data, at, 3)
    status: list[Status] | None = None
    if count >= 0:
        status, at = _read_statuss_v0(data, at, count)
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
    (endpoint_information_epoch,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_nullable_count(data, at, 7)
    partitions_by_user_endpoint: list[EndpointToPartitions] | None = None
    if count >= 0:
        partitions_by_user_endpoint, at = _read_endpoint_to_partitionss_v0(data, at, count)
    at = skip_tags(data, at) if data[at] else at + 1
    return StreamsGroupHeartbeatResponse(throttle_time_ms, error_code, error_message, member_id, member_epoch, heartbeat_interval_ms, acceptable_recovery_lag, task_offset_interval_ms, status, active_tasks, standby_tasks, warmup_tasks, endpoint_information_epoch, partitions_by_user_endpoint), at


def _write_statuss_v0(items: Sequence[Status], out: bytearray) -> None:
    for item in items:
        out += _pack_b(item.status_code)
        write_compact_string(item.status_detail, out)
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


def _write_topic_partitions_v0(items: Sequence[TopicPartition], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            write_numbers(item.partitions, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_endpoint_to_partitionss_v0(items: Sequence[EndpointToPartitions], out: bytearray) -> None:
    for item in items:
        _write_endpoint_v0(item.user_endpoint, out)
        if item.active_partitions:
            out += uvarint(len(item.active_partitions) + 1)
            _write_topic_partitions_v0(item.active_partitions, out)
        else:
            out.append(1)
        if item.standby_partitions:
            out += uvarint(len(item.standby_partitions) + 1)
            _write_topic_partitions_v0(item.standby_partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_streams_group_heartbeat_response_v0(item: StreamsGroupHeartbeatResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.error_message is None:
        out.append(0)
    else:
        write_compact_string(item.error_message, out)
    write_compact_string(item.member_id, out)
    out += _pack_iiii(item.member_epoch, item.heartbeat_interval_ms, item.acceptable_recovery_lag, item.task_offset_interval_ms)
    if item.status:
        out += uvarint(len(item.status) + 1)
        _write_statuss_v0(item.status, out)
    else:
        out.append(0 if item.status is None else 1)
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
    out += _pack_i(item.endpoint_information_epoch)
    if item.partitions_by_user_endpoint:
        out += uvarint(len(item.partitions_by_user_endpoint) + 1)
        _write_endpoint_to_partitionss_v0(item.partitions_by_user_endpoint, out)
    else:
        out.append(0 if item.partitions_by_user_endpoint is None else 1)
    out.append(0)


StreamsGroupHeartbeatResponse.DECODERS = {
    0: _read_streams_group_heartbeat_response_v0,
}
StreamsGroupHeartbeatResponse.ENCODERS = {
    0: _write_streams_group_heartbeat_response_v0,
}
