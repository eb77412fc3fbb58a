"""Generated from schemas/describe_delegation_token.schema: DescribeDelegationTokenRequest, versions 1-3. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_nullable_count,
    read_compact_string,
    read_nullable_count,
    read_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_string,
)

_pack_i = Layout(">i").pack


class DescribeDelegationTokenRequest(Message):
    __slots__ = ("owners",)
    API_KEY = 41
    VERSIONS = range(1, 4)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        owners: Sequence[DescribeDelegationTokenOwner] | None = (),
    ) -> None:
        self.owners = owners


class DescribeDelegationTokenOwner(Struct):
    __slots__ = ("principal_type", "principal_name",)

    def __init__(
        self,
        principal_type: str = "",
        principal_name: str = "",
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name


def _read_describe_delegation_token_owners_v1(data: memoryview, at: int, count: int) -> tuple[list[DescribeDelegationTokenOwner], int]:
    items: list[DescribeDelegationTokenOwner] = []
    for _ in range(count):
        principal_type, at = read_string(data, at)
        principal_name, at = read_string(data, at)
        items.append(DescribeDelegationTokenOwner(principal_type, principal_name))
    return items, at


def _read_describe_delegation_token_request_v1(data: memoryview, at: int) -> tuple[DescribeDelegationTokenRequest, int]:
    count, at = read_nullable_count(data, at, 4)
    owners: list[DescribeDelegationTokenOwner] | None = None
    if count >= 0:
        owners, at = _read_describe_delegation_token_owners_v1(data, at, count)
    return DescribeDelegationTokenRequest(owners), at


def _read_describe_delegation_token_owners_v2(data: memoryview, at: int, count: int) -> tuple[list[DescribeDelegationTokenOwner], int]:
    items: list[DescribeDelegationTokenOwner] = []
    for _ in range(count):
        principal_type, at = read_compact_string(data, at)
        principal_name, at = read_compact_string(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DescribeDelegationTokenOwner(principal_type, principal_name))
    return items, at


def _read_describe_delegation_token_request_v2(data: memoryview, at: int) -> tuple[DescribeDelegationTokenRequest, int]:
    count, at = read_compact_nullable_count(data, at, 3)
    owners: list[DescribeDelegationTokenOwner] | None = None
    if count >= 0:
        owners, at = _read_describe_delegation_token_owners_v2(data, at, count)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeDelegationTokenRequest(owners), at


def _write_describe_delegation_token_owners_v1(items: Sequence[DescribeDelegationTokenOwner], out: bytearray) -> None:
    for item in items:
        write_string(item.principal_type, out)
        write_string(item.principal_name, out)


def _write_describe_delegation_token_request_v1(item: DescribeDelegationTokenRequest, out: bytearray) -> None:
    out += _pack_i(-1 if item.owners is None else len(item.owners))
    if item.owners:
        _write_describe_delegation_token_owners_v1(item.owners, out)


def _write_describe_delegation_token_owners_v2(items: Sequence[DescribeDelegationTokenOwner], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.principal_type, out)
        write_compact_string(item.principal_name, out)
        out.append(0)


def _write_describe_delegation_token_request_v2(item: DescribeDelegationTokenRequest, out: bytearray) -> None:
    if item.owners:
        out += uvarint(len(item.owners) + 1)
        _write_describe_delegation_token_owners_v2(item.owners, out)
    else:
        out.append(0 if item.owners is None else 1)
    out.append(0)


DescribeDelegationTokenRequest.DECODERS = {
    1: _read_describe_delegation_token_request_v1,
    2: _read_describe_delegation_token_request_v2,
    3: _read_describe_delegation_token_request_v2,
}
DescribeDelegationTokenRequest.ENCODERS = {
    1: _write_describe_delegation_token_request_v1,
    2: _write_describe_delegation_token_request_v2,
    3: _write_describe_delegation_token_request_v2,
}
