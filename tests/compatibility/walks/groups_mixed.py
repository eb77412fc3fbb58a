"""Walks through groups whose members speak both protocols, and change from one to the other.

Who gets which partitions depends on the ids of members, and those of classic ones are chance; the
instances of static ones are not, so all of them are static here.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.compatibility.walks.groups import ADMIN, CLASSIC, CONSUMER, draw_of
from tests.compatibility.walks.groups import AREA as OF_ONE_KIND
from tests.compatibility.walks.groups_classic import INSTANCES_FROM_JOIN, Join, draw_join
from tests.compatibility.walks.groups_consumer import Beat, draw_beat
from tests.compatibility.walks.walk import Step

Draw = Callable[[random.Random], Step]


def draw_steps(chance: random.Random, count: int) -> list[Step]:
    replaced: dict[Draw, Draw] = {draw_join: draw_static_join, draw_beat: draw_good_beat}
    weights = {**CLASSIC, **CONSUMER, **ADMIN}
    return draw_of(chance, {replaced.get(draw, draw): n for draw, n in weights.items()}, count)


def draw_good_beat(chance: random.Random) -> Beat:
    """Without a bad pattern: Kafka changes a group over before it looks at that, and half only."""
    drawn = draw_beat(chance)
    return drawn._replace(regex=None) if drawn.regex == "[" else drawn


def draw_static_join(chance: random.Random) -> Join:
    drawn = draw_join(chance)
    version = max(drawn.version, INSTANCES_FROM_JOIN)
    return drawn._replace(instance=f"i{drawn.who}", version=version)


AREA = OF_ONE_KIND._replace(name="groups_mixed", draw=draw_steps)
