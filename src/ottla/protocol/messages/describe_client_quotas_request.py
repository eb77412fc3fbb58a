"""Generated from schemas/describe_client_quotas.schema: DescribeClientQuotasRequest, versions 0-1. Do not edit."""

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


class DescribeClientQuotasRequest(Message):
    __slots__ = ("components", "strict",)
    API_KEY = 48
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 1

    def __init__(
        self,
        components: Sequence[ComponentData] = (),
        strict: bool = False,
    ) -> None:
        self.components = components
        self.strict = strict


class ComponentData(Struct):
    __slots__ = ("entity_type", "match_type", "match",)

    def __init__(
        self,
        entity_type: str = "",
        match_type: int = 0,
        match: str | None = "",
    ) -> None:
        self.entity_type = entity_type
        self.match_type = match_type
        self.match = match


def _read_component_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[ComponentData], int]:
    items: list[ComponentData] = []
    for _ in range(count):
        entity_type, at = read_string(data, at)
        (match_type,) = _unpack_b(data, at)
        at += 1
        match, at = read_nullable_string(data, at)
        items.append(ComponentData(entity_type, match_type, match))
    return items, at


def _read_describe_client_quotas_request_v0(data: memoryview, at: int) -> tuple[DescribeClientQuotasRequest, int]:
    count, at = read_count(data, at, 5)
    components, at = _read_component_datas_v0(data, at, count) if count else ([], at)
    (strict,) = _unpack_t(data, at)
    at += 1
    return DescribeClientQuotasRequest(components, strict), at


def _read_component_datas_v1(data: memoryview, at: int, count: int) -> tuple[list[ComponentData], int]:
    items: list[ComponentData] = []
    for _ in range(count):
        entity_type, at = read_compact_string(data, at)
        (match_type,) = _unpack_b(data, at)
        at += 1
        match: str | None = None
        if data[at]:
            match, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(ComponentData(entity_type, match_type, match))
    return items, at


def _read_describe_client_quotas_request_v1(data: memoryview, at: int) -> tuple[DescribeClientQuotasRequest, int]:
    count, at = read_compact_count(data, at, 4)
    components, at = _read_component_datas_v1(data, at, count) if count else ([], at)
    strict, more = _unpack_tB(data, at)
    at += 2
    if more:
        at = skip_tags(data, at - 1)
    return DescribeClientQuotasRequest(components, strict), at


def _write_component_datas_v0(items: Sequence[ComponentData], out: bytearray) -> None:
    for item in items:
        write_string(item.entity_type, out)
        out += _pack_b(item.match_type)
        write_nullable_string(item.match, out)


def _write_describe_client_quotas_request_v0(item: DescribeClientQuotasRequest, out: bytearray) -> None:
    out += _pack_i(len(item.components))
    if item.components:
        _write_component_datas_v0(item.components, out)
    out += _pack_t(item.strict)


def _write_component_datas_v1(items: Sequence[ComponentData], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.entity_type, out)
        out += _pack_b(item.match_type)
        if item.match is None:
            out.append(0)
        else:
            write_compact_string(item.match, out)
        out.append(0)


def _write_describe_client_quotas_request_v1(item: DescribeClientQuotasRequest, out: bytearray) -> None:
    if item.components:
        out += uvarint(len(item.components) + 1)
        _write_component_datas_v1(item.components, out)
    else:
        out.append(1)
    out += _pack_tx(item.strict)


DescribeClientQuotasRequest.DECODERS = {
    0: _read_describe_client_quotas_request_v0,
    1: _read_describe_client_quotas_request_v1,
}
DescribeClientQuotasRequest.ENCODERS = {
    0: _write_describe_client_quotas_request_v0,
    1: _write_describe_client_quotas_request_v1,
}
