"""Generated from schemas/metadata.schema: MetadataResponse, versions 0-13. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct, refuse_field, refuse_null_field
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

_unpack_ut = Layout(">16s?").unpack_from
_pack_ut = Layout(">16s?").pack
_unpack_t = Layout(">?").unpack_from
_pack_t = Layout(">?").pack
_pack_ti = Layout(">?i").pack
_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_hB = Layout(">hB").unpack_from
_unpack_hii = Layout(">hii").unpack_from
_unpack_hiii = Layout(">hiii").unpack_from
_pack_hiii = Layout(">hiii").pack
_pack_hiiii = Layout(">hiiii").pack
_pack_hx = Layout(">hx").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_iB = Layout(">iB").unpack_from
_pack_ii = Layout(">ii").pack
_pack_ix = Layout(">ix").pack


class MetadataResponse(Message):
    __slots__ = ("throttle_time_ms", "brokers", "cluster_id", "controller_id", "topics", "cluster_authorized_operations", "error_code",)
    API_KEY = 3
    VERSIONS = range(0, 14)
    FLEXIBLE_FROM = 9

    def __init__(
        self,
        throttle_time_ms: int = 0,
        brokers: Sequence[MetadataResponseBroker] = (),
        cluster_id: str | None = None,
        controller_id: int = -1,
        topics: Sequence[MetadataResponseTopic] = (),
        cluster_authorized_operations: int = -2147483648,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.brokers = brokers
        self.cluster_id = cluster_id
        self.controller_id = controller_id
        self.topics = topics
        self.cluster_authorized_operations = cluster_authorized_operations
        self.error_code = error_code


class MetadataResponseBroker(Struct):
    __slots__ = ("node_id", "host", "port", "rack",)

    def __init__(
        self,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack


class MetadataResponsePartition(Struct):
    __slots__ = ("error_code", "partition_index", "leader_id", "leader_epoch", "replica_nodes", "isr_nodes", "offline_replicas",)

    def __init__(
        self,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: Sequence[int] = (),
        isr_nodes: Sequence[int] = (),
        offline_replicas: Sequence[int] = (),
    ) -> None:
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.replica_nodes = replica_nodes
        self.isr_nodes = isr_nodes
        self.offline_replicas = offline_replicas


class MetadataResponseTopic(Struct):
    __slots__ = ("error_code", "name", "topic_id", "is_internal", "partitions", "topic_authorized_operations", "kept",)

    def __init__(
        self,
        error_code: int = 0,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,
        is_internal: bool = False,
        partitions: Sequence[MetadataResponsePartition] = (),
        topic_authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions = partitions
        self.topic_authorized_operations = topic_authorized_operations
        self.kept: dict[int, bytes] | None = None

    def keep(self) -> None:
        """Remember from now on how this is encoded. It must not change any more."""
        self.kept = {}


def _read_metadata_response_brokers_v0(data: memoryview, at: int, count: int) -> tuple[list[MetadataResponseBroker], int]:
    items: list[MetadataResponseBroker] = []
    for _ in range(count):
        (node_id,) = _unpack_i(data, at)
        at += 4
        host, at = read_string(data, at)
        (port,) = _unpack_i(data, at)
        at += 4
        items.append(MetadataResponseBroker(node_id, host, port, None))
    return items, at


def _read_metadata_response_partitions_v0(data: memoryview, at: int, count: int) -> tuple[list[MetadataResponsePartition], int]:
    items: list[MetadataResponsePartition] = []
    for _ in range(count):
        error_code, partition_index, leader_id = _unpack_hii(data, at)
        at += 10
        count, at = read_count(data, at, 4)
        replica_nodes, at = read_numbers(data, at, count, "i") if count else ([], at)
        count, at = read_count(data, at, 4)
        isr_nodes, at = read_numbers(data, at, count, "i") if count else ([], at)
        items.append(MetadataResponsePartition(error_code, partition_index, leader_id, -1, replica_nodes, isr_nodes, ()))
    return items, at


def _read_metadata_response_topics_v0(data: memoryview, at: int, count: int) -> tuple[list[MetadataResponseTopic], int]:
    items: list[MetadataResponseTopic] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        name, at = read_string(data, at)
        count, at = read_count(data, at, 18)
        partitions, at = _read_metadata_response_partitions_v0(data, at, count) if count else ([], at)
        items.append(MetadataResponseTopic(error_code, name, ZERO_UUID, False, partitions, -2147483648))
    return items, at


def _read_metadata_response_v0(data: memoryview, at: int) -> tuple[MetadataResponse, int]:
    count, at = read_count(data, at, 10)
    brokers, at = _read_metadata_response_brokers_v0(data, at, count) if count else ([], at)
    count, at = read_count(data, at, 8)
    topics, at = _read_metadata_response_topics_v0(data, at, count) if count else ([], at)
    return MetadataResponse(0, brokers, None, -1, topics, -2147483648, 0), at


def _read_metadata_response_brokers_v1(data: memoryview, at: int, count: int) -> tuple[list[MetadataResponseBroker], int]:
    items: list[MetadataResponseBroker] = []
    for _ in range(count):
        (node_id,) = _unpack_i(data, at)
        at += 4
        host, at = read_string(data, at)
        (port,) = _unpack_i(data, at)
        at += 4
        rack, at = read_nullable_string(data, at)
        items.append(MetadataResponseBroker(node_id, host, port, rack))
    return items, at


def _read_metadata_response_topics_v1(data: memoryview, at: int, count: int) -> tuple[list[MetadataResponseTopic], int]:
    items: list[MetadataResponseTopic] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        name, at = read_string(data, at)
        (is_internal,) = _unpack_t(data, at)
        at += 1
        count, at = read_count(data, at, 18)
        partitions, at = _read_metadata_response_partitions_v0(data, at, count) if count else ([], at)
        items.append(MetadataResponseTopic(error_code, name, ZERO_UUID, is_internal, partitions, -2147483648))
    return items, at


def _read_metadata_response_v1(data: memoryview, at: int) -> tuple[MetadataResponse, int]:
    count, at = read_count(data, at, 12)
    brokers, at = _read_metadata_response_brokers_v1(data, at, count) if count else ([], at)
    (controller_id,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 9)
    topics, at = _read_metadata_response_topics_v1(data, at, count) if count else ([], at)
    return MetadataResponse(0, brokers, None, controller_id, topics, -2147483648, 0), at


def _read_metadata_response_v2(data: memoryview, at: int) -> tuple[MetadataResponse, int]:
    count, at = read_count(data, at, 12)
    brokers, at = _read_metadata_response_brokers_v1(data, at, count) if count else ([], at)
    cluster_id, at = read_nullable_string(data, at)
    (controller_id,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 9)
    topics, at = _read_metadata_response_topics_v1(data, at, count) if count else ([], at)
    return MetadataResponse(0, brokers, cluster_id, controller_id, topics, -2147483648, 0), at


def _read_metadata_response_v3(data: memoryview, at: int) -> tuple[MetadataResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 12)
    brokers, at = _read_metadata_response_brokers_v1(data, at, count) if count else ([], at)
    cluster_id, at = read_nullable_string(data, at)
    (controller_id,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 9)
    topics, at = _read_metadata_response_topics_v1(data, at, count) if count else ([], at)
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics, -2147483648, 0), at


def _read_metadata_response_partitions_v5(data: memoryview, at: int, count: int) -> tuple[list[MetadataResponsePartition], int]:
    items: list[MetadataResponsePartition] = []
    for _ in range(count):
        error_code, partition_index, leader_id = _unpack_hii(data, at)
        at += 10
        count, at = read_count(data, at, 4)
        replica_nodes, at = read_numbers(data, at, count, "i") if count else ([], at)
        count, at = read_count(data, at, 4)
        isr_nodes, at = read_numbers(data, at, count, "i") if count else ([], at)
        count, at = read_count(data, at, 4)
        offline_replicas, at = read_numbers(data, at, count, "i") if count else ([], at)
        items.append(MetadataResponsePartition(error_code, partition_index, leader_id, -1, replica_nodes, isr_nodes, offline_replicas))
    return items, at


def _read_metadata_response_topics_v5(data: memoryview, at: int, count: int) -> tuple[list[MetadataResponseTopic], int]:
    items: list[MetadataResponseTopic] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        name, at = read_string(data, at)
        (is_internal,) = _unpack_t(data, at)
        at += 1
        count, at = read_count(data, at, 22)
        partitions, at = _read_metadata_response_partitions_v5(data, at, count) if count else ([], at)
        items.append(MetadataResponseTopic(error_code, name, ZERO_UUID, is_internal, partitions, -2147483648))
    return items, at


def _read_metadata_response_v5(data: memoryview, at: int) -> tuple[MetadataResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 12)
    brokers, at = _read_metadata_response_brokers_v1(data, at, count) if count else ([], at)
    cluster_id, at = read_nullable_string(data, at)
    (controller_id,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 9)
    topics, at = _read_metadata_response_topics_v5(data, at, count) if count else ([], at)
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics, -2147483648, 0), at


def _read_metadata_response_partitions_v7(data: memoryview, at: int, count: int) -> tuple[list[MetadataResponsePartition], int]:
    items: list[MetadataResponsePartition] = []
    for _ in range(count):
        error_code, partition_index, leader_id, leader_epoch = _unpack_hiii(data, at)
        at += 14
        count, at = read_count(data, at, 4)
        replica_nodes, at = read_numbers(data, at, count, "i") if count else ([], at)
        count, at = read_count(data, at, 4)
        isr_nodes, at = read_numbers(data, at, count, "i") if count else ([], at)
        count, at = read_count(data, at, 4)
        offline_replicas, at = read_numbers(data, at, count, "i") if count else ([], at)
        items.append(MetadataResponsePartition(error_code, partition_index, leader_id, leader_epoch, replica_nodes, isr_nodes, offline_replicas))
    return items, at


def _read_metadata_response_topics_v7(data: memoryview, at: int, count: int) -> tuple[list[MetadataResponseTopic], int]:
    items: list[MetadataResponseTopic] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        name, at = read_string(data, at)
        (is_internal,) = _unpack_t(data, at)
        at += 1
        count, at = read_count(data, at, 26)
        partitions, at = _read_metadata_response_partitions_v7(data, at, count) if count else ([], at)
        items.append(MetadataResponseTopic(error_code, name, ZERO_UUID, is_internal, partitions, -2147483648))
    return items, at


def _read_metadata_response_v7(data: memoryview, at: int) -> tuple[MetadataResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 12)
    brokers, at = _read_metadata_response_brokers_v1(data, at, count) if count else ([], at)
    cluster_id, at = read_nullable_string(data, at)
    (controller_id,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 9)
    topics, at = _read_metadata_response_topics_v7(data, at, count) if count else ([], at)
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics, -2147483648, 0), at


def _read_metadata_response_topics_v8(data: memoryview, at: int, count: int) -> tuple[list[MetadataResponseTopic], int]:
    items: list[MetadataResponseTopic] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        name, at = read_string(data, at)
        (is_internal,) = _unpack_t(data, at)
        at += 1
        count, at = read_count(data, at, 26)
        partitions, at = _read_metadata_response_partitions_v7(data, at, count) if count else ([], at)
        (topic_authorized_operations,) = _unpack_i(data, at)
        at += 4
        items.append(MetadataResponseTopic(error_code, name, ZERO_UUID, is_internal, partitions, topic_authorized_operations))
    return items, at


def _read_metadata_response_v8(data: memoryview, at: int) -> tuple[MetadataResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 12)
    brokers, at = _read_metadata_response_brokers_v1(data, at, count) if count else ([], at)
    cluster_id, at = read_nullable_string(data, at)
    (controller_id,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 13)
    topics, at = _read_metadata_response_topics_v8(data, at, count) if count else ([], at)
    (cluster_authorized_operations,) = _unpack_i(data, at)
    at += 4
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics, cluster_authorized_operations, 0), at


def _read_metadata_response_brokers_v9(data: memoryview, at: int, count: int) -> tuple[list[MetadataResponseBroker], int]:
    items: list[MetadataResponseBroker] = []
    for _ in range(count):
        (node_id,) = _unpack_i(data, at)
        at += 4
        host, at = read_compact_string(data, at)
        (port,) = _unpack_i(data, at)
        at += 4
        rack: str | None = None
        if data[at]:
            rack, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(MetadataResponseBroker(node_id, host, port, rack))
    return items, at


def _read_metadata_response_partitions_v9(data: memoryview, at: int, count: int) -> tuple[list[MetadataResponsePartition], int]:
    items: list[MetadataResponsePartition] = []
    for _ in range(count):
        error_code, partition_index, leader_id, leader_epoch = _unpack_hiii(data, at)
        at += 14
        count, at = read_compact_count(data, at, 4)
        replica_nodes, at = read_numbers(data, at, count, "i") if count else ([], at)
        count, at = read_compact_count(data, at, 4)
        isr_nodes, at = read_numbers(data, at, count, "i") if count else ([], at)
        count, at = read_compact_count(data, at, 4)
        offline_replicas, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(MetadataResponsePartition(error_code, partition_index, leader_id, leader_epoch, replica_nodes, isr_nodes, offline_replicas))
    return items, at


def _read_metadata_response_topics_v9(data: memoryview, at: int, count: int) -> tuple[list[MetadataResponseTopic], int]:
    items: list[MetadataResponseTopic] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        name, at = read_compact_string(data, at)
        (is_internal,) = _unpack_t(data, at)
        at += 1
        count, at = read_compact_count(data, at, 18)
        partitions, at = _read_metadata_response_partitions_v9(data, at, count) if count else ([], at)
        topic_authorized_operations, more = _unpack_iB(data, at)
        at += 5
        if more:
            at = skip_tags(data, at - 1)
        items.append(MetadataResponseTopic(error_code, name, ZERO_UUID, is_internal, partitions, topic_authorized_operations))
    return items, at


def _read_metadata_response_v9(data: memoryview, at: int) -> tuple[MetadataResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 11)
    brokers, at = _read_metadata_response_brokers_v9(data, at, count) if count else ([], at)
    cluster_id: str | None = None
    if data[at]:
        cluster_id, at = read_compact_string(data, at)
    else:
        at += 1
    (controller_id,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 10)
    topics, at = _read_metadata_response_topics_v9(data, at, count) if count else ([], at)
    cluster_authorized_operations, more = _unpack_iB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics, cluster_authorized_operations, 0), at


def _read_metadata_response_topics_v10(data: memoryview, at: int, count: int) -> tuple[list[MetadataResponseTopic], int]:
    items: list[MetadataResponseTopic] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        name, at = read_compact_string(data, at)
        topic_id, is_internal = _unpack_ut(data, at)
        at += 17
        count, at = read_compact_count(data, at, 18)
        partitions, at = _read_metadata_response_partitions_v9(data, at, count) if count else ([], at)
        topic_authorized_operations, more = _unpack_iB(data, at)
        at += 5
        if more:
            at = skip_tags(data, at - 1)
        items.append(MetadataResponseTopic(error_code, name, topic_id, is_internal, partitions, topic_authorized_operations))
    return items, at


def _read_metadata_response_v10(data: memoryview, at: int) -> tuple[MetadataResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 11)
    brokers, at = _read_metadata_response_brokers_v9(data, at, count) if count else ([], at)
    cluster_id: str | None = None
    if data[at]:
        cluster_id, at = read_compact_string(data, at)
    else:
        at += 1
    (controller_id,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 26)
    topics, at = _read_metadata_response_topics_v10(data, at, count) if count else ([], at)
    cluster_authorized_operations, more = _unpack_iB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics, cluster_authorized_operations, 0), at


def _read_metadata_response_v11(data: memoryview, at: int) -> tuple[MetadataResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 11)
    brokers, at = _read_metadata_response_brokers_v9(data, at, count) if count else ([], at)
    cluster_id: str | None = None
    if data[at]:
        cluster_id, at = read_compact_string(data, at)
    else:
        at += 1
    (controller_id,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 26)
    topics, at = _read_metadata_response_topics_v10(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics, -2147483648, 0), at


def _read_metadata_response_topics_v12(data: memoryview, at: int, count: int) -> tuple[list[MetadataResponseTopic], int]:
    items: list[MetadataResponseTopic] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        name: str | None = None
        if data[at]:
            name, at = read_compact_string(data, at)
        else:
            at += 1
        topic_id, is_internal = _unpack_ut(data, at)
        at += 17
        count, at = read_compact_count(data, at, 18)
        partitions, at = _read_metadata_response_partitions_v9(data, at, count) if count else ([], at)
        topic_authorized_operations, more = _unpack_iB(data, at)
        at += 5
        if more:
            at = skip_tags(data, at - 1)
        items.append(MetadataResponseTopic(error_code, name, topic_id, is_internal, partitions, topic_authorized_operations))
    return items, at


def _read_metadata_response_v12(data: memoryview, at: int) -> tuple[MetadataResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 11)
    brokers, at = _read_metadata_response_brokers_v9(data, at, count) if count else ([], at)
    cluster_id: str | None = None
    if data[at]:
        cluster_id, at = read_compact_string(data, at)
    else:
        at += 1
    (controller_id,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 26)
    topics, at = _read_metadata_response_topics_v12(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics, -2147483648, 0), at


def _read_metadata_response_v13(data: memoryview, at: int) -> tuple[MetadataResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 11)
    brokers, at = _read_metadata_response_brokers_v9(data, at, count) if count else ([], at)
    cluster_id: str | None = None
    if data[at]:
        cluster_id, at = read_compact_string(data, at)
    else:
        at += 1
    (controller_id,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 26)
    topics, at = _read_metadata_response_topics_v12(data, at, count) if count else ([], at)
    error_code, more = _unpack_hB(data, at)
    at += 3
    if more:
        at = skip_tags(data, at - 1)
    return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics, -2147483648, error_code), at


def _write_metadata_response_brokers_v0(items: Sequence[MetadataResponseBroker], out: bytearray) -> None:
    for item in items:
        out += _pack_i(item.node_id)
        write_string(item.host, out)
        out += _pack_i(item.port)


def _write_metadata_response_partitions_v0(items: Sequence[MetadataResponsePartition], out: bytearray) -> None:
    for item in items:
        out += _pack_hiii(item.error_code, item.partition_index, item.leader_id, len(item.replica_nodes))
        if item.replica_nodes:
            write_numbers(item.replica_nodes, "i", out)
        out += _pack_i(len(item.isr_nodes))
        if item.isr_nodes:
            write_numbers(item.isr_nodes, "i", out)


def _write_metadata_response_topics_v0(items: Sequence[MetadataResponseTopic], out: bytearray) -> None:
    for item in items:
        start = len(out)
        if item.kept is not None:
            known = item.kept.get(0)
            if known is not None:
                out += known
                continue
        if item.topic_authorized_operations != -2147483648:
            refuse_field("MetadataResponseTopic.topic_authorized_operations")
        out += _pack_h(item.error_code)
        if item.name is None:
            refuse_null_field("MetadataResponseTopic.name")
        write_string(item.name, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_metadata_response_partitions_v0(item.partitions, out)
        if item.kept is not None:
            item.kept[0] = bytes(out[start:])


def _write_metadata_response_v0(item: MetadataResponse, out: bytearray) -> None:
    if item.cluster_authorized_operations != -2147483648:
        refuse_field("MetadataResponse.cluster_authorized_operations")
    out += _pack_i(len(item.brokers))
    if item.brokers:
        _write_metadata_response_brokers_v0(item.brokers, out)
    out += _pack_i(len(item.topics))
    if item.topics:
        _write_metadata_response_topics_v0(item.topics, out)


def _write_metadata_response_brokers_v1(items: Sequence[MetadataResponseBroker], out: bytearray) -> None:
    for item in items:
        out += _pack_i(item.node_id)
        write_string(item.host, out)
        out += _pack_i(item.port)
        write_nullable_string(item.rack, out)


def _write_metadata_response_topics_v1(items: Sequence[MetadataResponseTopic], out: bytearray) -> None:
    for item in items:
        start = len(out)
        if item.kept is not None:
            known = item.kept.get(1)
            if known is not None:
                out += known
                continue
        if item.topic_authorized_operations != -2147483648:
            refuse_field("MetadataResponseTopic.topic_authorized_operations")
        out += _pack_h(item.error_code)
        if item.name is None:
            refuse_null_field("MetadataResponseTopic.name")
        write_string(item.name, out)
        out += _pack_ti(item.is_internal, len(item.partitions))
        if item.partitions:
            _write_metadata_response_partitions_v0(item.partitions, out)
        if item.kept is not None:
            item.kept[1] = bytes(out[start:])


def _write_metadata_response_v1(item: MetadataResponse, out: bytearray) -> None:
    if item.cluster_authorized_operations != -2147483648:
        refuse_field("MetadataResponse.cluster_authorized_operations")
    out += _pack_i(len(item.brokers))
    if item.brokers:
        _write_metadata_response_brokers_v1(item.brokers, out)
    out += _pack_ii(item.controller_id, len(item.topics))
    if item.topics:
        _write_metadata_response_topics_v1(item.topics, out)


def _write_metadata_response_topics_v2(items: Sequence[MetadataResponseTopic], out: bytearray) -> None:
    for item in items:
        start = len(out)
        if item.kept is not None:
            known = item.kept.get(2)
            if known is not None:
                out += known
                continue
        if item.topic_authorized_operations != -2147483648:
            refuse_field("MetadataResponseTopic.topic_authorized_operations")
        out += _pack_h(item.error_code)
        if item.name is None:
            refuse_null_field("MetadataResponseTopic.name")
        write_string(item.name, out)
        out += _pack_ti(item.is_internal, len(item.partitions))
        if item.partitions:
            _write_metadata_response_partitions_v0(item.partitions, out)
        if item.kept is not None:
            item.kept[2] = bytes(out[start:])


def _write_metadata_response_v2(item: MetadataResponse, out: bytearray) -> None:
    if item.cluster_authorized_operations != -2147483648:
        refuse_field("MetadataResponse.cluster_authorized_operations")
    out += _pack_i(len(item.brokers))
    if item.brokers:
        _write_metadata_response_brokers_v1(item.brokers, out)
    write_nullable_string(item.cluster_id, out)
    out += _pack_ii(item.controller_id, len(item.topics))
    if item.topics:
        _write_metadata_response_topics_v2(item.topics, out)


def _write_metadata_response_topics_v3(items: Sequence[MetadataResponseTopic], out: bytearray) -> None:
    for item in items:
        start = len(out)
        if item.kept is not None:
            known = item.kept.get(3)
            if known is not None:
                out += known
                continue
        if item.topic_authorized_operations != -2147483648:
            refuse_field("MetadataResponseTopic.topic_authorized_operations")
        out += _pack_h(item.error_code)
        if item.name is None:
            refuse_null_field("MetadataResponseTopic.name")
        write_string(item.name, out)
        out += _pack_ti(item.is_internal, len(item.partitions))
        if item.partitions:
            _write_metadata_response_partitions_v0(item.partitions, out)
        if item.kept is not None:
            item.kept[3] = bytes(out[start:])


def _write_metadata_response_v3(item: MetadataResponse, out: bytearray) -> None:
    if item.cluster_authorized_operations != -2147483648:
        refuse_field("MetadataResponse.cluster_authorized_operations")
    out += _pack_ii(item.throttle_time_ms, len(item.brokers))
    if item.brokers:
        _write_metadata_response_brokers_v1(item.brokers, out)
    write_nullable_string(item.cluster_id, out)
    out += _pack_ii(item.controller_id, len(item.topics))
    if item.topics:
        _write_metadata_response_topics_v3(item.topics, out)


def _write_metadata_response_topics_v4(items: Sequence[MetadataResponseTopic], out: bytearray) -> None:
    for item in items:
        start = len(out)
        if item.kept is not None:
            known = item.kept.get(4)
            if known is not None:
                out += known
                continue
        if item.topic_authorized_operations != -2147483648:
            refuse_field("MetadataResponseTopic.topic_authorized_operations")
        out += _pack_h(item.error_code)
        if item.name is None:
            refuse_null_field("MetadataResponseTopic.name")
        write_string(item.name, out)
        out += _pack_ti(item.is_internal, len(item.partitions))
        if item.partitions:
            _write_metadata_response_partitions_v0(item.partitions, out)
        if item.kept is not None:
            item.kept[4] = bytes(out[start:])


def _write_metadata_response_v4(item: MetadataResponse, out: bytearray) -> None:
    if item.cluster_authorized_operations != -2147483648:
        refuse_field("MetadataResponse.cluster_authorized_operations")
    out += _pack_ii(item.throttle_time_ms, len(item.brokers))
    if item.brokers:
        _write_metadata_response_brokers_v1(item.brokers, out)
    write_nullable_string(item.cluster_id, out)
    out += _pack_ii(item.controller_id, len(item.topics))
    if item.topics:
        _write_metadata_response_topics_v4(item.topics, out)


def _write_metadata_response_partitions_v5(items: Sequence[MetadataResponsePartition], out: bytearray) -> None:
    for item in items:
        out += _pack_hiii(item.error_code, item.partition_index, item.leader_id, len(item.replica_nodes))
        if item.replica_nodes:
            write_numbers(item.replica_nodes, "i", out)
        out += _pack_i(len(item.isr_nodes))
        if item.isr_nodes:
            write_numbers(item.isr_nodes, "i", out)
        out += _pack_i(len(item.offline_replicas))
        if item.offline_replicas:
            write_numbers(item.offline_replicas, "i", out)


def _write_metadata_response_topics_v5(items: Sequence[MetadataResponseTopic], out: bytearray) -> None:
    for item in items:
        start = len(out)
        if item.kept is not None:
            known = item.kept.get(5)
            if known is not None:
                out += known
                continue
        if item.topic_authorized_operations != -2147483648:
            refuse_field("MetadataResponseTopic.topic_authorized_operations")
        out += _pack_h(item.error_code)
        if item.name is None:
            refuse_null_field("MetadataResponseTopic.name")
        write_string(item.name, out)
        out += _pack_ti(item.is_internal, len(item.partitions))
        if item.partitions:
            _write_metadata_response_partitions_v5(item.partitions, out)
        if item.kept is not None:
            item.kept[5] = bytes(out[start:])


def _write_metadata_response_v5(item: MetadataResponse, out: bytearray) -> None:
    if item.cluster_authorized_operations != -2147483648:
        refuse_field("MetadataResponse.cluster_authorized_operations")
    out += _pack_ii(item.throttle_time_ms, len(item.brokers))
    if item.brokers:
        _write_metadata_response_brokers_v1(item.brokers, out)
    write_nullable_string(item.cluster_id, out)
    out += _pack_ii(item.controller_id, len(item.topics))
    if item.topics:
        _write_metadata_response_topics_v5(item.topics, out)


def _write_metadata_response_topics_v6(items: Sequence[MetadataResponseTopic], out: bytearray) -> None:
    for item in items:
        start = len(out)
        if item.kept is not None:
            known = item.kept.get(6)
            if known is not None:
                out += known
                continue
        if item.topic_authorized_operations != -2147483648:
            refuse_field("MetadataResponseTopic.topic_authorized_operations")
        out += _pack_h(item.error_code)
        if item.name is None:
            refuse_null_field("MetadataResponseTopic.name")
        write_string(item.name, out)
        out += _pack_ti(item.is_internal, len(item.partitions))
        if item.partitions:
            _write_metadata_response_partitions_v5(item.partitions, out)
        if item.kept is not None:
            item.kept[6] = bytes(out[start:])


def _write_metadata_response_v6(item: MetadataResponse, out: bytearray) -> None:
    if item.cluster_authorized_operations != -2147483648:
        refuse_field("MetadataResponse.cluster_authorized_operations")
    out += _pack_ii(item.throttle_time_ms, len(item.brokers))
    if item.brokers:
        _write_metadata_response_brokers_v1(item.brokers, out)
    write_nullable_string(item.cluster_id, out)
    out += _pack_ii(item.controller_id, len(item.topics))
    if item.topics:
        _write_metadata_response_topics_v6(item.topics, out)


def _write_metadata_response_partitions_v7(items: Sequence[MetadataResponsePartition], out: bytearray) -> None:
    for item in items:
        out += _pack_hiiii(item.error_code, item.partition_index, item.leader_id, item.leader_epoch, len(item.replica_nodes))
        if item.replica_nodes:
            write_numbers(item.replica_nodes, "i", out)
        out += _pack_i(len(item.isr_nodes))
        if item.isr_nodes:
            write_numbers(item.isr_nodes, "i", out)
        out += _pack_i(len(item.offline_replicas))
        if item.offline_replicas:
            write_numbers(item.offline_replicas, "i", out)


def _write_metadata_response_topics_v7(items: Sequence[MetadataResponseTopic], out: bytearray) -> None:
    for item in items:
        start = len(out)
        if item.kept is not None:
            known = item.kept.get(7)
            if known is not None:
                out += known
                continue
        if item.topic_authorized_operations != -2147483648:
            refuse_field("MetadataResponseTopic.topic_authorized_operations")
        out += _pack_h(item.error_code)
        if item.name is None:
            refuse_null_field("MetadataResponseTopic.name")
        write_string(item.name, out)
        out += _pack_ti(item.is_internal, len(item.partitions))
        if item.partitions:
            _write_metadata_response_partitions_v7(item.partitions, out)
        if item.kept is not None:
            item.kept[7] = bytes(out[start:])


def _write_metadata_response_v7(item: MetadataResponse, out: bytearray) -> None:
    if item.cluster_authorized_operations != -2147483648:
        refuse_field("MetadataResponse.cluster_authorized_operations")
    out += _pack_ii(item.throttle_time_ms, len(item.brokers))
    if item.brokers:
        _write_metadata_response_brokers_v1(item.brokers, out)
    write_nullable_string(item.cluster_id, out)
    out += _pack_ii(item.controller_id, len(item.topics))
    if item.topics:
        _write_metadata_response_topics_v7(item.topics, out)


def _write_metadata_response_topics_v8(items: Sequence[MetadataResponseTopic], out: bytearray) -> None:
    for item in items:
        start = len(out)
        if item.kept is not None:
            known = item.kept.get(8)
            if known is not None:
                out += known
                continue
        out += _pack_h(item.error_code)
        if item.name is None:
            refuse_null_field("MetadataResponseTopic.name")
        write_string(item.name, out)
        out += _pack_ti(item.is_internal, len(item.partitions))
        if item.partitions:
            _write_metadata_response_partitions_v7(item.partitions, out)
        out += _pack_i(item.topic_authorized_operations)
        if item.kept is not None:
            item.kept[8] = bytes(out[start:])


def _write_metadata_response_v8(item: MetadataResponse, out: bytearray) -> None:
    out += _pack_ii(item.throttle_time_ms, len(item.brokers))
    if item.brokers:
        _write_metadata_response_brokers_v1(item.brokers, out)
    write_nullable_string(item.cluster_id, out)
    out += _pack_ii(item.controller_id, len(item.topics))
    if item.topics:
        _write_metadata_response_topics_v8(item.topics, out)
    out += _pack_i(item.cluster_authorized_operations)


def _write_metadata_response_brokers_v9(items: Sequence[MetadataResponseBroker], out: bytearray) -> None:
    for item in items:
        out += _pack_i(item.node_id)
        write_compact_string(item.host, out)
        out += _pack_i(item.port)
        if item.rack is None:
            out.append(0)
        else:
            write_compact_string(item.rack, out)
        out.append(0)


def _write_metadata_response_partitions_v9(items: Sequence[MetadataResponsePartition], out: bytearray) -> None:
    for item in items:
        out += _pack_hiii(item.error_code, item.partition_index, item.leader_id, item.leader_epoch)
        if item.replica_nodes:
            out += uvarint(len(item.replica_nodes) + 1)
            write_numbers(item.replica_nodes, "i", out)
        else:
            out.append(1)
        if item.isr_nodes:
            out += uvarint(len(item.isr_nodes) + 1)
            write_numbers(item.isr_nodes, "i", out)
        else:
            out.append(1)
        if item.offline_replicas:
            out += uvarint(len(item.offline_replicas) + 1)
            write_numbers(item.offline_replicas, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_metadata_response_topics_v9(items: Sequence[MetadataResponseTopic], out: bytearray) -> None:
    for item in items:
        start = len(out)
        if item.kept is not None:
            known = item.kept.get(9)
            if known is not None:
                out += known
                continue
        out += _pack_h(item.error_code)
        if item.name is None:
            refuse_null_field("MetadataResponseTopic.name")
        write_compact_string(item.name, out)
        out += _pack_t(item.is_internal)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_metadata_response_partitions_v9(item.partitions, out)
        else:
            out.append(1)
        out += _pack_ix(item.topic_authorized_operations)
        if item.kept is not None:
            item.kept[9] = bytes(out[start:])


def _write_metadata_response_v9(item: MetadataResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.brokers:
        out += uvarint(len(item.brokers) + 1)
        _write_metadata_response_brokers_v9(item.brokers, out)
    else:
        out.append(1)
    if item.cluster_id is None:
        out.append(0)
    else:
        write_compact_string(item.cluster_id, out)
    out += _pack_i(item.controller_id)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_metadata_response_topics_v9(item.topics, out)
    else:
        out.append(1)
    out += _pack_ix(item.cluster_authorized_operations)


def _write_metadata_response_topics_v10(items: Sequence[MetadataResponseTopic], out: bytearray) -> None:
    for item in items:
        start = len(out)
        if item.kept is not None:
            known = item.kept.get(10)
            if known is not None:
                out += known
                continue
        out += _pack_h(item.error_code)
        if item.name is None:
            refuse_null_field("MetadataResponseTopic.name")
        write_compact_string(item.name, out)
        out += _pack_ut(item.topic_id, item.is_internal)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_metadata_response_partitions_v9(item.partitions, out)
        else:
            out.append(1)
        out += _pack_ix(item.topic_authorized_operations)
        if item.kept is not None:
            item.kept[10] = bytes(out[start:])


def _write_metadata_response_v10(item: MetadataResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.brokers:
        out += uvarint(len(item.brokers) + 1)
        _write_metadata_response_brokers_v9(item.brokers, out)
    else:
        out.append(1)
    if item.cluster_id is None:
        out.append(0)
    else:
        write_compact_string(item.cluster_id, out)
    out += _pack_i(item.controller_id)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_metadata_response_topics_v10(item.topics, out)
    else:
        out.append(1)
    out += _pack_ix(item.cluster_authorized_operations)


def _write_metadata_response_topics_v11(items: Sequence[MetadataResponseTopic], out: bytearray) -> None:
    for item in items:
        start = len(out)
        if item.kept is not None:
            known = item.kept.get(11)
            if known is not None:
                out += known
                continue
        out += _pack_h(item.error_code)
        if item.name is None:
            refuse_null_field("MetadataResponseTopic.name")
        write_compact_string(item.name, out)
        out += _pack_ut(item.topic_id, item.is_internal)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_metadata_response_partitions_v9(item.partitions, out)
        else:
            out.append(1)
        out += _pack_ix(item.topic_authorized_operations)
        if item.kept is not None:
            item.kept[11] = bytes(out[start:])


def _write_metadata_response_v11(item: MetadataResponse, out: bytearray) -> None:
    if item.cluster_authorized_operations != -2147483648:
        refuse_field("MetadataResponse.cluster_authorized_operations")
    out += _pack_i(item.throttle_time_ms)
    if item.brokers:
        out += uvarint(len(item.brokers) + 1)
        _write_metadata_response_brokers_v9(item.brokers, out)
    else:
        out.append(1)
    if item.cluster_id is None:
        out.append(0)
    else:
        write_compact_string(item.cluster_id, out)
    out += _pack_i(item.controller_id)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_metadata_response_topics_v11(item.topics, out)
    else:
        out.append(1)
    out.append(0)


def _write_metadata_response_topics_v12(items: Sequence[MetadataResponseTopic], out: bytearray) -> None:
    for item in items:
        start = len(out)
        if item.kept is not None:
            known = item.kept.get(12)
            if known is not None:
                out += known
                continue
        out += _pack_h(item.error_code)
        if item.name is None:
            out.append(0)
        else:
            write_compact_string(item.name, out)
        out += _pack_ut(item.topic_id, item.is_internal)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_metadata_response_partitions_v9(item.partitions, out)
        else:
            out.append(1)
        out += _pack_ix(item.topic_authorized_operations)
        if item.kept is not None:
            item.kept[12] = bytes(out[start:])


def _write_metadata_response_v12(item: MetadataResponse, out: bytearray) -> None:
    if item.cluster_authorized_operations != -2147483648:
        refuse_field("MetadataResponse.cluster_authorized_operations")
    out += _pack_i(item.throttle_time_ms)
    if item.brokers:
        out += uvarint(len(item.brokers) + 1)
        _write_metadata_response_brokers_v9(item.brokers, out)
    else:
        out.append(1)
    if item.cluster_id is None:
        out.append(0)
    else:
        write_compact_string(item.cluster_id, out)
    out += _pack_i(item.controller_id)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_metadata_response_topics_v12(item.topics, out)
    else:
        out.append(1)
    out.append(0)


def _write_metadata_response_topics_v13(items: Sequence[MetadataResponseTopic], out: bytearray) -> None:
    for item in items:
        start = len(out)
        if item.kept is not None:
            known = item.kept.get(13)
            if known is not None:
                out += known
                continue
        out += _pack_h(item.error_code)
        if item.name is None:
            out.append(0)
        else:
            write_compact_string(item.name, out)
        out += _pack_ut(item.topic_id, item.is_internal)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_metadata_response_partitions_v9(item.partitions, out)
        else:
            out.append(1)
        out += _pack_ix(item.topic_authorized_operations)
        if item.kept is not None:
            item.kept[13] = bytes(out[start:])


def _write_metadata_response_v13(item: MetadataResponse, out: bytearray) -> None:
    if item.cluster_authorized_operations != -2147483648:
        refuse_field("MetadataResponse.cluster_authorized_operations")
    out += _pack_i(item.throttle_time_ms)
    if item.brokers:
        out += uvarint(len(item.brokers) + 1)
        _write_metadata_response_brokers_v9(item.brokers, out)
    else:
        out.append(1)
    if item.cluster_id is None:
        out.append(0)
    else:
        write_compact_string(item.cluster_id, out)
    out += _pack_i(item.controller_id)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_metadata_response_topics_v13(item.topics, out)
    else:
        out.append(1)
    out += _pack_hx(item.error_code)


MetadataResponse.DECODERS = {
    0: _read_metadata_response_v0,
    1: _read_metadata_response_v1,
    2: _read_metadata_response_v2,
    3: _read_metadata_response_v3,
    4: _read_metadata_response_v3,
    5: _read_metadata_response_v5,
    6: _read_metadata_response_v5,
    7: _read_metadata_response_v7,
    8: _read_metadata_response_v8,
    9: _read_metadata_response_v9,
    10: _read_metadata_response_v10,
    11: _read_metadata_response_v11,
    12: _read_metadata_response_v12,
    13: _read_metadata_response_v13,
}
MetadataResponse.ENCODERS = {
    0: _write_metadata_response_v0,
    1: _write_metadata_response_v1,
    2: _write_metadata_response_v2,
    3: _write_metadata_response_v3,
    4: _write_metadata_response_v4,
    5: _write_metadata_response_v5,
    6: _write_metadata_response_v6,
    7: _write_metadata_response_v7,
    8: _write_metadata_response_v8,
    9: _write_metadata_response_v9,
    10: _write_metadata_response_v10,
    11: _write_metadata_response_v11,
    12: _write_metadata_response_v12,
    13: _write_metadata_response_v13,
}
