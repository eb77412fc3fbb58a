"""Generated from schemas/read_share_group_state_summary.schema: ReadShareGroupStateSummaryResponse, versions 0-1. Do not edit."""

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
_unpack_iiqB = Layout(">iiqB").unpack_from
_unpack_iiqiB = Layout(">iiqiB").unpack_from
_pack_iiqix = Layout(">iiqix").pack
_pack_iiqx = Layout(">iiqx").pack


class ReadShareGroupStateSummaryResponse(Message):
    __slots__ = ("results",)
    API_KEY = 87
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        results: Sequence[ReadStateSummaryResult] = (),
    ) -> None:
        self.results = results


class PartitionResult(Struct):
    __slots__ = ("partition", "error_code", "error_message", "state_epoch", "leader_epoch", "start_offset", "delivery_complete_count",)

    def __init__(
        self,
        partition: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        state_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        delivery_complete_count: int = -1,
    ) -> None:
        self.partition = partition
        self.error_code = error_code
        self.error_message = error_message
        self.state_epoch = state_epoch
        self.leader_epoch = leader_epoch
        self.start_offset = start_offset
        self.delivery_complete_count = delivery_complete_count


class ReadStateSummaryResult(Struct):
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
        state_epoch, leader_epoch, start_offset, more = _unpack_iiqB(data, at)
        at += 17
        if more:
            at = skip_tags(data, at - 1)
        items.append(PartitionResult(partition, error_code, error_message, state_epoch, leader_epoch, start_offset, -1))
    return items, at


def _read_read_state_summary_results_v0(data: memoryview, at: int, count: int) -> tuple[list[ReadStateSummaryResult], int]:
    items: list[ReadStateSummaryResult] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 24)
        partitions, at = _read_partition_results_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(ReadStateSummaryResult(topic_id, partitions))
    return items, at


def _read_read_share_group_state_summary_response_v0(data: memoryview, at: int) -> tuple[ReadShareGroupStateSummaryResponse, int]:
    count, at = read_compact_count(data, at, 18)
    results, at = _read_read_state_summary_results_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ReadShareGroupStateSummaryResponse(results), at


def _read_partition_results_v1(data: memoryview, at: int, count: int) -> tuple[list[PartitionResult], int]:
    items: list[PartitionResult] = []
    for _ in range(count):
        partition, error_code = _unpack_ih(data, at)
        at += 6
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        state_epoch, leader_epoch, start_offset, delivery_complete_count, more = _unpack_iiqiB(data, at)
        at += 21
        if more:
            at = skip_tags(data, at - 1)
        items.append(PartitionResult(partition, error_code, error_message, state_epoch, leader_epoch, start_offset, delivery_complete_count))
    return items, at


def _read_read_state_summary_results_v1(data: memoryview, at: int, count: int) -> tuple[list[ReadStateSummaryResult], int]:
    items: list[ReadStateSummaryResult] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 28)
        partitions, at = _read_partition_results_v1(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(ReadStateSummaryResult(topic_id, partitions))
    return items, at


def _read_read_share_group_state_summary_response_v1(data: memoryview, at: int) -> tuple[ReadShareGroupStateSummaryResponse, int]:
    count, at = read_compact_count(data, at, 18)
    results, at = _read_read_state_summary_results_v1(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ReadShareGroupStateSummaryResponse(results), at


def _write_partition_results_v0(items: Sequence[PartitionResult], out: bytearray) -> None:
    for item in items:
        out += _pack_ih(item.partition, item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out += _pack_iiqx(item.state_epoch, item.leader_epoch, item.start_offset)


def _write_read_state_summary_results_v0(items: Sequence[ReadStateSummaryResult], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_partition_results_v0(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_read_share_group_state_summary_response_v0(item: ReadShareGroupStateSummaryResponse, out: bytearray) -> None:
    if item.results:
        out += uvarint(len(item.results) + 1)
        _write_read_state_summary_results_v0(item.results, out)
    else:
        out.append(1)
    out.append(0)


def _write_partition_results_v1(items: Sequence[PartitionResult], out: bytearray) -> None:
    for item in items:
        out += _pack_ih(item.partition, item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out += _pack_iiqix(item.state_epoch, item.leader_epoch, item.start_offset, item.delivery_complete_count)


def _write_read_state_summary_results_v1(items: Sequence[ReadStateSummaryResult], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_partition_results_v1(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_read_share_group_state_summary_response_v1(item: ReadShareGroupStateSummaryResponse, out: bytearray) -> None:
    if item.results:
        out += uvarint(len(item.results) + 1)
        _write_read_state_summary_results_v1(item.results, out)
    else:
        out.append(1)
    out.append(0)


ReadShareGroupStateSummaryResponse.DECODERS = {
    0: _read_read_share_group_state_summary_response_v0,
    1: _read_read_share_group_state_summary_response_v1,
}
ReadShareGroupStateSummaryResponse.ENCODERS = {
    0: _write_read_share_group_state_summary_response_v0,
    1: _write_read_share_group_state_summary_response_v1,
}
