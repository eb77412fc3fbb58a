"""Plays a scenario script on a simulated cluster, and compares what it says with what happens.

    python -m tests.scenarios.play tests/scenarios/zombie_leader.scenario --seed 7

A state that a line expects may take `PATIENCE_S` of virtual time, unless the line says `now`.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from hashlib import sha256
from pathlib import Path
from random import Random
from unittest.mock import patch

from tests.scenarios.language import (
    NOTHING,
    WITH_RESULTS,
    Action,
    Expectation,
    Place,
    ScenarioError,
    Script,
    Step,
    numbers_of,
    read_script,
    seconds_of,
    texts_of,
)
from tests.scenarios.requests import Answer
from tests.scenarios.stage import LOOK_S, Stage
from tests.simulation.cluster.network import SimulatedLoop
from tests.simulation.cluster.process import track_tasks
from tests.simulation.cluster.trace import SHOWN_DIGITS, Trace

PATIENCE_S = 10.0
ACKS = {"all": -1, "1": 1, "0": 0}


class Player:
    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._answer: Answer | None = None  # of the last action that has one
        self._asked = ""  # the partition of that action
        self._lost: dict[str, set[str]] = {}  # records whose loss a script expects

    async def play(self, script: Script) -> None:
        await self._stage.open()
        place = Place("", 0)
        for step in script.steps:
            place = step.place
            self._stage.trace.note(f"line {place.line}")
            try:
                await self._step(step)
            except ScenarioError:
                raise
            except AssertionError as error:
                raise ScenarioError(place, str(error)) from error
        await self._check_the_end(place)

    async def _step(self, step: Step) -> None:
        self._answer = None
        for action in step.actions:
            await self._act(step.place, action)
            if action.name in WITH_RESULTS:
                self._asked = action.words[0]
        is_reported = any(not each.is_state for each in step.expectations)
        if not is_reported and self._answer is not None and self._answer.error:
            step.place.expected("no error", str(self._answer))
        for each in step.expectations:
            if each.is_state:
                await self._check_state(step.place, each)
            else:
                self._check_result(step.place, each)

    # Actions

    async def _act(self, place: Place, action: Action) -> None:
        stage, words = self._stage, action.words
        at = int(action.options["at"]) if "at" in action.options else None
        match action.name:
            case "produce":
                acks = ACKS[action.options.get("acks", "all")]
                self._answer = await stage.client.produce(words[0], words[1], acks, at)
            case "consume":
                self._answer = await stage.client.consume(words[0], at)
            case "start":
                stage.start(int(words[0]))
            case "stop":
                await stage.stop(int(words[0]))
            case "kill":
                stage.kill(int(words[0]))
            case "lose_power":
                stage.lose_power(int(words[0]))
            case "cut":
                stage.cut(int(words[0]), words[1])
            case "heal":
                stage.heal()
            case "advance":
                await asyncio.sleep(seconds_of(words[0]))
            case "settle":
                if not await stage.settle():
                    raise ScenarioError(place, f"not settled: {stage.image and stage.image.topics}")
            case "elect":
                self._answer = await stage.client.elect(words[0], words[1])
            case "reassign":
                self._answer = await stage.client.reassign(words[0], numbers_of(words[1]), at)
            case "cancel":
                self._answer = await stage.client.reassign(words[0], None, at)
            case "set":
                self._answer = await stage.client.set(words[0], words[1], at)
            case "lose_directory":
                stage.lose_directory(int(words[0]), words[1])
            case "replace_directory":
                stage.replace_directory(int(words[0]))
            case _:
                raise AssertionError(action.name)

    # Results

    def _check_result(self, place: Place, expected: Expectation) -> None:
        answer, word = self._answer, expected.words[0]
        assert answer is not None
        values = tuple(value.decode() for _, value in answer.records)
        match expected.name:
            case "offset":
                is_right = not answer.error and answer.offset == int(word)
            case "error":
                is_right = answer.error.name == word
            case "records":
                is_right = not answer.error and values == texts_of(word)
            case _:  # lost
                self._lost.setdefault(self._asked, set()).update(texts_of(word))
                is_right = not set(values) & set(texts_of(word))
        if not is_right:
            place.expected(f"{expected.name} {word}", str(answer))

    # States

    async def _check_state(self, place: Place, expected: Expectation) -> None:
        deadline_s = self._stage.loop.time() + (0 if expected.is_now else PATIENCE_S)
        while True:
            found = await self._state(expected)
            if (found == expected.words[-1]) == expected.is_equal:
                return
            if self._stage.loop.time() >= deadline_s:
                operator = "=" if expected.is_equal else "!="
                subject = " ".join(
                    (*("now",) * expected.is_now, expected.name, *expected.words[:-1])
                )
                place.expected(f"{subject} {operator} {expected.words[-1]}", found)
            await asyncio.sleep(LOOK_S)

    async def _state(self, expected: Expectation) -> str:
        stage = self._stage
        if expected.name == "controller":
            return NOTHING if stage.controller is None else str(stage.controller)
        name = expected.words[0]
        if expected.name == "latest":
            return str(await stage.client.latest_of(name))
        partition = stage.partition(name)
        if partition is None:
            return "no controller"
        if expected.name == "logs":
            logs = {each: stage.log_of(each, name) for each in partition.replicas}
            return "equal" if len(set(map(str, logs.values()))) == 1 else str(logs)
        found = {
            "leader": (partition.leader,) if partition.has_leader else (),
            "in_sync": tuple(sorted(partition.in_sync_replicas)),
            "eligible": tuple(sorted(partition.eligible_replicas)),
            "replicas": partition.replicas,
            "adding": partition.adding_replicas,
        }[expected.name]
        return ",".join(map(str, found)) or NOTHING

    # The end

    async def _check_the_end(self, place: Place) -> None:
        """Whatever the script says: all are started, nothing acknowledged is lost, and the logs of
        all replicas are equal."""
        stage = self._stage
        stage.heal()
        for broker_id in stage.brokers:
            if broker_id not in stage.processes:
                stage.start(broker_id)
        end = Place(place.file, place.line + 1)
        if not await stage.settle():
            raise ScenarioError(end, f"not settled at the end: {stage.image}")
        for name, acknowledged in stage.client.acknowledged.items():
            found = dict((await stage.client.consume(name)).records)
            for offset, value in acknowledged.items():
                is_there = found.get(offset) == value.encode()
                if not is_there and value not in self._lost.get(name, ()):
                    end.expected(f'"{value}" at {name} {offset}, as acknowledged', str(found))
            logs = Expectation("logs", (name, "equal"), is_state=True)
            await self._check_state(end, logs)


def play(script: Script, seed: int) -> Trace:
    """ScenarioError if something is not as the script says."""

    async def whole() -> Trace:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimulatedLoop)
        track_tasks(loop)
        loop.set_exception_handler(lambda _loop, _context: None)  # of processes that have ended
        stage = Stage(loop, script.cluster, seed)
        try:
            await Player(stage).play(script)
        finally:
            await stage.close()
        return stage.trace

    ids = patch.object(os, "urandom", Random(seed).randbytes)
    with ids, asyncio.Runner(loop_factory=SimulatedLoop) as runner:
        return runner.run(whole())


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.scenarios.play")
    parser.add_argument("script", type=Path, nargs="+")
    parser.add_argument("--seed", type=int, default=1, help="of delays in the network")
    parser.add_argument("--seeds", type=int, default=1, help="how many, from the first")
    parser.add_argument("--log", action="store_true", help="with the messages of the brokers")
    given = parser.parse_args()
    if given.log:
        logging.basicConfig(level=logging.INFO)
    else:
        logging.disable(logging.CRITICAL)  # brokers report each fault
    failures = 0
    for path in given.script:
        script, digests = read_script(path), sha256()
        for seed in range(given.seed, given.seed + given.seeds):
            try:
                digests.update(play(script, seed).digest.encode())
            except ScenarioError as error:
                print(f"{error} (seed {seed})", flush=True)
                failures += 1
        last = given.seed + given.seeds - 1
        traces = digests.hexdigest()[:SHOWN_DIGITS]
        print(f"{path.name}: seeds {given.seed} to {last}, traces #{traces}", flush=True)
    print(f"{failures} failed")
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
