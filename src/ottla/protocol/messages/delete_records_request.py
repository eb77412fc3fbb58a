"""Generated from schemas/delete_records.schema: DeleteRecordsRequest, versions 0-2. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
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
_unpack_iq = Layout(">iq").unpack_from
_pack_iq = Layout(">iq").pack
_unpack_iqB = Layout(">iqB").unpack_from
_pack_iqx = Layout(">iqx").pack
_pack_ix = Layout(">ix").pack


class DeleteRecordsRequest(Message):
    __slots__ = ("topics", "timeout_ms",)
    API_KEY = 21
    VERSIONS = range(0, 3)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        topics: Sequence[DeleteRecordsTopic] = (),
        timeout_ms: int = 0,
    ) -> None:
        self.topics = topics
        self.timeout_ms = timeout_ms


class DeleteRecordsPartition(Struct):
    __slots__ = ("partition_index", "offset",)

    def __init__(
        self,
        partition_index: int = 0,
        offset: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.offset = offset


class DeleteRecordsTopic(Struct):
    __slots__ = ("name", "partitions",)

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[DeleteRecordsPartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


def _read_delete_records_partitions_v0(data: memoryview, at: int, count: int) -> tuple[list[DeleteRecordsPartition], int]:
    items: list[DeleteRecordsPartition] = []
    for _ in range(count):
        partition_index, offset = _unpack_iq(data, at)
        at += 12
        items.append(DeleteRecordsPartition(partition_index, offset))
    return items, at


def _read_delete_records_topics_v0(data: memoryview, at: int, count: int) -> tuple[list[DeleteRecordsTopic], int]:
    items: list[DeleteRecordsTopic] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 12)
        partitions, at = _read_delete_records_partitions_v0(data, at, count) if count else ([], at)
        items.append(DeleteRecordsTopic(name, partitions))
    return items, at


def _read_delete_records_request_v0(data: memoryview, at: int) -> tuple[DeleteRecordsRequest, int]:
    count, at = read_count(data, at, 6)
    topics, at = _read_delete_records_topics_v0(data, at, count) if count else ([], at)
    (timeout_ms,) = _unpack_i(data, at)
    at += 4
    return DeleteRecordsRequest(topics, timeout_ms), at


def _read_delete_records_partitions_v2(data: memoryview, at: int, count: int) -> tuple[list[DeleteRecordsPartition], int]:
    items: list[DeleteRecordsPartition] = []
    for _ in range(count):
        partition_index, offset, more = _unpack_iqB(data, at)
        at += 13
        if more:
            at = skip_tags(data, at - 1)
        items.append(DeleteRecordsPartition(partition_index, offset))
    return items, at


def _read_delete_records_topics_v2(data: memoryview, at: int, count: int) -> tuple[list[DeleteRecordsTopic], int]:
    items: list[DeleteRecordsTopic] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 13)
        partitions, at = _read_delete_records_partitions_v2(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DeleteRecordsTopic(name, partitions))
    return items, at


def _read_delete_records_request_v2(data: memoryview, at: int) -> tuple[DeleteRecordsRequest, int]:
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_delete_records_topics_v2(data, at, count) if count else ([], at)
    timeout_ms, more = _unpack_iB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return DeleteRecordsRequest(topics, timeout_ms), at


def _write_delete_records_partitions_v0(items: Sequence[DeleteRecordsPartition], out: bytearray) -> None:
    for item in items:
        out += _pack_iq(item.partition_index, item.offset)


def _write_delete_records_topics_v0(items: Sequence[DeleteRecordsTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_delete_records_partitions_v0(item.partitions, out)


def _write_delete_records_request_v0(item: DeleteRecordsRequest, out: bytearray) -> None:
    out += _pack_i(len(item.topics))
    if item.topics:
        _write_delete_records_topics_v0(item.topics, out)
    out += _pack_i(item.timeout_ms)


def _write_delete_records_partitions_v2(items: Sequence[DeleteRecordsPartition], out: bytearray) -> None:
    for item in items:
        out += _pack_iqx(item.partition_index, item.offset)


def _write_delete_records_topics_v2(items: Sequence[DeleteRecordsTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_delete_records_partitions_v2(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_delete_records_request_v2(item: DeleteRecordsRequest, out: bytearray) -> None:
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_delete_records_topics_v2(item.topics, out)
    else:
        out.append(1)
    out += _pack_ix(item.timeout_ms)


DeleteRecordsRequest.DECODERS = {
    0: _read_delete_records_request_v0,
    1: _read_delete_records_request_v0,
    2: _read_delete_records_request_v2,
}
DeleteRecordsRequest.ENCODERS = {
    0: _write_delete_records_request_v0,
    1: _write_delete_records_request_v0,
    2: _write_delete_records_request_v2,
}
