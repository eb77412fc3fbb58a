"""Generated from schemas/data/consumer_group_member_metadata_value.schema: ConsumerGroupMemberMetadataValue, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    check_tag_end,
    read_compact_bytes,
    read_compact_count,
    read_compact_string,
    read_compact_strings,
    read_tag,
    read_tag_count,
    read_uvarint,
    skip_tags,
    uvarint,
    write_compact_bytes,
    write_compact_string,
    write_compact_strings,
    write_tags,
)

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack


class ConsumerGroupMemberMetadataValue(Message):
    __slots__ = ("instance_id", "rack_id", "client_id", "client_host", "subscribed_topic_names", "subscribed_topic_regex", "rebalance_timeout_ms", "server_assignor", "classic_member_metadata",)
    RECORD_TYPE = 5
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        instance_id: str | None = "",
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: Sequence[str] = (),
        subscribed_topic_regex: str | None = "",
        rebalance_timeout_ms: int = -1,
        server_assignor: str | None = "",
        classic_member_metadata: ClassicMemberMetadata | None = None,
    ) -> None:
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.server_assignor = server_assignor
        self.classic_member_metadata = classic_member_metadata


class ClassicProtocol(Struct):
    __slots__ = ("name", "metadata",)

    def __init__(
        self,
        name: str = "",
        metadata: bytes = b"",
    ) -> None:
        self.name = name
        self.metadata = metadata


class ClassicMemberMetadata(Struct):
    __slots__ = ("session_timeout_ms", "supported_protocols",)

    def __init__(
        self,
        session_timeout_ms: int = 0,
        supported_protocols: Sequence[ClassicProtocol] = (),
    ) -> None:
        self.session_timeout_ms = session_timeout_ms
        self.supported_protocols = supported_protocols


def _read_classic_protocols_v0(data: memoryview, at: int, count: int) -> tuple[list[ClassicProtocol], int]:
    items: list[ClassicProtocol] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        metadata, at = read_compact_bytes(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(ClassicProtocol(name, metadata))
    return items, at


def _read_classic_member_metadata_v0(data: memoryview, at: int) -> tuple[ClassicMemberMetadata, int]:
    (session_timeout_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 3)
    supported_protocols, at = _read_classic_protocols_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ClassicMemberMetadata(session_timeout_ms, supported_protocols), at


def _read_consumer_group_member_metadata_value_v0(data: memoryview, at: int) -> tuple[ConsumerGroupMemberMetadataValue, int]:
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
    count, at = read_compact_count(data, at, 1)
    subscribed_topic_names, at = read_compact_strings(data, at, count) if count else ([], at)
    subscribed_topic_regex: str | None = None
    if data[at]:
        subscribed_topic_regex, at = read_compact_string(data, at)
    else:
        at += 1
    (rebalance_timeout_ms,) = _unpack_i(data, at)
    at += 4
    server_assignor: str | None = None
    if data[at]:
        server_assignor, at = read_compact_string(data, at)
    else:
        at += 1
    classic_member_metadata: ClassicMemberMetadata | None = ClassicMemberMetadata()
    if not data[at]:
        at += 1
    else:
        more, at = read_tag_count(data, at)
        while more:
            more -= 1
            tag, end, at = read_tag(data, at)
            if tag == 0:
                classic_member_metadata = None
                present, at = read_uvarint(data, at)
                if present:
                    classic_member_metadata, at = _read_classic_member_metadata_v0(data, at)
            else:
                at = end
            check_tag_end(tag, at, end)
    return ConsumerGroupMemberMetadataValue(instance_id, rack_id, client_id, client_host, subscribed_topic_names, subscribed_topic_regex, rebalance_timeout_ms, server_assignor, classic_member_metadata), at


def _write_classic_protocols_v0(items: Sequence[ClassicProtocol], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        write_compact_bytes(item.metadata, out)
        out.append(0)


def _write_classic_member_metadata_v0(item: ClassicMemberMetadata, out: bytearray) -> None:
    out += _pack_i(item.session_timeout_ms)
    if item.supported_protocols:
        out += uvarint(len(item.supported_protocols) + 1)
        _write_classic_protocols_v0(item.supported_protocols, out)
    else:
        out.append(1)
    out.append(0)


def _write_consumer_group_member_metadata_value_v0(item: ConsumerGroupMemberMetadataValue, out: bytearray) -> None:
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
    if item.subscribed_topic_names:
        out += uvarint(len(item.subscribed_topic_names) + 1)
        write_compact_strings(item.subscribed_topic_names, out)
    else:
        out.append(1)
    if item.subscribed_topic_regex is None:
        out.append(0)
    else:
        write_compact_string(item.subscribed_topic_regex, out)
    out += _pack_i(item.rebalance_timeout_ms)
    if item.server_assignor is None:
        out.append(0)
    else:
        write_compact_string(item.server_assignor, out)
    if not (item.classic_member_metadata != ClassicMemberMetadata()):
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if item.classic_member_metadata != ClassicMemberMetadata():
            value = bytearray()
            if item.classic_member_metadata is None:
                value.append(0)
            else:
                value.append(1)
                _write_classic_member_metadata_v0(item.classic_member_metadata, value)
            tags.append((0, value))
        write_tags(tags, out)


ConsumerGroupMemberMetadataValue.DECODERS = {
    0: _read_consumer_group_member_metadata_value_v0,
}
ConsumerGroupMemberMetadataValue.ENCODERS = {
    0: _write_consumer_group_member_metadata_value_v0,
}
