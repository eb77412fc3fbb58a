"""Generated from schemas/alter_client_quotas.schema: AlterClientQuotasRequest, versions 0-1. Do not edit."""

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
_unpack_dt = Layout(">d?").unpack_from
_pack_dt = Layout(">d?").pack
_unpack_dtB = Layout(">d?B").unpack_from
_pack_dtx = Layout(">d?x").pack
_pack_i = Layout(">i").pack


class AlterClientQuotasRequest(Message):
    __slots__ = ("entries", "validate_only",)
    API_KEY = 49
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 1

    def __init__(
        self,
        entries: Sequence[EntryData] = (),
        validate_only: bool = False,
    ) -> None:
        self.entries = entries
        self.validate_only = validate_only


class EntityData(Struct):
    __slots__ = ("entity_type", "entity_name",)

    def __init__(
        self,
        entity_type: str = "",
        entity_name: str | None = "",
    ) -> None:
        self.entity_type = entity_type
        self.entity_name = entity_name


class OpData(Struct):
    __slots__ = ("key", "value", "remove",)

    def __init__(
        self,
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
    ) -> None:
        self.key = key
        self.value = value
        self.remove = remove


class EntryData(Struct):
    __slots__ = ("entity", "ops",)

    def __init__(
        self,
        entity: Sequence[EntityData] = (),
        ops: Sequence[OpData] = (),
    ) -> None:
        self.entity = entity
        self.ops = ops


def _read_entity_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[EntityData], int]:
    items: list[EntityData] = []
    for _ in range(count):
        entity_type, at = read_string(data, at)
        entity_name, at = read_nullable_string(data, at)
        items.append(EntityData(entity_type, entity_name))
    return items, at


def _read_op_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[OpData], int]:
    items: list[OpData] = []
    for _ in range(count):
        key, at = read_string(data, at)
        value, remove = _unpack_dt(data, at)
        at += 9
        items.append(OpData(key, value, remove))
    return items, at


def _read_entry_datas_v0(data: memoryview, at: int, count: int) -> tuple[list[EntryData], int]:
    items: list[EntryData] = []
    for _ in range(count):
        count, at = read_count(data, at, 4)
        entity, at = _read_entity_datas_v0(data, at, count) if count else ([], at)
        count, at = read_count(data, at, 11)
        ops, at = _read_op_datas_v0(data, at, count) if count else ([], at)
        items.append(EntryData(entity, ops))
    return items, at


def _read_alter_client_quotas_request_v0(data: memoryview, at: int) -> tuple[AlterClientQuotasRequest, int]:
    count, at = read_count(data, at, 8)
    entries, at = _read_entry_datas_v0(data, at, count) if count else ([], at)
    (validate_only,) = _unpack_t(data, at)
    at += 1
    return AlterClientQuotasRequest(entries, validate_only), at


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


def _read_op_datas_v1(data: memoryview, at: int, count: int) -> tuple[list[OpData], int]:
    items: list[OpData] = []
    for _ in range(count):
        key, at = read_compact_string(data, at)
        value, remove, more = _unpack_dtB(data, at)
        at += 10
        if more:
            at = skip_tags(data, at - 1)
        items.append(OpData(key, value, remove))
    return items, at


def _read_entry_datas_v1(data: memoryview, at: int, count: int) -> tuple[list[EntryData], int]:
    items: list[EntryData] = []
    for _ in range(count):
        count, at = read_compact_count(data, at, 3)
        entity, at = _read_entity_datas_v1(data, at, count) if count else ([], at)
        count, at = read_compact_count(data, at, 11)
        ops, at = _read_op_datas_v1(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(EntryData(entity, ops))
    return items, at


def _read_alter_client_quotas_request_v1(data: memoryview, at: int) -> tuple[AlterClientQuotasRequest, int]:
    count, at = read_compact_count(data, at, 3)
    entries, at = _read_entry_datas_v1(data, at, count) if count else ([], at)
    validate_only, more = _unpack_tB(data, at)
    at += 2
    if more:
        at = skip_tags(data, at - 1)
    return AlterClientQuotasRequest(entries, validate_only), at


def _write_entity_datas_v0(items: Sequence[EntityData], out: bytearray) -> None:
    for item in items:
        write_string(item.entity_type, out)
        write_nullable_string(item.entity_name, out)


def _write_op_datas_v0(items: Sequence[OpData], out: bytearray) -> None:
    for item in items:
        write_string(item.key, out)
        out += _pack_dt(item.value, item.remove)


def _write_entry_datas_v0(items: Sequence[EntryData], out: bytearray) -> None:
    for item in items:
        out += _pack_i(len(item.entity))
        if item.entity:
            _write_entity_datas_v0(item.entity, out)
        out += _pack_i(len(item.ops))
        if item.ops:
            _write_op_datas_v0(item.ops, out)


def _write_alter_client_quotas_request_v0(item: AlterClientQuotasRequest, out: bytearray) -> None:
    out += _pack_i(len(item.entries))
    if item.entries:
        _write_entry_datas_v0(item.entries, out)
    out += _pack_t(item.validate_only)


def _write_entity_datas_v1(items: Sequence[EntityData], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.entity_type, out)
        if item.entity_name is None:
            out.append(0)
        else:
            write_compact_string(item.entity_name, out)
        out.append(0)


def _write_op_datas_v1(items: Sequence[OpData], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.key, out)
        out += _pack_dtx(item.value, item.remove)


def _write_entry_datas_v1(items: Sequence[EntryData], out: bytearray) -> None:
    for item in items:
        if item.entity:
            out += uvarint(len(item.entity) + 1)
            _write_entity_datas_v1(item.entity, out)
        else:
            out.append(1)
        if item.ops:
            out += uvarint(len(item.ops) + 1)
            _write_op_datas_v1(item.ops, out)
        else:
            out.append(1)
        out.append(0)


def _write_alter_client_quotas_request_v1(item: AlterClientQuotasRequest, out: bytearray) -> None:
    if item.entries:
        out += uvarint(len(item.entries) + 1)
        _write_entry_datas_v1(item.entries, out)
    else:
        out.append(1)
    out += _pack_tx(item.validate_only)


AlterClientQuotasRequest.DECODERS = {
    0: _read_alter_client_quotas_request_v0,
    1: _read_alter_client_quotas_request_v1,
}
AlterClientQuotasRequest.ENCODERS = {
    0: _write_alter_client_quotas_request_v0,
    1: _write_alter_client_quotas_request_v1,
}
