"""Generated from schemas/alter_share_group_offsets.schema: AlterShareGroupOffsetsResponse, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    skip_tags,
    uvarint,
    write_compact_string,
)

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack


class AlterShareGroupOffsetsResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "error_message", "responses",)
    API_KEY = 91
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        responses: Sequence[AlterShareGroupOffsetsResponseTopic] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.responses = responses


class AlterShareGroupOffsetsResponsePartition(Struct):
    __slots__ = ("partition_index", "error_code", "error_message",)

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message


class AlterShareGroupOffsetsResponseTopic(Struct):
    __slots__ = ("topic_name", "topic_id", "partitions",)

    def __init__(
        self,
        topic_name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[AlterShareGroupOffsetsResponsePartition] = (),
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.partitions = partitions


def _read_alter_share_group_offsets_response_partitions_v0(data: memoryview, at: int, count: int) -> tuple[list[AlterShareGroupOffsetsResponsePartition], int]:
    items: list[AlterShareGroupOffsetsResponsePartition] = []
    for _ in range(count):
        partition_index, error_code = _unpack_ih(data, at)
        at += 6
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(AlterShareGroupOffsetsResponsePartition(partition_index, error_code, error_message))
    return items, at


def _read_alter_share_group_offsets_response_topics_v0(data: memoryview, at: int, count: int) -> tuple[list[AlterShareGroupOffsetsResponseTopic], int]:
    items: list[AlterShareGroupOffsetsResponseTopic] = []
    for _ in range(count):
        topic_name, at = read_compact_string(data, at)
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 8)
        partitions, at = _read_alter_share_group_offsets_response_partitions_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(AlterShareGroupOffsetsResponseTopic(topic_name, topic_id, partitions))
    return items, at


def _read_alter_share_group_offsets_response_v0(data: memoryview, at: int) -> tuple[AlterShareGroupOffsetsResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    error_message: str | None = None
    if data[at]:
        error_message, at = read_compact_string(data, at)
    else:
        at += 1
    count, at = read_compact_count(data, at, 19)
    responses, at = _read_alter_share_group_offsets_response_topics_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return AlterShareGroupOffsetsResponse(throttle_time_ms, error_code, error_message, responses), at


def _write_alter_share_group_offsets_response_partitions_v0(items: Sequence[AlterShareGroupOffsetsResponsePartition], out: bytearray) -> None:
    for item in items:
        out += _pack_ih(item.partition_index, item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out.append(0)


def _write_alter_share_group_offsets_response_topics_v0(items: Sequence[AlterShareGroupOffsetsResponseTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.topic_name, out)
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_alter_share_group_offsets_response_partitions_v0(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_alter_share_group_offsets_response_v0(item: AlterShareGroupOffsetsResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.error_message is None:
        out.append(0)
    else:
        write_compact_string(item.error_message, out)
    if item.responses:
        out += uvarint(len(item.responses) + 1)
        _write_alter_share_group_offsets_response_topics_v0(item.responses, out)
    else:
        out.append(1)
    out.append(0)


AlterShareGroupOffsetsResponse.DECODERS = {
    0: _read_alter_share_group_offsets_response_v0,
}
AlterShareGroupOffsetsResponse.ENCODERS = {
    0: _write_alter_share_group_offsets_response_v0,
}
