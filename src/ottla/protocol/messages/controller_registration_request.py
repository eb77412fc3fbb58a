"""Generated from schemas/controller_registration.schema: ControllerRegistrationRequest, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    skip_tags,
    uvarint,
    write_compact_string,
)

_unpack_HhB = Layout(">HhB").unpack_from
_pack_Hhx = Layout(">Hhx").pack
_unpack_hhB = Layout(">hhB").unpack_from
_pack_hhx = Layout(">hhx").pack
_unpack_iut = Layout(">i16s?").unpack_from
_pack_iut = Layout(">i16s?").pack


class ControllerRegistrationRequest(Message):
    __slots__ = ("controller_id", "incarnation_id", "zk_migration_ready", "listeners", "features",)
    API_KEY = 70
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        controller_id: int = 0,
        incarnation_id: bytes = ZERO_UUID,
        zk_migration_ready: bool = False,
        listeners: Sequence[Listener] = (),
        features: Sequence[Feature] = (),
    ) -> None:
        self.controller_id = controller_id
        self.incarnation_id = incarnation_id
        self.zk_migration_ready = zk_migration_ready
        self.listeners = listeners
        self.features = features


class Listener(Struct):
    __slots__ = ("name", "host", "port", "security_protocol",)

    def __init__(
        self,
        name: str = "",
        host: str = "",
        port: int = 0,
        security_protocol: int = 0,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.security_protocol = security_protocol


class Feature(Struct):
    __slots__ = ("name", "min_supported_version", "max_supported_version",)

    def __init__(
        self,
        name: str = "",
        min_supported_version: int = 0,
        max_supported_version: int = 0,
    ) -> None:
        self.name = name
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version


def _read_listeners_v0(data: memoryview, at: int, count: int) -> tuple[list[Listener], int]:
    items: list[Listener] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        host, at = read_compact_string(data, at)
        port, security_protocol, more = _unpack_HhB(data, at)
        at += 5
        if more:
            at = skip_tags(data, at - 1)
        items.append(Listener(name, host, port, security_protocol))
    return items, at


def _read_features_v0(data: memoryview, at: int, count: int) -> tuple[list[Feature], int]:
    items: list[Feature] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        min_supported_version, max_supported_version, more = _unpack_hhB(data, at)
        at += 5
        if more:
            at = skip_tags(data, at - 1)
        items.append(Feature(name, min_supported_version, max_supported_version))
    return items, at


def _read_controller_registration_request_v0(data: memoryview, at: int) -> tuple[ControllerRegistrationRequest, int]:
    controller_id, incarnation_id, zk_migration_ready = _unpack_iut(data, at)
    at += 21
    count, at = read_compact_count(data, at, 7)
    listeners, at = _read_listeners_v0(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 6)
    features, at = _read_features_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ControllerRegistrationRequest(controller_id, incarnation_id, zk_migration_ready, listeners, features), at


def _write_listeners_v0(items: Sequence[Listener], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        write_compact_string(item.host, out)
        out += _pack_Hhx(item.port, item.security_protocol)


def _write_features_v0(items: Sequence[Feature], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        out += _pack_hhx(item.min_supported_version, item.max_supported_version)


def _write_controller_registration_request_v0(item: ControllerRegistrationRequest, out: bytearray) -> None:
    out += _pack_iut(item.controller_id, item.incarnation_id, item.zk_migration_ready)
    if item.listeners:
        out += uvarint(len(item.listeners) + 1)
        _write_listeners_v0(item.listeners, out)
    else:
        out.append(1)
    if item.features:
        out += uvarint(len(item.features) + 1)
        _write_features_v0(item.features, out)
    else:
        out.append(1)
    out.append(0)


ControllerRegistrationRequest.DECODERS = {
    0: _read_controller_registration_request_v0,
}
ControllerRegistrationRequest.ENCODERS = {
    0: _write_controller_registration_request_v0,
}
