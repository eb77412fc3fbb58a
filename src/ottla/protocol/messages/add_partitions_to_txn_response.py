"""Generated from schemas/add_partitions_to_txn.schema: AddPartitionsToTxnResponse, versions 0-5. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct, refuse_field
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


class AddPartitionsToTxnResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "results_by_transaction", "results_by_topic_v3_and_below",)
    API_KEY = 24
    VERSIONS = range(0, 6)
    FLEXIBLE_FROM = 3

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results_by_transaction: Sequence[AddPartitionsToTxnResult] = (),
        results_by_topic_v3_and_below: Sequence[AddPartitionsToTxnTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results_by_transaction = results_by_transaction
        self.results_by_topic_v3_and_below = results_by_topic_v3_and_below


class AddPartitionsToTxnResult(Struct):
    __slots__ = ("transactional_id", "topic_results",)

    def __init__(
        self,
        transactional_id: str = "",
        topic_results: Sequence[AddPartitionsToTxnTopicResult] = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.topic_results = topic_results


class AddPartitionsToTxnTopicResult(Struct):
    __slots__ = ("name", "results_by_partition",)

    def __init__(
        self,
        name: str = "",
        results_by_partition: Sequence[AddPartitionsToTxnPartitionResult] = (),
    ) -> None:
        self.name = name
        self.results_by_partition = results_by_partition


class AddPartitionsToTxnPartitionResult(Struct):
    __slots__ = ("partition_index", "partition_error_code",)

    def __init__(
        self,
        partition_index: int = 0,
        partition_error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.partition_error_code = partition_error_code


def _read_add_partitions_to_txn_partition_results_v0(data: memoryview, at: int, count: int) -> tuple[list[AddPartitionsToTxnPartitionResult], int]:
    items: list[AddPartitionsToTxnPartitionResult] = []
    for _ in range(count):
        partition_index, partition_error_code = _unpack_ih(data, at)
        at += 6
        items.append(AddPartitionsToTxnPartitionResult(partition_index, partition_error_code))
    return items, at


def _read_add_partitions_to_txn_topic_results_v0(data: memoryview, at: int, count: int) -> tuple[list[AddPartitionsToTxnTopicResult], int]:
    items: list[AddPartitionsToTxnTopicResult] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 6)
        results_by_partition, at = _read_add_partitions_to_txn_partition_results_v0(data, at, count) if count else ([], at)
        items.append(AddPartitionsToTxnTopicResult(name, results_by_partition))
    return items, at


def _read_add_partitions_to_txn_response_v0(data: memoryview, at: int) -> tuple[AddPartitionsToTxnResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 6)
    results_by_topic_v3_and_below, at = _read_add_partitions_to_txn_topic_results_v0(data, at, count) if count else ([], at)
    return AddPartitionsToTxnResponse(throttle_time_ms, 0, (), results_by_topic_v3_and_below), at


def _read_add_partitions_to_txn_partition_results_v3(data: memoryview, at: int, count: int) -> tuple[list[AddPartitionsToTxnPartitionResult], int]:
    items: list[AddPartitionsToTxnPartitionResult] = []
    for _ in range(count):
        partition_index, partition_error_code, more = _unpack_ihB(data, at)
        at += 7
        if more:
            at = skip_tags(data, at - 1)
        items.append(AddPartitionsToTxnPartitionResult(partition_index, partition_error_code))
    return items, at


def _read_add_partitions_to_txn_topic_results_v3(data: memoryview, at: int, count: int) -> tuple[list[AddPartitionsToTxnTopicResult], int]:
    items: list[AddPartitionsToTxnTopicResult] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 7)
        results_by_partition, at = _read_add_partitions_to_txn_partition_results_v3(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(AddPartitionsToTxnTopicResult(name, results_by_partition))
    return items, at


def _read_add_partitions_to_txn_response_v3(data: memoryview, at: int) -> tuple[AddPartitionsToTxnResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 3)
    results_by_topic_v3_and_below, at = _read_add_partitions_to_txn_topic_results_v3(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return AddPartitionsToTxnResponse(throttle_time_ms, 0, (), results_by_topic_v3_and_below), at


def _read_add_partitions_to_txn_results_v4(data: memoryview, at: int, count: int) -> tuple[list[AddPartitionsToTxnResult], int]:
    items: list[AddPartitionsToTxnResult] = []
    for _ in range(count):
        transactional_id, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 3)
        topic_results, at = _read_add_partitions_to_txn_topic_results_v3(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(AddPartitionsToTxnResult(transactional_id, topic_results))
    return items, at


def _read_add_partitions_to_txn_response_v4(data: memoryview, at: int) -> tuple[AddPartitionsToTxnResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    count, at = read_compact_count(data, at, 3)
    results_by_transaction, at = _read_add_partitions_to_txn_results_v4(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return AddPartitionsToTxnResponse(throttle_time_ms, error_code, results_by_transaction, ()), at


def _write_add_partitions_to_txn_partition_results_v0(items: Sequence[AddPartitionsToTxnPartitionResult], out: bytearray) -> None:
    for item in items:
        out += _pack_ih(item.partition_index, item.partition_error_code)


def _write_add_partitions_to_txn_topic_results_v0(items: Sequence[AddPartitionsToTxnTopicResult], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.results_by_partition))
        if item.results_by_partition:
            _write_add_partitions_to_txn_partition_results_v0(item.results_by_partition, out)


def _write_add_partitions_to_txn_response_v0(item: AddPartitionsToTxnResponse, out: bytearray) -> None:
    if item.results_by_transaction:
        refuse_field("AddPartitionsToTxnResponse.results_by_transaction")
    out += _pack_ii(item.throttle_time_ms, len(item.results_by_topic_v3_and_below))
    if item.results_by_topic_v3_and_below:
        _write_add_partitions_to_txn_topic_results_v0(item.results_by_topic_v3_and_below, out)


def _write_add_partitions_to_txn_partition_results_v3(items: Sequence[AddPartitionsToTxnPartitionResult], out: bytearray) -> None:
    for item in items:
        out += _pack_ihx(item.partition_index, item.partition_error_code)


def _write_add_partitions_to_txn_topic_results_v3(items: Sequence[AddPartitionsToTxnTopicResult], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.results_by_partition:
            out += uvarint(len(item.results_by_partition) + 1)
            _write_add_partitions_to_txn_partition_results_v3(item.results_by_partition, out)
        else:
            out.append(1)
        out.append(0)


def _write_add_partitions_to_txn_response_v3(item: AddPartitionsToTxnResponse, out: bytearray) -> None:
    if item.results_by_transaction:
        refuse_field("AddPartitionsToTxnResponse.results_by_transaction")
    out += _pack_i(item.throttle_time_ms)
    if item.results_by_topic_v3_and_below:
        out += uvarint(len(item.results_by_topic_v3_and_below) + 1)
        _write_add_partitions_to_txn_topic_results_v3(item.results_by_topic_v3_and_below, out)
    else:
        out.append(1)
    out.append(0)


def _write_add_partitions_to_txn_results_v4(items: Sequence[AddPartitionsToTxnResult], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.transactional_id, out)
        if item.topic_results:
            out += uvarint(len(item.topic_results) + 1)
            _write_add_partitions_to_txn_topic_results_v3(item.topic_results, out)
        else:
            out.append(1)
        out.append(0)


def _write_add_partitions_to_txn_response_v4(item: AddPartitionsToTxnResponse, out: bytearray) -> None:
    if item.results_by_topic_v3_and_below:
        refuse_field("AddPartitionsToTxnResponse.results_by_topic_v3_and_below")
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.results_by_transaction:
        out += uvarint(len(item.results_by_transaction) + 1)
        _write_add_partitions_to_txn_results_v4(item.results_by_transaction, out)
    else:
        out.append(1)
    out.append(0)


AddPartitionsToTxnResponse.DECODERS = {
    0: _read_add_partitions_to_txn_response_v0,
    1: _read_add_partitions_to_txn_response_v0,
    2: _read_add_partitions_to_txn_response_v0,
    3: _read_add_partitions_to_txn_response_v3,
    4: _read_add_partitions_to_txn_response_v4,
    5: _read_add_partitions_to_txn_response_v4,
}
AddPartitionsToTxnResponse.ENCODERS = {
    0: _write_add_partitions_to_txn_response_v0,
    1: _write_add_partitions_to_txn_response_v0,
    2: _write_add_partitions_to_txn_response_v0,
    3: _write_add_partitions_to_txn_response_v3,
    4: _write_add_partitions_to_txn_response_v4,
    5: _write_add_partitions_to_txn_response_v4,
}
