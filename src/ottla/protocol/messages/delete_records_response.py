"""Generated from schemas/delete_records.schema: DeleteRecordsResponse, versions 0-2. Do not edit."""

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
_pack_ii = Layout(">ii").pack
_unpack_iqh = Layout(">iqh").unpack_from
_pack_iqh = Layout(">iqh").pack
_unpack_iqhB = Layout(">iqhB").unpack_from
_pack_iqhx = Layout(">iqhx").pack


class DeleteRecordsResponse(Message):
    __slots__ = ("throttle_time_ms", "topics",)
    API_KEY = 21
    VERSIONS = range(0, 3)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[DeleteRecordsTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics


class DeleteRecordsPartitionResult(Struct):
    __slots__ = ("partition_index", "low_watermark", "error_code",)

    def __init__(
        self,
        partition_index: int = 0,
        low_watermark: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.low_watermark = low_watermark
        self.error_code = error_code


class DeleteRecordsTopicResult(Struct):
    __slots__ = ("name", "partitions",)

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[DeleteRecordsPartitionResult] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


def _read_delete_records_partition_results_v0(data: memoryview, at: int, count: int) -> tuple[list[DeleteRecordsPartitionResult], int]:
    items: list[DeleteRecordsPartitionResult] = []
    for _ in range(count):
        partition_index, low_watermark, error_code = _unpack_iqh(data, at)
        at += 14
        items.append(DeleteRecordsPartitionResult(partition_index, low_watermark, error_code))
    return items, at


def _read_delete_records_topic_results_v0(data: memoryview, at: int, count: int) -> tuple[list[DeleteRecordsTopicResult], int]:
    items: list[DeleteRecordsTopicResult] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 14)
        partitions, at = _read_delete_records_partition_results_v0(data, at, count) if count else ([], at)
        items.append(DeleteRecordsTopicResult(name, partitions))
    return items, at


def _read_delete_records_response_v0(data: memoryview, at: int) -> tuple[DeleteRecordsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 6)
    topics, at = _read_delete_records_topic_results_v0(data, at, count) if count else ([], at)
    return DeleteRecordsResponse(throttle_time_ms, topics), at


def _read_delete_records_partition_results_v2(data: memoryview, at: int, count: int) -> tuple[list[DeleteRecordsPartitionResult], int]:
    items: list[DeleteRecordsPartitionResult] = []
    for _ in range(count):
        partition_index, low_watermark, error_code, more = _unpack_iqhB(data, at)
        at += 15
        if more:
            at = skip_tags(data, at - 1)
        items.append(DeleteRecordsPartitionResult(partition_index, low_watermark, error_code))
    return items, at


def _read_delete_records_topic_results_v2(data: memoryview, at: int, count: int) -> tuple[list[DeleteRecordsTopicResult], int]:
    items: list[DeleteRecordsTopicResult] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 15)
        partitions, at = _read_delete_records_partition_results_v2(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DeleteRecordsTopicResult(name, partitions))
    return items, at


def _read_delete_records_response_v2(data: memoryview, at: int) -> tuple[DeleteRecordsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_delete_records_topic_results_v2(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DeleteRecordsResponse(throttle_time_ms, topics), at


def _write_delete_records_partition_results_v0(items: Sequence[DeleteRecordsPartitionResult], out: bytearray) -> None:
    for item in items:
        out += _pack_iqh(item.partition_index, item.low_watermark, item.error_code)


def _write_delete_records_topic_results_v0(items: Sequence[DeleteRecordsTopicResult], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_delete_records_partition_results_v0(item.partitions, out)


def _write_delete_records_response_v0(item: DeleteRecordsResponse, out: bytearray) -> None:
    out += _pack_ii(item.throttle_time_ms, len(item.topics))
    if item.topics:
        _write_delete_records_topic_results_v0(item.topics, out)


def _write_delete_records_partition_results_v2(items: Sequence[DeleteRecordsPartitionResult], out: bytearray) -> None:
    for item in items:
        out += _pack_iqhx(item.partition_index, item.low_watermark, item.error_code)


def _write_delete_records_topic_results_v2(items: Sequence[DeleteRecordsTopicResult], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_delete_records_partition_results_v2(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_delete_records_response_v2(item: DeleteRecordsResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_delete_records_topic_results_v2(item.topics, out)
    else:
        out.append(1)
    out.append(0)


DeleteRecordsResponse.DECODERS = {
    0: _read_delete_records_response_v0,
    1: _read_delete_records_response_v0,
    2: _read_delete_records_response_v2,
}
DeleteRecordsResponse.ENCODERS = {
    0: _write_delete_records_response_v0,
    1: _write_delete_records_response_v0,
    2: _write_delete_records_response_v2,
}
