"""Generated from schemas/describe_log_dirs.schema: DescribeLogDirsResponse, versions 1-5. Do not edit."""

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

_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_pack_ii = Layout(">ii").pack
_unpack_iqqt = Layout(">iqq?").unpack_from
_pack_iqqt = Layout(">iqq?").pack
_unpack_iqqtB = Layout(">iqq?B").unpack_from
_pack_iqqtx = Layout(">iqq?x").pack
_unpack_qqtB = Layout(">qq?B").unpack_from
_pack_qqtx = Layout(">qq?x").pack
_unpack_qqB = Layout(">qqB").unpack_from
_pack_qqx = Layout(">qqx").pack


class DescribeLogDirsResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "results",)
    API_KEY = 35
    VERSIONS = range(1, 6)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results: Sequence[DescribeLogDirsResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results = results


class DescribeLogDirsPartition(Struct):
    __slots__ = ("partition_index", "partition_size", "offset_lag", "is_future_key",)

    def __init__(
        self,
        partition_index: int = 0,
        partition_size: int = 0,
        offset_lag: int = 0,
        is_future_key: bool = False,
    ) -> None:
        self.partition_index = partition_index
        self.partition_size = partition_size
        self.offset_lag = offset_lag
        self.is_future_key = is_future_key


class DescribeLogDirsTopic(Struct):
    __slots__ = ("name", "partitions",)

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[DescribeLogDirsPartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class DescribeLogDirsResult(Struct):
    __slots__ = ("error_code", "log_dir", "topics", "total_bytes", "usable_bytes", "is_cordoned",)

    def __init__(
        self,
        error_code: int = 0,
        log_dir: str = "",
        topics: Sequence[DescribeLogDirsTopic] = (),
        total_bytes: int = -1,
        usable_bytes: int = -1,
        is_cordoned: bool = False,
    ) -> None:
        self.error_code = error_code
        self.log_dir = log_dir
        self.topics = topics
        self.total_bytes = total_bytes
        self.usable_bytes = usable_bytes
        self.is_cordoned = is_cordoned


def _read_describe_log_dirs_partitions_v1(data: memoryview, at: int, count: int) -> tuple[list[DescribeLogDirsPartition], int]:
    items: list[DescribeLogDirsPartition] = []
    for _ in range(count):
        partition_index, partition_size, offset_lag, is_future_key = _unpack_iqqt(data, at)
        at += 21
        items.append(DescribeLogDirsPartition(partition_index, partition_size, offset_lag, is_future_key))
    return items, at


def _read_describe_log_dirs_topics_v1(data: memoryview, at: int, count: int) -> tuple[list[DescribeLogDirsTopic], int]:
    items: list[DescribeLogDirsTopic] = []
    for _ in range(count):
        name, at = read_string(data, at)
        count, at = read_count(data, at, 21)
        partitions, at = _read_describe_log_dirs_partitions_v1(data, at, count) if count else ([], at)
        items.append(DescribeLogDirsTopic(name, partitions))
    return items, at


def _read_describe_log_dirs_results_v1(data: memoryview, at: int, count: int) -> tuple[list[DescribeLogDirsResult], int]:
    items: list[DescribeLogDirsResult] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        log_dir, at = read_string(data, at)
        count, at = read_count(data, at, 6)
        topics, at = _read_describe_log_dirs_topics_v1(data, at, count) if count else ([], at)
        items.append(DescribeLogDirsResult(error_code, log_dir, topics, -1, -1, False))
    return items, at


def _read_describe_log_dirs_response_v1(data: memoryview, at: int) -> tuple[DescribeLogDirsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 8)
    results, at = _read_describe_log_dirs_results_v1(data, at, count) if count else ([], at)
    return DescribeLogDirsResponse(throttle_time_ms, 0, results), at


def _read_describe_log_dirs_partitions_v2(data: memoryview, at: int, count: int) -> tuple[list[DescribeLogDirsPartition], int]:
    items: list[DescribeLogDirsPartition] = []
    for _ in range(count):
        partition_index, partition_size, offset_lag, is_future_key, more = _unpack_iqqtB(data, at)
        at += 22
        if more:
            at = skip_tags(data, at - 1)
        items.append(DescribeLogDirsPartition(partition_index, partition_size, offset_lag, is_future_key))
    return items, at


def _read_describe_log_dirs_topics_v2(data: memoryview, at: int, count: int) -> tuple[list[DescribeLogDirsTopic], int]:
    items: list[DescribeLogDirsTopic] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 22)
        partitions, at = _read_describe_log_dirs_partitions_v2(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DescribeLogDirsTopic(name, partitions))
    return items, at


def _read_describe_log_dirs_results_v2(data: memoryview, at: int, count: int) -> tuple[list[DescribeLogDirsResult], int]:
    items: list[DescribeLogDirsResult] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        log_dir, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 3)
        topics, at = _read_describe_log_dirs_topics_v2(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DescribeLogDirsResult(error_code, log_dir, topics, -1, -1, False))
    return items, at


