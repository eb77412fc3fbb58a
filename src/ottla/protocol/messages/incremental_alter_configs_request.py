"""Generated from schemas/incremental_alter_configs.schema: IncrementalAlterConfigsRequest, versions 0-1. Do not edit."""

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


class IncrementalAlterConfigsRequest(Message):
    __slots__ = ("resources", "validate_only",)
    API_KEY = 44
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 1

    def __init__(
        self,
        resources: Sequence[AlterConfigsResource] = (),
        validate_only: bool = False,
    ) -> None:
        self.resources = resources
        self.validate_only = validate_only


class AlterableConfig(Struct):
    __slots__ = ("name", "config_operation", "value",)

    def __init__(
        self,
        name: str = "",
        config_operation: int = 0,
        value: str | None = "",
    ) -> None:
        self.name = name
        self.config_operation = config_operation
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
        (config_operation,) = _unpack_b(data, at)
        at += 1
        value, at = read_nullable_string(data, at)
        items.append(AlterableConfig(name, config_operation, value))
    return items, at


def _read_alter_configs_resources_v0(data: memoryview, at: int, count: int) -> tuple[list[AlterConfigsResource], int]:
    items: list[AlterConfigsResource] = []
    for _ in range(count):
        (resource_type,) = _unpack_b(data, at)
        at += 1
        resource_name, at = read_string(data, at)
        count, at = read_count(data, at, 5)
        configs, at = _read_alterable_configs_v0(data, at, count) if count else ([], at)
        items.append(AlterConfigsResource(resource_type, resource_name, configs))
    return items, at


def _read_incremental_alter_configs_request_v0(data: memoryview, at: int) -> tuple[IncrementalAlterConfigsRequest, int]:
    count, at = read_count(data, at, 7)
    resources, at = _read_alter_configs_resources_v0(data, at, count) if count else ([], at)
    (validate_only,) = _unpack_t(data, at)
    at += 1
    return IncrementalAlterConfigsRequest(resources, validate_only), at


def _read_alterable_configs_v1(data: memoryview, at: int, count: int) -> tuple[list[AlterableConfig], int]:
    items: list[AlterableConfig] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        (config_operation,) = _unpack_b(data, at)
        at += 1
        value: str | None = None
        if data[at]:
            value, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(AlterableConfig(name, config_operation, value))
    return items, at


def _read_alter_configs_resources_v1(data: memoryview, at: int, count: int) -> tuple[list[AlterConfigsResource], int]:
    items: list[AlterConfigsResource] = []
    for _ in range(count):
        (resource_type,) = _unpack_b(data, at)
        at += 1
        resource_name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 4)
        configs, at = _read_alterable_configs_v1(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(AlterConfigsResource(resource_type, resource_name, configs))
    return items, at


def _read_incremental_alter_configs_request_v1(data: memoryview, at: int) -> tuple[IncrementalAlterConfigsRequest, int]:
    count, at = read_compact_count(data, at, 4)
    resources, at = _read_alter_configs_resources_v1(data, at, count) if count else ([], at)
    validate_only, more = _unpack_tB(data, at)
    at += 2
    if more:
        at = skip_tags(data, at - 1)
    return IncrementalAlterConfigsRequest(resources, validate_only), at


def _write_alterable_configs_v0(items: Sequence[AlterableConfig], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        out += _pack_b(item.config_operation)
        write_nullable_string(item.value, out)


def _write_alter_configs_resources_v0(items: Sequence[AlterConfigsResource], out: bytearray) -> None:
    for item in items:
        out += _pack_b(item.resource_type)
        write_string(item.resource_name, out)
        out += _pack_i(len(item.configs))
        if item.configs:
            _write_alterable_configs_v0(item.configs, out)


def _write_incremental_alter_configs_request_v0(item: IncrementalAlterConfigsRequest, out: bytearray) -> None:
    out += _pack_i(len(item.resources))
    if item.resources:
        _write_alter_configs_resources_v0(item.resources, out)
    out += _pack_t(item.validate_only)


def _write_alterable_configs_v1(items: Sequence[AlterableConfig], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        out += _pack_b(item.config_operation)
        if item.value is None:
            out.append(0)
        else:
            write_compact_string(item.value, out)
        out.append(0)


def _write_alter_configs_resources_v1(items: Sequence[AlterConfigsResource], out: bytearray) -> None:
    for item in items:
        out += _pack_b(item.resource_type)
        write_compact_string(item.resource_name, out)
        if item.configs:
            out += uvarint(len(item.configs) + 1)
            _write_alterable_configs_v1(item.configs, out)
        else:
            out.append(1)
        out.append(0)


def _write_incremental_alter_configs_request_v1(item: IncrementalAlterConfigsRequest, out: bytearray) -> None:
    if item.resources:
        out += uvarint(len(item.resources) + 1)
        _write_alter_configs_resources_v1(item.resources, out)
    else:
        out.append(1)
    out += _pack_tx(item.validate_only)


IncrementalAlterConfigsRequest.DECODERS = {
    0: _read_incremental_alter_configs_request_v0,
    1: _read_incremental_alter_configs_request_v1,
}
IncrementalAlterConfigsRequest.ENCODERS = {
    0: _write_incremental_alter_configs_request_v0,
    1: _write_incremental_alter_configs_request_v1,
}
