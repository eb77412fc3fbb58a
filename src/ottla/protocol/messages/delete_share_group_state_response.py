"""Generated from schemas/delete_share_group_state.schema: DeleteShareGroupStateResponse, versions 0. Do not edit."""

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


class DeleteShareGroupStateResponse(Message):
    __slots__ = ("results",)
    API_KEY = 86
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        results: Sequence[DeleteStateResult] = (),
    ) -> None:
        self.results = results


class PartitionResult(Struct):
    __slots__ = ("partition", "error_code", "error_message",)

    def __init__(
        self,
        partition: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.partition = partition
        self.error_code = error_code
        self.error_message = error_message


class DeleteStateResult(Struct):
    __slots__ = ("topic_id", "partitions",)

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[PartitionResult] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


def _read_partition_results_v0(data: memoryview, at: int, count: int) -> tuple[list[PartitionResult], int]:
    items: list[PartitionResult] = []
    for _ in range(count):
        partition, error_code = _unpack_ih(data, at)
        at += 6
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(PartitionResult(partition, error_code, error_message))
    return items, at


def _read_delete_state_results_v0(data: memoryview, at: int, count: int) -> tuple[list[DeleteStateResult], int]:
    items: list[DeleteStateResult] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 8)
        partitions, at = _read_partition_results_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DeleteStateResult(topic_id, partitions))
    return items, at


def _read_delete_share_group_state_response_v0(data: memoryview, at: int) -> tuple[DeleteShareGroupStateResponse, int]:
    count, at = read_compact_count(data, at, 18)
    results, at = _read_delete_state_results_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DeleteShareGroupStateResponse(results), at


def _write_partition_results_v0(items: Sequence[PartitionResult], out: bytearray) -> None:
    for item in items:
        out += _pack_ih(item.partition, item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out.append(0)


def _write_delete_state_results_v0(items: Sequence[DeleteStateResult], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_partition_results_v0(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_delete_share_group_state_response_v0(item: DeleteShareGroupStateResponse, out: bytearray) -> None:
    if item.results:
        out += uvarint(len(item.results) + 1)
        _write_delete_state_results_v0(item.results, out)
    else:
        out.append(1)
    out.append(0)


DeleteShareGroupStateResponse.DECODERS = {
    0: _read_delete_share_group_state_response_v0,
}
DeleteShareGroupStateResponse.ENCODERS = {
    0: _write_delete_share_group_state_response_v0,
}
