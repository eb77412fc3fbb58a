"""The history of one client in a file: lines of JSON, each written at once.

Promises  what a client is about to send is in the file before it is sent: a client that is killed
          leaves operations without an end, whose result is unknown.

    ["b", id, start_s, is_transaction]      an operation begins
    ["s", id, key, value]                   it sends a record
    ["o", id, value, offset]                the record has this offset
    ["p", id, [[key, offset, value]], rebalanced]
    ["a", id], ["u", id]                    it assigns partitions, or subscribes
    ["e", id, end_s, result]                it ends
    ["v", time_s, quantity, key, value]     an observation
    ["n", time_s, text]                     a note, for people
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.chaos.checker.history import (
    Assign,
    History,
    Observation,
    Operation,
    Poll,
    Quantity,
    Read,
    Result,
    Send,
    Step,
    Subscribe,
)


class Recorder:
    """Threads may share it."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._begun = 0
        self._beginning = threading.Lock()

    def close(self) -> None:
        os.close(self._file)

    def _write(self, *line: Any) -> None:
        os.write(self._file, json.dumps(line, separators=(",", ":")).encode() + b"\n")

    def begin(self, *, is_transaction: bool = False) -> int:
        with self._beginning:
            self._begun += 1
            self._write("b", self._begun, time.monotonic(), is_transaction)
            return self._begun

    def send(self, operation: int, key: str, value: str) -> None:
        self._write("s", operation, key, value)

    def sent(self, operation: int, value: str, offset: int) -> None:
        self._write("o", operation, value, offset)

    def poll(self, operation: int, reads: Sequence[Read], *, rebalanced: bool = False) -> None:
        self._write("p", operation, reads, rebalanced)

    def end(self, operation: int, result: Result) -> None:
        self._write("e", operation, time.monotonic(), result.value)

    def polled(self, reads: Sequence[Read], *, rebalanced: bool = False) -> None:
        """An operation that is one poll."""
        operation = self.begin()
        self.poll(operation, reads, rebalanced=rebalanced)
        self.end(operation, Result.OK)

    def assigned(self) -> None:
        self._alone("a")

    def subscribed(self) -> None:
        self._alone("u")

    def _alone(self, step: str) -> None:
        operation = self.begin()
        self._write(step, operation)
        self.end(operation, Result.OK)

    def observe(self, quantity: Quantity, key: str, value: int) -> None:
        self._write("v", time.monotonic(), quantity.value, key, value)

    def note(self, text: str) -> None:
        self._write("n", time.monotonic(), text)


class Begun:
    """An operation of which not all lines are read yet."""

    def __init__(self, process: str, start_s: float, is_transaction: bool) -> None:
        self.process = process
        self.start_s = start_s
        self.is_transaction = is_transaction
        self.steps: list[Step] = []
        self.offsets: dict[str, int] = {}
        self.end_s = float("inf")
        self.result = Result.UNKNOWN

    def finished(self) -> Operation:
        steps = tuple(
            step._replace(offset=self.offsets.get(step.value)) if isinstance(step, Send) else step
            for step in self.steps
        )
        return Operation(
            self.process, self.start_s, self.end_s, self.result, steps, self.is_transaction
        )


def read_history(paths: Iterable[Path]) -> History:
    """Of all clients; the name of a file is that of its client."""
    operations: list[Operation] = []
    observations: list[Observation] = []
    for path in sorted(paths):
        found, seen = read_file(path.stem, path.read_bytes())
        operations += found
        observations += seen
    return History.of(operations, observations)


def read_file(process: str, data: bytes) -> tuple[list[Operation], list[Observation]]:
    begun: dict[int, Begun] = {}
    observations: list[Observation] = []
    whole, _, _ = data.rpartition(b"\n")  # the last line of a killed client may be cut off
    for line in whole.splitlines():
        match json.loads(line):
            case ["b", int(at), start_s, is_transaction]:
                begun[at] = Begun(process, start_s, is_transaction)
            case ["s", int(at), key, value]:
                begun[at].steps.append(Send(key, value))
            case ["o", int(at), value, offset]:
                begun[at].offsets[value] = offset
            case ["p", int(at), reads, rebalanced]:
                begun[at].steps.append(Poll(tuple(Read(*each) for each in reads), rebalanced))
            case ["a", int(at)]:
                begun[at].steps.append(Assign())
            case ["u", int(at)]:
                begun[at].steps.append(Subscribe())
            case ["e", int(at), end_s, result]:
                begun[at].end_s, begun[at].result = end_s, Result(result)
            case ["v", time_s, quantity, key, value]:
                observations.append(Observation(process, time_s, Quantity(quantity), key, value))
    return [each.finished() for each in begun.values()], observations


def undelivered(notes: Iterable[str]) -> list[str]:
    """Of all notes, those of records that a client has given up: it must not have to."""
    return [each for each in notes if " was not delivered: " in each or " was not sent: " in each]


def read_notes(paths: Iterable[Path]) -> list[str]:
    """What clients noted, with their names, in the order of time."""
    found: list[tuple[float, str]] = []
    for path in paths:
        for line in path.read_bytes().splitlines():
            if line.startswith(b'["n"'):
                _, time_s, text = json.loads(line)
                found.append((time_s, f"{time_s:.3f} {path.stem}: {text}"))
    return [text for _, text in sorted(found)]
