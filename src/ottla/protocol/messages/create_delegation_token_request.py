"""Generated from schemas/create_delegation_token.schema: CreateDelegationTokenRequest, versions 1-3. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_count,
    read_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_string,
)

_pack_i = Layout(">i").pack
_unpack_q = Layout(">q").unpack_from
_pack_q = Layout(">q").pack
_unpack_qB = Layout(">qB").unpack_from
_pack_qx = Layout(">qx").pack


class CreateDelegationTokenRequest(Message):
    __slots__ = ("owner_principal_type", "owner_principal_name", "renewers", "max_lifetime_ms",)
    API_KEY = 38
    VERSIONS = range(1, 4)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        owner_principal_type: str | None = "",
        owner_principal_name: str | None = "",
        renewers: Sequence[CreatableRenewers] = (),
        max_lifetime_ms: int = 0,
    ) -> None:
        self.owner_principal_type = owner_principal_type
        self.owner_principal_name = owner_principal_name
        self.renewers = renewers
        self.max_lifetime_ms = max_lifetime_ms


class CreatableRenewers(Struct):
    __slots__ = ("principal_type", "principal_name",)

    def __init__(
        self,
        principal_type: str = "",
        principal_name: str = "",
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name


def _read_creatable_renewerss_v1(data: memoryview, at: int, count: int) -> tuple[list[CreatableRenewers], int]:
    items: list[CreatableRenewers] = []
    for _ in range(count):
        principal_type, at = read_string(data, at)
        principal_name, at = read_string(data, at)
        items.append(CreatableRenewers(principal_type, principal_name))
    return items, at


def _read_create_delegation_token_request_v1(data: memoryview, at: int) -> tuple[CreateDelegationTokenRequest, int]:
    count, at = read_count(data, at, 4)
    renewers, at = _read_creatable_renewerss_v1(data, at, count) if count else ([], at)
    (max_lifetime_ms,) = _unpack_q(data, at)
    at += 8
    return CreateDelegationTokenRequest("", "", renewers, max_lifetime_ms), at


def _read_creatable_renewerss_v2(data: memoryview, at: int, count: int) -> tuple[list[CreatableRenewers], int]:
    items: list[CreatableRenewers] = []
    for _ in range(count):
        principal_type, at = read_compact_string(data, at)
        principal_name, at = read_compact_string(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(CreatableRenewers(principal_type, principal_name))
    return items, at


def _read_create_delegation_token_request_v2(data: memoryview, at: int) -> tuple[CreateDelegationTokenRequest, int]:
    count, at = read_compact_count(data, at, 3)
    renewers, at = _read_creatable_renewerss_v2(data, at, count) if count else ([], at)
    max_lifetime_ms, more = _unpack_qB(data, at)
    at += 9
    if more:
        at = skip_tags(data, at - 1)
    return CreateDelegationTokenRequest("", "", renewers, max_lifetime_ms), at


def _read_create_delegation_token_request_v3(data: memoryview, at: int) -> tuple[CreateDelegationTokenRequest, int]:
    owner_principal_type: str | None = None
    if data[at]:
        owner_principal_type, at = read_compact_string(data, at)
    else:
        at += 1
    owner_principal_name: str | None = None
    if data[at]:
        owner_principal_name, at = read_compact_string(data, at)
    else:
        at += 1
    count, at = read_compact_count(data, at, 3)
    renewers, at = _read_creatable_renewerss_v2(data, at, count) if count else ([], at)
    max_lifetime_ms, more = _unpack_qB(data, at)
    at += 9
    if more:
        at = skip_tags(data, at - 1)
    return CreateDelegationTokenRequest(owner_principal_type, owner_principal_name, renewers, max_lifetime_ms), at


def _write_creatable_renewerss_v1(items: Sequence[CreatableRenewers], out: bytearray) -> None:
    for item in items:
        write_string(item.principal_type, out)
        write_string(item.principal_name, out)


def _write_create_delegation_token_request_v1(item: CreateDelegationTokenRequest, out: bytearray) -> None:
    if item.owner_principal_type != "":
        refuse_field("CreateDelegationTokenRequest.owner_principal_type")
    if item.owner_principal_name != "":
        refuse_field("CreateDelegationTokenRequest.owner_principal_name")
    out += _pack_i(len(item.renewers))
    if item.renewers:
        _write_creatable_renewerss_v1(item.renewers, out)
    out += _pack_q(item.max_lifetime_ms)


def _write_creatable_renewerss_v2(items: Sequence[CreatableRenewers], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.principal_type, out)
        write_compact_string(item.principal_name, out)
        out.append(0)


def _write_create_delegation_token_request_v2(item: CreateDelegationTokenRequest, out: bytearray) -> None:
    if item.owner_principal_type != "":
        refuse_field("CreateDelegationTokenRequest.owner_principal_type")
    if item.owner_principal_name != "":
        refuse_field("CreateDelegationTokenRequest.owner_principal_name")
    if item.renewers:
        out += uvarint(len(item.renewers) + 1)
        _write_creatable_renewerss_v2(item.renewers, out)
    else:
        out.append(1)
    out += _pack_qx(item.max_lifetime_ms)


def _write_create_delegation_token_request_v3(item: CreateDelegationTokenRequest, out: bytearray) -> None:
    if item.owner_principal_type is None:
        out.append(0)
    else:
        write_compact_string(item.owner_principal_type, out)
    if item.owner_principal_name is None:
        out.append(0)
    else:
        write_compact_string(item.owner_principal_name, out)
    if item.renewers:
        out += uvarint(len(item.renewers) + 1)
        _write_creatable_renewerss_v2(item.renewers, out)
    else:
        out.append(1)
    out += _pack_qx(item.max_lifetime_ms)


CreateDelegationTokenRequest.DECODERS = {
    1: _read_create_delegation_token_request_v1,
    2: _read_create_delegation_token_request_v2,
    3: _read_create_delegation_token_request_v3,
}
CreateDelegationTokenRequest.ENCODERS = {
    1: _write_create_delegation_token_request_v1,
    2: _write_create_delegation_token_request_v2,
    3: _write_create_delegation_token_request_v3,
}
