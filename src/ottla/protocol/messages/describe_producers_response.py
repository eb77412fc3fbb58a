"""Generated from schemas/describe_producers.schema: DescribeProducersResponse, versions 0. Do not edit."""

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

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_unpack_qiiqiqB = Layout(">qiiqiqB").unpack_from
_pack_qiiqiqx = Layout(">qiiqiqx").pack


class DescribeProducersResponse(Message):
    __slots__ = ("throttle_time_ms", "topics",)
    API_KEY = 61
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[TopicResponse] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics


class ProducerState(Struct):
    __slots__ = ("producer_id", "producer_epoch", "last_sequence", "last_timestamp", "coordinator_epoch", "current_txn_start_offset",)

    def __init__(
        self,
        producer_id: int = 0,
        producer_epoch: int = 0,
        last_sequence: int = -1,
        last_timestamp: int = -1,
        coordinator_epoch: int = 0,
        current_txn_start_offset: int = -1,
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.last_sequence = last_sequence
        self.last_timestamp = last_timestamp
        self.coordinator_epoch = coordinator_epoch
        self.current_txn_start_offset = current_txn_start_offset


class PartitionResponse(Struct):
    __slots__ = ("partition_index", "error_code", "error_message", "active_producers",)

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        active_producers: Sequence[ProducerState] = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.active_producers = active_producers


class TopicResponse(Struct):
    __slots__ = ("name", "partitions",)

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[PartitionResponse] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


def _read_producer_states_v0(data: memoryview, at: int, count: int) -> tuple[list[ProducerState], int]:
    items: list[ProducerState] = []
    for _ in range(count):
        producer_id, producer_epoch, last_sequence, last_timestamp, coordinator_epoch, current_txn_start_offset, more = _unpack_qiiqiqB(data, at)
        at += 37
        if more:
            at = skip_tags(data, at - 1)
        items.append(ProducerState(producer_id, producer_epoch, last_sequence, last_timestamp, coordinator_epoch, current_txn_start_offset))
    return items, at


def _read_partition_responses_v0(data: memoryview, at: int, count: int) -> tuple[list[PartitionResponse], int]:
    items: list[PartitionResponse] = []
    for _ in range(count):
        partition_index, error_code = _unpack_ih(data, at)
        at += 6
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        count, at = read_compact_count(data, at, 37)
        active_producers, at = _read_producer_states_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(PartitionResponse(partition_index, error_code, error_message, active_producers))
    return items, at


def _read_topic_responses_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicResponse], int]:
    items: list[TopicResponse] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 9)
        partitions, at = _read_partition_responses_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicResponse(name, partitions))
    return items, at


def _read_describe_producers_response_v0(data: memoryview, at: int) -> tuple[DescribeProducersResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 3)
    topics, at = _read_topic_responses_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeProducersResponse(throttle_time_ms, topics), at


def _write_producer_states_v0(items: Sequence[ProducerState], out: bytearray) -> None:
    for item in items:
        out += _pack_qiiqiqx(item.producer_id, item.producer_epoch, item.last_sequence, item.last_timestamp, item.coordinator_epoch, item.current_txn_start_offset)


def _write_partition_responses_v0(items: Sequence[PartitionResponse], out: bytearray) -> None:
    for item in items:
        out += _pack_ih(item.partition_index, item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        if item.active_producers:
            out += uvarint(len(item.active_producers) + 1)
            _write_producer_states_v0(item.active_producers, out)
        else:
            out.append(1)
        out.append(0)


def _write_topic_responses_v0(items: Sequence[TopicResponse], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_partition_responses_v0(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_describe_producers_response_v0(item: DescribeProducersResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        _write_topic_responses_v0(item.topics, out)
    else:
        out.append(1)
    out.append(0)


DescribeProducersResponse.DECODERS = {
    0: _read_describe_producers_response_v0,
}
DescribeProducersResponse.ENCODERS = {
    0: _write_describe_producers_response_v0,
}
