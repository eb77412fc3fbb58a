"""Generated from schemas/data/consumer_group_regular_expression_key.schema: ConsumerGroupRegularExpressionKey, versions 0. Do not edit."""

from __future__ import annotations


from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_string,
    write_string,
)



class ConsumerGroupRegularExpressionKey(Message):
    __slots__ = ("group_id", "regular_expression",)
    RECORD_TYPE = 16
    VERSIONS = range(0, 1)

    def __init__(
        self,
        group_id: str = "",
        regular_expression: str = "",
    ) -> None:
        self.group_id = group_id
        self.regular_expression = regular_expression


def _read_consumer_group_regular_expression_key_v0(data: memoryview, at: int) -> tuple[ConsumerGroupRegularExpressionKey, int]:
    group_id, at = read_string(data, at)
    regular_expression, at = read_string(data, at)
    return ConsumerGroupRegularExpressionKey(group_id, regular_expression), at


def _write_consumer_group_regular_expression_key_v0(item: ConsumerGroupRegularExpressionKey, out: bytearray) -> None:
    write_string(item.group_id, out)
    write_string(item.regular_expression, out)


ConsumerGroupRegularExpressionKey.DECODERS = {
    0: _read_consumer_group_regular_expression_key_v0,
}
ConsumerGroupRegularExpressionKey.ENCODERS = {
    0: _write_consumer_group_regular_expression_key_v0,
}
