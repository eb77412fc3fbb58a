"""Generated from schemas/describe_delegation_token.schema: DescribeDelegationTokenResponse, versions 1-3. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    read_bytes,
    read_compact_bytes,
    read_compact_count,
    read_compact_string,
    read_count,
    read_string,
    skip_tags,
    uvarint,
    write_bytes,
    write_compact_bytes,
    write_compact_string,
    write_string,
)

_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_pack_hi = Layout(">hi").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_iB = Layout(">iB").unpack_from
_pack_ix = Layout(">ix").pack
_unpack_qqq = Layout(">qqq").unpack_from
_pack_qqq = Layout(">qqq").pack


class DescribeDelegationTokenResponse(Message):
    __slots__ = ("error_code", "tokens", "throttle_time_ms",)
    API_KEY = 41
    VERSIONS = range(1, 4)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        error_code: int = 0,
        tokens: Sequence[DescribedDelegationToken] = (),
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.tokens = tokens
        self.throttle_time_ms = throttle_time_ms


class DescribedDelegationTokenRenewer(Struct):
    __slots__ = ("principal_type", "principal_name",)

    def __init__(
        self,
        principal_type: str = "",
        principal_name: str = "",
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name


class DescribedDelegationToken(Struct):
    __slots__ = ("principal_type", "principal_name", "token_requester_principal_type", "token_requester_principal_name", "issue_timestamp", "expiry_timestamp", "max_timestamp", "token_id", "hmac", "renewers",)

    def __init__(
        self,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",
        token_requester_principal_name: str = "",
        issue_timestamp: int = 0,
        expiry_timestamp: int = 0,
        max_timestamp: int = 0,
        token_id: str = "",
        hmac: bytes = b"",
        renewers: Sequence[DescribedDelegationTokenRenewer] = (),
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp = issue_timestamp
        self.expiry_timestamp = expiry_timestamp
        self.max_timestamp = max_timestamp
        self.token_id = token_id
        self.hmac = hmac
        self.renewers = renewers


def _read_described_delegation_token_renewers_v1(data: memoryview, at: int, count: int) -> tuple[list[DescribedDelegationTokenRenewer], int]:
    items: list[DescribedDelegationTokenRenewer] = []
    for _ in range(count):
        principal_type, at = read_string(data, at)
        principal_name, at = read_string(data, at)
        items.append(DescribedDelegationTokenRenewer(principal_type, principal_name))
    return items, at


def _read_described_delegation_tokens_v1(data: memoryview, at: int, count: int) -> tuple[list[DescribedDelegationToken], int]:
    items: list[DescribedDelegationToken] = []
    for _ in range(count):
        principal_type, at = read_string(data, at)
        principal_name, at = read_string(data, at)
        issue_timestamp, expiry_timestamp, max_timestamp = _unpack_qqq(data, at)
        at += 24
        token_id, at = read_string(data, at)
        hmac, at = read_bytes(data, at)
        count, at = read_count(data, at, 4)
        renewers, at = _read_described_delegation_token_renewers_v1(data, at, count) if count else ([], at)
        items.append(DescribedDelegationToken(principal_type, principal_name, "", "", issue_timestamp, expiry_timestamp, max_timestamp, token_id, hmac, renewers))
    return items, at


def _read_describe_delegation_token_response_v1(data: memoryview, at: int) -> tuple[DescribeDelegationTokenResponse, int]:
    (error_code,) = _unpack_h(data, at)
    at += 2
    count, at = read_count(data, at, 38)
    tokens, at = _read_described_delegation_tokens_v1(data, at, count) if count else ([], at)
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    return DescribeDelegationTokenResponse(error_code, tokens, throttle_time_ms), at


def _read_described_delegation_token_renewers_v2(data: memoryview, at: int, count: int) -> tuple[list[DescribedDelegationTokenRenewer], int]:
    items: list[DescribedDelegationTokenRenewer] = []
    for _ in range(count):
        principal_type, at = read_compact_string(data, at)
        principal_name, at = read_compact_string(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DescribedDelegationTokenRenewer(principal_type, principal_name))
    return items, at


def _read_described_delegation_tokens_v2(data: memoryview, at: int, count: int) -> tuple[list[DescribedDelegationToken], int]:
    items: list[DescribedDelegationToken] = []
    for _ in range(count):
        principal_type, at = read_compact_string(data, at)
        principal_name, at = read_compact_string(data, at)
        issue_timestamp, expiry_timestamp, max_timestamp = _unpack_qqq(data, at)
        at += 24
        token_id, at = read_compact_string(data, at)
        hmac, at = read_compact_bytes(data, at)
        count, at = read_compact_count(data, at, 3)
        renewers, at = _read_described_delegation_token_renewers_v2(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DescribedDelegationToken(principal_type, principal_name, "", "", issue_timestamp, expiry_timestamp, max_timestamp, token_id, hmac, renewers))
    return items, at


def _read_describe_delegation_token_response_v2(data: memoryview, at: int) -> tuple[DescribeDelegationTokenResponse, int]:
    (error_code,) = _unpack_h(data, at)
    at += 2
    count, at = read_compact_count(data, at, 30)
    tokens, at = _read_described_delegation_tokens_v2(data, at, count) if count else ([], at)
    throttle_time_ms, more = _unpack_iB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return DescribeDelegationTokenResponse(error_code, tokens, throttle_time_ms), at


def _read_described_delegation_tokens_v3(data: memoryview, at: int, count: int) -> tuple[list[DescribedDelegationToken], int]:
    items: list[DescribedDelegationToken] = []
    for _ in range(count):
        principal_type, at = read_compact_string(data, at)
        principal_name, at = read_compact_string(data, at)
        token_requester_principal_type, at = read_compact_string(data, at)
        token_requester_principal_name, at = read_compact_string(data, at)
        issue_timestamp, expiry_timestamp, max_timestamp = _unpack_qqq(data, at)
        at += 24
        token_id, at = read_compact_string(data, at)
        hmac, at = read_compact_bytes(data, at)
        count, at = read_compact_count(data, at, 3)
        renewers, at = _read_described_delegation_token_renewers_v2(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DescribedDelegationToken(principal_type, principal_name, token_requester_principal_type, token_requester_principal_name, issue_timestamp, expiry_timestamp, max_timestamp, token_id, hmac, renewers))
    return items, at


def _read_describe_delegation_token_response_v3(data: memoryview, at: int) -> tuple[DescribeDelegationTokenResponse, int]:
    (error_code,) = _unpack_h(data, at)
    at += 2
    count, at = read_compact_count(data, at, 32)
    tokens, at = _read_described_delegation_tokens_v3(data, at, count) if count else ([], at)
    throttle_time_ms, more = _unpack_iB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return DescribeDelegationTokenResponse(error_code, tokens, throttle_time_ms), at


def _write_described_delegation_token_renewers_v1(items: Sequence[DescribedDelegationTokenRenewer], out: bytearray) -> None:
    for item in items:
        write_string(item.principal_type, out)
        write_string(item.principal_name, out)


def _write_described_delegation_tokens_v1(items: Sequence[DescribedDelegationToken], out: bytearray) -> None:
    for item in items:
        if item.token_requester_principal_type != "":
            refuse_field("DescribedDelegationToken.token_requester_principal_type")
        if item.token_requester_principal_name != "":
            refuse_field("DescribedDelegationToken.token_requester_principal_name")
        write_string(item.principal_type, out)
        write_string(item.principal_name, out)
        out += _pack_qqq(item.issue_timestamp, item.expiry_timestamp, item.max_timestamp)
        write_string(item.token_id, out)
        write_bytes(item.hmac, out)
        out += _pack_i(len(item.renewers))
        if item.renewers:
            _write_described_delegation_token_renewers_v1(item.renewers, out)


def _write_describe_delegation_token_response_v1(item: DescribeDelegationTokenResponse, out: bytearray) -> None:
    out += _pack_hi(item.error_code, len(item.tokens))
    if item.tokens:
        _write_described_delegation_tokens_v1(item.tokens, out)
    out += _pack_i(item.throttle_time_ms)


def _write_described_delegation_token_renewers_v2(items: Sequence[DescribedDelegationTokenRenewer], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.principal_type, out)
        write_compact_string(item.principal_name, out)
        out.append(0)


def _write_described_delegation_tokens_v2(items: Sequence[DescribedDelegationToken], out: bytearray) -> None:
    for item in items:
        if item.token_requester_principal_type != "":
            refuse_field("DescribedDelegationToken.token_requester_principal_type")
        if item.token_requester_principal_name != "":
            refuse_field("DescribedDelegationToken.token_requester_principal_name")
        write_compact_string(item.principal_type, out)
        write_compact_string(item.principal_name, out)
        out += _pack_qqq(item.issue_timestamp, item.expiry_timestamp, item.max_timestamp)
        write_compact_string(item.token_id, out)
        write_compact_bytes(item.hmac, out)
        if item.renewers:
            out += uvarint(len(item.renewers) + 1)
            _write_described_delegation_token_renewers_v2(item.renewers, out)
        else:
            out.append(1)
        out.append(0)


def _write_describe_delegation_token_response_v2(item: DescribeDelegationTokenResponse, out: bytearray) -> None:
    out += _pack_h(item.error_code)
    if item.tokens:
        out += uvarint(len(item.tokens) + 1)
        _write_described_delegation_tokens_v2(item.tokens, out)
    else:
        out.append(1)
    out += _pack_ix(item.throttle_time_ms)


def _write_described_delegation_tokens_v3(items: Sequence[DescribedDelegationToken], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.principal_type, out)
        write_compact_string(item.principal_name, out)
        write_compact_string(item.token_requester_principal_type, out)
        write_compact_string(item.token_requester_principal_name, out)
        out += _pack_qqq(item.issue_timestamp, item.expiry_timestamp, item.max_timestamp)
        write_compact_string(item.token_id, out)
        write_compact_bytes(item.hmac, out)
        if item.renewers:
            out += uvarint(len(item.renewers) + 1)
            _write_described_delegation_token_renewers_v2(item.renewers, out)
        else:
            out.append(1)
        out.append(0)


def _write_describe_delegation_token_response_v3(item: DescribeDelegationTokenResponse, out: bytearray) -> None:
    out += _pack_h(item.error_code)
    if item.tokens:
        out += uvarint(len(item.tokens) + 1)
        _write_described_delegation_tokens_v3(item.tokens, out)
    else:
        out.append(1)
    out += _pack_ix(item.throttle_time_ms)


DescribeDelegationTokenResponse.DECODERS = {
    1: _read_describe_delegation_token_response_v1,
    2: _read_describe_delegation_token_response_v2,
    3: _read_describe_delegation_token_response_v3,
}
DescribeDelegationTokenResponse.ENCODERS = {
    1: _write_describe_delegation_token_response_v1,
    2: _write_describe_delegation_token_response_v2,
    3: _write_describe_delegation_token_response_v3,
}
