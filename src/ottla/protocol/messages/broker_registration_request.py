"""Generated from schemas/broker_registration.schema: BrokerRegistrationRequest, versions 0-4. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_uuids,
    skip_tags,
    uvarint,
    write_compact_string,
)

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack
_unpack_t = Layout(">?").unpack_from
_pack_t = Layout(">?").pack
_unpack_tB = Layout(">?B").unpack_from
_pack_tx = Layout(">?x").pack
_unpack_HhB = Layout(">HhB").unpack_from
_pack_Hhx = Layout(">Hhx").pack
_unpack_hhB = Layout(">hhB").unpack_from
_pack_hhx = Layout(">hhx").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_qB = Layout(">qB").unpack_from
_pack_qx = Layout(">qx").pack


class BrokerRegistrationRequest(Message):
    __slots__ = ("broker_id", "cluster_id", "incarnation_id", "listeners", "features", "rack", "is_migrating_zk_broker", "log_dirs", "previous_broker_epoch",)
    API_KEY = 62
    VERSIONS = range(0, 5)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        broker_id: int = 0,
        cluster_id: str = "",
        incarnation_id: bytes = ZERO_UUID,
        listeners: Sequence[Listener] = (),
        features: Sequence[Feature] = (),
        rack: str | None = "",
        is_migrating_zk_broker: bool = False,
        log_dirs: Sequence[bytes] = (),
        previous_broker_epoch: int = -1,
    ) -> None:
        self.broker_id = broker_id
        self.cluster_id = cluster_id
        self.incarnation_id = incarnation_id
        self.listeners = listeners
        self.features = features
        self.rack = rack
        self.is_migrating_zk_broker = is_migrating_zk_broker
        self.log_dirs = log_dirs
        self.previous_broker_epoch = previous_broker_epoch


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


def _read_broker_registration_request_v0(data: memoryview, at: int) -> tuple[BrokerRegistrationRequest, int]:
    (broker_id,) = _unpack_i(data, at)
    at += 4
    cluster_id, at = read_compact_string(data, at)
    (incarnation_id,) = _unpack_u(data, at)
    at += 16
    count, at = read_compact_count(data, at, 7)
    listeners, at = _read_listeners_v0(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 6)
    features, at = _read_features_v0(data, at, count) if count else ([], at)
    rack: str | None = None
    if data[at]:
        rack, at = read_compact_string(data, at)
    else:
        at += 1
    at = skip_tags(data, at) if data[at] else at + 1
    return BrokerRegistrationRequest(broker_id, cluster_id, incarnation_id, listeners, features, rack, False, (), -1), at


def _read_broker_registration_request_v1(data: memoryview, at: int) -> tuple[BrokerRegistrationRequest, int]:
    (broker_id,) = _unpack_i(data, at)
    at += 4
    cluster_id, at = read_compact_string(data, at)
    (incarnation_id,) = _unpack_u(data, at)
    at += 16
    count, at = read_compact_count(data, at, 7)
    listeners, at = _read_listeners_v0(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 6)
    features, at = _read_features_v0(data, at, count) if count else ([], at)
    rack: str | None = None
    if data[at]:
        rack, at = read_compact_string(data, at)
    else:
        at += 1
    is_migrating_zk_broker, more = _unpack_tB(data, at)
    at += 2
    if more:
        at = skip_tags(data, at - 1)
    return BrokerRegistrationRequest(broker_id, cluster_id, incarnation_id, listeners, features, rack, is_migrating_zk_broker, (), -1), at


def _read_broker_registration_request_v2(data: memoryview, at: int) -> tuple[BrokerRegistrationRequest, int]:
    (broker_id,) = _unpack_i(data, at)
    at += 4
    cluster_id, at = read_compact_string(data, at)
    (incarnation_id,) = _unpack_u(data, at)
    at += 16
    count, at = read_compact_count(data, at, 7)
    listeners, at = _read_listeners_v0(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 6)
    features, at = _read_features_v0(data, at, count) if count else ([], at)
    rack: str | None = None
    if data[at]:
        rack, at = read_compact_string(data, at)
    else:
        at += 1
    (is_migrating_zk_broker,) = _unpack_t(data, at)
    at += 1
    count, at = read_compact_count(data, at, 16)
    log_dirs, at = read_uuids(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return BrokerRegistrationRequest(broker_id, cluster_id, incarnation_id, listeners, features, rack, is_migrating_zk_broker, log_dirs, -1), at


def _read_broker_registration_request_v3(data: memoryview, at: int) -> tuple[BrokerRegistrationRequest, int]:
    (broker_id,) = _unpack_i(data, at)
    at += 4
    cluster_id, at = read_compact_string(data, at)
    (incarnation_id,) = _unpack_u(data, at)
    at += 16
    count, at = read_compact_count(data, at, 7)
    listeners, at = _read_listeners_v0(data, at, count) if count else ([], at)
    count, at = read_compact_count(data, at, 6)
    features, at = _read_features_v0(data, at, count) if count else ([], at)
    rack: str | None = None
    if data[at]:
        rack, at = read_compact_string(data, at)
    else:
        at += 1
    (is_migrating_zk_broker,) = _unpack_t(data, at)
    at += 1
    count, at = read_compact_count(data, at, 16)
    log_dirs, at = read_uuids(data, at, count) if count else ([], at)
    previous_broker_epoch, more = _unpack_qB(data, at)
    at += 9
    if more:
        at = skip_tags(data, at - 1)
    return BrokerRegistrationRequest(broker_id, cluster_id, incarnation_id, listeners, features, rack, is_migrating_zk_broker, log_dirs, previous_broker_epoch), at


def _write_listeners_v0(items: Sequence[Listener], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        write_compact_string(item.host, out)
        out += _pack_Hhx(item.port, item.security_protocol)


def _write_features_v0(items: Sequence[Feature], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        out += _pack_hhx(item.min_supported_version, item.max_supported_version)


def _write_broker_registration_request_v0(item: BrokerRegistrationRequest, out: bytearray) -> None:
    if item.is_migrating_zk_broker:
        refuse_field("BrokerRegistrationRequest.is_migrating_zk_broker")
    out += _pack_i(item.broker_id)
    write_compact_string(item.cluster_id, out)
    out += _pack_u(item.incarnation_id)
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
    if item.rack is None:
        out.append(0)
    else:
        write_compact_string(item.rack, out)
    out.append(0)


def _write_broker_registration_request_v1(item: BrokerRegistrationRequest, out: bytearray) -> None:
    out += _pack_i(item.broker_id)
    write_compact_string(item.cluster_id, out)
    out += _pack_u(item.incarnation_id)
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
    if item.rack is None:
        out.append(0)
    else:
        write_compact_string(item.rack, out)
    out += _pack_tx(item.is_migrating_zk_broker)


def _write_broker_registration_request_v2(item: BrokerRegistrationRequest, out: bytearray) -> None:
    out += _pack_i(item.broker_id)
    write_compact_string(item.cluster_id, out)
    out += _pack_u(item.incarnation_id)
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
    if item.rack is None:
        out.append(0)
    else:
        write_compact_string(item.rack, out)
    out += _pack_t(item.is_migrating_zk_broker)
    if item.log_dirs:
        out += uvarint(len(item.log_dirs) + 1)
        out += b"".join(item.log_dirs)
    else:
        out.append(1)
    out.append(0)


def _write_broker_registration_request_v3(item: BrokerRegistrationRequest, out: bytearray) -> None:
    out += _pack_i(item.broker_id)
    write_compact_string(item.cluster_id, out)
    out += _pack_u(item.incarnation_id)
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
    if item.rack is None:
        out.append(0)
    else:
        write_compact_string(item.rack, out)
    out += _pack_t(item.is_migrating_zk_broker)
    if item.log_dirs:
        out += uvarint(len(item.log_dirs) + 1)
        out += b"".join(item.log_dirs)
    else:
        out.append(1)
    out += _pack_qx(item.previous_broker_epoch)


BrokerRegistrationRequest.DECODERS = {
    0: _read_broker_registration_request_v0,
    1: _read_broker_registration_request_v1,
    2: _read_broker_registration_request_v2,
    3: _read_broker_registration_request_v3,
    4: _read_broker_registration_request_v3,
}
BrokerRegistrationRequest.ENCODERS = {
    0: _write_broker_registration_request_v0,
    1: _write_broker_registration_request_v1,
    2: _write_broker_registration_request_v2,
    3: _write_broker_registration_request_v3,
    4: _write_broker_registration_request_v3,
}
