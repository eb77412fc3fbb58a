"""Executes a sequence on both brokers at once, and finds where their answers differ first."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from tests.compatibility.differential.allowed import unexplained
from tests.compatibility.differential.cluster_session import ClusterSession
from tests.compatibility.differential.comparing import MISSING, Difference, compare
from tests.compatibility.differential.differences import ALLOWED
from tests.compatibility.differential.running import FAILED
from tests.compatibility.differential.scripting import BrokerState, Run, Script
from tests.compatibility.differential.session import Answers, Session
from tests.compatibility.random_requests.request_sequence import (
    Area,
    Diverged,
    Model,
    RequestSequence,
    Step,
    words_of,
)
from tests.compatibility.random_requests.step_client import Asked, StepClient

from ottla.protocol.api_keys import ApiKey

_numbers = itertools.count()  # so that every execution has names of its own


Address = str | Mapping[int, str]  # of one broker, or of several by their ids


class Brokers(NamedTuple):
    """Their addresses."""

    kafka: Address
    ours: Address


class Recorded(NamedTuple):
    answers: Answers
    asked: dict[str, Asked]


def differences_of(sequence: RequestSequence, brokers: Brokers) -> list[Difference]:
    """What differs in the first step in which anything does, and is not allowed."""
    number = next(_numbers)
    with ThreadPoolExecutor(2) as pool:
        kafka, ours = pool.map(lambda address: execute(address, sequence, number), brokers)
    return first_differences(sequence.area, kafka, ours)


def execute(address: Address, sequence: RequestSequence, number: int) -> Recorded:
    execution = Execution(address, sequence, number)
    execution.go()
    execution.pause()
    return execution.recorded


class Execution:
    """A sequence on one broker, which may pause."""

    def __init__(self, address: Address, sequence: RequestSequence, number: int) -> None:
        name = f"random-{sequence.area.name}"
        script = Script(name, ApiKey.METADATA, (number,), ignore, BrokerState.READY)
        self._sequence = sequence
        self._steps: Iterator[tuple[int, Step]] = enumerate(sequence.steps)
        self._session = session_with(address, Run(script, number))
        self._client = StepClient(self._session)
        self._model: Model | None = None

    @property
    def recorded(self) -> Recorded:
        return Recorded(self._session.answers, self._client.asked)

    def go(self, count: int | None = None) -> None:
        """So many steps, or to the end."""
        try:
            if self._model is None:
                self._model = self._sequence.area.model(self._client)
            for number, step in itertools.islice(self._steps, count):
                self._client.begin(number, words_of(step))
                step.execute(self._model)
                self._model.after_step()
        except Diverged:
            self._client.forget_step()
            self._steps = iter(())
        except Exception:
            self._client.asked[FAILED] = Asked(len(self._sequence.steps), ApiKey.METADATA, 0)
            last = next(reversed(self._session.answers), None)
            self._session.answers[FAILED] = f"after {last!r}: {traceback.format_exc()}"
            self._steps = iter(())

    def pause(self) -> None:
        """Close the connections, and with them all waiting requests."""
        self._session.close()
        self._client.forget_waiting()


def session_with(address: Address, run: Run) -> Session:
    return Session(address, run) if isinstance(address, str) else ClusterSession(address, run)


def ignore(_session: Session) -> None: ...


def first_differences(area: Area, kafka: Recorded, ours: Recorded) -> list[Difference]:
    asked = {**kafka.asked, **ours.asked}
    labels = sorted((label for label in asked), key=lambda label: asked[label].step)
    for _, of_step in itertools.groupby(labels, key=lambda label: asked[label].step):
        found = [each for label in of_step for each in compare_one(area, label, asked, kafka, ours)]
        left = unexplained(found, [*area.allowed, *ALLOWED_EVERYWHERE])
        if left := [each for each in left if not is_tolerated(area, each, kafka, ours)]:
            return left
    return failure(area, kafka, ours)


def failure(area: Area, kafka: Recorded, ours: Recorded) -> list[Difference]:
    """A sequence that could not continue has shown nothing, even if both fail in the same words."""
    words = [each.answers.get(FAILED, "continued") for each in (kafka, ours)]
    if words == ["continued", "continued"]:
        return []
    run = Run(Script(area.name, ApiKey.METADATA, (0,), ignore, BrokerState.READY), 0)
    return [Difference(run, FAILED, "", *words)]


def is_tolerated(area: Area, difference: Difference, kafka: Recorded, ours: Recorded) -> bool:
    one, other = (each.answers.get(difference.label, MISSING) for each in (kafka, ours))
    return any(is_so(difference, one, other) for is_so in area.tolerated)


def compare_one(
    area: Area, label: str, asked: dict[str, Asked], kafka: Recorded, ours: Recorded
) -> Sequence[Difference]:
    """As if the request were the only one of a script about its API."""
    _, key, version = asked[label]
    run = Run(Script(area.name, key, (version,), ignore, BrokerState.READY), version)
    one, other = (
        {label: recorded.answers[label]} if label in recorded.answers else {}
        for recorded in (kafka, ours)
    )
    return list(compare(run, one, other))


# Those of the differential test that hold in any case, not in one that a script has a name for.
ALLOWED_EVERYWHERE = [each for each in ALLOWED if each.case == "*" and each.field != "*"]
