"""Generated from schemas/describe_cluster.schema: DescribeClusterResponse, versions 0-2. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    skip_tags,
    uvarint,
    write_compact_string,
)

_unpack_tB = Layout(">?B").unpack_from
_pack_tx = Layout(">?x").pack
_unpack_b = Layout(">b").unpack_from
_pack_b = Layout(">b").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_iB = Layout(">iB").unpack_from
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack
_pack_ix = Layout(">ix").pack


class DescribeClusterResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "error_message", "endpoint_type", "cluster_id", "controller_id", "brokers", "cluster_authorized_operations",)
    API_KEY = 60
    VERSIONS = range(0, 3)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        endpoint_type: int = 1,
        cluster_id: str = "",
        controller_id: int = -1,
        brokers: Sequence[DescribeClusterBroker] = (),
        cluster_authorized_operations: int = -2147483648,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.endpoint_type = endpoint_type
        self.cluster_id = cluster_id
        self.controller_id = controller_id
        self.brokers = brokers
        self.cluster_authorized_operations = cluster_authorized_operations


class DescribeClusterBroker(Struct):
    __slots__ = ("broker_id", "host", "port", "rack", "is_fenced",)

    def __init__(
        self,
        broker_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
        is_fenced: bool = False,
    ) -> None:
        self.broker_id = broker_id
        self.host = host
        self.port = port
        self.rack = rack
        self.is_fenced = is_fenced


def _read_describe_cluster_brokers_v0(data: memoryview, at: int, count: int) -> tuple[list[DescribeClusterBroker], int]:
    items: list[DescribeClusterBroker] = []
    for _ in range(count):
        (broker_id,) = _unpack_i(data, at)
        at += 4
        host, at = read_compact_string(data, at)
        (port,) = _unpack_i(data, at)
        at += 4
        rack: str | None = None
        if data[at]:
            rack, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DescribeClusterBroker(broker_id, host, port, rack, False))
    return items, at


def _read_describe_cluster_response_v0(data: memoryview, at: int) -> tuple[DescribeClusterResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    error_message: str | None = None
    if data[at]:
        error_message, at = read_compact_string(data, at)
    else:
        at += 1
    cluster_id, at = read_compact_string(data, at)
    (controller_id,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 11)
    brokers, at = _read_describe_cluster_brokers_v0(data, at, count) if count else ([], at)
    cluster_authorized_operations, more = _unpack_iB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return DescribeClusterResponse(throttle_time_ms, error_code, error_message, 1, cluster_id, controller_id, brokers, cluster_authorized_operations), at


def _read_describe_cluster_response_v1(data: memoryview, at: int) -> tuple[DescribeClusterResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    error_message: str | None = None
    if data[at]:
        error_message, at = read_compact_string(data, at)
    else:
        at += 1
    (endpoint_type,) = _unpack_b(data, at)
    at += 1
    cluster_id, at = read_compact_string(data, at)
    (controller_id,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 11)
    brokers, at = _read_describe_cluster_brokers_v0(data, at, count) if count else ([], at)
    cluster_authorized_operations, more = _unpack_iB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return DescribeClusterResponse(throttle_time_ms, error_code, error_message, endpoint_type, cluster_id, controller_id, brokers, cluster_authorized_operations), at


def _read_describe_cluster_brokers_v2(data: memoryview, at: int, count: int) -> tuple[list[DescribeClusterBroker], int]:
    items: list[DescribeClusterBroker] = []
    for _ in range(count):
        (broker_id,) = _unpack_i(data, at)
        at += 4
        host, at = read_compact_string(data, at)
        (port,) = _unpack_i(data, at)
        at += 4
        rack: str | None = None
        if data[at]:
            rack, at = read_compact_string(data, at)
        else:
            at += 1
        is_fenced, more = _unpack_tB(data, at)
        at += 2
        if more:
            at = skip_tags(data, at - 1)
        items.append(DescribeClusterBroker(broker_id, host, port, rack, is_fenced))
    return items, at


def _read_describe_cluster_response_v2(data: memoryview, at: int) -> tuple[DescribeClusterResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    error_message: str | None = None
    if data[at]:
        error_message, at = read_compact_string(data, at)
    else:
        at += 1
    (endpoint_type,) = _unpack_b(data, at)
    at += 1
    cluster_id, at = read_compact_string(data, at)
    (controller_id,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 12)
    brokers, at = _read_describe_cluster_brokers_v2(data, at, count) if count else ([], at)
    cluster_authorized_operations, more = _unpack_iB(data, at)
    at += 5
    if more:
        at = skip_tags(data, at - 1)
    return DescribeClusterResponse(throttle_time_ms, error_code, error_message, endpoint_type, cluster_id, controller_id, brokers, cluster_authorized_operations), at


def _write_describe_cluster_brokers_v0(items: Sequence[DescribeClusterBroker], out: bytearray) -> None:
    for item in items:
        if item.is_fenced:
            refuse_field("DescribeClusterBroker.is_fenced")
        out += _pack_i(item.broker_id)
        write_compact_string(item.host, out)
        out += _pack_i(item.port)
        if item.rack is None:
            out.append(0)
        else:
            write_compact_string(item.rack, out)
        out.append(0)


def _write_describe_cluster_response_v0(item: DescribeClusterResponse, out: bytearray) -> None:
    if item.endpoint_type != 1:
        refuse_field("DescribeClusterResponse.endpoint_type")
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.error_message is None:
        out.append(0)
    else:
        write_compact_string(item.error_message, out)
    write_compact_string(item.cluster_id, out)
    out += _pack_i(item.controller_id)
    if item.brokers:
        out += uvarint(len(item.brokers) + 1)
        _write_describe_cluster_brokers_v0(item.brokers, out)
    else:
        out.append(1)
    out += _pack_ix(item.cluster_authorized_operations)


def _write_describe_cluster_response_v1(item: DescribeClusterResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.error_message is None:
        out.append(0)
    else:
        write_compact_string(item.error_message, out)
    out += _pack_b(item.endpoint_type)
    write_compact_string(item.cluster_id, out)
    out += _pack_i(item.controller_id)
    if item.brokers:
        out += uvarint(len(item.brokers) + 1)
        _write_describe_cluster_brokers_v0(item.brokers, out)
    else:
        out.append(1)
    out += _pack_ix(item.cluster_authorized_operations)


def _write_describe_cluster_brokers_v2(items: Sequence[DescribeClusterBroker], out: bytearray) -> None:
    for item in items:
        out += _pack_i(item.broker_id)
        write_compact_string(item.host, out)
        out += _pack_i(item.port)
        if item.rack is None:
            out.append(0)
        else:
            write_compact_string(item.rack, out)
        out += _pack_tx(item.is_fenced)


def _write_describe_cluster_response_v2(item: DescribeClusterResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.error_message is None:
        out.append(0)
    else:
        write_compact_string(item.error_message, out)
    out += _pack_b(item.endpoint_type)
    write_compact_string(item.cluster_id, out)
    out += _pack_i(item.controller_id)
    if item.brokers:
        out += uvarint(len(item.brokers) + 1)
        _write_describe_cluster_brokers_v2(item.brokers, out)
    else:
        out.append(1)
    out += _pack_ix(item.cluster_authorized_operations)


DescribeClusterResponse.DECODERS = {
    0: _read_describe_cluster_response_v0,
    1: _read_describe_cluster_response_v1,
    2: _read_describe_cluster_response_v2,
}
DescribeClusterResponse.ENCODERS = {
    0: _write_describe_cluster_response_v0,
    1: _write_describe_cluster_response_v1,
    2: _write_describe_cluster_response_v2,
}
