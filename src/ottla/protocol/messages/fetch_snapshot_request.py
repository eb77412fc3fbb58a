"""Generated from schemas/fetch_snapshot.schema: FetchSnapshotRequest, versions 0-1. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    check_tag_end,
    read_compact_count,
    read_compact_string,
    read_tag,
    read_tag_count,
    skip_tags,
    uvarint,
    write_compact_string,
    write_tags,
)

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack
_unpack_ii = Layout(">ii").unpack_from
_pack_ii = Layout(">ii").pack
_unpack_q = Layout(">q").unpack_from
_pack_q = Layout(">q").pack
_unpack_qB = Layout(">qB").unpack_from
_unpack_qiB = Layout(">qiB").unpack_from
_pack_qix = Layout(">qix").pack
_pack_qx = Layout(">qx").pack


class FetchSnapshotRequest(Message):
    __slots__ = ("cluster_id", "replica_id", "max_bytes", "topics",)
    API_KEY = 59
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        cluster_id: str | None = None,
        replica_id: int = -1,
        max_bytes: int = 2147483647,
        topics: Sequence[TopicSnapshot] = (),
    ) -> None:
        self.cluster_id = cluster_id
        self.replica_id = replica_id
        self.max_bytes = max_bytes
        self.topics = topics


class SnapshotId(Struct):
    __slots__ = ("end_offset", "epoch",)

    def __init__(
        self,
        end_offset: int = 0,
        epoch: int = 0,
    ) -> None:
        self.end_offset = end_offset
        self.epoch = epoch


class PartitionSnapshot(Struct):
    __slots__ = ("partition", "current_leader_epoch", "snapshot_id", "position", "replica_directory_id",)

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = 0,
        snapshot_id: SnapshotId | None = None,
        position: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.snapshot_id: SnapshotId = SnapshotId() if snapshot_id is None else snapshot_id
        self.position = position
        self.replica_directory_id = replica_directory_id


class TopicSnapshot(Struct):
    __slots__ = ("name", "partitions",)

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[PartitionSnapshot] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


def _read_snapshot_id_v0(data: memoryview, at: int) -> tuple[SnapshotId, int]:
    end_offset, epoch, more = _unpack_qiB(data, at)
    at += 13
    if more:
        at = skip_tags(data, at - 1)
    return SnapshotId(end_offset, epoch), at


def _read_partition_snapshots_v0(data: memoryview, at: int, count: int) -> tuple[list[PartitionSnapshot], int]:
    items: list[PartitionSnapshot] = []
    for _ in range(count):
        partition, current_leader_epoch = _unpack_ii(data, at)
        at += 8
        snapshot_id, at = _read_snapshot_id_v0(data, at)
        position, more = _unpack_qB(data, at)
        at += 9
        if more:
            at = skip_tags(data, at - 1)
        items.append(PartitionSnapshot(partition, current_leader_epoch, snapshot_id, position, ZERO_UUID))
    return items, at


def _read_topic_snapshots_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicSnapshot], int]:
    items: list[TopicSnapshot] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 30)
        partitions, at = _read_partition_snapshots_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicSnapshot(name, partitions))
    return items, at


def _read_fetch_snapshot_request_v0(data: memoryview, at: int) -> tuple[FetchSnapshotRequest, int]:
    replica_id, max_bytes = _unpack_ii(data, at)
    at += 8
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_topic_snapshots_v0(data, at, count) if count else ([], at)
    cluster_id: str | None = None
    if not data[at]:
        at += 1
    else:
        more, at = read_tag_count(data, at)
        while more:
            more -= 1
            tag, end, at = read_tag(data, at)
            if tag == 0:
                cluster_id = None
                if data[at]:
                    cluster_id, at = read_compact_string(data, at)
                else:
                    at += 1
            else:
                at = end
            check_tag_end(tag, at, end)
    return FetchSnapshotRequest(cluster_id, replica_id, max_bytes, topics), at


def _read_partition_snapshots_v1(data: memoryview, at: int, count: int) -> tuple[list[PartitionSnapshot], int]:
    items: list[PartitionSnapshot] = []
    for _ in range(count):
        partition, current_leader_epoch = _unpack_ii(data, at)
        at += 8
        snapshot_id, at = _read_snapshot_id_v0(data, at)
        (position,) = _unpack_q(data, at)
        at += 8
        replica_directory_id: bytes = ZERO_UUID
        if not data[at]:
            at += 1
        else:
            more, at = read_tag_count(data, at)
            while more:
                more -= 1
                tag, end, at = read_tag(data, at)
                if tag == 0:
                    (replica_directory_id,) = _unpack_u(data, at)
                    at += 16
                else:
                    at = end
                check_tag_end(tag, at, end)
        items.append(PartitionSnapshot(partition, current_leader_epoch, snapshot_id, position, replica_directory_id))
    return items, at


def _read_topic_snapshots_v1(data: memoryview, at: int, count: int) -> tuple[list[TopicSnapshot], int]:
    items: list[TopicSnapshot] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 30)
        partitions, at = _read_partition_snapshots_v1(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicSnapshot(name, partitions))
    return items, at


def _read_fetch_snapshot_request_v1(data: memoryview, at: int) -> tuple[FetchSnapshotRequest, int]:
    replica_id, max_bytes = _unpack_ii(data, at)
    at += 8
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_topic_snapshots_v1(data, at, count) if count else ([], at)
    cluster_id: str | None = None
    if not data[at]:
        at += 1
    else:
        more, at = read_tag_count(data, at)
        while more:
            more -= 1
            tag, end, at = read_tag(data, at)
            if tag == 0:
                cluster_id = None
                if data[at]:
                    cluster_id, at = read_compact_string(data, at)
                else:
                    at += 1
            else:
                at = end
            check_tag_end(tag, at, end)
    return FetchSnapshotRequest(cluster_id, replica_id, max_bytes, topics), at


def _write_snapshot_id_v0(item: SnapshotId, out: bytearray) -> None:
    out += _pack_qix(item.end_offset, item.epoch)


def _write_partition_snapshots_v0(items: Sequence[PartitionSnapshot], out: bytearray) -> None:
    for item in items:
        out += _pack_ii(item.partition, item.current_leader_epoch)
        _write_snapshot_id_v0(item.snapshot_id, out)
        out += _pack_qx(item.position)


def _write_topic_snapshots_v0(items: Sequence[TopicSnapshot], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_partition_snapshots_v0(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_fetch_snapshot_request_v0(item: FetchSnapshotRequest, out: bytearray) -> None:
    out += _pack_ii(item.replica_id, item.max_bytes)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_topic_snapshots_v0(item.topics, out)
    else:
        out.append(1)
    if not (item.cluster_id is not None):
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if item.cluster_id is not None:
            value = bytearray()
            if item.cluster_id is None:
                value.append(0)
            else:
                write_compact_string(item.cluster_id, value)
            tags.append((0, value))
        write_tags(tags, out)


def _write_partition_snapshots_v1(items: Sequence[PartitionSnapshot], out: bytearray) -> None:
    for item in items:
        out += _pack_ii(item.partition, item.current_leader_epoch)
        _write_snapshot_id_v0(item.snapshot_id, out)
        out += _pack_q(item.position)
        if not (item.replica_directory_id != ZERO_UUID):
            out.append(0)
        else:
            tags: list[tuple[int, bytearray]] = []
            if item.replica_directory_id != ZERO_UUID:
                value = bytearray()
                value += _pack_u(item.replica_directory_id)
                tags.append((0, value))
            write_tags(tags, out)


def _write_topic_snapshots_v1(items: Sequence[TopicSnapshot], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_partition_snapshots_v1(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_fetch_snapshot_request_v1(item: FetchSnapshotRequest, out: bytearray) -> None:
    out += _pack_ii(item.replica_id, item.max_bytes)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_topic_snapshots_v1(item.topics, out)
    else:
        out.append(1)
    if not (item.cluster_id is not None):
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if item.cluster_id is not None:
            value = bytearray()
            if item.cluster_id is None:
                value.append(0)
            else:
                write_compact_string(item.cluster_id, value)
            tags.append((0, value))
        write_tags(tags, out)


FetchSnapshotRequest.DECODERS = {
    0: _read_fetch_snapshot_request_v0,
    1: _read_fetch_snapshot_request_v1,
}
FetchSnapshotRequest.ENCODERS = {
    0: _write_fetch_snapshot_request_v0,
    1: _write_fetch_snapshot_request_v1,
}
