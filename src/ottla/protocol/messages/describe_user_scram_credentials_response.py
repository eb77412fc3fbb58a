"""Generated from schemas/describe_user_scram_credentials.schema: DescribeUserScramCredentialsResponse, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    skip_tags,
    uvarint,
    write_compact_string,
)

_unpack_biB = Layout(">biB").unpack_from
_pack_bix = Layout(">bix").pack
_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack


class DescribeUserScramCredentialsResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "error_message", "results",)
    API_KEY = 50
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: Sequence[DescribeUserScramCredentialsResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.results = results


class CredentialInfo(Struct):
    __slots__ = ("mechanism", "iterations",)

    def __init__(
        self,
        mechanism: int = 0,
        iterations: int = 0,
    ) -> None:
        self.mechanism = mechanism
        self.iterations = iterations


class DescribeUserScramCredentialsResult(Struct):
    __slots__ = ("user", "error_code", "error_message", "credential_infos",)

    def __init__(
        self,
        user: str = "",
        error_code: int = 0,
        error_message: str | None = "",
        credential_infos: Sequence[CredentialInfo] = (),
    ) -> None:
        self.user = user
        self.error_code = error_code
        self.error_message = error_message
        self.credential_infos = credential_infos


def _read_credential_infos_v0(data: memoryview, at: int, count: int) -> tuple[list[CredentialInfo], int]:
    items: list[CredentialInfo] = []
    for _ in range(count):
        mechanism, iterations, more = _unpack_biB(data, at)
        at += 6
        if more:
            at = skip_tags(data, at - 1)
        items.append(CredentialInfo(mechanism, iterations))
    return items, at


def _read_describe_user_scram_credentials_results_v0(data: memoryview, at: int, count: int) -> tuple[list[DescribeUserScramCredentialsResult], int]:
    items: list[DescribeUserScramCredentialsResult] = []
    for _ in range(count):
        user, at = read_compact_string(data, at)
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        count, at = read_compact_count(data, at, 6)
        credential_infos, at = _read_credential_infos_v0(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DescribeUserScramCredentialsResult(user, error_code, error_message, credential_infos))
    return items, at


def _read_describe_user_scram_credentials_response_v0(data: memoryview, at: int) -> tuple[DescribeUserScramCredentialsResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    error_message: str | None = None
    if data[at]:
        error_message, at = read_compact_string(data, at)
    else:
        at += 1
    count, at = read_compact_count(data, at, 6)
    results, at = _read_describe_user_scram_credentials_results_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeUserScramCredentialsResponse(throttle_time_ms, error_code, error_message, results), at


def _write_credential_infos_v0(items: Sequence[CredentialInfo], out: bytearray) -> None:
    for item in items:
        out += _pack_bix(item.mechanism, item.iterations)


def _write_describe_user_scram_credentials_results_v0(items: Sequence[DescribeUserScramCredentialsResult], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.user, out)
        out += _pack_h(item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        if item.credential_infos:
            out += uvarint(len(item.credential_infos) + 1)
            _write_credential_infos_v0(item.credential_infos, out)
        else:
            out.append(1)
        out.append(0)


def _write_describe_user_scram_credentials_response_v0(item: DescribeUserScramCredentialsResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.error_message is None:
        out.append(0)
    else:
        write_compact_string(item.error_message, out)
    if item.results:
        out += uvarint(len(item.results) + 1)
        _write_describe_user_scram_credentials_results_v0(item.results, out)
    else:
        out.append(1)
    out.append(0)


DescribeUserScramCredentialsResponse.DECODERS = {
    0: _read_describe_user_scram_credentials_response_v0,
}
DescribeUserScramCredentialsResponse.ENCODERS = {
    0: _write_describe_user_scram_credentials_response_v0,
}
