"""Generated from schemas/alter_user_scram_credentials.schema: AlterUserScramCredentialsResponse, versions 0. Do not edit."""

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

_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack


class AlterUserScramCredentialsResponse(Message):
    __slots__ = ("throttle_time_ms", "results",)
    API_KEY = 51
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: Sequence[AlterUserScramCredentialsResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = results


class AlterUserScramCredentialsResult(Struct):
    __slots__ = ("user", "error_code", "error_message",)

    def __init__(
        self,
        user: str = "",
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.user = user
        self.error_code = error_code
        self.error_message = error_message


def _read_alter_user_scram_credentials_results_v0(data: memoryview, at: int, count: int) -> tuple[list[AlterUserScramCredentialsResult], int]:
    items: list[AlterUserScramCredentialsResult] = []
    for _ in range(count):
        user, at = read_compact_string(data, at)
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(AlterUserScramCredentialsResult(user, error_code, error_message))
    return items, at


def _read_alter_user_scram_credentials_response_v0(data: memoryview, at: int) -> tuple[AlterUserScramCredentialsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 5)
    results, at = _read_alter_user_scram_credentials_results_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return AlterUserScramCredentialsResponse(throttle_time_ms, results), at


def _write_alter_user_scram_credentials_results_v0(items: Sequence[AlterUserScramCredentialsResult], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.user, out)
        out += _pack_h(item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out.append(0)


def _write_alter_user_scram_credentials_response_v0(item: AlterUserScramCredentialsResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.results:
        out += uvarint(len(item.results) + 1)
        _write_alter_user_scram_credentials_results_v0(item.results, out)
    else:
        out.append(1)
    out.append(0)


AlterUserScramCredentialsResponse.DECODERS = {
    0: _read_alter_user_scram_credentials_response_v0,
}
AlterUserScramCredentialsResponse.ENCODERS = {
    0: _write_alter_user_scram_credentials_response_v0,
}
