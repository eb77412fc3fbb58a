"""However many items a request has, one iteration of the event loop does the work of a few.

Every API, each of its arrays filled with many items, distinct ones and one item repeated, or with
some items that have long texts. The
longest turn must not be longer than for a single item, but for a slice of work. The ordinary run
looks at the newest version of each API, the long run (OTTLA_LONG=1) at all of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from tests.support.message_values import message_named
from tests.unit.handlers.steps.counting import LINE_S, CountedWorld, counted_world
from tests.unit.handlers.steps.hostile_requests import (
    FEW_LONG_TEXTS,
    GROUP,
    TOPIC,
    Hostile,
    hostile_requests,
)

from ottla.base.scheduling.step_scheduler import FIRST_SLICE_S, SLICE_S
from ottla.handlers.serving.served_apis import SERVED
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages import request_class
from ottla.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)

MANY = 2000
PARTITIONS = 500
SLICE_LINES = int((FIRST_SLICE_S + SLICE_S) / LINE_S)
# For starting a thread, making a partition, and what else does not grow with the request.
OTHER_LINES = 2000
ITEM_LINES = 50  # for one of few items, which may be handled at once
ONE_LINES_MAX = 6000  # for a request with one item: it must not grow with what the broker holds
IS_LONG = bool(os.environ.get("OTTLA_LONG"))
CHANGES = ("write", "create", "extend", "truncate", "rename", "remove", "make_directory")
# APIs whose requests leave something behind that is not written: members, instances of clients.
KEPT_IN_MEMORY = {ApiKey.JOIN_GROUP, ApiKey.GET_TELEMETRY_SUBSCRIPTIONS}


# Not in slices yet.
PENDING: set[ApiKey] = set()


def apis() -> Iterator[object]:
    for key in sorted(SERVED):
        marks = pytest.mark.xfail(strict=True) if key in PENDING else ()
        yield pytest.param(key, id=key.name, marks=marks)


def cells(key: ApiKey) -> Iterator[tuple[int, Hostile]]:
    versions = SERVED[key].versions
    message = message_named(request_class(key).__name__)
    for version in versions if IS_LONG else versions[-1:]:
        for hostile in hostile_requests(message, version):
            yield version, hostile


class SharedWorld:
    """A prepared world for one test after another, renewed when its files were changed.

    To make the partitions takes most of the time of most tests, and most requests are refused.
    """

    def __init__(self) -> None:
        self._open = ExitStack()
        self._world: CountedWorld | None = None
        self._changes = 0

    @contextmanager
    def lent_to(self, key: ApiKey) -> Iterator[CountedWorld]:
        if self._world is None:
            self._world = self._open.enter_context(counted_world())
            prepare(self._world)
            self._changes = changes_of(self._world)
        world, self._world = self._world, None
        yield world
        if key not in KEPT_IN_MEMORY and changes_of(world) == self._changes:
            self._world = world
        else:
            self.close()

    def close(self) -> None:
        self._open.close()


def changes_of(world: CountedWorld) -> int:
    """How often anything was written, created or removed."""
    return sum(world.disk.operations.get(kind, 0) for kind in CHANGES)


@pytest.fixture(scope="module")
def shared() -> Iterator[SharedWorld]:
    shared = SharedWorld()
    yield shared
    shared.close()


@pytest.mark.parametrize("key", list(apis()))
def test_a_turn_does_not_grow_with_the_request(key: ApiKey, shared: SharedWorld) -> None:
    """One test for each API: a world for each of its many cells would take minutes."""
    too_long = []
    with shared.lent_to(key) as world:
        for version, hostile in cells(key):
            prepare(world)
            world.steps_of(hostile.make(1), version)  # modules are loaded with the first request
            prepare(world)
            one = world.steps_of(hostile.make(1), version)
            prepare(world)
            many = world.steps_of(hostile.make(MANY), version)
            more = 0
            if hostile.has_long_texts:
                # Finding the coordinator of one name takes two lines for each character.
                more = 2 * FEW_LONG_TEXTS.chars + ITEM_LINES * FEW_LONG_TEXTS.items_max
            if one > ONE_LINES_MAX + more or many > one + SLICE_LINES + OTHER_LINES + more:
                too_long.append(f"v{version} {hostile.what}: {one} lines for one, {many} for many")
    assert not too_long, "\n".join(too_long)


def prepare(world: CountedWorld) -> None:
    """What requests ask for; some of them delete it."""
    if world.broker.parts.metadata.topic(TOPIC) is not None:
        return
    world.create_topic(TOPIC, PARTITIONS)
    partitions = [OffsetCommitRequestPartition(at, 1) for at in range(PARTITIONS)]
    topics = [OffsetCommitRequestTopic(TOPIC, partitions=partitions)]
    world.ask(OffsetCommitRequest(GROUP, -1, "", topics=topics), 8)
