"""Generated from schemas/offset_fetch.schema: OffsetFetchResponse, versions 1-10. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_count,
    read_nullable_string,
    read_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_nullable_string,
    write_string,
)

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack
_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_hB = Layout(">hB").unpack_from
_pack_hx = Layout(">hx").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_pack_ii = Layout(">ii").pack
_unpack_iq = Layout(">iq").unpack_from
_pack_iq = Layout(">iq").pack
_unpack_iqi = Layout(">iqi").unpack_from
_pack_iqi = Layout(">iqi").pack


class OffsetFetchResponse(Message):
    __slots__ = ("throttle_time_ms", "topics", "error_code", "groups",)
    API_KEY = 9
    VERSIONS = range(1, 11)
    FLEXIBLE_FROM = 6

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[OffsetFetchResponseTopic] = (),
        error_code: int = 0,
        groups: Sequence[OffsetFetchResponseGroup] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
        self.error_code = error_code
        self.groups = groups


class OffsetFetchResponsePartition(Struct):
    __slots__ = ("partition_index", "committed_offset", "committed_leader_epoch", "metadata", "error_code",)

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = "",
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.metadata = metadata
        self.error_code = error_code


class OffsetFetchResponseTopic(Struct):
    __slots__ = ("name", "partitions",)

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[OffsetFetchResponsePartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class OffsetFetchResponsePartitions(Struct):
    __slots__ = ("partition_index", "committed_offset", "committed_leader_epoch", "metadata", "error_code",)

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = "",
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.metadata = metadata
        self.error_code = error_code


class OffsetFetchResponseTopics(Struct):
    __slots__ = ("name", "topic_id", "partitions",)

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[OffsetFetchResponsePartitions] = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = partitions


class OffsetFetchResponseGroup(Struct):
    __slots__ = ("group_id", "topics", "error_code",)

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[OffsetFetchResponseTopics] = (),
        error_code: int = 0,
    ) -> None:
        self.group_id = group_id
        self.topics = topics
        self.error_code = error_code


def _read_offset_fetch_response_partitions_v1(data: memoryview, at: int, count: int) -> tuple[list[OffsetFetchResponsePartition], int]:
    items: list[OffsetFetchResponsePartition] = []
    for _ in range(count):
        partition_index, committed_offset = _unpack_iq(data, at)
        at += 12
        metadata, at = read_nullable_string(data, at)
        (error_code,) = _unpack_h(data, at)
        at += 2
        items.append(OffsetFetchResponsePartition(partition_index, committed_offset, -1, metadata, error_code))
    return items, at


def _read_offset_fetch_response_topics_v1(data: memoryview, at: int, count: int) -> tuple[list[OffsetFetchResponseTopic], int]:
    items: list[OffsetFetchResponseTopic] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 16)
        partitions, at = _read_offset_fetch_response_partitions_v1(data, at, count) if count else ([], at)
        items.append(OffsetFetchResponseTopic(name, partitions))
    return items, at


def _read_offset_fetch_response_v1(data: memoryview, at: int) -> tuple[OffsetFetchResponse, int]:
    count, at = read_count(data, at, 6)
    topics, at = _read_offset_fetch_response_topics_v1(data, at, count) if count else ([], at)
    return OffsetFetchResponse(0, topics, 0, ()), at


def _read_offset_fetch_response_v2(data: memoryview, at: int) -> tuple[OffsetFetchResponse, int]:
    count, at = read_count(data, at, 6)
    topics, at = _read_offset_fetch_response_topics_v1(data, at, count) if count else ([], at)
    (error_code,) = _unpack_h(data, at)
    at += 2
    return OffsetFetchResponse(0, topics, error_code, ()), at


def _read_offset_fetch_response_v3(data: memoryview, at: int) -> tuple[OffsetFetchResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 6)
    topics, at = _read_offset_fetch_response_topics_v1(data, at, count) if count else ([], at)
    (error_code,) = _unpack_h(data, at)
    at += 2
    return OffsetFetchResponse(throttle_time_ms, topics, error_code, ()), at


def _read_offset_fetch_response_partitions_v5(data: memoryview, at: int, count: int) -> tuple[list[OffsetFetchResponsePartition], int]:
    items: list[OffsetFetchResponsePartition] = []
    for _ in range(count):
        partition_index, committed_offset, committed_leader_epoch = _unpack_iqi(data, at)
        at += 16
        metadata, at = read_nullable_string(data, at)
        (error_code,) = _unpack_h(data, at)
        at += 2
        items.append(OffsetFetchResponsePartition(partition_index, committed_offset, committed_leader_epoch, metadata, error_code))
    return items, at


def _read_offset_fetch_response_topics_v5(data: memoryview, at: int, count: int) -> tuple[list[OffsetFetchResponseTopic], int]:
    items: list[OffsetFetchResponseTopic] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 20)
        partitions, at = _read_offset_fetch_response_partitions_v5(data, at, count) if count else ([], at)
        items.append(OffsetFetchResponseTopic(name, partitions))
    return items, at


def _read_offset_fetch_response_v5(data: memoryview, at: int) -> tuple[OffsetFetchResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 6)
    topics, at = _read_offset_fetch_response_topics_v5(data, at, count) if count else ([], at)
    (error_code,) = _unpack_h(data, at)
    at += 2
    return OffsetFetchResponse(throttle_time_ms, topics, error_code, ()), at


def _read_offset_fetch_response_partitions_v6(data: memoryview, at: int, count: int) -> tuple[list[OffsetFetchResponsePartition], int]:
    items: list[OffsetFetchResponsePartition] = []
    for _ in range(count):
        partition_index, committed_offset, committed_leader_epoch = _unpack_iqi(data, at)
        at += 16
        metadata: str | None = None
        if data[at]:
            metadata, at = read_compact_string(data, at)
        else:
            at += 1
        error_code, more = _unpack_hB(data, at)
        at += 3
        if more:
            at = skip_tags(data, at - 1)
        items.append(OffsetFetchResponsePartition(partition_index, committed_offset, committed_leader_epoch, metadata, error_code))
    return items, at


def _read_offset_fetch_response_topics_v6(data: memoryview, at: int, count: int) -> tuple[list[OffsetFetchResponseTopic], int]:
    items: list[OffsetFetchResponseTopic] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 20)
        partitions, at = _read_offset_fetch_response_partitions_v6(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(OffsetFetchResponseTopic(name, partitions))
    return items, at


def _read_offset_fetch_response_v6(data: memoryview, at: int) -> tuple[OffsetFetchResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_offset_fetch_response_topics_v6(data, at, count) if count else ([], at)
    error_code, more = _unpack_hB(data, at)
    at += 3
    if more:
        at = skip_tags(data, at - 1)
    return OffsetFetchResponse(throttle_time_ms, topics, error_code, ()), at


def _read_offset_fetch_response_partitionss_v8(data: memoryview, at: int, count: int) -> tuple[list[OffsetFetchResponsePartitions], int]:
    items: list[OffsetFetchResponsePartitions] = []
    for _ in range(count):
        partition_index, committed_offset, committed_leader_epoch = _unpack_iqi(data, at)
        at += 16
        metadata: str | None = None
        if data[at]:
            metadata, at = read_compact_string(data, at)
        else:
            at += 1
        error_code, more = _unpack_hB(data, at)
        at += 3
        if more:
            at = skip_tags(data, at - 1)
        items.append(OffsetFetchResponsePartitions(partition_index, committed_offset, committed_leader_epoch, metadata, error_code))
    return items, at


def _read_offset_fetch_response_topicss_v8(data: memoryview, at: int, count: int) -> tuple[list[OffsetFetchResponseTopics], int]:
    items: list[OffsetFetchResponseTopics] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 20)
        partitions, at = _read_offset_fetch_response_partitionss_v8(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(OffsetFetchResponseTopics(name, ZERO_UUID, partitions))
    return items, at


def _read_offset_fetch_response_groups_v8(data: memoryview, at: int, count: int) -> tuple[list[OffsetFetchResponseGroup], int]:
    items: list[OffsetFetchResponseGroup] = []
    for _ in range(count):
        group_id, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 3)
        topics, at = _read_offset_fetch_response_topicss_v8(data, at, count) if count else ([], at)
        error_code, more = _unpack_hB(data, at)
        at += 3
        if more:
            at = skip_tags(data, at - 1)
        items.append(OffsetFetchResponseGroup(group_id, topics, error_code))
    return items, at


def _read_offset_fetch_response_v8(data: memoryview, at: int) -> tuple[OffsetFetchResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 5)
    groups, at = _read_offset_fetch_response_groups_v8(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return OffsetFetchResponse(throttle_time_ms, (), 0, groups), at


def _read_offset_fetch_response_topicss_v10(data: memoryview, at: int, count: int) -> tuple[list[OffsetFetchResponseTopics], int]:
    items: list[OffsetFetchResponseTopics] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 20)
        partitions, at = _read_offset_fetch_response_partitionss_v8(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(OffsetFetchResponseTopics("", topic_id, partitions))
    return items, at


def _read_offset_fetch_response_groups_v10(data: memoryview, at: int, count: int) -> tuple[list[OffsetFetchResponseGroup], int]:
    items: list[OffsetFetchResponseGroup] = []
    for _ in range(count):
        group_id, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 18)
        topics, at = _read_offset_fetch_response_topicss_v10(data, at, count) if count else ([], at)
        error_code, more = _unpack_hB(data, at)
        at += 3
        if more:
            at = skip_tags(data, at - 1)
        items.append(OffsetFetchResponseGroup(group_id, topics, error_code))
    return items, at


def _read_offset_fetch_response_v10(data: memoryview, at: int) -> tuple[OffsetFetchResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 5)
    groups, at = _read_offset_fetch_response_groups_v10(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return OffsetFetchResponse(throttle_time_ms, (), 0, groups), at


def _write_offset_fetch_response_partitions_v1(items: Sequence[OffsetFetchResponsePartition], out: bytearray) -> None:
    for item in items:
        out += _pack_iq(item.partition_index, item.committed_offset)
        write_nullable_string(item.metadata, out)
        out += _pack_h(item.error_code)


def _write_offset_fetch_response_topics_v1(items: Sequence[OffsetFetchResponseTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_offset_fetch_response_partitions_v1(item.partitions, out)


def _write_offset_fetch_response_v1(item: OffsetFetchResponse, out: bytearray) -> None:
    if item.groups:
        refuse_field("OffsetFetchResponse.groups")
    out += _pack_i(len(item.topics))
    if item.topics:
        _write_offset_fetch_response_topics_v1(item.topics, out)


def _write_offset_fetch_response_v2(item: OffsetFetchResponse, out: bytearray) -> None:
    if item.groups:
        refuse_field("OffsetFetchResponse.groups")
    out += _pack_i(len(item.topics))
    if item.topics:
        _write_offset_fetch_response_topics_v1(item.topics, out)
    out += _pack_h(item.error_code)


def _write_offset_fetch_response_v3(item: OffsetFetchResponse, out: bytearray) -> None:
    if item.groups:
        refuse_field("OffsetFetchResponse.groups")
    out += _pack_ii(item.throttle_time_ms, len(item.topics))
    if item.topics:
        _write_offset_fetch_response_topics_v1(item.topics, out)
    out += _pack_h(item.error_code)


def _write_offset_fetch_response_partitions_v5(items: Sequence[OffsetFetchResponsePartition], out: bytearray) -> None:
    for item in items:
        out += _pack_iqi(item.partition_index, item.committed_offset, item.committed_leader_epoch)
        write_nullable_string(item.metadata, out)
        out += _pack_h(item.error_code)


def _write_offset_fetch_response_topics_v5(items: Sequence[OffsetFetchResponseTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_offset_fetch_response_partitions_v5(item.partitions, out)


def _write_offset_fetch_response_v5(item: OffsetFetchResponse, out: bytearray) -> None:
    if item.groups:
        refuse_field("OffsetFetchResponse.groups")
    out += _pack_ii(item.throttle_time_ms, len(item.topics))
    if item.topics:
        _write_offset_fetch_response_topics_v5(item.topics, out)
    out += _pack_h(item.error_code)


def _write_offset_fetch_response_partitions_v6(items: Sequence[OffsetFetchResponsePartition], out: bytearray) -> None:
    for item in items:
        out += _pack_iqi(item.partition_index, item.committed_offset, item.committed_leader_epoch)
        if item.metadata is None:
            out.append(0)
        else:
            write_compact_string(item.metadata, out)
        out += _pack_hx(item.error_code)


def _write_offset_fetch_response_topics_v6(items: Sequence[OffsetFetchResponseTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_offset_fetch_response_partitions_v6(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_offset_fetch_response_v6(item: OffsetFetchResponse, out: bytearray) -> None:
    if item.groups:
        refuse_field("OffsetFetchResponse.groups")
    out += _pack_i(item.throttle_time_ms)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_offset_fetch_response_topics_v6(item.topics, out)
    else:
        out.append(1)
    out += _pack_hx(item.error_code)


def _write_offset_fetch_response_partitionss_v8(items: Sequence[OffsetFetchResponsePartitions], out: bytearray) -> None:
    for item in items:
        out += _pack_iqi(item.partition_index, item.committed_offset, item.committed_leader_epoch)
        if item.metadata is None:
            out.append(0)
        else:
            write_compact_string(item.metadata, out)
        out += _pack_hx(item.error_code)


def _write_offset_fetch_response_topicss_v8(items: Sequence[OffsetFetchResponseTopics], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_offset_fetch_response_partitionss_v8(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_offset_fetch_response_groups_v8(items: Sequence[OffsetFetchResponseGroup], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.group_id, out)
        if item.topics:
            out += uvarint(len(item.topics) + 1)
            _write_offset_fetch_response_topicss_v8(item.topics, out)
        else:
            out.append(1)
        out += _pack_hx(item.error_code)


def _write_offset_fetch_response_v8(item: OffsetFetchResponse, out: bytearray) -> None:
    if item.topics:
        refuse_field("OffsetFetchResponse.topics")
    out += _pack_i(item.throttle_time_ms)
    if item.groups:
        out += uvarint(len(item.groups) + 1)
        _write_offset_fetch_response_groups_v8(item.groups, out)
    else:
        out.append(1)
    out.append(0)


def _write_offset_fetch_response_topicss_v10(items: Sequence[OffsetFetchResponseTopics], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_offset_fetch_response_partitionss_v8(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_offset_fetch_response_groups_v10(items: Sequence[OffsetFetchResponseGroup], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.group_id, out)
        if item.topics:
            out += uvarint(len(item.topics) + 1)
            _write_offset_fetch_response_topicss_v10(item.topics, out)
        else:
            out.append(1)
        out += _pack_hx(item.error_code)


def _write_offset_fetch_response_v10(item: OffsetFetchResponse, out: bytearray) -> None:
    if item.topics:
        refuse_field("OffsetFetchResponse.topics")
    out += _pack_i(item.throttle_time_ms)
    if item.groups:
        out += uvarint(len(item.groups) + 1)
        _write_offset_fetch_response_groups_v10(item.groups, out)
    else:
        out.append(1)
    out.append(0)


OffsetFetchResponse.DECODERS = {
    1: _read_offset_fetch_response_v1,
    2: _read_offset_fetch_response_v2,
    3: _read_offset_fetch_response_v3,
    4: _read_offset_fetch_response_v3,
    5: _read_offset_fetch_response_v5,
    6: _read_offset_fetch_response_v6,
    7: _read_offset_fetch_response_v6,
    8: _read_offset_fetch_response_v8,
    9: _read_offset_fetch_response_v8,
    10: _read_offset_fetch_response_v10,
}
OffsetFetchResponse.ENCODERS = {
    1: _write_offset_fetch_response_v1,
    2: _write_offset_fetch_response_v2,
    3: _write_offset_fetch_response_v3,
    4: _write_offset_fetch_response_v3,
    5: _write_offset_fetch_response_v5,
    6: _write_offset_fetch_response_v6,
    7: _write_offset_fetch_response_v6,
    8: _write_offset_fetch_response_v8,
    9: _write_offset_fetch_response_v8,
    10: _write_offset_fetch_response_v10,
}
