"""Generated from schemas/alter_configs.schema: AlterConfigsRequest, versions 0-2. Do not edit."""

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

_unpack_t = Layout(">?").unpack_from
_pack_t = Layout(">?").pack
_unpack_tB = Layout(">?B").unpack_from
_pack_tx = Layout(">?x").pack
_unpack_b = Layout(">b").unpack_from
_pack_b = Layout(">b").pack
_pack_i = Layout(">i").pack


class AlterConfigsRequest(Message):
    __slots__ = ("resources", "validate_only",)
    API_KEY = 33
    VERSIONS = range(0, 3)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        resources: Sequence[AlterConfigsResource] = (),
        validate_only: bool = False,
    ) -> None:
        self.resources = resources
        self.validate_only = validate_only


class AlterableConfig(Struct):
    __slots__ = ("name", "value",)

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
    ) -> None:
        self.name = name
        self.value = value


class AlterConfigsResource(Struct):
    __slots__ = ("resource_type", "resource_name", "configs",)

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        configs: Sequence[AlterableConfig] = (),
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs = configs


def _read_alterable_configs_v0(data: memoryview, at: int, count: int) -> tuple[list[AlterableConfig], int]:
    items: list[AlterableConfig] = []
    for _ in range(count):
        name, at = read_string(data, at)
        value, at = read_nullable_string(data, at)
        items.append(AlterableConfig(name, value))
    return items, at


def _read_alter_configs_resources_v0(data: memoryview, at: int, count: int) -> tuple[list[AlterConfigsResource], int]:
    items: list[AlterConfigsResource] = []
    for _ in range(count):
        (resource_type,) = _unpack_b(data, at)
        at += 1
        resource_name, at = read_string(data, at)
        count, at = read_count(data, at, 4)
        configs, at = _read_alterable_configs_v0(data, at, count) if count else ([], at)
        items.append(AlterConfigsResource(resource_type, resource_name, configs))
    return items, at


def _read_alter_configs_request_v0(data: memoryview, at: int) -> tuple[AlterConfigsRequest, int]:
    count, at = read_count(data, at, 7)
    resources, at = _read_alter_configs_resources_v0(data, at, count) if count else ([], at)
    (validate_only,) = _unpack_t(data, at)
    at += 1
    return AlterConfigsRequest(resources, validate_only), at


def _read_alterable_configs_v2(data: memoryview, at: int, count: int) -> tuple[list[AlterableConfig], int]:
    items: list[AlterableConfig] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        value: str | None = None
        if data[at]:
            value, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(AlterableConfig(name, value))
    return items, at


def _read_alter_configs_resources_v2(data: memoryview, at: int, count: int) -> tuple[list[AlterConfigsResource], int]:
    items: list[AlterConfigsResource] = []
    for _ in range(count):
        (resource_type,) = _unpack_b(data, at)
        at += 1
        resource_name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 3)
        configs, at = _read_alterable_configs_v2(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(AlterConfigsResource(resource_type, resource_name, configs))
    return items, at


def _read_alter_configs_request_v2(data: memoryview, at: int) -> tuple[AlterConfigsRequest, int]:
    count, at = read_compact_count(data, at, 4)
    resources, at = _read_alter_configs_resources_v2(data, at, count) if count else ([], at)
    validate_only, more = _unpack_tB(data, at)
    at += 2
    if more:
        at = skip_tags(data, at - 1)
    return AlterConfigsRequest(resources, validate_only), at


def _write_alterable_configs_v0(items: Sequence[AlterableConfig], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        write_nullable_string(item.value, out)


def _write_alter_configs_resources_v0(items: Sequence[AlterConfigsResource], out: bytearray) -> None:
    for item in items:
        out += _pack_b(item.resource_type)
        write_string(item.resource_name, out)
        out += _pack_i(len(item.configs))
        if item.configs:
            _write_alterable_configs_v0(item.configs, out)


def _write_alter_configs_request_v0(item: AlterConfigsRequest, out: bytearray) -> None:
    out += _pack_i(len(item.resources))
    if item.resources:
        _write_alter_configs_resources_v0(item.resources, out)
    out += _pack_t(item.validate_only)


def _write_alterable_configs_v2(items: Sequence[AlterableConfig], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.value is None:
            out.append(0)
        else:
            write_compact_string(item.value, out)
        out.append(0)


def _write_alter_configs_resources_v2(items: Sequence[AlterConfigsResource], out: bytearray) -> None:
    for item in items:
        out += _pack_b(item.resource_type)
        write_compact_string(item.resource_name, out)
        if item.configs:
            out += uvarint(len(item.configs) + 1)
            _write_alterable_configs_v2(item.configs, out)
        else:
            out.append(1)
        out.append(0)


def _write_alter_configs_request_v2(item: AlterConfigsRequest, out: bytearray) -> None:
    if item.resources:
        out += uvarint(len(item.resources) + 1)
        _write_alter_configs_resources_v2(item.resources, out)
    else:
        out.append(1)
    out += _pack_tx(item.validate_only)


AlterConfigsRequest.DECODERS = {
    0: _read_alter_configs_request_v0,
    1: _read_alter_configs_request_v0,
    2: _read_alter_configs_request_v2,
}
AlterConfigsRequest.ENCODERS = {
    0: _write_alter_configs_request_v0,
    1: _write_alter_configs_request_v0,
    2: _write_alter_configs_request_v2,
}
