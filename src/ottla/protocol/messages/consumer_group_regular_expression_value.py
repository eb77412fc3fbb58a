"""Generated from schemas/data/consumer_group_regular_expression_value.schema: ConsumerGroupRegularExpressionValue, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_strings,
    skip_tags,
    uvarint,
    write_compact_strings,
)

_unpack_qqB = Layout(">qqB").unpack_from
_pack_qqx = Layout(">qqx").pack


class ConsumerGroupRegularExpressionValue(Message):
    __slots__ = ("topics", "version", "timestamp",)
    RECORD_TYPE = 16
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        topics: Sequence[str] = (),
        version: int = 0,
        timestamp: int = 0,
    ) -> None:
        self.topics = topics
        self.version = version
        self.timestamp = timestamp


def _read_consumer_group_regular_expression_value_v0(data: memoryview, at: int) -> tuple[ConsumerGroupRegularExpressionValue, int]:
    count, at = read_compact_count(data, at, 1)
    topics, at = read_compact_strings(data, at, count) if count else ([], at)
    version, timestamp, more = _unpack_qqB(data, at)
    at += 17
    if more:
        at = skip_tags(data, at - 1)
    return ConsumerGroupRegularExpressionValue(topics, version, timestamp), at


def _write_consumer_group_regular_expression_value_v0(item: ConsumerGroupRegularExpressionValue, out: bytearray) -> None:
    if item.topics:
        out += uvarint(len(item.topics) + 1)
        write_compact_strings(item.topics, out)
    else:
        out.append(1)
    out += _pack_qqx(item.version, item.timestamp)


ConsumerGroupRegularExpressionValue.DECODERS = {
    0: _read_consumer_group_regular_expression_value_v0,
}
ConsumerGroupRegularExpressionValue.ENCODERS = {
    0: _write_consumer_group_regular_expression_value_v0,
}
