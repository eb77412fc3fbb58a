"""Generated from schemas/data/default_principal_data.schema: DefaultPrincipalData, versions 0. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_compact_string,
    skip_tags,
    write_compact_string,
)

_unpack_tB = Layout(">?B").unpack_from
_pack_tx = Layout(">?x").pack


class DefaultPrincipalData(Message):
    __slots__ = ("type", "name", "token_authenticated",)
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        type: str = "",
        name: str = "",
        token_authenticated: bool = False,
    ) -> None:
        self.type = type
        self.name = name
        self.token_authenticated = token_authenticated


def _read_default_principal_data_v0(data: memoryview, at: int) -> tuple[DefaultPrincipalData, int]:
    type, at = read_compact_string(data, at)
    name, at = read_compact_string(data, at)
    token_authenticated, more = _unpack_tB(data, at)
    at += 2
    if more:
        at = skip_tags(data, at - 1)
    return DefaultPrincipalData(type, name, token_authenticated), at


def _write_default_principal_data_v0(item: DefaultPrincipalData, out: bytearray) -> None:
    write_compact_string(item.type, out)
    write_compact_string(item.name, out)
    out += _pack_tx(item.token_authenticated)


DefaultPrincipalData.DECODERS = {
    0: _read_default_principal_data_v0,
}
DefaultPrincipalData.ENCODERS = {
    0: _write_default_principal_data_v0,
}
