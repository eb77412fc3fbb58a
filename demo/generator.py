"""A process that sends the reports at a constant rate, and records its progress.

    python -m demo.generator --bootstrap HOST:PORT --progress FILE [--seed 7 ...]

Promises  each report is in the topic once and in order, whatever happens to the broker: the
          producer is idempotent and waits for acks=all. Closing reports are sent when all others
          are acknowledged, so a reader that sees one of them can see all others. Exits with code 1
          if a report could not be delivered, and when its standard input is closed, where each line
          opens a gate.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

from demo import scenario as scenarios
from demo.parent_pipe import listen
from demo.reports import Report, encode, rounds
from demo.scenario import GATE_SHARES, REPORTS_TOPIC, Scenario

NOTE_S = 0.2
LOOK_S = 0.02
FLUSH_S = 300.0
SETTINGS: dict[str, Any] = {
    "enable.idempotence": True,
    "acks": "all",
    "linger.ms": 20,
    "compression.type": "lz4",
    "partitioner": "murmur2_random",  # as Java producers choose
    "reconnect.backoff.max.ms": 500,
    "log_level": 0,  # errors of the killed broker are expected
}


class Progress:
    """Appends JSON lines: the time, and the numbers of sent and acknowledged reports."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", buffering=1)
        self._next_s = 0.0
        self.sent = 0
        self.acknowledged = 0
        self.failed = 0

    def delivered(self, error: object, _message: object) -> None:
        if error is None:
            self.acknowledged += 1
        else:
            self.failed += 1

    def note(self, *, is_done: bool = False) -> None:
        now_s = time.time()
        if now_s < self._next_s and not is_done:
            return
        self._next_s = now_s + NOTE_S
        line = {
            "at_s": now_s, "sent": self.sent, "acknowledged": self.acknowledged,
            "failed": self.failed, "is_done": is_done,
        }  # fmt: skip
        self._file.write(json.dumps(line) + "\n")


class Gates:
    """Points at which the generator waits for the orchestrator.

    Spark may take long to start. Without gates the last event might be sent before the first kill.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._closed = [int(scenario.reports_per_truck * share) for share in GATE_SHARES]

    def open_next(self) -> None:
        del self._closed[:1]

    def is_closed_at(self, sequence: int) -> bool:
        return bool(self._closed) and sequence >= self._closed[0]


class Generator:
    def __init__(
        self, scenario: Scenario, bootstrap_servers: str, progress: Progress, gates: Gates
    ) -> None:
        self._scenario = scenario
        self._progress = progress
        self._gates = gates
        self._waited_s = 0.0
        self._producer = Producer({"bootstrap.servers": bootstrap_servers, **SETTINGS})

    def run(self) -> int:
        started_s = time.monotonic()
        for sequence, reports in enumerate(rounds(self._scenario)):
            if sequence == self._scenario.reports_per_truck:  # the closing round
                self._flush()
            self._wait_at_gate(sequence)
            self._send(reports)
            self._keep_pace(started_s)
        self._flush()
        self._progress.note(is_done=True)
        return 0 if self._progress.acknowledged == self._scenario.events else 1

    def _send(self, reports: tuple[Report, ...]) -> None:
        for report in reports:
            value = encode(report)
            while True:
                try:
                    self._producer.produce(
                        REPORTS_TOPIC,
                        value,
                        report.truck,
                        timestamp=report.event_time_ms,  # fleet time, by which the lake is divided
                        on_delivery=self._progress.delivered,
                    )
                    break
                except BufferError:  # the queue is full: wait for the broker
                    self._producer.poll(0.1)
                    self._progress.note()
        self._progress.sent += len(reports)

    def _wait_at_gate(self, sequence: int) -> None:
        began_s = time.monotonic()
        while self._gates.is_closed_at(sequence):
            self._producer.poll(LOOK_S)
            self._progress.note()
        self._waited_s += time.monotonic() - began_s

    def _keep_pace(self, started_s: float) -> None:
        due_s = started_s + self._waited_s + self._progress.sent / self._scenario.rate
        while True:
            self._producer.poll(max(0.0, due_s - time.monotonic()))
            self._progress.note()
            if time.monotonic() >= due_s:
                return

    def _flush(self) -> None:
        deadline_s = time.monotonic() + FLUSH_S
        while self._producer.flush(NOTE_S) and time.monotonic() < deadline_s:
            self._progress.note()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--progress", required=True, type=Path)
    scenarios.add_arguments(parser)
    arguments = parser.parse_args()
    scenario = scenarios.from_arguments(arguments)
    gates = Gates(scenario)
    listen(on_end=lambda: os._exit(1), on_line=gates.open_next)
    return Generator(scenario, arguments.bootstrap, Progress(arguments.progress), gates).run()


if __name__ == "__main__":
    sys.exit(main())
