"""Random requests of groups whose members speak both protocols, and change from one to the other.

Who gets which partitions depends on the ids of members, and those of classic ones are chance; the
instances of static ones are not, so all of them are static here.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from tests.compatibility.random_requests.drawing import some_version, usually
from tests.compatibility.random_requests.groups import ADMIN, CLASSIC, CONSUMER, draw_of
from tests.compatibility.random_requests.groups import AREA as OF_ONE_KIND
from tests.compatibility.random_requests.groups_classic import INSTANCES_FROM_JOIN, Join, draw_join
from tests.compatibility.random_requests.groups_consumer import INSTANCES, Beat, draw_beat
from tests.compatibility.random_requests.groups_consumer import MEMBERS as CONSUMERS
from tests.compatibility.random_requests.groups_model import GroupsModel
from tests.compatibility.random_requests.request_sequence import Step

from ottla.protocol.api_keys import ApiKey

Draw = Callable[[random.Random], Step]


def draw_steps(chance: random.Random, count: int) -> list[Step]:
    replaced: dict[Draw, Draw] = {draw_join: draw_static_join, draw_beat: draw_good_beat}
    weights = {**CLASSIC, **CONSUMER, **ADMIN, draw_turn: 3}
    return draw_of(chance, {replaced.get(draw, draw): n for draw, n in weights.items()}, count)


def draw_good_beat(chance: random.Random) -> Beat:
    """Without a bad pattern: Kafka changes a group over before it looks at that, and half only."""
    drawn = draw_beat(chance)
    return drawn._replace(regex=None) if drawn.regex == "[" else drawn


def draw_static_join(chance: random.Random) -> Join:
    """Of topics, and for the protocol that all have first.

    Kafka assumes that a new member without topics wants those of the others, and then gives all
    members the topics of the first member in its hash table. And it cannot convert a group if a
    member does not support the protocol that was chosen before it joined.
    """
    drawn = draw_join(chance)
    return drawn._replace(
        version=max(drawn.version, INSTANCES_FROM_JOIN),
        instance=f"i{drawn.who}",
        topics=drawn.topics or ("t",),
        protocols=tuple(sorted(drawn.protocols)),
    )


class Turn(NamedTuple):
    """A member of the consumer protocol continues as a classic one, under the id that it has."""

    group: str
    who: str
    version: int

    def execute(self, model: GroupsModel) -> None:
        known = model.who(self.group, self.who)
        if known.id and known.generation > 0:
            join = Join(self.group, self.who, self.version, instance=INSTANCES[self.who])
            join.execute(model)


def draw_turn(chance: random.Random) -> Turn:
    version = max(INSTANCES_FROM_JOIN, some_version(chance, ApiKey.JOIN_GROUP))
    return Turn(usually(chance, "g", "h", often=0.9), chance.choice(CONSUMERS), version)


AREA = OF_ONE_KIND._replace(name="groups_mixed", draw=draw_steps)
