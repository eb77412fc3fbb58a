"""Generated from schemas/create_topics.schema: CreateTopicsRequest, versions 2-7. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_count,
    read_nullable_string,
    read_numbers,
    read_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_nullable_string,
    write_numbers,
    write_string,
)

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_it = Layout(">i?").unpack_from
_pack_it = Layout(">i?").pack
_unpack_itB = Layout(">i?B").unpack_from
_pack_itx = Layout(">i?x").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_pack_ihi = Layout(">ihi").pack
_pack_ii = Layout(">ii").pack


class CreateTopicsRequest(Message):
    __slots__ = ("topics", "timeout_ms", "validate_only",)
    API_KEY = 19
    VERSIONS = range(2, 8)
    FLEXIBLE_FROM = 5

    def __init__(
        self,
        topics: Sequence[CreatableTopic] = (),
        timeout_ms: int = 60000,
        validate_only: bool = False,
    ) -> None:
        self.topics = topics
        self.timeout_ms = timeout_ms
        self.validate_only = validate_only


class CreatableReplicaAssignment(Struct):
    __slots__ = ("partition_index", "broker_ids",)

    def __init__(
        self,
        partition_index: int = 0,
        broker_ids: Sequence[int] = (),
    ) -> None:
        self.partition_index = partition_index
        self.broker_ids = broker_ids


class CreatableTopicConfig(Struct):
    __slots__ = ("name", "value",)

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
    ) -> None:
        self.name = name
        self.value = value


class CreatableTopic(Struct):
    __slots__ = ("name", "num_partitions", "replication_factor", "assignments", "configs",)

    def __init__(
        self,
        name: str = "",
        num_partitions: int = 0,
        replication_factor: int = 0,
        assignments: Sequence[CreatableReplicaAssignment] = (),
        configs: Sequence[CreatableTopicConfig] = (),
    ) -> None:
        self.name = name
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.assignments = assignments
        self.configs = configs


def _read_creatable_replica_assignments_v2(data: memoryview, at: int, count: int) -> tuple[list[CreatableReplicaAssignment], int]:
    items: list[CreatableReplicaAssignment] = []
    for _ in range(count):
        (partition_index,) = _unpack_i(data, at)
        at += 4
        count, at = read_count(data, at, 4)
        broker_ids, at = read_numbers(data, at, count, "i") if count else ([], at)
        items.append(CreatableReplicaAssignment(partition_index, broker_ids))
    return items, at


def _read_creatable_topic_configs_v2(data: memoryview, at: int, count: int) -> tuple[list[CreatableTopicConfig], int]:
    items: list[CreatableTopicConfig] = []
    for _ in range(count):
        name, at = read_string(data, at)
        value, at = read_nullable_string(data, at)
        items.append(CreatableTopicConfig(name, value))
    return items, at


def _read_creatable_topics_v2(data: memoryview, at: int, count: int) -> tuple[list[CreatableTopic], int]:
    items: list[CreatableTopic] = []
    for _ in range(count):
        name, at = read_string(data, at)
        num_partitions, replication_factor = _unpack_ih(data, at)
        at += 6
        count, at = read_count(data, at, 8)
        assignments, at = _read_creatable_replica_assignments_v2(data, at, count) if count else ([], at)
        count, at = read_count(data, at, 4)
        configs, at = _read_creatable_topic_configs_v2(data, at, count) if count else ([], at)
        items.append(CreatableTopic(name, num_partitions, replication_factor, assignments, configs))
    return items, at


def _read_create_topics_request_v2(data: memoryview, at: int) -> tuple[CreateTopicsRequest, int]:
    count, at = read_count(data, at, 16)
    topics, at = _read_creatable_topics_v2(data, at, count) if count else ([], at)
    timeout_ms, validate_only = _unpack_it(data, at)
    at += 5
    return CreateTopicsRequest(topics, timeout_ms, validate_only), at


def _read_creatable_replica_assignments_v5(data: memoryview, at: int, count: int) -> tuple[list[CreatableReplicaAssignment], int]:
    items: list[CreatableReplicaAssignment] = []
    for _ in range(count):
        (partition_index,) = _unpack_i(data, at)
        at += 4
        count, at = read_compact_count(data, at, 4)
        broker_ids, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(CreatableReplicaAssignment(partition_index, broker_ids))
    return items, at


def _read_creatable_topic_configs_v5(data: memoryview, at: int, count: int) -> tuple[list[CreatableTopicConfig], int]:
    items: list[CreatableTopicConfig] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        value: str | None = None
        if data[at]:
            value, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(CreatableTopicConfig(name, value))
    return items, at


def _read_creatable_topics_v5(data: memoryview, at: int, count: int) -> tuple[list[CreatableTopic], int]:
    items: list[CreatableTopic] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        num_partitions, replication_factor = _unpack_ih(data, at)
        at += 6
        count, at = read_compact_count(data, at, 6)
        assignments, at = _read_creatable_replica_assignments_v5(data, at, count) if count else ([], at)
        count, at = read_compact_count(data, at, 3)
        configs, at = _read_creatable_topic_configs_v5(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(CreatableTopic(name, num_partitions, replication_factor, assignments, configs))
    return items, at


def _read_create_topics_request_v5(data: memoryview, at: int) -> tuple[CreateTopicsRequest, int]:
    count, at = read_compact_count(data, at, 10)
    topics, at = _read_creatable_topics_v5(data, at, count) if count else ([], at)
    timeout_ms, validate_only, more = _unpack_itB(data, at)
    at += 6
    if more:
        at = skip_tags(data, at - 1)
    return CreateTopicsRequest(topics, timeout_ms, validate_only), at


def _write_creatable_replica_assignments_v2(items: Sequence[CreatableReplicaAssignment], out: bytearray) -> None:
    for item in items:
        out += _pack_ii(item.partition_index, len(item.broker_ids))
        if item.broker_ids:
            write_numbers(item.broker_ids, "i", out)


def _write_creatable_topic_configs_v2(items: Sequence[CreatableTopicConfig], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        write_nullable_string(item.value, out)


def _write_creatable_topics_v2(items: Sequence[CreatableTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_ihi(item.num_partitions, item.replication_factor, len(item.assignments))
        if item.assignments:
            _write_creatable_replica_assignments_v2(item.assignments, out)
        out += _pack_i(len(item.configs))
        if item.configs:
            _write_creatable_topic_configs_v2(item.configs, out)


def _write_create_topics_request_v2(item: CreateTopicsRequest, out: bytearray) -> None:
    out += _pack_i(len(item.topics))
    if item.topics:
        _write_creatable_topics_v2(item.topics, out)
    out += _pack_it(item.timeout_ms, item.validate_only)


def _write_creatable_replica_assignments_v5(items: Sequence[CreatableReplicaAssignment], out: bytearray) -> None:
    for item in items:
        out += _pack_i(item.partition_index)
        if item.broker_ids:
            out += uvarint(len(item.broker_ids) + 1)
            write_numbers(item.broker_ids, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_creatable_topic_configs_v5(items: Sequence[CreatableTopicConfig], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.value is None:
            out.append(0)
        else:
            write_compact_string(item.value, out)
        out.append(0)


def _write_creatable_topics_v5(items: Sequence[CreatableTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        out += _pack_ih(item.num_partitions, item.replication_factor)
        if item.assignments:
            out += uvarint(len(item.assignments) + 1)
            _write_creatable_replica_assignments_v5(item.assignments, out)
        else:
            out.append(1)
        if item.configs:
            out += uvarint(len(item.configs) + 1)
            _write_creatable_topic_configs_v5(item.configs, out)
        else:
            out.append(1)
        out.append(0)


def _write_create_topics_request_v5(item: CreateTopicsRequest, out: bytearray) -> None:
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_creatable_topics_v5(item.topics, out)
    else:
        out.append(1)
    out += _pack_itx(item.timeout_ms, item.validate_only)


CreateTopicsRequest.DECODERS = {
    2: _read_create_topics_request_v2,
    3: _read_create_topics_request_v2,
    4: _read_create_topics_request_v2,
    5: _read_create_topics_request_v5,
    6: _read_create_topics_request_v5,
    7: _read_create_topics_request_v5,
}
CreateTopicsRequest.ENCODERS = {
    2: _write_create_topics_request_v2,
    3: _write_create_topics_request_v2,
    4: _write_create_topics_request_v2,
    5: _write_create_topics_request_v5,
    6: _write_create_topics_request_v5,
    7: _write_create_topics_request_v5,
}
