"""Generated from schemas/alter_client_quotas.schema: AlterClientQuotasResponse, versions 0-1. Do not edit."""

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


class AlterClientQuotasResponse(Message):
    __slots__ = ("throttle_time_ms", "entries",)
    API_KEY = 49
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 1

    def __init__(
        self,
        throttle_time_ms: int = 0,
        entries: Sequence[EntryData] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
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


class EntryData(Struct):
    __slots__ = ("error_code", "error_message", "entity",)

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        entity: Sequence[EntityData] = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.entity = entity


def _read_entity_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[EntityData], int]:
    items: list[EntityData] = []
    for _ in range(count):
        entity_type, at = read_string(data, at)
        entity_name, at = read_nullable_string(data, at)
        items.append(EntityData(entity_type, entity_name))
    return items, at


def _read_entry_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[EntryData], int]:
    items: list[EntryData] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message, at = read_nullable_string(data, at)
        count, at = read_count(data, at, 4)
        entity, at = _read_entity_datas_v0(data, at, count) if count else ([], at)
        items.append(EntryData(error_code, error_message, entity))
    return items, at


def _read_alter_client_quotas_response_v0(data: memoryview, at: int) -> tuple[AlterClientQuotasResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 8)
    entries, at = _read_entry_datas_v0(data, at, count) if count else ([], at)
    return AlterClientQuotasResponse(throttle_time_ms, entries), at


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


def _read_entry_datas_v1(data: memoryview, at: int, count: int) -> tuple[list[EntryData], int]:
    items: list[EntryData] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        count, at = read_compact_count(data, at, 3)
        entity, at = _read_entity_datas_v1(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(EntryData(error_code, error_message, entity))
    return items, at


def _read_alter_client_quotas_response_v1(data: memoryview, at: int) -> tuple[AlterClientQuotasResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 5)
    entries, at = _read_entry_datas_v1(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return AlterClientQuotasResponse(throttle_time_ms, entries), at


def _write_entity_datas_v0(items: Sequence[EntityData], out: bytearray) -> None:
    for item in items:
        write_string(item.entity_type, out)
        write_nullable_string(item.entity_name, out)


def _write_entry_datas_v0(items: Sequence[EntryData], out: bytearray) -> None:
    for item in items:
        out += _pack_h(item.error_code)
        write_nullable_string(item.error_message, out)
        out += _pack_i(len(item.entity))
        if item.entity:
            _write_entity_datas_v0(item.entity, out)


def _write_alter_client_quotas_response_v0(item: AlterClientQuotasResponse, out: bytearray) -> None:
    out += _pack_ii(item.throttle_time_ms, len(item.entries))
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


def _write_entry_datas_v1(items: Sequence[EntryData], out: bytearray) -> None:
    for item in items:
        out += _pack_h(item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        if item.entity:
            out += uvarint(len(item.entity) + 1)
            _write_entity_datas_v1(item.entity, out)
        else:
            out.append(1)
        out.append(0)


def _write_alter_client_quotas_response_v1(item: AlterClientQuotasResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.entries:
        out += uvarint(len(item.entries) + 1)
        _write_entry_datas_v1(item.entries, out)
    else:
        out.append(1)
    out.append(0)


AlterClientQuotasResponse.DECODERS = {
    0: _read_alter_client_quotas_response_v0,
    1: _read_alter_client_quotas_response_v1,
}
AlterClientQuotasResponse.ENCODERS = {
    0: _write_alter_client_quotas_response_v0,
    1: _write_alter_client_quotas_response_v1,
}
