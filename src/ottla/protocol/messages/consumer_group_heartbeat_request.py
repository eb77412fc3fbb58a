"""Generated from schemas/consumer_group_heartbeat.schema: ConsumerGroupHeartbeatRequest, versions 0-1. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_nullable_count,
    read_compact_string,
    read_compact_strings,
    read_numbers,
    skip_tags,
    uvarint,
    write_compact_string,
    write_compact_strings,
    write_numbers,
)

_unpack_u = Layout(">16s").unpack_from
_pack_u = Layout(">16s").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack


class ConsumerGroupHeartbeatRequest(Message):
    __slots__ = ("group_id", "member_id", "member_epoch", "instance_id", "rack_id", "rebalance_timeout_ms", "subscribed_topic_names", "subscribed_topic_regex", "server_assignor", "topic_partitions",)
    API_KEY = 68
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        subscribed_topic_names: Sequence[str] | None = None,
        subscribed_topic_regex: str | None = None,
        server_assignor: str | None = None,
        topic_partitions: Sequence[TopicPartitions] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.subscribed_topic_names = subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.server_assignor = server_assignor
        self.topic_partitions = topic_partitions


class TopicPartitions(Struct):
    __slots__ = ("topic_id", "partitions",)

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


def _read_topic_partitionss_v0(data: memoryview, at: int, count: int) -> tuple[list[TopicPartitions], int]:
    items: list[TopicPartitions] = []
    for _ in range(count):
        (topic_id,) = _unpack_u(data, at)
        at += 16
        count, at = read_compact_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(TopicPartitions(topic_id, partitions))
    return items, at


def _read_consumer_group_heartbeat_request_v0(data: memoryview, at: int) -> tuple[ConsumerGroupHeartbeatRequest, int]:
    group_id, at = read_compact_string(data, at)
    member_id, at = read_compact_string(data, at)
    (member_epoch,) = _unpack_i(data, at)
    at += 4
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
    (rebalance_timeout_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_nullable_count(data, at, 1)
    subscribed_topic_names: list[str] | None = None
    if count >= 0:
        subscribed_topic_names, at = read_compact_strings(data, at, count)
    server_assignor: str | None = None
    if data[at]:
        server_assignor, at = read_compact_string(data, at)
    else:
        at += 1
    count, at = read_compact_nullable_count(data, at, 18)
    topic_partitions: list[TopicPartitions] | None = None
    if count >= 0:
        topic_partitions, at = _read_topic_partitionss_v0(data, at, count)
    at = skip_tags(data, at) if data[at] else at + 1
    return ConsumerGroupHeartbeatRequest(group_id, member_id, member_epoch, instance_id, rack_id, rebalance_timeout_ms, subscribed_topic_names, None, server_assignor, topic_partitions), at


def _read_consumer_group_heartbeat_request_v1(data: memoryview, at: int) -> tuple[ConsumerGroupHeartbeatRequest, int]:
    group_id, at = read_compact_string(data, at)
    member_id, at = read_compact_string(data, at)
    (member_epoch,) = _unpack_i(data, at)
    at += 4
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
    (rebalance_timeout_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_nullable_count(data, at, 1)
    subscribed_topic_names: list[str] | None = None
    if count >= 0:
        subscribed_topic_names, at = read_compact_strings(data, at, count)
    subscribed_topic_regex: str | None = None
    if data[at]:
        subscribed_topic_regex, at = read_compact_string(data, at)
    else:
        at += 1
    server_assignor: str | None = None
    if data[at]:
        server_assignor, at = read_compact_string(data, at)
    else:
        at += 1
    count, at = read_compact_nullable_count(data, at, 18)
    topic_partitions: list[TopicPartitions] | None = None
    if count >= 0:
        topic_partitions, at = _read_topic_partitionss_v0(data, at, count)
    at = skip_tags(data, at) if data[at] else at + 1
    return ConsumerGroupHeartbeatRequest(group_id, member_id, member_epoch, instance_id, rack_id, rebalance_timeout_ms, subscribed_topic_names, subscribed_topic_regex, server_assignor, topic_partitions), at


def _write_topic_partitionss_v0(items: Sequence[TopicPartitions], out: bytearray) -> None:
    for item in items:
        out += _pack_u(item.topic_id)
        if item.partitions:
            out += uvarint(len(item.partitions) + 1)
            write_numbers(item.partitions, "i", out)
        else:
            out.append(1)
        out.append(0)


def _write_consumer_group_heartbeat_request_v0(item: ConsumerGroupHeartbeatRequest, out: bytearray) -> None:
    if item.subscribed_topic_regex is not None:
        refuse_field("ConsumerGroupHeartbeatRequest.subscribed_topic_regex")
    write_compact_string(item.group_id, out)
    write_compact_string(item.member_id, out)
    out += _pack_i(item.member_epoch)
    if item.instance_id is None:
        out.append(0)
    else:
        write_compact_string(item.instance_id, out)
    if item.rack_id is None:
        out.append(0)
    else:
        write_compact_string(item.rack_id, out)
    out += _pack_i(item.rebalance_timeout_ms)
    if item.subscribed_topic_names:
        out += uvarint(len(item.subscribed_topic_names) + 1)
        write_compact_strings(item.subscribed_topic_names, out)
    else:
        out.append(0 if item.subscribed_topic_names is None else 1)
    if item.server_assignor is None:
        out.append(0)
    else:
        write_compact_string(item.server_assignor, out)
    if item.topic_partitions:
        out += uvarint(len(item.topic_partitions) + 1)
        _write_topic_partitionss_v0(item.topic_partitions, out)
    else:
        out.append(0 if item.topic_partitions is None else 1)
    out.append(0)


def _write_consumer_group_heartbeat_request_v1(item: ConsumerGroupHeartbeatRequest, out: bytearray) -> None:
    write_compact_string(item.group_id, out)
    write_compact_string(item.member_id, out)
    out += _pack_i(item.member_epoch)
    if item.instance_id is None:
        out.append(0)
    else:
        write_compact_string(item.instance_id, out)
    if item.rack_id is None:
        out.append(0)
    else:
        write_compact_string(item.rack_id, out)
    out += _pack_i(item.rebalance_timeout_ms)
    if item.subscribed_topic_names:
        out += uvarint(len(item.subscribed_topic_names) + 1)
        write_compact_strings(item.subscribed_topic_names, out)
    else:
        out.append(0 if item.subscribed_topic_names is None else 1)
    if item.subscribed_topic_regex is None:
        out.append(0)
    else:
        write_compact_string(item.subscribed_topic_regex, out)
    if item.server_assignor is None:
        out.append(0)
    else:
        write_compact_string(item.server_assignor, out)
    if item.topic_partitions:
        out += uvarint(len(item.topic_partitions) + 1)
        _write_topic_partitionss_v0(item.topic_partitions, out)
    else:
        out.append(0 if item.topic_partitions is None else 1)
    out.append(0)


ConsumerGroupHeartbeatRequest.DECODERS = {
    0: _read_consumer_group_heartbeat_request_v0,
    1: _read_consumer_group_heartbeat_request_v1,
}
ConsumerGroupHeartbeatRequest.ENCODERS = {
    0: _write_consumer_group_heartbeat_request_v0,
    1: _write_consumer_group_heartbeat_request_v1,
}
