"""Walks through groups: members that come, go, take over and commit, in any order and version."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.compatibility.differential.comparing import MISSING, Difference
from tests.compatibility.walks.groups_admin import (
    draw_consumer_describe,
    draw_delete,
    draw_describe,
    draw_find,
    draw_list,
)
from tests.compatibility.walks.groups_classic import (
    draw_gather,
    draw_heartbeat,
    draw_join,
    draw_leave,
    draw_sync,
)
from tests.compatibility.walks.groups_offsets import draw_commit, draw_delete_offsets, draw_fetch
from tests.compatibility.walks.groups_world import GroupsWorld
from tests.compatibility.walks.walk import Area, Step

from ottla.protocol.api_keys import ApiKey

# How often each is drawn.
CLASSIC: dict[Callable[[random.Random], Step], int] = {
    draw_join: 30,
    draw_gather: 14,
    draw_sync: 14,
    draw_heartbeat: 8,
    draw_leave: 10,
}
ADMIN: dict[Callable[[random.Random], Step], int] = {
    draw_commit: 8,
    draw_fetch: 5,
    draw_delete_offsets: 3,
    draw_describe: 2,
    draw_consumer_describe: 1,
    draw_list: 2,
    draw_delete: 2,
    draw_find: 1,
}


def draw_steps(chance: random.Random, count: int) -> list[Step]:
    weights = {**CLASSIC, **ADMIN}
    chosen = chance.choices(list(weights), list(weights.values()), k=count)
    return [draw(chance) for draw in chosen]


def is_late_word(difference: Difference) -> bool:
    """A member that asks again while it waits: we end the older request, Kafka never answers it."""
    return (
        difference.run.script.key in (ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP)
        and difference.kafka == MISSING
        and isinstance(difference.ours, dict)
        and difference.ours.get("error_code") == "REBALANCE_IN_PROGRESS"
    )


AREA = Area("groups", draw_steps, GroupsWorld, excuses=[is_late_word])
