"""Generated from schemas/write_txn_markers.schema: WriteTxnMarkersRequest, versions 1-2. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_numbers,
    skip_tags,
    uvarint,
    write_compact_string,
    write_numbers,
)

_unpack_iB = Layout(">iB").unpack_from
_unpack_ibB = Layout(">ibB").unpack_from
_pack_ibx = Layout(">ibx").pack
_pack_ix = Layout(">ix").pack
_unpack_qht = Layout(">qh?").unpack_from
_pack_qht = Layout(">qh?").pack


class WriteTxnMarkersRequest(Message):
    __slots__ = ("markers",)
    API_KEY = 27
    VERSIONS = range(1, 3)
    FLEXIBLE_FROM = 1

    def __init__(
        self,
        markers: Sequence[WritableTxnMarker] = (),
    ) -> None:
        self.markers = markers


class WritableTxnMarkerTopic(Struct):
    __slots__ = ("name", "partition_indexes",)

    def __init__(
        self,
        name: str = "",
        partition_indexes: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.partition_indexes = partition_indexes


class WritableTxnMarker(Struct):
    __slots__ = ("producer_id", "producer_epoch", "transaction_result", "topics", "coordinator_epoch", "transaction_version",)

    def __init__(
        self,
        producer_id: int = 0,
        producer_epoch: int = 0,
        transaction_result: bool = False,
        topics: Sequence[WritableTxnMarkerTopic] = (),
        coordinator_epoch: int = 0,
        transaction_version: int = 0,
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.transaction_result = transaction_result
        self.topics = topics
        self.coordinator_epoch = coordinator_epoch
        self.transaction_version = transaction_version


def _read_writable_txn_marker_topics_v1(data: memoryview, at: int, count: int) -> tuple[list[WritableTxnMarkerTopic], int]:
    items: list[WritableTxnMarkerTopic] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 4)
        partition_indexes, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(WritableTxnMarkerTopic(name, partition_indexes))
    return items, at


def _read_writable_txn_markers_v1(data: memoryview, at: int, count: int) -> tuple[list[WritableTxnMarker], int]:
    items: list[WritableTxnMarker] = []
    for _ in range(count):
        producer_id, producer_epoch, transaction_result = _unpack_qht(data, at)
        at += 11
        count, at = read_compact_count(data, at, 3)
        topics, at = _read_writable_txn_marker_topics_v1(data, at, count) if count else ([], at)
        coordinator_epoch, more = _unpack_iB(data, at)
        at += 5
        if more:
            at = skip_tags(data, at - 1)
        items.append(WritableTxnMarker(producer_id, producer_epoch, transaction_result, topics, coordinator_epoch, 0))
    return items, at


def _read_write_txn_markers_request_v1(data: memoryview, at: int) -> tuple[WriteTxnMarkersRequest, int]:
    count, at = read_compact_count(data, at, 17)
    markers, at = _read_writable_txn_markers_v1(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return WriteTxnMarkersRequest(markers), at


def _read_writable_txn_markers_v2(data: memoryview, at: int, count: int) -> tuple[list[WritableTxnMarker], int]:
    items: list[WritableTxnMarker] = []
    for _ in range(count):
        producer_id, producer_epoch, transaction_result = _unpack_qht(data, at)
        at += 11
        count, at = read_compact_count(data, at, 3)
        topics, at = _read_writable_txn_marker_topics_v1(data, at, count) if count else ([], at)
        coordinator_epoch, transaction_version, more = _unpack_ibB(data, at)
        at += 6
        if more:
            at = skip_tags(data, at - 1)
        items.append(WritableTxnMarker(producer_id, producer_epoch, transaction_result, topics, coordinator_epoch, transaction_version))
    return items, at


def _read_write_txn_markers_request_v2(data: memoryview, at: int) -> tuple[WriteTxnMarkersRequest, int]:
    count, at = read_compact_count(data, at, 18)
    markers, at = _read_writable_txn_markers_v2(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return WriteTxnMarkersRequest(markers), at


def _write_writable_txn_marker_topics_v1(items: Sequence[WritableTxnMarkerTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partition_indexes:
            out += uvarint(len(item.partition_indexes) + 1)
            write_numbers(item.partition_indexes, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_writable_txn_markers_v1(items: Sequence[WritableTxnMarker], out: bytearray) -> None:
    for item in items:
        out += _pack_qht(item.producer_id, item.producer_epoch, item.transaction_result)
        if item.topics:
            out += uvarint(len(item.topics) + 1)
            _write_writable_txn_marker_topics_v1(item.topics, out)
        else:
            out.append(1)
        out += _pack_ix(item.coordinator_epoch)


def _write_write_txn_markers_request_v1(item: WriteTxnMarkersRequest, out: bytearray) -> None:
    if item.markers:
        out += uvarint(len(item.markers) + 1)
        _write_writable_txn_markers_v1(item.markers, out)
    else:
        out.append(1)
    out.append(0)


def _write_writable_txn_markers_v2(items: Sequence[WritableTxnMarker], out: bytearray) -> None:
    for item in items:
        out += _pack_qht(item.producer_id, item.producer_epoch, item.transaction_result)
        if item.topics:
            out += uvarint(len(item.topics) + 1)
            _write_writable_txn_marker_topics_v1(item.topics, out)
        else:
            out.append(1)
        out += _pack_ibx(item.coordinator_epoch, item.transaction_version)


def _write_write_txn_markers_request_v2(item: WriteTxnMarkersRequest, out: bytearray) -> None:
    if item.markers:
        out += uvarint(len(item.markers) + 1)
        _write_writable_txn_markers_v2(item.markers, out)
    else:
        out.append(1)
    out.append(0)


WriteTxnMarkersRequest.DECODERS = {
    1: _read_write_txn_markers_request_v1,
    2: _read_write_txn_markers_request_v2,
}
WriteTxnMarkersRequest.ENCODERS = {
    1: _write_write_txn_markers_request_v1,
    2: _write_write_txn_markers_request_v2,
}
