"""Walks through groups whose members speak both protocols, and change from one to the other.

Who gets which partitions depends on the ids of members, and those of classic ones are chance; the
instances of static ones are not, so all of them are static here.
"""

from __future__ import annotations

import random

from tests.compatibility.walks.groups import ADMIN, CLASSIC, CONSUMER, draw_of
from tests.compatibility.walks.groups import AREA as OF_ONE_KIND
from tests.compatibility.walks.groups_classic import INSTANCES_FROM_JOIN, Join, draw_join
from tests.compatibility.walks.walk import Step


def draw_steps(chance: random.Random, count: int) -> list[Step]:
    weights = {**CLASSIC, **CONSUMER, **ADMIN, draw_static_join: CLASSIC[draw_join]}
    del weights[draw_join]
    return draw_of(chance, weights, count)


def draw_static_join(chance: random.Random) -> Join:
    drawn = draw_join(chance)
    version = max(drawn.version, INSTANCES_FROM_JOIN)
    return drawn._replace(instance=f"i{drawn.who}", version=version)


AREA = OF_ONE_KIND._replace(name="groups_mixed", draw=draw_steps)