def _read_describe_log_dirs_response_v2(data: memoryview, at: int) -> tuple[DescribeLogDirsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 5)
    results, at = _read_describe_log_dirs_results_v2(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeLogDirsResponse(throttle_time_ms, 0, results), at


def _read_describe_log_dirs_response_v3(data: memoryview, at: int) -> tuple[DescribeLogDirsResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    count, at = read_compact_count(data, at, 5)
    results, at = _read_describe_log_dirs_results_v2(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeLogDirsResponse(throttle_time_ms, error_code, results), at


def _read_describe_log_dirs_results_v4(data: memoryview, at: int, count: int) -> tuple[list[DescribeLogDirsResult], int]:
    items: list[DescribeLogDirsResult] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        log_dir, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 3)
        topics, at = _read_describe_log_dirs_topics_v2(data, at, count) if count else ([], at)
        total_bytes, usable_bytes, more = _unpack_qqB(data, at)
        at += 17
        if more:
            at = skip_tags(data, at - 1)
        items.append(DescribeLogDirsResult(error_code, log_dir, topics, total_bytes, usable_bytes, False))
    return items, at


def _read_describe_log_dirs_response_v4(data: memoryview, at: int) -> tuple[DescribeLogDirsResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    count, at = read_compact_count(data, at, 21)
    results, at = _read_describe_log_dirs_results_v4(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeLogDirsResponse(throttle_time_ms, error_code, results), at


def _read_describe_log_dirs_results_v5(data: memoryview, at: int, count: int) -> tuple[list[DescribeLogDirsResult], int]:
    items: list[DescribeLogDirsResult] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        log_dir, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 3)
        topics, at = _read_describe_log_dirs_topics_v2(data, at, count) if count else ([], at)
        total_bytes, usable_bytes, is_cordoned, more = _unpack_qqtB(data, at)
        at += 18
        if more:
            at = skip_tags(data, at - 1)
        items.append(DescribeLogDirsResult(error_code, log_dir, topics, total_bytes, usable_bytes, is_cordoned))
    return items, at


def _read_describe_log_dirs_response_v5(data: memoryview, at: int) -> tuple[DescribeLogDirsResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    count, at = read_compact_count(data, at, 22)
    results, at = _read_describe_log_dirs_results_v5(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeLogDirsResponse(throttle_time_ms, error_code, results), at


def _write_describe_log_dirs_partitions_v1(items: Sequence[DescribeLogDirsPartition], out: bytearray) -> None:
    for item in items:
        out += _pack_iqqt(item.partition_index, item.partition_size, item.offset_lag, item.is_future_key)


def _write_describe_log_dirs_topics_v1(items: Sequence[DescribeLogDirsTopic], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            _write_describe_log_dirs_partitions_v1(item.partitions, out)


def _write_describe_log_dirs_results_v1(items: Sequence[DescribeLogDirsResult], out: bytearray) -> None:
    for item in items:
        out += _pack_h(item.error_code)
        write_string(item.log_dir, out)
        out += _pack_i(len(item.topics))
        if item.topics:
            _write_describe_log_dirs_topics_v1(item.topics, out)


def _write_describe_log_dirs_response_v1(item: DescribeLogDirsResponse, out: bytearray) -> None:
    out += _pack_ii(item.throttle_time_ms, len(item.results))
    if item.results:
        _write_describe_log_dirs_results_v1(item.results, out)


def _write_describe_log_dirs_partitions_v2(items: Sequence[DescribeLogDirsPartition], out: bytearray) -> None:
    for item in items:
        out += _pack_iqqtx(item.partition_index, item.partition_size, item.offset_lag, item.is_future_key)


def _write_describe_log_dirs_topics_v2(items: Sequence[DescribeLogDirsTopic], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            _write_describe_log_dirs_partitions_v2(item.partitions, out)
        else:
            out.append(1)
        out.append(0)


def _write_describe_log_dirs_results_v2(items: Sequence[DescribeLogDirsResult], out: bytearray) -> None:
    for item in items:
        out += _pack_h(item.error_code)
        write_compact_string(item.log_dir, out)
        if item.topics:
            out += uvarint(len(item.topics) + 1)
            _write_describe_log_dirs_topics_v2(item.topics, out)
        else:
            out.append(1)
        out.append(0)


def _write_describe_log_dirs_response_v2(item: DescribeLogDirsResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.results:
        out += uvarint(len(item.results) + 1)
        _write_describe_log_dirs_results_v2(item.results, out)
    else:
        out.append(1)
    out.append(0)


def _write_describe_log_dirs_response_v3(item: DescribeLogDirsResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.results:
        out += uvarint(len(item.results) + 1)
        _write_describe_log_dirs_results_v2(item.results, out)
    else:
        out.append(1)
    out.append(0)


def _write_describe_log_dirs_results_v4(items: Sequence[DescribeLogDirsResult], out: bytearray) -> None:
    for item in items:
        out += _pack_h(item.error_code)
        write_compact_string(item.log_dir, out)
        if item.topics:
            out += uvarint(len(item.topics) + 1)
            _write_describe_log_dirs_topics_v2(item.topics, out)
        else:
            out.append(1)
        out += _pack_qqx(item.total_bytes, item.usable_bytes)


def _write_describe_log_dirs_response_v4(item: DescribeLogDirsResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.results:
        out += uvarint(len(item.results) + 1)
        _write_describe_log_dirs_results_v4(item.results, out)
    else:
        out.append(1)
    out.append(0)


def _write_describe_log_dirs_results_v5(items: Sequence[DescribeLogDirsResult], out: bytearray) -> None:
    for item in items:
        out += _pack_h(item.error_code)
        write_compact_string(item.log_dir, out)
        if item.topics:
            out += uvarint(len(item.topics) + 1)
            _write_describe_log_dirs_topics_v2(item.topics, out)
        else:
            out.append(1)
        out += _pack_qqtx(item.total_bytes, item.usable_bytes, item.is_cordoned)


def _write_describe_log_dirs_response_v5(item: DescribeLogDirsResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.results:
        out += uvarint(len(item.results) + 1)
        _write_describe_log_dirs_results_v5(item.results, out)
    else:
        out.append(1)
    out.append(0)


DescribeLogDirsResponse.DECODERS = {
    1: _read_describe_log_dirs_response_v1,
    2: _read_describe_log_dirs_response_v2,
    3: _read_describe_log_dirs_response_v3,
    4: _read_describe_log_dirs_response_v4,
    5: _read_describe_log_dirs_response_v5,
}
DescribeLogDirsResponse.ENCODERS = {
    1: _write_describe_log_dirs_response_v1,
    2: _write_describe_log_dirs_response_v2,
    3: _write_describe_log_dirs_response_v3,
    4: _write_describe_log_dirs_response_v4,
    5: _write_describe_log_dirs_response_v5,
}
