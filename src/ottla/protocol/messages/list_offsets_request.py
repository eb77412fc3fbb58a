"""Generated from schemas/list_offsets.schema: ListOffsetsRequest, versions 1-11. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_count,
    read_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_string,
)

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_iB = Layout(">iB").unpack_from
_unpack_ib = Layout(">ib").unpack_from
_pack_ib = Layout(">ib").pack
_pack_ibi = Layout(">ibi").pack
_pack_ii = Layout(">ii").pack
_unpack_iiq = Layout(">iiq").unpack_from
_pack_iiq = Layout(">iiq").pack
_unpack_iiqB = Layout(">iiqB").unpack_from
_pack_iiqx = Layout(">iiqx").pack
_unpack_iq = Layout(">iq").unpack_from
_pack_iq = Layout(">iq").pack
_pack_ix = Layout(">ix").pack


class ListOffsetsRequest(Message):
    __slots__ = ("replica_id", "isolation_level", "topics", "timeout_ms",)
    API_KEY = 2
    VERSIONS = range(1, 12)
    FLEXIBLE_FROM = 6

    def __init__(
        self,
        replica_id: int = 0,
        isolation_level: int = 0,
        topics: Sequence[ListOffsetsTopic] = (),
        timeout_ms: int = 0,
    ) -> None:
        self.replica_id = replica_id
        self.isolation_level = isolation_level
        self.topics = topics
        self.timeout_ms = timeout_ms


class ListOffsetsPartition(Struct):
    __slots__ = ("partition_index", "current_leader_epoch", "timestamp",)

    def __init__(
        self,
        partition_index: int = 0,
        current_leader_epoch: int = -1,
        timestamp: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.current_leader_epoch = current_leader_epoch
        self.timestamp = timestamp


class ListOffsetsTopic(Struct):
    __slots__ = ("name", "partitions",)

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[ListOffsetsPartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


def _read_list_offsets_partitions_v1(data: memoryview, at: int, count: int) -> tuple[list[ListOffsetsPartition], int]:
    items: list[ListOffsetsPartition] = []
    for _ in range(count):
        partition_index, timestamp = _unpack_iq(data, at)
        at += 12
        items.append(ListOffsetsPartition(partition_index, -1, timestamp))
    return items, at


def _read_list_offsets_topics_v1(data: memoryview, at: int, count: int) -> tuple[list[ListOffsetsTopic], int]:
    items: list[ListOffsetsTopic] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 12)
        partitions, at = _read_list_offsets_partitions_v1(data, at, count) if count else ([], at)
        items.append(ListOffsetsTopic(name, partitions))
    return items, at


def _read_list_offsets_request_v1(data: memoryview, at: int) -> tuple[ListOffsetsRequest, int]:
    (replica_id,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 6)
    topics, at = _read_list_offsets_topics_v1(data, at, count) if count else ([], at)
    return ListOffsetsRequest(replica_id, 0, topics, 0), at


def _read_list_offsets_request_v2(data: memoryview, at: int) -> tuple[ListOffsetsRequest, int]:
    replica_id, isolation_level = _unpack_ib(data, at)
    at += 5
    count, at = read_count(data, at, 6)
    topics, at = _read_list_offsets_topics_v1(data, at, count) if count else ([], at)
    return ListOffsetsRequest(replica_id, isolation_level, topics, 0), at


def _read_list_offsets_partitions_v4(data: memoryview, at: int, count: int) -> tuple[list[ListOffsetsPartition], int]:
    items: list[ListOffsetsPartition] = []
    for _ in range(count):
        partition_index, current_leader_epoch, timestamp = _unpack_iiq(data, at)
        at += 16
        items.append(ListOffsetsPartition(partition_index, current_leader_epoch, timestamp))
    return items, at


def _read_list_offsets_topics_v4(data: memoryview, at: int, count: int) -> tuple[list[ListOffsetsTopic], int]:
    items: list[ListOffsetsTopic] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 16)
        partitions, at = _read_list_offsets_partitions_v4(data, at, count) if count else ([], at)
        items.append(ListOffsetsTopic(name, partitions))
    return items, at


def _read_list_offsets_request_v4(data: memoryview, at: int) -> tuple[ListOffsetsRequest, int]:
    replica_id, isolation_level = _unpack_ib(data, at)
    at += 5
    count, at = read_count(data, at, 6)
    topics, at = _read_list_offsets_topics_v4(data, at, count) if count else ([], at)
    return ListOffsetsRequest(replica_id, isolation_level, topics, 0), at


def _read_list_offsets_partitions_v6(data: memoryview, at: int, count: int) -> tuple[list[ListOffsetsPartition], int]:
    items: list[ListOffsetsPartition] = []
    for _ in range(count):
        partition_index, current_leader_epoch, timestamp, more = _unpack_iiqB(data, at)
        at += 17
        if more:
            at = skip_tags(data, at - 1)
        items.append(ListOffsetsPartition(partition_index, current_leader_epoch, timestamp))
    return items, at


def _read_list_offsets_topics_v6(data: memoryview, at: int, count: int) -> tuple[list[ListOffsetsTopic], int]:
    items: list[ListOffsetsTopic] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 17)
        partitions, at = _read_list_offsets_partitions_v6(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(ListOffsetsTopic(name, partitions))
    return items, at


def _read_list_offsets_request_v6(data: memoryview, at: int) -> tuple[ListOffsetsRequest, int]:
    replica_id, isolation_level = _unpack_ib(data, at)
    at += 5
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_list_offsets_topics_v6(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ListOffsetsRequest(replica_id, isolation_level, topics, 0), at


def _read_list_offsets_request_v10(data: memoryview, at: int) -> tuple[ListOffsetsRequest, int]:
    replica_id, isolation_level = _unpack_ib(data, at)
    at += 5
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_list_offsets_topics_v6(data, at, count) if count else ([], at)
    timeout_ms, more = _unpack_iB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return ListOffsetsRequest(replica_id, isolation_level, topics, timeout_ms), at


def _write_list_offsets_partitions_v1(items: Sequence[ListOffsetsPartition], out: bytearray) -> None:
    for item in items:
        out += _pack_iq(item.partition_index, item.timestamp)


def _write_list_offsets_topics_v1(items: Sequence[ListOffsetsTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_list_offsets_partitions_v1(item.partitions, out)


def _write_list_offsets_request_v1(item: ListOffsetsRequest, out: bytearray) -> None:
    if item.isolation_level != 0:
        refuse_field("ListOffsetsRequest.isolation_level")
    out += _pack_ii(item.replica_id, len(item.topics))
    if item.topics:
        _write_list_offsets_topics_v1(item.topics, out)


def _write_list_offsets_request_v2(item: ListOffsetsRequest, out: bytearray) -> None:
    out += _pack_ibi(item.replica_id, item.isolation_level, len(item.topics))
    if item.topics:
        _write_list_offsets_topics_v1(item.topics, out)


def _write_list_offsets_partitions_v4(items: Sequence[ListOffsetsPartition], out: bytearray) -> None:
    for item in items:
        out += _pack_iiq(item.partition_index, item.current_leader_epoch, item.timestamp)


def _write_list_offsets_topics_v4(items: Sequence[ListOffsetsTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_list_offsets_partitions_v4(item.partitions, out)


def _write_list_offsets_request_v4(item: ListOffsetsRequest, out: bytearray) -> None:
    out += _pack_ibi(item.replica_id, item.isolation_level, len(item.topics))
    if item.topics:
        _write_list_offsets_topics_v4(item.topics, out)


def _write_list_offsets_partitions_v6(items: Sequence[ListOffsetsPartition], out: bytearray) -> None:
    for item in items:
        out += _pack_iiqx(item.partition_index, item.current_leader_epoch, item.timestamp)


def _write_list_offsets_topics_v6(items: Sequence[ListOffsetsTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_list_offsets_partitions_v6(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_list_offsets_request_v6(item: ListOffsetsRequest, out: bytearray) -> None:
    out += _pack_ib(item.replica_id, item.isolation_level)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_list_offsets_topics_v6(item.topics, out)
    else:
        out.append(1)
    out.append(0)


def _write_list_offsets_request_v10(item: ListOffsetsRequest, out: bytearray) -> None:
    out += _pack_ib(item.replica_id, item.isolation_level)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_list_offsets_topics_v6(item.topics, out)
    else:
        out.append(1)
    out += _pack_ix(item.timeout_ms)


ListOffsetsRequest.DECODERS = {
    1: _read_list_offsets_request_v1,
    2: _read_list_offsets_request_v2,
    3: _read_list_offsets_request_v2,
    4: _read_list_offsets_request_v4,
    5: _read_list_offsets_request_v4,
    6: _read_list_offsets_request_v6,
    7: _read_list_offsets_request_v6,
    8: _read_list_offsets_request_v6,
    9: _read_list_offsets_request_v6,
    10: _read_list_offsets_request_v10,
    11: _read_list_offsets_request_v10,
}
ListOffsetsRequest.ENCODERS = {
    1: _write_list_offsets_request_v1,
    2: _write_list_offsets_request_v2,
    3: _write_list_offsets_request_v2,
    4: _write_list_offsets_request_v4,
    5: _write_list_offsets_request_v4,
    6: _write_list_offsets_request_v6,
    7: _write_list_offsets_request_v6,
    8: _write_list_offsets_request_v6,
    9: _write_list_offsets_request_v6,
    10: _write_list_offsets_request_v10,
    11: _write_list_offsets_request_v10,
}
