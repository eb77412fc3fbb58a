"""Generated from schemas/alter_configs.schema: AlterConfigsResponse, versions 0-2. Do not edit."""

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

_unpack_b = Layout(">b").unpack_from
_pack_b = Layout(">b").pack
_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_pack_ii = Layout(">ii").pack


class AlterConfigsResponse(Message):
    __slots__ = ("throttle_time_ms", "responses",)
    API_KEY = 33
    VERSIONS = range(0, 3)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        responses: Sequence[AlterConfigsResourceResponse] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.responses = responses


class AlterConfigsResourceResponse(Struct):
    __slots__ = ("error_code", "error_message", "resource_type", "resource_name",)

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name


def _read_alter_configs_resource_responses_v0(data: memoryview, at: int, count: int) -> tuple[list[AlterConfigsResourceResponse], int]:
    items: list[AlterConfigsResourceResponse] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message, at = read_nullable_string(data, at)
        (resource_type,) = _unpack_b(data, at)
        at += 1
        resource_name, at = read_string(data, at)
        items.append(AlterConfigsResourceResponse(error_code, error_message, resource_type, resource_name))
    return items, at


def _read_alter_configs_response_v0(data: memoryview, at: int) -> tuple[AlterConfigsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 7)
    responses, at = _read_alter_configs_resource_responses_v0(data, at, count) if count else ([], at)
    return AlterConfigsResponse(throttle_time_ms, responses), at


def _read_alter_configs_resource_responses_v2(data: memoryview, at: int, count: int) -> tuple[list[AlterConfigsResourceResponse], int]:
    items: list[AlterConfigsResourceResponse] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        (resource_type,) = _unpack_b(data, at)
        at += 1
        resource_name, at = read_compact_string(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(AlterConfigsResourceResponse(error_code, error_message, resource_type, resource_name))
    return items, at


def _read_alter_configs_response_v2(data: memoryview, at: int) -> tuple[AlterConfigsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 6)
    responses, at = _read_alter_configs_resource_responses_v2(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return AlterConfigsResponse(throttle_time_ms, responses), at


def _write_alter_configs_resource_responses_v0(items: Sequence[AlterConfigsResourceResponse], out: bytearray) -> None:
    for item in items:
        out += _pack_h(item.error_code)
        write_nullable_string(item.error_message, out)
        out += _pack_b(item.resource_type)
        write_string(item.resource_name, out)


def _write_alter_configs_response_v0(item: AlterConfigsResponse, out: bytearray) -> None:
    out += _pack_ii(item.throttle_time_ms, len(item.responses))
    if item.responses:
        _write_alter_configs_resource_responses_v0(item.responses, out)


def _write_alter_configs_resource_responses_v2(items: Sequence[AlterConfigsResourceResponse], out: bytearray) -> None:
    for item in items:
        out += _pack_h(item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out += _pack_b(item.resource_type)
        write_compact_string(item.resource_name, out)
        out.append(0)


def _write_alter_configs_response_v2(item: AlterConfigsResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.responses:
        out += uvarint(len(item.responses) + 1)
        _write_alter_configs_resource_responses_v2(item.responses, out)
    else:
        out.append(1)
    out.append(0)


AlterConfigsResponse.DECODERS = {
    0: _read_alter_configs_response_v0,
    1: _read_alter_configs_response_v0,
    2: _read_alter_configs_response_v2,
}
AlterConfigsResponse.ENCODERS = {
    0: _write_alter_configs_response_v0,
    1: _write_alter_configs_response_v0,
    2: _write_alter_configs_response_v2,
}
