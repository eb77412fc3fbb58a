"""Generated from schemas/alter_replica_log_dirs.schema: AlterReplicaLogDirsRequest, versions 1-2. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_count,
    read_numbers,
    read_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_numbers,
    write_string,
)

_pack_i = Layout(">i").pack


class AlterReplicaLogDirsRequest(Message):
    __slots__ = ("dirs",)
    API_KEY = 34
    VERSIONS = range(1, 3)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        dirs: Sequence[AlterReplicaLogDir] = (),
    ) -> None:
        self.dirs = dirs


class AlterReplicaLogDirTopic(Struct):
    __slots__ = ("name", "partitions",)

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class AlterReplicaLogDir(Struct):
    __slots__ = ("path", "topics",)

    def __init__(
        self,
        path: str = "",
        topics: Sequence[AlterReplicaLogDirTopic] = (),
    ) -> None:
        self.path = path
        self.topics = topics


def _read_alter_replica_log_dir_topics_v1(data: memoryview, at: int, count: int) -> tuple[list[AlterReplicaLogDirTopic], int]:
    items: list[AlterReplicaLogDirTopic] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        items.append(AlterReplicaLogDirTopic(name, partitions))
    return items, at


def _read_alter_replica_log_dirs_v1(data: memoryview, at: int, count: int) -> tuple[list[AlterReplicaLogDir], int]:
    items: list[AlterReplicaLogDir] = []
    for _ in range(count):
        path, at = read_string(data, at)
        count, at = read_count(data, at, 6)
        topics, at = _read_alter_replica_log_dir_topics_v1(data, at, count) if count else ([], at)
        items.append(AlterReplicaLogDir(path, topics))
    return items, at


def _read_alter_replica_log_dirs_request_v1(data: memoryview, at: int) -> tuple[AlterReplicaLogDirsRequest, int]:
    count, at = read_count(data, at, 6)
    dirs, at = _read_alter_replica_log_dirs_v1(data, at, count) if count else ([], at)
    return AlterReplicaLogDirsRequest(dirs), at


def _read_alter_replica_log_dir_topics_v2(data: memoryview, at: int, count: int) -> tuple[list[AlterReplicaLogDirTopic], int]:
    items: list[AlterReplicaLogDirTopic] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(AlterReplicaLogDirTopic(name, partitions))
    return items, at


def _read_alter_replica_log_dirs_v2(data: memoryview, at: int, count: int) -> tuple[list[AlterReplicaLogDir], int]:
    items: list[AlterReplicaLogDir] = []
    for _ in range(count):
        path, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 3)
        topics, at = _read_alter_replica_log_dir_topics_v2(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(AlterReplicaLogDir(path, topics))
    return items, at


def _read_alter_replica_log_dirs_request_v2(data: memoryview, at: int) -> tuple[AlterReplicaLogDirsRequest, int]:
    count, at = read_compact_count(data, at, 3)
    dirs, at = _read_alter_replica_log_dirs_v2(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return AlterReplicaLogDirsRequest(dirs), at


def _write_alter_replica_log_dir_topics_v1(items: Sequence[AlterReplicaLogDirTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            write_numbers(item.partitions, "i", out)


def _write_alter_replica_log_dirs_v1(items: Sequence[AlterReplicaLogDir], out: bytearray) -> None:
    for item in items:
        write_string(item.path, out)
        out += _pack_i(len(item.topics))
        if item.topics:
            _write_alter_replica_log_dir_topics_v1(item.topics, out)


def _write_alter_replica_log_dirs_request_v1(item: AlterReplicaLogDirsRequest, out: bytearray) -> None:
    out += _pack_i(len(item.dirs))
    if item.dirs:
        _write_alter_replica_log_dirs_v1(item.dirs, out)


def _write_alter_replica_log_dir_topics_v2(items: Sequence[AlterReplicaLogDirTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            write_numbers(item.partitions, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_alter_replica_log_dirs_v2(items: Sequence[AlterReplicaLogDir], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.path, out)
        if item.topics:
            out += uvarint(len(item.topics) + 1)
            _write_alter_replica_log_dir_topics_v2(item.topics, out)
        else:
            out.append(1)
        out.append(0)


def _write_alter_replica_log_dirs_request_v2(item: AlterReplicaLogDirsRequest, out: bytearray) -> None:
    if item.dirs:
        out += uvarint(len(item.dirs) + 1)
        _write_alter_replica_log_dirs_v2(item.dirs, out)
    else:
        out.append(1)
    out.append(0)


AlterReplicaLogDirsRequest.DECODERS = {
    1: _read_alter_replica_log_dirs_request_v1,
    2: _read_alter_replica_log_dirs_request_v2,
}
AlterReplicaLogDirsRequest.ENCODERS = {
    1: _write_alter_replica_log_dirs_request_v1,
    2: _write_alter_replica_log_dirs_request_v2,
}
