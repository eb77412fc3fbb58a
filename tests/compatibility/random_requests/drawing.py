"""What random requests are drawn with: mostly the usual, sometimes something else, any version."""

from __future__ import annotations

import random
from typing import TypeVar

from ottla.protocol.api_keys import APIS, ApiKey

T = TypeVar("T")


def usually(chance: random.Random, usual: T, *others: T, often: float = 0.8) -> T:
    return usual if chance.random() < often else chance.choice(others)


def some_version(chance: random.Random, key: ApiKey) -> int:
    return chance.choice(APIS[key].stable_versions)


def some_of(chance: random.Random, things: tuple[T, ...], count_max: int) -> tuple[T, ...]:
    """At most so many, any of them twice."""
    return tuple(chance.choice(things) for _ in range(chance.randint(0, count_max)))
