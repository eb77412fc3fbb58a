"""Generated from schemas/describe_client_quotas.schema: DescribeClientQuotasResponse, versions 0-1. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_nullable_count,
    read_compact_string,
    read_count,
    read_nullable_count,
    read_nullable_string,
    read_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_nullable_string,
    write_string,
)

_unpack_d = Layout(">d").unpack_from
_pack_d = Layout(">d").pack
_unpack_dB = Layout(">dB").unpack_from
_pack_dx = Layout(">dx").pack
_pack_i = Layout(">i").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack


class DescribeClientQuotasResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "error_message", "entries",)
    API_KEY = 48
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 1

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        entries: Sequence[EntryData] | None = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.entries = entries


class EntityData(Struct):
    __slots__ = ("entity_type", "entity_name",)

    def __init__(
        self,
        entity_type: str = "",
        entity_name: str | None = "",
    ) -> None:
        self.entity_type = entity_type
        self.entity_name = entity_name


class ValueData(Struct):
    __slots__ = ("key", "value",)

    def __init__(
        self,
        key: str = "",
        value: float = 0.0,
    ) -> None:
        self.key = key
        self.value = value


class EntryData(Struct):
    __slots__ = ("entity", "values",)

    def __init__(
        self,
        entity: Sequence[EntityData] = (),
        values: Sequence[ValueData] = (),
    ) -> None:
        self.entity = entity
        self.values = values


def _read_entity_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[EntityData], int]:
    items: list[EntityData] = []
    for _ in range(count):
        entity_type, at = read_string(data, at)
        entity_name, at = read_nullable_string(data, at)
        items.append(EntityData(entity_type, entity_name))
    return items, at


def _read_value_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[ValueData], int]:
    items: list[ValueData] = []
    for _ in range(count):
        key, at = read_string(data, at)
        (value,) = _unpack_d(data, at)
        at += 8
        items.append(ValueData(key, value))
    return items, at


def _read_entry_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[EntryData], int]:
    items: list[EntryData] = []
    for _ in range(count):
        count, at = read_count(data, at, 4)
        entity, at = _read_entity_datas_v0(data, at, count) if count else ([], at)
        count, at = read_count(data, at, 10)
        values, at = _read_value_datas_v0(data, at, count) if count else ([], at)
        items.append(EntryData(entity, values))
    return items, at


def _read_describe_client_quotas_response_v0(data: memoryview, at: int) -> tuple[DescribeClientQuotasResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    error_message, at = read_nullable_string(data, at)
    count, at = read_nullable_count(data, at, 8)
    entries: list[EntryData] | None = None
    if count >= 0:
        entries, at = _read_entry_datas_v0(data, at, count)
    return DescribeClientQuotasResponse(throttle_time_ms, error_code, error_message, entries), at


def _read_entity_datas_v1(data: memoryview, at: int, count: int) -> tuple[list[EntityData], int]:
    items: list[EntityData] = []
    for _ in range(count):
        entity_type, at = read_compact_string(data, at)
        entity_name: str | None = None
        if data[at]:
            entity_name, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(EntityData(entity_type, entity_name))
    return items, at


def _read_value_datas_v1(data: memoryview, at: int, count: int) -> tuple[list[ValueData], int]:
    items: list[ValueData] = []
    for _ in range(count):
        key, at = read_compact_string(data, at)
        value, more = _unpack_dB(data, at)
        at += 9
        if more:
            at = skip_tags(data, at - 1)
        items.append(ValueData(key, value))
    return items, at


def _read_entry_datas_v1(data: memoryview, at: int, count: int) -> tuple[list[EntryData], int]:
    items: list[EntryData] = []
    for _ in range(count):
        count, at = read_compact_count(data, at, 3)
        entity, at = _read_entity_datas_v1(data, at, count) if count else ([], at)
        count, at = read_compact_count(data, at, 10)
        values, at = _read_value_datas_v1(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(EntryData(entity, values))
    return items, at


def _read_describe_client_quotas_response_v1(data: memoryview, at: int) -> tuple[DescribeClientQuotasResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    error_message: str | None = None
    if data[at]:
        error_message, at = read_compact_string(data, at)
    else:
        at += 1
    count, at = read_compact_nullable_count(data, at, 3)
    entries: list[EntryData] | None = None
    if count >= 0:
        entries, at = _read_entry_datas_v1(data, at, count)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeClientQuotasResponse(throttle_time_ms, error_code, error_message, entries), at


def _write_entity_datas_v0(items: Sequence[EntityData], out: bytearray) -> None:
    for item in items:
        write_string(item.entity_type, out)
        write_nullable_string(item.entity_name, out)


def _write_value_datas_v0(items: Sequence[ValueData], out: bytearray) -> None:
    for item in items:
        write_string(item.key, out)
        out += _pack_d(item.value)


def _write_entry_datas_v0(items: Sequence[EntryData], out: bytearray) -> None:
    for item in items:
        out += _pack_i(len(item.entity))
        if item.entity:
            _write_entity_datas_v0(item.entity, out)
        out += _pack_i(len(item.values))
        if item.values:
            _write_value_datas_v0(item.values, out)


def _write_describe_client_quotas_response_v0(item: DescribeClientQuotasResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    write_nullable_string(item.error_message, out)
    out += _pack_i(-1 if item.entries is None else len(item.entries))
    if item.entries:
        _write_entry_datas_v0(item.entries, out)


def _write_entity_datas_v1(items: Sequence[EntityData], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.entity_type, out)
        if item.entity_name is None:
            out.append(0)
        else:
            write_compact_string(item.entity_name, out)
        out.append(0)


def _write_value_datas_v1(items: Sequence[ValueData], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.key, out)
        out += _pack_dx(item.value)


def _write_entry_datas_v1(items: Sequence[EntryData], out: bytearray) -> None:
    for item in items:
        if item.entity:
            out += uvarint(len(item.entity) + 1)
            _write_entity_datas_v1(item.entity, out)
        else:
            out.append(1)
        if item.values:
            out += uvarint(len(item.values) + 1)
            _write_value_datas_v1(item.values, out)
        else:
            out.append(1)
        out.append(0)


def _write_describe_client_quotas_response_v1(item: DescribeClientQuotasResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.error_message is None:
        out.append(0)
    else:
        write_compact_string(item.error_message, out)
    if item.entries:
        out += uvarint(len(item.entries) + 1)
        _write_entry_datas_v1(item.entries, out)
    else:
        out.append(0 if item.entries is None else 1)
    out.append(0)


DescribeClientQuotasResponse.DECODERS = {
    0: _read_describe_client_quotas_response_v0,
    1: _read_describe_client_quotas_response_v1,
}
DescribeClientQuotasResponse.ENCODERS = {
    0: _write_describe_client_quotas_response_v0,
    1: _write_describe_client_quotas_response_v1,
}
