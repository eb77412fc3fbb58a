"""Plays a walk on both brokers at once, and tells where their answers differ first."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from tests.compatibility.differential.allowed import unexplained
from tests.compatibility.differential.comparing import MISSING, Difference, compare
from tests.compatibility.differential.differences import ALLOWED
from tests.compatibility.differential.running import FAILED
from tests.compatibility.differential.scripting import Run, Script
from tests.compatibility.differential.scripting import World as BrokersWorld
from tests.compatibility.differential.talk import Answers, Talk
from tests.compatibility.walks.hand import Asked, Hand
from tests.compatibility.walks.walk import Area, Parted, Step, Walk, World, words_of

from ottla.protocol.api_keys import ApiKey

_plays = itertools.count()  # so that everything is played with names of its own


class Brokers(NamedTuple):
    """Their addresses."""

    kafka: str
    ours: str


class Played(NamedTuple):
    answers: Answers
    asked: dict[str, Asked]


def differences_of(walk: Walk, brokers: Brokers) -> list[Difference]:
    """What differs in the first step in which anything does, and is not allowed."""
    number = next(_plays)
    with ThreadPoolExecutor(2) as pool:
        kafka, ours = pool.map(lambda address: play(address, walk, number), brokers)
    return first_differences(walk.area, kafka, ours)


def play(address: str, walk: Walk, number: int) -> Played:
    playing = Playing(address, walk, number)
    playing.go()
    playing.pause()
    return playing.played


class Playing:
    """A walk on one broker, which may pause."""

    def __init__(self, address: str, walk: Walk, number: int) -> None:
        name = f"walk-{walk.area.name}"
        script = Script(name, ApiKey.METADATA, (number,), ignore, BrokersWorld.READY)
        self._walk = walk
        self._steps: Iterator[tuple[int, Step]] = enumerate(walk.steps)
        self._talk = Talk(address, Run(script, number))
        self._hand = Hand(self._talk)
        self._world: World | None = None

    @property
    def played(self) -> Played:
        return Played(self._talk.answers, self._hand.asked)

    def go(self, count: int | None = None) -> None:
        """So many steps, or to the end."""
        try:
            if self._world is None:
                self._world = self._walk.area.world(self._hand)
            for number, step in itertools.islice(self._steps, count):
                self._hand.begin(number, words_of(step))
                step.play(self._world)
                self._world.after_step()
        except Parted:
            self._hand.forget_step()
            self._steps = iter(())
        except Exception:
            self._hand.asked[FAILED] = Asked(len(self._walk.steps), ApiKey.METADATA, 0)
            last = next(reversed(self._talk.answers), None)
            self._talk.answers[FAILED] = f"after {last!r}: {traceback.format_exc()}"
            self._steps = iter(())

    def pause(self) -> None:
        """Nobody is connected any more, and nobody waits."""
        self._talk.close()
        self._hand.forget_waiting()


def ignore(_talk: Talk) -> None: ...


def first_differences(area: Area, kafka: Played, ours: Played) -> list[Difference]:
    asked = {**kafka.asked, **ours.asked}
    labels = sorted((label for label in asked), key=lambda label: asked[label].step)
    for _, of_step in itertools.groupby(labels, key=lambda label: asked[label].step):
        found = [each for label in of_step for each in compare_one(area, label, asked, kafka, ours)]
        left = unexplained(found, [*area.allowed, *ALLOWED_EVERYWHERE])
        if left := [each for each in left if not is_excused(area, each, kafka, ours)]:
            return left
    return failure(area, kafka, ours)


def failure(area: Area, kafka: Played, ours: Played) -> list[Difference]:
    """A walk that could not go on has shown nothing, even if both fail in the same words."""
    words = [each.answers.get(FAILED, "went on") for each in (kafka, ours)]
    if words == ["went on", "went on"]:
        return []
    run = Run(Script(area.name, ApiKey.METADATA, (0,), ignore, BrokersWorld.READY), 0)
    return [Difference(run, FAILED, "", *words)]


def is_excused(area: Area, difference: Difference, kafka: Played, ours: Played) -> bool:
    one, other = (each.answers.get(difference.label, MISSING) for each in (kafka, ours))
    return any(excuse(difference, one, other) for excuse in area.excuses)


def compare_one(
    area: Area, label: str, asked: dict[str, Asked], kafka: Played, ours: Played
) -> Sequence[Difference]:
    """As if the request were the only one of a script about its API."""
    _, key, version = asked[label]
    run = Run(Script(area.name, key, (version,), ignore, BrokersWorld.READY), version)
    one, other = (
        {label: played.answers[label]} if label in played.answers else {}
        for played in (kafka, ours)
    )
    return list(compare(run, one, other))


# Those of the differential test that hold in any case, not in one that a script has a name for.
ALLOWED_EVERYWHERE = [each for each in ALLOWED if each.case == "*" and each.field != "*"]
