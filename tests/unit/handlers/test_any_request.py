"""Whatever a client asks, in any version: an answer, or a closed connection, and never a bug.

Requests are drawn from the schemas: well-formed, and mostly nonsense. Some have values that the
broker knows in most of their fields and extreme ones in the rest, so that they get further.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import Any, cast

import pytest
from tests.support.message_values import EXTREME, FULL, MIXED, draw_value, message_named, to_object
from tests.unit.handlers.group_world import GroupWorld
from tests.unit.handlers.world import FakeConnection, World

from ottla.handlers.serving.served_apis import SERVED
from ottla.network.connection import Connection
from ottla.network.request_server import Answer, Served
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.errors import MalformedMessage
from ottla.protocol.framing import LENGTH_BYTES
from ottla.protocol.headers import encode_request
from ottla.protocol.message import Message
from ottla.protocol.messages import request_class
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record

CELLS = [(key, version) for key in sorted(SERVED) for version in SERVED[key].versions]
DRAWS = 240 if os.environ.get("OTTLA_LONG") else 24
TURNS = 200  # of the event loop; an answer that takes longer waits for something
TOPIC = "topic-1"
CLIENT_IDS = (None, "", "any", "a" * 32767, "a\nb\x1b[31m\u202e")
BATCH = bytes(build_batch([Record(0, 1000, b"key", b"value", ())]))
CONFIGS = (
    *("retention.ms", "cleanup.policy", "min.cleanable.dirty.ratio", "max.message.bytes"),
    *("segment.bytes", "preallocate", "leader.replication.throttled.replicas", "compression.type"),
    *("match", "interval.ms", "metrics", "consumer.session.timeout.ms", "log.cleaner.threads"),
    *("max.connections.per.ip.overrides", "log.retention.ms", "listener.name.a.max.connections"),
    *("log.cleaner.backoff.ms", "log.cleaner.dedupe.buffer.size", "ottla.handlers", "listeners"),
)
LIKELY: dict[str, tuple[Any, ...]] = {
    "acks": (-1, 0, 1),
    "assignment": (b"", b"\0\0\0\0\0\0\0\0\0\0"),
    "broker_ids": (0, 1),
    "config_operation": (0, 1, 2, 3),
    "coordinator_keys": ("group", "tx"),
    "count": (3, 4),
    "entity_name": ("alice", "127.0.0.1", None),
    "entity_type": ("user", "client-id", "ip"),
    "generation_id": (0, 1, -1),
    "generation_id_or_member_epoch": (0, 1, -1),
    "group_id": ("group", "other", "consumer"),
    "group_ids": ("consumer",),
    "group_instance_id": (None, "instance"),
    "groups": ("group",),
    "groups_names": ("group",),
    "index": (0, 1),
    "key": ("group", "producer_byte_rate", "request_percentage", "connection_creation_rate"),
    "key_type": (0, 1),
    "match_type": (0, 1, 2),
    "member_epoch": (0, 1, -1, -2),
    "member_id": ("", "member"),
    "metadata": (b"", b"\0\0\0\0\0\1\0\7topic-1\0\0\0\0"),
    "max_wait_ms": (0,),
    "partition": (0, 1),
    "partition_index": (0, 1),
    "partition_indexes": (0, 1),
    "producer_epoch": (0, 1, -1),
    "producer_id": (0, 1, 1000, -1),
    "protocol_name": ("range",),
    "protocol_type": ("consumer",),
    "rebalance_timeout_ms": (10_000,),
    "records": (BATCH,),
    "replica_id": (-1,),
    "resource_type": (2, 4, 8, 16, 32),
    "session_epoch": (-1, 0),
    "session_timeout_ms": (10_000,),
    "subscribed_topic_names": (TOPIC,),
    "subscribed_topic_regex": (None, "topic.*"),
    "topic": (TOPIC,),
    "topic_name": (TOPIC,),
    "topic_names": (TOPIC,),
    "transactional_id": ("tx", None),
    "transactional_ids": ("tx",),
    "v3_and_below_transactional_id": ("tx",),
}
NAMES = (TOPIC, "new", "range", "retention.ms", *CONFIGS)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with GroupWorld() as world:
        yield world


@pytest.fixture(scope="module")
def known(world: World) -> dict[str, tuple[Any, ...]]:
    return LIKELY | {"topic_id": (topic_id(world), bytes(16)), "name": NAMES}


def topic_id(world: World) -> bytes:
    """Of the topic that most requests name; an earlier request may have deleted it."""
    topic = world.broker.parts.metadata.topics.get(TOPIC)
    return world.create_topic(TOPIC, 2) if topic is None else topic.id


@pytest.mark.parametrize(
    ("key", "version"), CELLS, ids=[f"{key.name}-v{version}" for key, version in CELLS]
)
def test_any_request_is_answered_without_a_bug(
    world: World,
    known: dict[str, tuple[Any, ...]],
    caplog: pytest.LogCaptureFixture,
    key: ApiKey,
    version: int,
) -> None:
    schema = message_named(request_class(key).__name__)
    random = Random(1000 * key + version)
    likely = replace(EXTREME, likely=known | {"topic_id": (topic_id(world), bytes(16))})
    shapes = (MIXED, likely, FULL, likely, EXTREME, likely)
    with caplog.at_level(logging.ERROR):
        for at in range(DRAWS):
            value = draw_value(schema, version, random, shapes[at % len(shapes)])
            request = to_object(schema, version, value)
            with suppress(MalformedMessage):
                world.run(ask(world, key, version, request, random.choice(CLIENT_IDS)))
    bugs = [each for each in caplog.records if each.name.startswith("ottla.")]
    assert not bugs, (bugs[0].getMessage(), bugs[0].exc_info)


async def ask(
    world: World, key: ApiKey, version: int, request: Message, client_id: str | None
) -> None:
    frame = b"".join(encode_request(key, version, 1, client_id, request))
    buffer = memoryview(bytearray(frame))[LENGTH_BYTES:]
    served: Served = world.dispatcher.serve(buffer, cast(Connection, FakeConnection()))
    while not isinstance(served, Answer):
        answering = asyncio.ensure_future(served.answer)
        for _ in range(TURNS):
            if answering.done():
                break
            await asyncio.sleep(0)
        answering.cancel()
        try:
            served = await answering
        except asyncio.CancelledError:
            return
