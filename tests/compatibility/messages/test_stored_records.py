"""Keys and values in internal topics: Apache Kafka puts the same two bytes in front of them."""

from __future__ import annotations

import pytest
from tests.support.message_values import message_class, random_values, to_object
from tests.support.oracle import Oracle, from_base64, values_or_raise
from tools.messages.schema import MessageSchema, Schema, read_schemas
from tools.oracles.kafka_codec import KafkaCodec, to_json

pytestmark = pytest.mark.java

STORED = [schema for schema in read_schemas() if schema.record_type is not None]


def kafkas_bytes(
    message: MessageSchema, version: int, seed: int, kafka: KafkaCodec, oracle: Oracle
) -> list[bytes]:
    questions = [
        {
            "op": "message.encode_prefixed",
            "class": kafka.class_of(message),
            "version": version,
            "json": to_json(message, value),
        }
        for value in random_values(message, version, seed, 5)
    ]
    answers = values_or_raise(oracle.ask_many(questions))
    return [from_base64(answer["bytes"]) or b"" for answer in answers]


@pytest.mark.parametrize("schema", STORED, ids=lambda schema: schema.name)
def test_a_key_stands_behind_its_type_and_a_value_behind_its_version(
    schema: Schema, kafka: KafkaCodec, oracle: Oracle, seed: int
) -> None:
    (message,) = schema.messages
    for version in message.versions:
        ours = [
            to_object(message, version, value) for value in random_values(message, version, seed, 5)
        ]
        is_key = message.name.endswith("Key")
        prefix = schema.record_type if is_key else version
        assert prefix is not None
        stored = kafkas_bytes(message, version, seed, kafka, oracle)
        for mine, theirs in zip(ours, stored, strict=True):
            assert prefix.to_bytes(2, "big") + mine.encode(version) == theirs
            if not is_key:
                assert mine.encode_prefixed(version) == theirs
                assert message_class(message).decode_prefixed(theirs) == mine
