"""Generated from schemas/write_txn_markers.schema: WriteTxnMarkersResponse, versions 1-2. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    skip_tags,
    uvarint,
    write_compact_string,
)

_unpack_ihB = Layout(">ihB").unpack_from
_pack_ihx = Layout(">ihx").pack
_unpack_q = Layout(">q").unpack_from
_pack_q = Layout(">q").pack


class WriteTxnMarkersResponse(Message):
    __slots__ = ("markers",)
    API_KEY = 27
    VERSIONS = range(1, 3)
    FLEXIBLE_FROM = 1

    def __init__(
        self,
        markers: Sequence[WritableTxnMarkerResult] = (),
    ) -> None:
        self.markers = markers


class WritableTxnMarkerPartitionResult(Struct):
    __slots__ = ("partition_index", "error_code",)

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class WritableTxnMarkerTopicResult(Struct):
    __slots__ = ("name", "partitions",)

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[WritableTxnMarkerPartitionResult] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class WritableTxnMarkerResult(Struct):
    __slots__ = ("producer_id", "topics",)

    def __init__(
        self,
        producer_id: int = 0,
        topics: Sequence[WritableTxnMarkerTopicResult] = (),
    ) -> None:
        self.producer_id = producer_id
        self.topics = topics


def _read_writable_txn_marker_partition_results_v1(data: memoryview, at: int, count: int) -> tuple[list[WritableTxnMarkerPartitionResult], int]:
    items: list[WritableTxnMarkerPartitionResult] = []
    for _ in range(count):
        partition_index, error_code, more = _unpack_ihB(data, at)
        at += 7
        if more:
            at = skip_tags(data, at - 1)
        items.append(WritableTxnMarkerPartitionResult(partition_index, error_code))
    return items, at


def _read_writable_txn_marker_topic_results_v1(data: memoryview, at: int, count: int) -> tuple[list[WritableTxnMarkerTopicResult], int]:
    items: list[WritableTxnMarkerTopicResult] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 7)
        partitions, at = _read_writable_txn_marker_partition_results_v1(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(WritableTxnMarkerTopicResult(name, partitions))
    return items, at


def _read_writable_txn_marker_results_v1(data: memoryview, at: int, count: int) -> tuple[list[WritableTxnMarkerResult], int]:
    items: list[WritableTxnMarkerResult] = []
    for _ in range(count):
        (producer_id,) = _unpack_q(data, at)
        at += 8
        count, at = read_compact_count(data, at, 3)
        topics, at = _read_writable_txn_marker_topic_results_v1(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(WritableTxnMarkerResult(producer_id, topics))
    return items, at


def _read_write_txn_markers_response_v1(data: memoryview, at: int) -> tuple[WriteTxnMarkersResponse, int]:
    count, at = read_compact_count(data, at, 10)
    markers, at = _read_writable_txn_marker_results_v1(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return WriteTxnMarkersResponse(markers), at


def _write_writable_txn_marker_partition_results_v1(items: Sequence[WritableTxnMarkerPartitionResult], out: bytearray) -> None:
    for item in items:
        out += _pack_ihx(item.partition_index, item.error_code)


def _write_writable_txn_marker_topic_results_v1(items: Sequence[WritableTxnMarkerTopicResult], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_writable_txn_marker_partition_results_v1(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_writable_txn_marker_results_v1(items: Sequence[WritableTxnMarkerResult], out: bytearray) -> None:
    for item in items:
        out += _pack_q(item.producer_id)
        if item.topics:
            out += uvarint(len(item.topics) + 1)
            _write_writable_txn_marker_topic_results_v1(item.topics, out)
        else:
            out.append(1)
        out.append(0)


def _write_write_txn_markers_response_v1(item: WriteTxnMarkersResponse, out: bytearray) -> None:
    if item.markers:
        out += uvarint(len(item.markers) + 1)
        _write_writable_txn_marker_results_v1(item.markers, out)
    else:
        out.append(1)
    out.append(0)


WriteTxnMarkersResponse.DECODERS = {
    1: _read_write_txn_markers_response_v1,
    2: _read_write_txn_markers_response_v1,
}
WriteTxnMarkersResponse.ENCODERS = {
    1: _write_write_txn_markers_response_v1,
    2: _write_write_txn_markers_response_v1,
}
