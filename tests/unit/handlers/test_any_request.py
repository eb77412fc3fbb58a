"""Whatever a client asks, in any version: an answer, or a closed connection, and never a bug.

Requests are drawn from the schemas alone: well-formed, and mostly nonsense.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import cast

import pytest
from tests.support.message_values import FULL, MIXED, draw_value, message_named, to_object
from tests.unit.handlers.world import FakeConnection, World

from ottla.handlers.served import SERVED
from ottla.network.connection import Connection
from ottla.network.served import Answer
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.errors import MalformedMessage
from ottla.protocol.framing import LENGTH_BYTES
from ottla.protocol.headers import encode_request
from ottla.protocol.message import Message
from ottla.protocol.messages import request_class

CELLS = [(key, version) for key in sorted(SERVED) for version in SERVED[key].versions]
DRAWS = 12
TURNS = 200  # of the event loop; an answer that takes longer waits for something


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World() as world:
        world.create_topic("topic-1", 2)  # a name that is drawn now and then
        yield world


@pytest.mark.parametrize(
    ("key", "version"), CELLS, ids=[f"{key.name}-v{version}" for key, version in CELLS]
)
def test_any_request_is_answered_without_a_bug(
    world: World, caplog: pytest.LogCaptureFixture, key: ApiKey, version: int
) -> None:
    schema = message_named(request_class(key).__name__)
    random = Random(1000 * key + version)
    with caplog.at_level(logging.ERROR):
        for at in range(DRAWS):
            value = draw_value(schema, version, random, FULL if at % 2 else MIXED)
            request = to_object(schema, version, value)
            with suppress(MalformedMessage):
                world.run(ask(world, key, version, request))
    assert not [each for each in caplog.records if each.name.startswith("ottla.handlers")]


async def ask(world: World, key: ApiKey, version: int, request: Message) -> None:
    frame = b"".join(encode_request(key, version, 1, "any", request))
    buffer = memoryview(bytearray(frame))[LENGTH_BYTES:]
    served = world.dispatcher.serve(buffer, cast(Connection, FakeConnection()))
    if isinstance(served, Answer):
        return
    answering = asyncio.ensure_future(served.answer)
    for _ in range(TURNS):
        if answering.done():
            break
        await asyncio.sleep(0)
    answering.cancel()
    with suppress(asyncio.CancelledError):
        assert isinstance(await answering, Answer)
