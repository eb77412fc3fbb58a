"""Monitors the processes: the progress of the generator, and the checkpoints of the queries.

Owns      the samples of the recording and the progress line.
Promises  every wait has a deadline; a process that ends unexpectedly ends the wait with the end of
          its log.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from demo.directory import DemoDirectory
from demo.recording import Recording, Sample
from demo.scenario import QUERIES
from demo.services import Services
from demo.terminal import Terminal, progress_line
from ottla.pipelines.status.query_progress import QueryProgress, read_query_progress

STEP_S = 0.02
SAMPLE_S = 0.25
TAIL_BYTES = 4096


class DemoFailed(RuntimeError):
    """The run cannot continue; the message is for the user."""


@dataclass(frozen=True, slots=True)
class GeneratorProgress:
    sent: int = 0
    acknowledged: int = 0
    failed: int = 0
    is_done: bool = False
    at_s: float = 0.0


class Watch:
    def __init__(
        self, recording: Recording, directory: DemoDirectory, services: Services, terminal: Terminal
    ) -> None:
        self._recording = recording
        self._directory = directory
        self._terminal = terminal
        self._services = services
        self._next_sample_s = 0.0

    def until(self, is_done: Callable[[], bool], what: str, timeout_s: float) -> None:
        deadline_s = time.monotonic() + timeout_s
        while not is_done():
            self.look()
            if time.monotonic() > deadline_s:
                raise DemoFailed(f"not within {timeout_s:.0f} s: {what}")
            time.sleep(STEP_S)

    def look(self) -> None:
        if (failure := self._services.find_failure()) is not None:
            raise DemoFailed(failure)
        if self._services.now_s() >= self._next_sample_s:
            self.sample()

    def sample(self) -> None:
        now_s = self._services.now_s()
        self._next_sample_s = now_s + SAMPLE_S
        progress = self.progress()
        done = {name: query.end_offsets for name, query in self.query_progress()}
        self._recording.samples.append(Sample(now_s, progress.sent, progress.acknowledged, done))
        events = self._recording.scenario.events
        self._terminal.progress(progress_line(progress.sent, events, done))

    def progress(self) -> GeneratorProgress:
        return read_progress(self._directory.progress)

    def query_progress(self) -> list[tuple[str, QueryProgress]]:
        """`end_offsets` are events: the topic has no other records."""
        state = self._directory.state
        return [(name, read_query_progress(state / name / "checkpoint")) for name in QUERIES]

    def until_back(
        self,
        since_s: float,
        is_back: Callable[[str, QueryProgress], bool],
        what: str,
        timeout_s: float,
    ) -> dict[str, float]:
        """Wait until each query has recovered; returns the seconds after `since_s`."""
        back_s: dict[str, float] = {}

        def note() -> bool:
            for name, progress in self.query_progress():
                if name not in back_s and is_back(name, progress):
                    back_s[name] = self._services.now_s() - since_s
            return len(back_s) == len(QUERIES)

        self.until(note, what, timeout_s)
        return back_s


def read_progress(path: Path) -> GeneratorProgress:
    """The last recorded progress of the generator."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
            lines = file.read().split(b"\n")
    except FileNotFoundError:
        return GeneratorProgress()
    # The last line may be incomplete.
    return GeneratorProgress(**json.loads(lines[-2])) if len(lines) > 1 else GeneratorProgress()
