"""Generated from schemas/data/streams_group_member_metadata_value.schema: StreamsGroupMemberMetadataValue, versions 0. Do not edit."""

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

_unpack_HB = Layout(">HB").unpack_from
_pack_Hx = Layout(">Hx").pack
_unpack_ii = Layout(">ii").unpack_from
_pack_ii = Layout(">ii").pack


class StreamsGroupMemberMetadataValue(Message):
    __slots__ = ("instance_id", "rack_id", "client_id", "client_host", "rebalance_timeout_ms", "topology_epoch", "process_id", "user_endpoint", "client_tags",)
    RECORD_TYPE = 19
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        instance_id: str | None = "",
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        rebalance_timeout_ms: int = -1,
        topology_epoch: int = 0,
        process_id: str = "",
        user_endpoint: Endpoint | None = None,
        client_tags: Sequence[KeyValue] = (),
    ) -> None:
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.topology_epoch = topology_epoch
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = client_tags


class Endpoint(Struct):
    __slots__ = ("host", "port",)

    def __init__(
        self,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.host = host
        self.port = port


class KeyValue(Struct):
    __slots__ = ("key", "value",)

    def __init__(
        self,
        key: str = "",
        value: str = "",
    ) -> None:
        self.key = key
        self.value = value


def _read_endpoint_v0(data: memoryview, at: int) -> tuple[Endpoint, int]:
    host, at = read_compact_string(data, at)
    port, more = _unpack_HB(data, at)
    at += 3
    if more:
        at = skip_tags(data, at - 1)
    return Endpoint(host, port), at


def _read_key_values_v0(data: memoryview, at: int, count: int) -> tuple[list[KeyValue], int]:
    items: list[KeyValue] = []
    for _ in range(count):
        key, at = read_compact_string(data, at)
        value, at = read_compact_string(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(KeyValue(key, value))
    return items, at


def _read_streams_group_member_metadata_value_v0(data: memoryview, at: int) -> tuple[StreamsGroupMemberMetadataValue, int]:
    instance_id: str | None = None
    if data[at]:
        instance_id, at = read_compact_string(data, at)
    else:
        at += 1
    rack_id: str | None = None
    if data[at]:
        rack_id, at = read_compact_string(data, at)
    else:
        at += 1
    client_id, at = read_compact_string(data, at)
    client_host, at = read_compact_string(data, at)
    rebalance_timeout_ms, topology_epoch = _unpack_ii(data, at)
    at += 8
    process_id, at = read_compact_string(data, at)
    user_endpoint: Endpoint | None = None
    present = data[at] < 128
    at += 1
    if present:
        user_endpoint, at = _read_endpoint_v0(data, at)
    count, at = read_compact_count(data, at, 3)
    client_tags, at = _read_key_values_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return StreamsGroupMemberMetadataValue(instance_id, rack_id, client_id, client_host, rebalance_timeout_ms, topology_epoch, process_id, user_endpoint, client_tags), at


def _write_endpoint_v0(item: Endpoint, out: bytearray) -> None:
    write_compact_string(item.host, out)
    out += _pack_Hx(item.port)


def _write_key_values_v0(items: Sequence[KeyValue], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.key, out)
        write_compact_string(item.value, out)
        out.append(0)


def _write_streams_group_member_metadata_value_v0(item: StreamsGroupMemberMetadataValue, out: bytearray) -> None:
    if item.instance_id is None:
        out.append(0)
    else:
        write_compact_string(item.instance_id, out)
    if item.rack_id is None:
        out.append(0)
    else:
        write_compact_string(item.rack_id, out)
    write_compact_string(item.client_id, out)
    write_compact_string(item.client_host, out)
    out += _pack_ii(item.rebalance_timeout_ms, item.topology_epoch)
    write_compact_string(item.process_id, out)
    if item.user_endpoint is None:
        out.append(255)
    else:
        out.append(1)
        _write_endpoint_v0(item.user_endpoint, out)
    if item.client_tags:
        out += uvarint(len(item.client_tags) + 1)
        _write_key_values_v0(item.client_tags, out)
    else:
        out.append(1)
    out.append(0)


StreamsGroupMemberMetadataValue.DECODERS = {
    0: _read_streams_group_member_metadata_value_v0,
}
StreamsGroupMemberMetadataValue.ENCODERS = {
    0: _write_streams_group_member_metadata_value_v0,
}
