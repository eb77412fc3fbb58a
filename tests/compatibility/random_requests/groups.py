"""Random requests of groups: members come, go, take over and commit, in any version."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from tests.compatibility.differential.allowed import Allowed
from tests.compatibility.differential.comparing import MISSING, Difference
from tests.compatibility.differential.plain import Plain
from tests.compatibility.random_requests.groups_admin import (
    draw_consumer_describe,
    draw_delete,
    draw_describe,
    draw_find,
    draw_list,
)
from tests.compatibility.random_requests.groups_classic import (
    draw_gather,
    draw_heartbeat,
    draw_join,
    draw_leave,
    draw_sync,
)
from tests.compatibility.random_requests.groups_consumer import (
    draw_beat,
    draw_beats,
    draw_goodbye,
)
from tests.compatibility.random_requests.groups_model import GroupsModel
from tests.compatibility.random_requests.groups_offsets import (
    draw_commit,
    draw_delete_offsets,
    draw_fetch,
)
from tests.compatibility.random_requests.request_sequence import Area, Step

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


CONSUMER: dict[Callable[[random.Random], Step], int] = {
    draw_beat: 30,
    draw_beats: 20,
    draw_goodbye: 8,
}


def draw_steps(chance: random.Random, count: int) -> list[Step]:
    """About groups of one kind: with both, answers depend on the order of ids in a hash table."""
    return draw_of(chance, {**chance.choice((CLASSIC, CONSUMER)), **ADMIN}, count)


def draw_of(
    chance: random.Random, weights: Mapping[Callable[[random.Random], Step], int], count: int
) -> list[Step]:
    chosen = chance.choices(list(weights), list(weights.values()), k=count)
    return [draw(chance) for draw in chosen]


def is_late_word(difference: Difference, kafka: Plain, ours: Plain) -> bool:
    """A member that asks again while it waits: we end the older request, Kafka never answers it."""
    is_waiting = difference.run.script.key in (ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP)
    return is_waiting and kafka == MISSING and code_of(ours) == "REBALANCE_IN_PROGRESS"


def is_word_to_the_gone(difference: Difference, kafka: Plain, ours: Plain) -> bool:
    """A member that is removed while it waits for SyncGroup gets an error; Kafka never answers."""
    is_sync = difference.run.script.key is ApiKey.SYNC_GROUP
    return is_sync and kafka == MISSING and code_of(ours) == "UNKNOWN_MEMBER_ID"


def is_nameless(difference: Difference, kafka: Plain, ours: Plain) -> bool:
    """A pending member cannot be a static one: Kafka has no name for that, we say it is unknown."""
    return (
        difference.run.script.key is ApiKey.JOIN_GROUP
        and code_of(kafka) == "UNKNOWN_SERVER_ERROR"
        and code_of(ours) in ("UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID")
    )


def is_order(difference: Difference, _kafka: Plain, _ours: Plain) -> bool:
    """The partitions of a topic are a set to Kafka, and so are the topics of an assignment."""
    path, one, other = difference[2:]
    is_set = path.endswith((".partitions", "assignment")) and type(one) is type(other)
    return is_set and isinstance(one, list | str) and sorted(one) == sorted(other)


def code_of(answer: Plain) -> Plain:
    return answer.get("error_code") if isinstance(answer, dict) else None


ALLOWED = [
    Allowed(
        ApiKey.CONSUMER_GROUP_HEARTBEAT, "*", "heartbeat_interval_ms",
        "Members that wait for each other are asked to come back within a second.",
    ),
]  # fmt: skip
TOLERATED = [is_late_word, is_word_to_the_gone, is_nameless, is_order]
AREA = Area("groups", draw_steps, GroupsModel, ALLOWED, TOLERATED)
