"""Random walks: requests drawn by chance, the same ones to Apache Kafka and to our broker.

    class Heartbeat(NamedTuple):                    # a step: what is done, in words that still mean
        who: str                                    # something when other steps are left out
        version: int

        def play(self, world: GroupsWorld) -> None:
            world.hand.ask(HeartbeatRequest(...), self.version)

    AREA = Area("groups", draw=draw_steps, world=GroupsWorld, allowed=ALLOWED)

A step names things as the walk knows them ("the member a"); what a broker calls them (ids, epochs)
is looked up in the world when the step is played. So the same steps can be played on both brokers,
and again without some of them, which is how `shrinking.py` finds the few that matter.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from tests.compatibility.differential.allowed import Allowed
from tests.compatibility.walks.hand import Hand


class Step(Protocol):
    """Its repr is how it is shown."""

    def play(self, world: Any) -> None: ...


class World(Protocol):
    """What one broker has told in one walk, and what the walk stands on: topics, groups."""

    def after_step(self) -> None:
        """Until nothing that the step began is still under way; keep what was answered late."""


class Area(NamedTuple):
    name: str
    draw: Callable[[random.Random, int], Sequence[Step]]  # as many steps as it is told
    world: Callable[[Hand], World]  # made anew for every walk
    allowed: Sequence[Allowed] = ()  # besides those of the differential test


class Walk(NamedTuple):
    area: Area
    seed: str
    steps: tuple[Step, ...]


def draw_walk(area: Area, seed: str, steps_count: int) -> Walk:
    chance = random.Random(f"{area.name} {seed}")
    return Walk(area, seed, tuple(area.draw(chance, steps_count)))


def area_called(name: str) -> Area:
    area: Area = import_module(f"tests.compatibility.walks.{name}").AREA
    return area
