"""Generated from schemas/read_share_group_state.schema: ReadShareGroupStateResponse, versions 0. Do not edit."""

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
_unpack_iq = Layout(">iq").unpack_from
_pack_iq = Layout(">iq").pack
_unpack_qqbhB = Layout(">qqbhB").unpack_from
_pack_qqbhx = Layout(">qqbhx").pack


class ReadShareGroupStateResponse(Message):
    __slots__ = ("results",)
    API_KEY = 84
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        results: Sequence[ReadStateResult] = (),
    ) -> None:
        self.results = results


class StateBatch(Struct):
    __slots__ = ("first_offset", "last_offset", "delivery_state", "delivery_count",)

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_state: int = 0,
        delivery_count: int = 0,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_state = delivery_state
        self.delivery_count = delivery_count


class PartitionResult(Struct):
    __slots__ = ("partition", "error_code", "error_message", "state_epoch", "start_offset", "state_batches",)

    def __init__(
        self,
        partition: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        state_epoch: int = 0,
        start_offset: int = 0,
        state_batches: Sequence[StateBatch] = (),
    ) -> None:
        self.partition = partition
        self.error_code = error_code
        self.error_message = error_message
        self.state_epoch = state_epoch
        self.start_offset = start_offset
        self.state_batches = state_batches


class ReadStateResult(Struct):
    __slots__ = ("topic_id", "partitions",)

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[PartitionResult] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


def _read_state_batchs_v0(data: memoryview, at: int, count: int) -> tuple[list[StateBatch], int]:
    items: list[StateBatch] = []
    for _ in range(count):
        first_offset, last_offset, delivery_state, delivery_count, more = _unpack_qqbhB(data, at)
        at += 20
        if more:
            at = skip_tags(data, at - 1)
        items.append(StateBatch(first_offset, last_offset, delivery_state, delivery_count))
    return items, at


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
        state_epoch, start_offset = _unpack_iq(data, at)
        at += 12
        count, at = read_compact_count(data, at, 20)
        state_batches, at = _read_state_batchs_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(PartitionResult(partition, error_code, error_message, state_epoch, start_offset, state_batches))
    return items, at


def _read_read_state_results_v0(data: memoryview, at: int, count: int) -> tuple[list[ReadStateResult], int]:
    items: list[ReadStateResult] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 21)
        partitions, at = _read_partition_results_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(ReadStateResult(topic_id, partitions))
    return items, at


def _read_read_share_group_state_response_v0(data: memoryview, at: int) -> tuple[ReadShareGroupStateResponse, int]:
    count, at = read_compact_count(data, at, 18)
    results, at = _read_read_state_results_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ReadShareGroupStateResponse(results), at


def _write_state_batchs_v0(items: Sequence[StateBatch], out: bytearray) -> None:
    for item in items:
        out += _pack_qqbhx(item.first_offset, item.last_offset, item.delivery_state, item.delivery_count)


def _write_partition_results_v0(items: Sequence[PartitionResult], out: bytearray) -> None:
    for item in items:
        out += _pack_ih(item.partition, item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out += _pack_iq(item.state_epoch, item.start_offset)
        if item.state_batches:
            out += uvarint(len(item.state_batches) + 1)
            _write_state_batchs_v0(item.state_batches, out)
        else:
            out.append(1)
        out.append(0)


def _write_read_state_results_v0(items: Sequence[ReadStateResult], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_partition_results_v0(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_read_share_group_state_response_v0(item: ReadShareGroupStateResponse, out: bytearray) -> None:
    if item.results:
        out += uvarint(len(item.results) + 1)
        _write_read_state_results_v0(item.results, out)
    else:
        out.append(1)
    out.append(0)


ReadShareGroupStateResponse.DECODERS = {
    0: _read_read_share_group_state_response_v0,
}
ReadShareGroupStateResponse.ENCODERS = {
    0: _write_read_share_group_state_response_v0,
}
