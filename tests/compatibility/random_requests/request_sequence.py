"""Random requests, the same ones to Apache Kafka and to our broker.

    class Heartbeat(NamedTuple):                    # a step: what is done, in words that still mean
        who: str                                    # something when other steps are left out
        version: int

        def execute(self, model: GroupsModel) -> None:
            model.client.ask(HeartbeatRequest(...), self.version)

    AREA = Area("groups", draw=draw_steps, model=GroupsModel, allowed=ALLOWED)

A step names things as the sequence knows them ("the member a"); what a broker calls them (ids,
epochs) is looked up in the model when the step is executed. So the same steps can be sent to both
brokers, and again without some of them, which is how `shrinking.py` finds the few that matter.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from tests.compatibility.differential.allowed import Allowed
from tests.compatibility.differential.comparing import Difference
from tests.compatibility.differential.plain import Plain
from tests.compatibility.random_requests.step_client import StepClient

NOTHING = object()


class Diverged(Exception):
    """From here on the brokers go different ways, which is allowed: the sequence ends here.

    Raised by a step or a model because of an answer that both have given.
    """


class Step(Protocol):
    """A named tuple, as a rule: what is as usual is not shown."""

    def execute(self, model: Any) -> None: ...


class Model(Protocol):
    """What one broker has answered in one sequence, and what the sequence uses: topics, groups."""

    def after_step(self) -> None:
        """Until nothing that the step began is still under way; keep what was answered late."""


# Of a difference, and the answers of Kafka and of ours in which it is; MISSING if there is none.
IsTolerated = Callable[[Difference, Plain, Plain], bool]


class Area(NamedTuple):
    name: str
    draw: Callable[[random.Random, int], Sequence[Step]]  # draws so many steps
    model: Callable[[StepClient], Model]  # made again for every sequence
    allowed: Sequence[Allowed] = ()  # besides those of the differential test
    tolerated: Sequence[IsTolerated] = ()  # what a pattern cannot say


class RequestSequence(NamedTuple):
    area: Area
    seed: str
    steps: tuple[Step, ...]


def draw_sequence(area: Area, seed: str, steps_count: int) -> RequestSequence:
    chance = random.Random(f"{area.name} {seed}")
    return RequestSequence(area, seed, tuple(area.draw(chance, steps_count)))


def words_of(step: Step) -> str:
    if not isinstance(step, tuple):
        return repr(step)
    usual = getattr(step, "_field_defaults", {})
    fields = zip(getattr(step, "_fields", ()), step, strict=True)
    given = [f"{name}={value!r}" for name, value in fields if usual.get(name, NOTHING) != value]
    return f"{type(step).__name__}({', '.join(given)})"


def area_called(name: str) -> Area:
    area: Area = import_module(f"tests.compatibility.random_requests.{name}").AREA
    return area
