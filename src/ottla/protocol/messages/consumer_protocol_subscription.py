"""Generated from schemas/data/consumer_protocol_subscription.schema: ConsumerProtocolSubscription, versions 0-3. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_count,
    read_nullable_bytes,
    read_nullable_string,
    read_numbers,
    read_string,
    read_strings,
    write_nullable_bytes,
    write_nullable_string,
    write_numbers,
    write_string,
    write_strings,
)

_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack


class ConsumerProtocolSubscription(Message):
    __slots__ = ("topics", "user_data", "owned_partitions", "generation_id", "rack_id",)
    VERSIONS = range(0, 4)

    def __init__(
        self,
        topics: Sequence[str] = (),
        user_data: bytes | None = None,
        owned_partitions: Sequence[TopicPartition] = (),
        generation_id: int = -1,
        rack_id: str | None = None,
    ) -> None:
        self.topics = topics
        self.user_data = user_data
        self.owned_partitions = owned_partitions
        self.generation_id = generation_id
        self.rack_id = rack_id


class TopicPartition(Struct):
    __slots__ = ("topic", "partitions",)

    def __init__(
        self,
        topic: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


def _read_consumer_protocol_subscription_v0(data: memoryview, at: int) -> tuple[ConsumerProtocolSubscription, int]:
    count, at = read_count(data, at, 2)
    topics, at = read_strings(data, at, count) if count else ([], at)
    user_data, at = read_nullable_bytes(data, at)
    return ConsumerProtocolSubscription(topics, user_data, (), -1, None), at


def _read_topic_partitions_v1(data: memoryview, at: int, count: int) -> tuple[list[TopicPartition], int]:
    items: list[TopicPartition] = []
    for _ in range(count):
        topic, at = read_string(data, at)
        count, at = read_count(data, at, 4)
        partitions, at = read_numbers(data, at, count, "i") if count else ([], at)
        items.append(TopicPartition(topic, partitions))
    return items, at


def _read_consumer_protocol_subscription_v1(data: memoryview, at: int) -> tuple[ConsumerProtocolSubscription, int]:
    count, at = read_count(data, at, 2)
    topics, at = read_strings(data, at, count) if count else ([], at)
    user_data, at = read_nullable_bytes(data, at)
    count, at = read_count(data, at, 6)
    owned_partitions, at = _read_topic_partitions_v1(data, at, count) if count else ([], at)
    return ConsumerProtocolSubscription(topics, user_data, owned_partitions, -1, None), at


def _read_consumer_protocol_subscription_v2(data: memoryview, at: int) -> tuple[ConsumerProtocolSubscription, int]:
    count, at = read_count(data, at, 2)
    topics, at = read_strings(data, at, count) if count else ([], at)
    user_data, at = read_nullable_bytes(data, at)
    count, at = read_count(data, at, 6)
    owned_partitions, at = _read_topic_partitions_v1(data, at, count) if count else ([], at)
    (generation_id,) = _unpack_i(data, at)
    at += 4
    return ConsumerProtocolSubscription(topics, user_data, owned_partitions, generation_id, None), at


def _read_consumer_protocol_subscription_v3(data: memoryview, at: int) -> tuple[ConsumerProtocolSubscription, int]:
    count, at = read_count(data, at, 2)
    topics, at = read_strings(data, at, count) if count else ([], at)
    user_data, at = read_nullable_bytes(data, at)
    count, at = read_count(data, at, 6)
    owned_partitions, at = _read_topic_partitions_v1(data, at, count) if count else ([], at)
    (generation_id,) = _unpack_i(data, at)
    at += 4
    rack_id, at = read_nullable_string(data, at)
    return ConsumerProtocolSubscription(topics, user_data, owned_partitions, generation_id, rack_id), at


def _write_consumer_protocol_subscription_v0(item: ConsumerProtocolSubscription, out: bytearray) -> None:
    out += _pack_i(len(item.topics))
    if item.topics:
        write_strings(item.topics, out)
    write_nullable_bytes(item.user_data, out)


def _write_topic_partitions_v1(items: Sequence[TopicPartition], out: bytearray) -> None:
    for item in items:
        write_string(item.topic, out)
        out += _pack_i(len(item.partitions))
        if item.partitions:
            write_numbers(item.partitions, "i", out)


def _write_consumer_protocol_subscription_v1(item: ConsumerProtocolSubscription, out: bytearray) -> None:
    out += _pack_i(len(item.topics))
    if item.topics:
        write_strings(item.topics, out)
    write_nullable_bytes(item.user_data, out)
    out += _pack_i(len(item.owned_partitions))
    if item.owned_partitions:
        _write_topic_partitions_v1(item.owned_partitions, out)


def _write_consumer_protocol_subscription_v2(item: ConsumerProtocolSubscription, out: bytearray) -> None:
    out += _pack_i(len(item.topics))
    if item.topics:
        write_strings(item.topics, out)
    write_nullable_bytes(item.user_data, out)
    out += _pack_i(len(item.owned_partitions))
    if item.owned_partitions:
        _write_topic_partitions_v1(item.owned_partitions, out)
    out += _pack_i(item.generation_id)


def _write_consumer_protocol_subscription_v3(item: ConsumerProtocolSubscription, out: bytearray) -> None:
    out += _pack_i(len(item.topics))
    if item.topics:
        write_strings(item.topics, out)
    write_nullable_bytes(item.user_data, out)
    out += _pack_i(len(item.owned_partitions))
    if item.owned_partitions:
        _write_topic_partitions_v1(item.owned_partitions, out)
    out += _pack_i(item.generation_id)
    write_nullable_string(item.rack_id, out)


ConsumerProtocolSubscription.DECODERS = {
    0: _read_consumer_protocol_subscription_v0,
    1: _read_consumer_protocol_subscription_v1,
    2: _read_consumer_protocol_subscription_v2,
    3: _read_consumer_protocol_subscription_v3,
}
ConsumerProtocolSubscription.ENCODERS = {
    0: _write_consumer_protocol_subscription_v0,
    1: _write_consumer_protocol_subscription_v1,
    2: _write_consumer_protocol_subscription_v2,
    3: _write_consumer_protocol_subscription_v3,
}
