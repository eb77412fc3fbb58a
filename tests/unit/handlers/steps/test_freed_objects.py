"""What a large request consists of is freed a few objects at a time, not all at once.

Counted as the blocks of memory by which a turn leaves less than it found. To free a million objects
in one call takes a tenth of a second, in which no line of Python runs: the other tests of this
folder do not see it.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.support.message_values import message_named
from tests.unit.handlers.steps.counting import CountedWorld, counted_world
from tests.unit.handlers.steps.hostile_requests import TOPIC, hostile_requests

from ottla.base.scheduling.tasks import next_iteration
from ottla.handlers.serving import disposal
from ottla.handlers.serving.served_apis import SERVED
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages import request_class

MANY = 2000
TRIES = 8
TURNS_AFTER = 500  # in which the last pieces are freed
# An item consists of four objects and more: half of the items, and what is no item.
FREED_MAX = 2 * MANY


@pytest.fixture(scope="module")
def world() -> Iterator[CountedWorld]:
    with pytest.MonkeyPatch.context() as patch, counted_world() as world:
        patch.setattr(disposal, "PIECE_ITEMS", 10)
        patch.setattr(disposal, "PIECES_PER_ITERATION", 5)
        world.create_topic(TOPIC, 1)
        yield world


@pytest.mark.parametrize(
    ("key", "what"),
    [
        (ApiKey.OFFSET_DELETE, "topics-distinct"),  # the handler replaces the list of topics
        (ApiKey.OFFSET_DELETE, "topics-same"),
        (ApiKey.TXN_OFFSET_COMMIT, "topics-distinct"),
        (ApiKey.OFFSET_COMMIT, "topics-distinct"),
        (ApiKey.CREATE_PARTITIONS, "topics-same"),  # decided by the controller
        (ApiKey.ALTER_CLIENT_QUOTAS, "entries-same"),
    ],
    ids=lambda value: value.name if isinstance(value, ApiKey) else value,
)
def test_no_turn_frees_a_large_request(world: CountedWorld, key: ApiKey, what: str) -> None:
    version = SERVED[key].versions[-1]
    requests = hostile_requests(message_named(request_class(key).__name__), version)
    (make,) = (each.make for each in requests if each.what == what)
    world.steps_of(make(1), version)  # modules are loaded with the first request
    # Objects that another thread frees during the iteration are counted too, but not every time.
    freed: list[int] = []
    while not freed or (freed[-1] > FREED_MAX and len(freed) < TRIES):
        freed.append(most_freed(world, make, version))
    assert min(freed) <= FREED_MAX, freed


def most_freed(world: CountedWorld, make: Callable[[int], Any], version: int) -> int:
    gc.collect()
    gc.disable()
    try:
        large, small = make(MANY), make(1)
        world.loop.most_freed = 0
        world.steps_of(large, version)
        world.loop.run_until_complete(some_turns())
        world.steps_of(small, version)  # what was kept until the next request is freed then
        return world.loop.most_freed
    finally:
        gc.enable()


async def some_turns() -> None:
    for _ in range(TURNS_AFTER):
        await next_iteration()
