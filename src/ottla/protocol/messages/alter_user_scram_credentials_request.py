"""Generated from schemas/alter_user_scram_credentials.schema: AlterUserScramCredentialsRequest, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_bytes,
    read_compact_count,
    read_compact_string,
    skip_tags,
    uvarint,
    write_compact_bytes,
    write_compact_string,
)

_unpack_bB = Layout(">bB").unpack_from
_unpack_bi = Layout(">bi").unpack_from
_pack_bi = Layout(">bi").pack
_pack_bx = Layout(">bx").pack


class AlterUserScramCredentialsRequest(Message):
    __slots__ = ("deletions", "upsertions",)
    API_KEY = 51
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        deletions: Sequence[ScramCredentialDeletion] = (),
        upsertions: Sequence[ScramCredentialUpsertion] = (),
    ) -> None:
        self.deletions = deletions
        self.upsertions = upsertions


class ScramCredentialDeletion(Struct):
    __slots__ = ("name", "mechanism",)

    def __init__(
        self,
        name: str = "",
        mechanism: int = 0,
    ) -> None:
        self.name = name
        self.mechanism = mechanism


class ScramCredentialUpsertion(Struct):
    __slots__ = ("name", "mechanism", "iterations", "salt", "salted_password",)

    def __init__(
        self,
        name: str = "",
        mechanism: int = 0,
        iterations: int = 0,
        salt: bytes = b"",
        salted_password: bytes = b"",
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.iterations = iterations
        self.salt = salt
        self.salted_password = salted_password


def _read_scram_credential_deletions_v0(data: memoryview, at: int, count: int) -> tuple[list[ScramCredentialDeletion], int]:
    items: list[ScramCredentialDeletion] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        mechanism, more = _unpack_bB(data, at)
        at += 2
        if more:
            at = skip_tags(data, at - 1)
        items.append(ScramCredentialDeletion(name, mechanism))
    return items, at


def _read_scram_credential_upsertions_v0(data: memoryview, at: int, count: int) -> tuple[list[ScramCredentialUpsertion], int]:
    items: list[ScramCredentialUpsertion] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        mechanism, iterations = _unpack_bi(data, at)
        at += 5
        salt, at = read_compact_bytes(data, at)
        salted_password, at = read_compact_bytes(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(ScramCredentialUpsertion(name, mechanism, iterations, salt, salted_password))
    return items, at


def _read_alter_user_scram_credentials_request_v0(data: memoryview, at: int) -> tuple[AlterUserScramCredentialsRequest, int]:
    count, at = read_compact_count(data, at, 3)
    deletions, at = _read_scram_credential_deletions_v0(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 9)
    upsertions, at = _read_scram_credential_upsertions_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return AlterUserScramCredentialsRequest(deletions, upsertions), at


def _write_scram_credential_deletions_v0(items: Sequence[ScramCredentialDeletion], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        out += _pack_bx(item.mechanism)


def _write_scram_credential_upsertions_v0(items: Sequence[ScramCredentialUpsertion], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        out += _pack_bi(item.mechanism, item.iterations)
        write_compact_bytes(item.salt, out)
        write_compact_bytes(item.salted_password, out)
        out.append(0)


def _write_alter_user_scram_credentials_request_v0(item: AlterUserScramCredentialsRequest, out: bytearray) -> None:
    if item.deletions:
        out += uvarint(len(item.deletions) + 1)
        _write_scram_credential_deletions_v0(item.deletions, out)
    else:
        out.append(1)
    if item.upsertions:
        out += uvarint(len(item.upsertions) + 1)
        _write_scram_credential_upsertions_v0(item.upsertions, out)
    else:
        out.append(1)
    out.append(0)


AlterUserScramCredentialsRequest.DECODERS = {
    0: _read_alter_user_scram_credentials_request_v0,
}
AlterUserScramCredentialsRequest.ENCODERS = {
    0: _write_alter_user_scram_credentials_request_v0,
}
