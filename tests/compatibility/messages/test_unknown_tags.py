"""Unknown tagged fields are skipped: at every level, in every flexible version."""

from __future__ import annotations

from random import Random

import pytest
from tests.support.message_pieces import joined, pieces_of
from tests.support.message_values import (
    FULL,
    MIXED,
    all_messages,
    draw_value,
    message_class,
    message_named,
    to_object,
)
from tests.support.oracle import Refused
from tools.messages.schema import MessageSchema
from tools.oracles.kafka_codec import KafkaCodec

FLEXIBLE = [message.name for message in all_messages() if message.flexible_from is not None]
# Low numbers where no field of the struct has them, a long one, and one of 32 bits; each section
# gets them all, in order.
UNKNOWN = {0: b"", 1: b"\x00", 2: b"xyz", 3: b"\xff" * 130, 70_000: b"\x01", 2**31 - 1: b"end"}


def frames(message: MessageSchema, seed: int) -> list[tuple[int, bytes, bytes]]:
    """(version, encoded without, encoded with unknown tags) for some values of every version."""
    random = Random(seed)
    made = []
    for version in message.versions:
        for shape in (FULL, MIXED) if message.is_flexible(version) else ():
            value = draw_value(message, version, random, shape)
            bare = to_object(message, version, value).encode(version)
            made.append((version, bare, joined(pieces_of(message, version, value, UNKNOWN))))
    return made


@pytest.mark.parametrize("name", FLEXIBLE)
def test_unknown_tags_change_nothing(name: str, seed: int) -> None:
    message = message_named(name)
    decode = message_class(message).decode
    for version, bare, with_tags in frames(message, seed):
        assert len(with_tags) > len(bare)
        assert decode(with_tags, version) == decode(bare, version), f"OTTLA_SEED={seed}"


@pytest.mark.java
@pytest.mark.parametrize("name", FLEXIBLE)
def test_apache_kafka_skips_the_same_tags(name: str, kafka: KafkaCodec, seed: int) -> None:
    """So that the frames above are what a newer client would send."""
    message = message_named(name)
    made = frames(message, seed)
    known = kafka.class_of(message)
    bare = kafka.messages.decode_many((known, version, data) for version, data, _ in made)
    tagged = kafka.messages.decode_many((known, version, data) for version, _, data in made)
    assert not [answer for answer in bare if isinstance(answer, Refused)]
    assert tagged == bare, f"OTTLA_SEED={seed}"
