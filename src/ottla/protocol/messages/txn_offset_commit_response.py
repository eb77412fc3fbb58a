"""Generated from schemas/txn_offset_commit.schema: TxnOffsetCommitResponse, versions 0-5. Do not edit."""

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
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_unpack_ihB = Layout(">ihB").unpack_from
_pack_ihx = Layout(">ihx").pack
_pack_ii = Layout(">ii").pack


class TxnOffsetCommitResponse(Message):
    __slots__ = ("throttle_time_ms", "topics",)
    API_KEY = 28
    VERSIONS = range(0, 6)
    FLEXIBLE_FROM = 3

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[TxnOffsetCommitResponseTopic] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics


class TxnOffsetCommitResponsePartition(Struct):
    __slots__ = ("partition_index", "error_code",)

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class TxnOffsetCommitResponseTopic(Struct):
    __slots__ = ("name", "partitions",)

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[TxnOffsetCommitResponsePartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


def _read_txn_offset_commit_response_partitions_v0(data: memoryview, at: int, count: int) -> tuple[list[TxnOffsetCommitResponsePartition], int]:
    items: list[TxnOffsetCommitResponsePartition] = []
    for _ in range(count):
        partition_index, error_code = _unpack_ih(data, at)
        at += 6
        items.append(TxnOffsetCommitResponsePartition(partition_index, error_code))
    return items, at


def _read_txn_offset_commit_response_topics_v0(data: memoryview, at: int, count: int) -> tuple[list[TxnOffsetCommitResponseTopic], int]:
    items: list[TxnOffsetCommitResponseTopic] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 6)
        partitions, at = _read_txn_offset_commit_response_partitions_v0(data, at, count) if count else ([], at)
        items.append(TxnOffsetCommitResponseTopic(name, partitions))
    return items, at


def _read_txn_offset_commit_response_v0(data: memoryview, at: int) -> tuple[TxnOffsetCommitResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 6)
    topics, at = _read_txn_offset_commit_response_topics_v0(data, at, count) if count else ([], at)
    return TxnOffsetCommitResponse(throttle_time_ms, topics), at


def _read_txn_offset_commit_response_partitions_v3(data: memoryview, at: int, count: int) -> tuple[list[TxnOffsetCommitResponsePartition], int]:
    items: list[TxnOffsetCommitResponsePartition] = []
    for _ in range(count):
        partition_index, error_code, more = _unpack_ihB(data, at)
        at += 7
        if more:
            at = skip_tags(data, at - 1)
        items.append(TxnOffsetCommitResponsePartition(partition_index, error_code))
    return items, at


def _read_txn_offset_commit_response_topics_v3(data: memoryview, at: int, count: int) -> tuple[list[TxnOffsetCommitResponseTopic], int]:
    items: list[TxnOffsetCommitResponseTopic] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 7)
        partitions, at = _read_txn_offset_commit_response_partitions_v3(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TxnOffsetCommitResponseTopic(name, partitions))
    return items, at


def _read_txn_offset_commit_response_v3(data: memoryview, at: int) -> tuple[TxnOffsetCommitResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_txn_offset_commit_response_topics_v3(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return TxnOffsetCommitResponse(throttle_time_ms, topics), at


def _write_txn_offset_commit_response_partitions_v0(items: Sequence[TxnOffsetCommitResponsePartition], out: bytearray) -> None:
    for item in items:
        out += _pack_ih(item.partition_index, item.error_code)


def _write_txn_offset_commit_response_topics_v0(items: Sequence[TxnOffsetCommitResponseTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_txn_offset_commit_response_partitions_v0(item.partitions, out)


def _write_txn_offset_commit_response_v0(item: TxnOffsetCommitResponse, out: bytearray) -> None:
    out += _pack_ii(item.throttle_time_ms, len(item.topics))
    if item.topics:
        _write_txn_offset_commit_response_topics_v0(item.topics, out)


def _write_txn_offset_commit_response_partitions_v3(items: Sequence[TxnOffsetCommitResponsePartition], out: bytearray) -> None:
    for item in items:
        out += _pack_ihx(item.partition_index, item.error_code)


def _write_txn_offset_commit_response_topics_v3(items: Sequence[TxnOffsetCommitResponseTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_txn_offset_commit_response_partitions_v3(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_txn_offset_commit_response_v3(item: TxnOffsetCommitResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_txn_offset_commit_response_topics_v3(item.topics, out)
    else:
        out.append(1)
    out.append(0)


TxnOffsetCommitResponse.DECODERS = {
    0: _read_txn_offset_commit_response_v0,
    1: _read_txn_offset_commit_response_v0,
    2: _read_txn_offset_commit_response_v0,
    3: _read_txn_offset_commit_response_v3,
    4: _read_txn_offset_commit_response_v3,
    5: _read_txn_offset_commit_response_v3,
}
TxnOffsetCommitResponse.ENCODERS = {
    0: _write_txn_offset_commit_response_v0,
    1: _write_txn_offset_commit_response_v0,
    2: _write_txn_offset_commit_response_v0,
    3: _write_txn_offset_commit_response_v3,
    4: _write_txn_offset_commit_response_v3,
    5: _write_txn_offset_commit_response_v3,
}
