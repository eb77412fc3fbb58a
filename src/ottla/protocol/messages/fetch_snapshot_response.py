"""Generated from schemas/fetch_snapshot.schema: FetchSnapshotResponse, versions 0-1. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import FrameSegment, RecordsMessage, Struct, refuse_field, refuse_null_field
from ottla.protocol.primitives import (
    check_tag_end,
    read_compact_count,
    read_compact_string,
    read_compact_view,
    read_tag,
    read_tag_count,
    refuse_null,
    skip_tags,
    uvarint,
    write_compact_string,
    write_tags,
)

_unpack_HB = Layout(">HB").unpack_from
_pack_Hx = Layout(">Hx").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_unpack_iiB = Layout(">iiB").unpack_from
_pack_iix = Layout(">iix").pack
_unpack_qiB = Layout(">qiB").unpack_from
_pack_qix = Layout(">qix").pack
_unpack_qq = Layout(">qq").unpack_from
_pack_qq = Layout(">qq").pack


class FetchSnapshotResponse(RecordsMessage):
    __slots__ = ("throttle_time_ms", "error_code", "topics", "node_endpoints",)
    API_KEY = 59
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: Sequence[TopicSnapshot] = (),
        node_endpoints: Sequence[NodeEndpoint] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.topics = topics
        self.node_endpoints = node_endpoints


class SnapshotId(Struct):
    __slots__ = ("end_offset", "epoch",)

    def __init__(
        self,
        end_offset: int = 0,
        epoch: int = 0,
    ) -> None:
        self.end_offset = end_offset
        self.epoch = epoch


class LeaderIdAndEpoch(Struct):
    __slots__ = ("leader_id", "leader_epoch",)

    def __init__(
        self,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch


class PartitionSnapshot(Struct):
    __slots__ = ("index", "error_code", "snapshot_id", "current_leader", "size", "position", "unaligned_records",)

    def __init__(
        self,
        index: int = 0,
        error_code: int = 0,
        snapshot_id: SnapshotId | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        size: int = 0,
        position: int = 0,
        unaligned_records: FrameSegment = b"",
    ) -> None:
        self.index = index
        self.error_code = error_code
        self.snapshot_id: SnapshotId = SnapshotId() if snapshot_id is None else snapshot_id
        self.current_leader = current_leader
        self.size = size
        self.position = position
        self.unaligned_records = unaligned_records


class TopicSnapshot(Struct):
    __slots__ = ("name", "partitions",)

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[PartitionSnapshot] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class NodeEndpoint(Struct):
    __slots__ = ("node_id", "host", "port",)

    def __init__(
        self,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port


def _read_snapshot_id_v0(data: memoryview, at: int) -> tuple[SnapshotId, int]:
    end_offset, epoch, more = _unpack_qiB(data, at)
    at += 13
    if more:
        at = skip_tags(data, at - 1)
    return SnapshotId(end_offset, epoch), at


def _read_leader_id_and_epoch_v0(data: memoryview, at: int) -> tuple[LeaderIdAndEpoch, int]:
    leader_id, leader_epoch, more = _unpack_iiB(data, at)
    at += 9
    if more:
        at = skip_tags(data, at - 1)
    return LeaderIdAndEpoch(leader_id, leader_epoch), at


def _read_partition_snapshots_v0(data: memoryview, at: int, count: int) -> tuple[list[PartitionSnapshot], int]:
    items: list[PartitionSnapshot] = []
    for _ in range(count):
        index, error_code = _unpack_ih(data, at)
        at += 6
        snapshot_id, at = _read_snapshot_id_v0(data, at)
        size, position = _unpack_qq(data, at)
        at += 16
        unaligned_records, at = read_compact_view(data, at)
        if unaligned_records is None:
            refuse_null("records", at)
        current_leader: LeaderIdAndEpoch | None = None
        if not data[at]:
            at += 1
        else:
            more, at = read_tag_count(data, at)
            while more:
                more -= 1
                tag, end, at = read_tag(data, at)
                if tag == 0:
                    current_leader, at = _read_leader_id_and_epoch_v0(data, at)
                else:
                    at = end
                check_tag_end(tag, at, end)
        items.append(PartitionSnapshot(index, error_code, snapshot_id, current_leader, size, position, unaligned_records))
    return items, at


def _read_topic_snapshots_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicSnapshot], int]:
    items: list[TopicSnapshot] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 37)
        partitions, at = _read_partition_snapshots_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicSnapshot(name, partitions))
    return items, at


def _read_fetch_snapshot_response_v0(data: memoryview, at: int) -> tuple[FetchSnapshotResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_topic_snapshots_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return FetchSnapshotResponse(throttle_time_ms, error_code, topics, ()), at


def _read_node_endpoints_v1(data: memoryview, at: int, count: int) -> tuple[list[NodeEndpoint], int]:
    items: list[NodeEndpoint] = []
    for _ in range(count):
        (node_id,) = _unpack_i(data, at)
        at += 4
        host, at = read_compact_string(data, at)
        port, more = _unpack_HB(data, at)
        at += 3
        if more:
            at = skip_tags(data, at - 1)
        items.append(NodeEndpoint(node_id, host, port))
    return items, at


def _read_fetch_snapshot_response_v1(data: memoryview, at: int) -> tuple[FetchSnapshotResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_topic_snapshots_v0(data, at, count) if count else ([], at)
    node_endpoints: Sequence[NodeEndpoint] = ()
    if not data[at]:
        at += 1
    else:
        more, at = read_tag_count(data, at)
        while more:
            more -= 1
            tag, end, at = read_tag(data, at)
            if tag == 0:
                count, at = read_compact_count(data, at, 8)
                node_endpoints, at = _read_node_endpoints_v1(data, at, count) if count else ([], at)
            else:
                at = end
            check_tag_end(tag, at, end)
    return FetchSnapshotResponse(throttle_time_ms, error_code, topics, node_endpoints), at


def _write_snapshot_id_v0(item: SnapshotId, out: bytearray) -> None:
    out += _pack_qix(item.end_offset, item.epoch)


def _write_leader_id_and_epoch_v0(item: LeaderIdAndEpoch, out: bytearray) -> None:
    out += _pack_iix(item.leader_id, item.leader_epoch)


def _write_partition_snapshots_v0(items: Sequence[PartitionSnapshot], out: bytearray, segments: list[FrameSegment]) -> bytearray:
    for item in items:
        out += _pack_ih(item.index, item.error_code)
        _write_snapshot_id_v0(item.snapshot_id, out)
        out += _pack_qq(item.size, item.position)
        if item.unaligned_records is None:
            refuse_null_field("PartitionSnapshot.unaligned_records")
        out += uvarint(0 if item.unaligned_records is None else len(item.unaligned_records) + 1)
        if item.unaligned_records:
            segments.append(out)
            segments.append(item.unaligned_records)
            out = bytearray()
        if not ((item.current_leader is not None and item.current_leader != LeaderIdAndEpoch())):
            out.append(0)
        else:
            tags: list[tuple[int, bytearray]] = []
            if (item.current_leader is not None and item.current_leader != LeaderIdAndEpoch()):
                value = bytearray()
                _write_leader_id_and_epoch_v0(item.current_leader, value)
                tags.append((0, value))
            write_tags(tags, out)
    return out


def _write_topic_snapshots_v0(items: Sequence[TopicSnapshot], out: bytearray, segments: list[FrameSegment]) -> bytearray:
    for item in items:
        write_compact_string(item.name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            out = _write_partition_snapshots_v0(item.partitions, out, segments)
        else:
            out.append(1)
        out.append(0)
    return out


def _write_fetch_snapshot_response_v0(item: FetchSnapshotResponse, out: bytearray, segments: list[FrameSegment]) -> bytearray:
    if item.node_endpoints:
        refuse_field("FetchSnapshotResponse.node_endpoints")
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        out = _write_topic_snapshots_v0(item.topics, out, segments)
    else:
        out.append(1)
    out.append(0)
    return out


def _write_node_endpoints_v1(items: Sequence[NodeEndpoint], out: bytearray) -> None:
    for item in items:
        out += _pack_i(item.node_id)
        write_compact_string(item.host, out)
        out += _pack_Hx(item.port)


def _write_fetch_snapshot_response_v1(item: FetchSnapshotResponse, out: bytearray, segments: list[FrameSegment]) -> bytearray:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        out = _write_topic_snapshots_v0(item.topics, out, segments)
    else:
        out.append(1)
    if not (item.node_endpoints):
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if item.node_endpoints:
            value = bytearray()
            if item.node_endpoints:
                value += uvarint(len(item.node_endpoints) + 1)
                _write_node_endpoints_v1(item.node_endpoints, value)
            else:
                value.append(1)
            tags.append((0, value))
        write_tags(tags, out)
    return out


FetchSnapshotResponse.DECODERS = {
    0: _read_fetch_snapshot_response_v0,
    1: _read_fetch_snapshot_response_v1,
}
FetchSnapshotResponse.ENCODERS = {
    0: _write_fetch_snapshot_response_v0,
    1: _write_fetch_snapshot_response_v1,
}
