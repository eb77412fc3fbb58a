"""Generated from schemas/describe_configs.schema: DescribeConfigsRequest, versions 1-4. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_nullable_count,
    read_compact_string,
    read_compact_strings,
    read_count,
    read_nullable_count,
    read_string,
    read_strings,
    skip_tags,
    uvarint,
    write_compact_string,
    write_compact_strings,
    write_string,
    write_strings,
)

_unpack_t = Layout(">?").unpack_from
_pack_t = Layout(">?").pack
_unpack_tt = Layout(">??").unpack_from
_pack_tt = Layout(">??").pack
_unpack_ttB = Layout(">??B").unpack_from
_pack_ttx = Layout(">??x").pack
_unpack_b = Layout(">b").unpack_from
_pack_b = Layout(">b").pack
_pack_i = Layout(">i").pack


class DescribeConfigsRequest(Message):
    __slots__ = ("resources", "include_synonyms", "include_documentation",)
    API_KEY = 32
    VERSIONS = range(1, 5)
    FLEXIBLE_FROM = 4

    def __init__(
        self,
        resources: Sequence[DescribeConfigsResource] = (),
        include_synonyms: bool = False,
        include_documentation: bool = False,
    ) -> None:
        self.resources = resources
        self.include_synonyms = include_synonyms
        self.include_documentation = include_documentation


class DescribeConfigsResource(Struct):
    __slots__ = ("resource_type", "resource_name", "configuration_keys",)

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        configuration_keys: Sequence[str] | None = (),
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configuration_keys = configuration_keys


def _read_describe_configs_resources_v1(data: memoryview, at: int, count: int) -> tuple[list[DescribeConfigsResource], int]:
    items: list[DescribeConfigsResource] = []
    for _ in range(count):
        (resource_type,) = _unpack_b(data, at)
        at += 1
        resource_name, at = read_string(data, at)
        count, at = read_nullable_count(data, at, 2)
        configuration_keys: list[str] | None = None
        if count >= 0:
            configuration_keys, at = read_strings(data, at, count)
        items.append(DescribeConfigsResource(resource_type, resource_name, configuration_keys))
    return items, at


def _read_describe_configs_request_v1(data: memoryview, at: int) -> tuple[DescribeConfigsRequest, int]:
    count, at = read_count(data, at, 7)
    resources, at = _read_describe_configs_resources_v1(data, at, count) if count else ([], at)
    (include_synonyms,) = _unpack_t(data, at)
    at += 1
    return DescribeConfigsRequest(resources, include_synonyms, False), at


def _read_describe_configs_request_v3(data: memoryview, at: int) -> tuple[DescribeConfigsRequest, int]:
    count, at = read_count(data, at, 7)
    resources, at = _read_describe_configs_resources_v1(data, at, count) if count else ([], at)
    include_synonyms, include_documentation = _unpack_tt(data, at)
    at += 2
    return DescribeConfigsRequest(resources, include_synonyms, include_documentation), at


def _read_describe_configs_resources_v4(data: memoryview, at: int, count: int) -> tuple[list[DescribeConfigsResource], int]:
    items: list[DescribeConfigsResource] = []
    for _ in range(count):
        (resource_type,) = _unpack_b(data, at)
        at += 1
        resource_name, at = read_compact_string(data, at)
        count, at = read_compact_nullable_count(data, at, 1)
        configuration_keys: list[str] | None = None
        if count >= 0:
            configuration_keys, at = read_compact_strings(data, at, count)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DescribeConfigsResource(resource_type, resource_name, configuration_keys))
    return items, at


def _read_describe_configs_request_v4(data: memoryview, at: int) -> tuple[DescribeConfigsRequest, int]:
    count, at = read_compact_count(data, at, 4)
    resources, at = _read_describe_configs_resources_v4(data, at, count) if count else ([], at)
    include_synonyms, include_documentation, more = _unpack_ttB(data, at)
    at += 3
    if more:
        at = skip_tags(data, at - 1)
    return DescribeConfigsRequest(resources, include_synonyms, include_documentation), at


def _write_describe_configs_resources_v1(items: Sequence[DescribeConfigsResource], out: bytearray) -> None:
    for item in items:
        out += _pack_b(item.resource_type)
        write_string(item.resource_name, out)
        out += _pack_i(-1 if item.configuration_keys is None else len(item.configuration_keys))
        if item.configuration_keys:
            write_strings(item.configuration_keys, out)


def _write_describe_configs_request_v1(item: DescribeConfigsRequest, out: bytearray) -> None:
    if item.include_documentation:
        refuse_field("DescribeConfigsRequest.include_documentation")
    out += _pack_i(len(item.resources))
    if item.resources:
        _write_describe_configs_resources_v1(item.resources, out)
    out += _pack_t(item.include_synonyms)


def _write_describe_configs_request_v3(item: DescribeConfigsRequest, out: bytearray) -> None:
    out += _pack_i(len(item.resources))
    if item.resources:
        _write_describe_configs_resources_v1(item.resources, out)
    out += _pack_tt(item.include_synonyms, item.include_documentation)


def _write_describe_configs_resources_v4(items: Sequence[DescribeConfigsResource], out: bytearray) -> None:
    for item in items:
        out += _pack_b(item.resource_type)
        write_compact_string(item.resource_name, out)
        if item.configuration_keys:
            out += uvarint(len(item.configuration_keys) + 1)
            write_compact_strings(item.configuration_keys, out)
        else:
            out.append(0 if item.configuration_keys is None else 1)
        out.append(0)


def _write_describe_configs_request_v4(item: DescribeConfigsRequest, out: bytearray) -> None:
    if item.resources:
        out += uvarint(len(item.resources) + 1)
        _write_describe_configs_resources_v4(item.resources, out)
    else:
        out.append(1)
    out += _pack_ttx(item.include_synonyms, item.include_documentation)


DescribeConfigsRequest.DECODERS = {
    1: _read_describe_configs_request_v1,
    2: _read_describe_configs_request_v1,
    3: _read_describe_configs_request_v3,
    4: _read_describe_configs_request_v4,
}
DescribeConfigsRequest.ENCODERS = {
    1: _write_describe_configs_request_v1,
    2: _write_describe_configs_request_v1,
    3: _write_describe_configs_request_v3,
    4: _write_describe_configs_request_v4,
}
