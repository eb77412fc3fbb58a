"""Generated from schemas/create_partitions.schema: CreatePartitionsResponse, versions 0-3. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_count,
    read_nullable_string,
    read_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_nullable_string,
    write_string,
)

_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_pack_ii = Layout(">ii").pack


class CreatePartitionsResponse(Message):
    __slots__ = ("throttle_time_ms", "results",)
    API_KEY = 37
    VERSIONS = range(0, 4)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: Sequence[CreatePartitionsTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = results


class CreatePartitionsTopicResult(Struct):
    __slots__ = ("name", "error_code", "error_message",)

    def __init__(
        self,
        name: str = "",
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.name = name
        self.error_code = error_code
        self.error_message = error_message


def _read_create_partitions_topic_results_v0(data: memoryview, at: int, count: int) -> tuple[list[CreatePartitionsTopicResult], int]:
    items: list[CreatePartitionsTopicResult] = []
    for _ in range(count):
        name, at = read_string(data, at)
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message, at = read_nullable_string(data, at)
        items.append(CreatePartitionsTopicResult(name, error_code, error_message))
    return items, at


def _read_create_partitions_response_v0(data: memoryview, at: int) -> tuple[CreatePartitionsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 6)
    results, at = _read_create_partitions_topic_results_v0(data, at, count) if count else ([], at)
    return CreatePartitionsResponse(throttle_time_ms, results), at


def _read_create_partitions_topic_results_v2(data: memoryview, at: int, count: int) -> tuple[list[CreatePartitionsTopicResult], int]:
    items: list[CreatePartitionsTopicResult] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(CreatePartitionsTopicResult(name, error_code, error_message))
    return items, at


def _read_create_partitions_response_v2(data: memoryview, at: int) -> tuple[CreatePartitionsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 5)
    results, at = _read_create_partitions_topic_results_v2(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return CreatePartitionsResponse(throttle_time_ms, results), at


def _write_create_partitions_topic_results_v0(items: Sequence[CreatePartitionsTopicResult], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_h(item.error_code)
        write_nullable_string(item.error_message, out)


def _write_create_partitions_response_v0(item: CreatePartitionsResponse, out: bytearray) -> None:
    out += _pack_ii(item.throttle_time_ms, len(item.results))
    if item.results:
        _write_create_partitions_topic_results_v0(item.results, out)


def _write_create_partitions_topic_results_v2(items: Sequence[CreatePartitionsTopicResult], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        out += _pack_h(item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out.append(0)


def _write_create_partitions_response_v2(item: CreatePartitionsResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.results:
        out += uvarint(len(item.results) + 1)
        _write_create_partitions_topic_results_v2(item.results, out)
    else:
        out.append(1)
    out.append(0)


CreatePartitionsResponse.DECODERS = {
    0: _read_create_partitions_response_v0,
    1: _read_create_partitions_response_v0,
    2: _read_create_partitions_response_v2,
    3: _read_create_partitions_response_v2,
}
CreatePartitionsResponse.ENCODERS = {
    0: _write_create_partitions_response_v0,
    1: _write_create_partitions_response_v0,
    2: _write_create_partitions_response_v2,
    3: _write_create_partitions_response_v2,
}
