"""Walks through groups whose members speak both protocols, and change from one to the other.

Who gets which partitions depends on the ids of members, and those of classic ones are chance: how
many each has is compared, not which.
"""

from __future__ import annotations

import random

from tests.compatibility.differential.comparing import Difference
from tests.compatibility.differential.plain import Plain
from tests.compatibility.walks.groups import ADMIN, CLASSIC, CONSUMER, draw_of
from tests.compatibility.walks.groups import AREA as OF_ONE_KIND
from tests.compatibility.walks.walk import Area, Step


def draw_steps(chance: random.Random, count: int) -> list[Step]:
    return draw_of(chance, {**CLASSIC, **CONSUMER, **ADMIN}, count)


def is_another_partition(difference: Difference, _kafka: Plain, _ours: Plain) -> bool:
    one, other = difference.kafka, difference.ours
    is_list = isinstance(one, list) and isinstance(other, list)
    return difference.path.endswith(".partitions") and is_list and len(one) == len(other)


AREA = Area(
    "groups_mixed",
    draw_steps,
    OF_ONE_KIND.world,
    OF_ONE_KIND.allowed,
    [*OF_ONE_KIND.excuses, is_another_partition],
)
