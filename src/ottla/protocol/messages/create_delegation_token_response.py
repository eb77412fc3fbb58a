"""Generated from schemas/create_delegation_token.schema: CreateDelegationTokenResponse, versions 1-3. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message, refuse_field
from ottla.protocol.primitives import (
    read_bytes,
    read_compact_bytes,
    read_compact_string,
    read_string,
    skip_tags,
    write_bytes,
    write_compact_bytes,
    write_compact_string,
    write_string,
)

_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_iB = Layout(">iB").unpack_from
_pack_ix = Layout(">ix").pack
_unpack_qqq = Layout(">qqq").unpack_from
_pack_qqq = Layout(">qqq").pack


class CreateDelegationTokenResponse(Message):
    __slots__ = ("error_code", "principal_type", "principal_name", "token_requester_principal_type", "token_requester_principal_name", "issue_timestamp_ms", "expiry_timestamp_ms", "max_timestamp_ms", "token_id", "hmac", "throttle_time_ms",)
    API_KEY = 38
    VERSIONS = range(1, 4)
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        error_code: int = 0,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",
        token_requester_principal_name: str = "",
        issue_timestamp_ms: int = 0,
        expiry_timestamp_ms: int = 0,
        max_timestamp_ms: int = 0,
        token_id: str = "",
        hmac: bytes = b"",
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp_ms = issue_timestamp_ms
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.max_timestamp_ms = max_timestamp_ms
        self.token_id = token_id
        self.hmac = hmac
        self.throttle_time_ms = throttle_time_ms


def _read_create_delegation_token_response_v1(data: memoryview, at: int) -> tuple[CreateDelegationTokenResponse, int]:
    (error_code,) = _unpack_h(data, at)
    at += 2
    principal_type, at = read_string(data, at)
    principal_name, at = read_string(data, at)
    issue_timestamp_ms, expiry_timestamp_ms, max_timestamp_ms = _unpack_qqq(data, at)
    at += 24
    token_id, at = read_string(data, at)
    hmac, at = read_bytes(data, at)
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    return CreateDelegationTokenResponse(error_code, principal_type, principal_name, "", "", issue_timestamp_ms, expiry_timestamp_ms, max_timestamp_ms, token_id, hmac, throttle_time_ms), at


def _read_create_delegation_token_response_v2(data: memoryview, at: int) -> tuple[CreateDelegationTokenResponse, int]:
    (error_code,) = _unpack_h(data, at)
    at += 2
    principal_type, at = read_compact_string(data, at)
    principal_name, at = read_compact_string(data, at)
    issue_timestamp_ms, expiry_timestamp_ms, max_timestamp_ms = _unpack_qqq(data, at)
    at += 24
    token_id, at = read_compact_string(data, at)
    hmac, at = read_compact_bytes(data, at)
    throttle_time_ms, more = _unpack_iB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return CreateDelegationTokenResponse(error_code, principal_type, principal_name, "", "", issue_timestamp_ms, expiry_timestamp_ms, max_timestamp_ms, token_id, hmac, throttle_time_ms), at


def _read_create_delegation_token_response_v3(data: memoryview, at: int) -> tuple[CreateDelegationTokenResponse, int]:
    (error_code,) = _unpack_h(data, at)
    at += 2
    principal_type, at = read_compact_string(data, at)
    principal_name, at = read_compact_string(data, at)
    token_requester_principal_type, at = read_compact_string(data, at)
    token_requester_principal_name, at = read_compact_string(data, at)
    issue_timestamp_ms, expiry_timestamp_ms, max_timestamp_ms = _unpack_qqq(data, at)
    at += 24
    token_id, at = read_compact_string(data, at)
    hmac, at = read_compact_bytes(data, at)
    throttle_time_ms, more = _unpack_iB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return CreateDelegationTokenResponse(error_code, principal_type, principal_name, token_requester_principal_type, token_requester_principal_name, issue_timestamp_ms, expiry_timestamp_ms, max_timestamp_ms, token_id, hmac, throttle_time_ms), at


def _write_create_delegation_token_response_v1(item: CreateDelegationTokenResponse, out: bytearray) -> None:
    if item.token_requester_principal_type != "":
        refuse_field("CreateDelegationTokenResponse.token_requester_principal_type")
    if item.token_requester_principal_name != "":
        refuse_field("CreateDelegationTokenResponse.token_requester_principal_name")
    out += _pack_h(item.error_code)
    write_string(item.principal_type, out)
    write_string(item.principal_name, out)
    out += _pack_qqq(item.issue_timestamp_ms, item.expiry_timestamp_ms, item.max_timestamp_ms)
    write_string(item.token_id, out)
    write_bytes(item.hmac, out)
    out += _pack_i(item.throttle_time_ms)


def _write_create_delegation_token_response_v2(item: CreateDelegationTokenResponse, out: bytearray) -> None:
    if item.token_requester_principal_type != "":
        refuse_field("CreateDelegationTokenResponse.token_requester_principal_type")
    if item.token_requester_principal_name != "":
        refuse_field("CreateDelegationTokenResponse.token_requester_principal_name")
    out += _pack_h(item.error_code)
    write_compact_string(item.principal_type, out)
    write_compact_string(item.principal_name, out)
    out += _pack_qqq(item.issue_timestamp_ms, item.expiry_timestamp_ms, item.max_timestamp_ms)
    write_compact_string(item.token_id, out)
    write_compact_bytes(item.hmac, out)
    out += _pack_ix(item.throttle_time_ms)


def _write_create_delegation_token_response_v3(item: CreateDelegationTokenResponse, out: bytearray) -> None:
    out += _pack_h(item.error_code)
    write_compact_string(item.principal_type, out)
    write_compact_string(item.principal_name, out)
    write_compact_string(item.token_requester_principal_type, out)
    write_compact_string(item.token_requester_principal_name, out)
    out += _pack_qqq(item.issue_timestamp_ms, item.expiry_timestamp_ms, item.max_timestamp_ms)
    write_compact_string(item.token_id, out)
    write_compact_bytes(item.hmac, out)
    out += _pack_ix(item.throttle_time_ms)


CreateDelegationTokenResponse.DECODERS = {
    1: _read_create_delegation_token_response_v1,
    2: _read_create_delegation_token_response_v2,
    3: _read_create_delegation_token_response_v3,
}
CreateDelegationTokenResponse.ENCODERS = {
    1: _write_create_delegation_token_response_v1,
    2: _write_create_delegation_token_response_v2,
    3: _write_create_delegation_token_response_v3,
}
