"""Generated from schemas/list_config_resources.schema: ListConfigResourcesResponse, versions 0-1. Do not edit."""

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

_unpack_bB = Layout(">bB").unpack_from
_pack_bx = Layout(">bx").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack


class ListConfigResourcesResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "config_resources",)
    API_KEY = 74
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        config_resources: Sequence[ConfigResource] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.config_resources = config_resources


class ConfigResource(Struct):
    __slots__ = ("resource_name", "resource_type",)

    def __init__(
        self,
        resource_name: str = "",
        resource_type: int = 16,
    ) -> None:
        self.resource_name = resource_name
        self.resource_type = resource_type


def _read_config_resources_v0(data: memoryview, at: int, count: int) -> tuple[list[ConfigResource], int]:
    items: list[ConfigResource] = []
    for _ in range(count):
        resource_name, at = read_compact_string(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(ConfigResource(resource_name, 16))
    return items, at


def _read_list_config_resources_response_v0(data: memoryview, at: int) -> tuple[ListConfigResourcesResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    count, at = read_compact_count(data, at, 2)
    config_resources, at = _read_config_resources_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ListConfigResourcesResponse(throttle_time_ms, error_code, config_resources), at


def _read_config_resources_v1(data: memoryview, at: int, count: int) -> tuple[list[ConfigResource], int]:
    items: list[ConfigResource] = []
    for _ in range(count):
        resource_name, at = read_compact_string(data, at)
        resource_type, more = _unpack_bB(data, at)
        at += 2
        if more:
            at = skip_tags(data, at - 1)
        items.append(ConfigResource(resource_name, resource_type))
    return items, at


def _read_list_config_resources_response_v1(data: memoryview, at: int) -> tuple[ListConfigResourcesResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    count, at = read_compact_count(data, at, 3)
    config_resources, at = _read_config_resources_v1(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ListConfigResourcesResponse(throttle_time_ms, error_code, config_resources), at


def _write_config_resources_v0(items: Sequence[ConfigResource], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.resource_name, out)
        out.append(0)


def _write_list_config_resources_response_v0(item: ListConfigResourcesResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.config_resources:
        out += uvarint(len(item.config_resources) + 1)
        _write_config_resources_v0(item.config_resources, out)
    else:
        out.append(1)
    out.append(0)


def _write_config_resources_v1(items: Sequence[ConfigResource], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.resource_name, out)
        out += _pack_bx(item.resource_type)


def _write_list_config_resources_response_v1(item: ListConfigResourcesResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.config_resources:
        out += uvarint(len(item.config_resources) + 1)
        _write_config_resources_v1(item.config_resources, out)
    else:
        out.append(1)
    out.append(0)


ListConfigResourcesResponse.DECODERS = {
    0: _read_list_config_resources_response_v0,
    1: _read_list_config_resources_response_v1,
}
ListConfigResourcesResponse.ENCODERS = {
    0: _write_list_config_resources_response_v0,
    1: _write_list_config_resources_response_v1,
}
