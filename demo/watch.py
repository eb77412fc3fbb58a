"""Looking at the processes from outside: what the generator noted, what the checkpoints say.

Owns      the samples of the recording and the line of progress.
Promises  no wait without a deadline; a process that ends by itself ends the wait with its last
          words instead of a time-out.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from demo.cast import Cast
from demo.checkpoints import Stand, read_stand
from demo.place import Place
from demo.recording import Recording, Sample
from demo.scenario import QUERIES
from demo.terminal import Terminal, progress_line

STEP_S = 0.02
SAMPLE_S = 0.25
TAIL_BYTES = 4096


class StoryFailed(RuntimeError):
    """The story cannot go on: what happened, in words for the person who started it."""


@dataclass(frozen=True, slots=True)
class Progress:
    sent: int = 0
    acknowledged: int = 0
    failed: int = 0
    is_done: bool = False
    at_s: float = 0.0


class Watch:
    def __init__(self, recording: Recording, place: Place, cast: Cast, terminal: Terminal) -> None:
        self._recording = recording
        self._place = place
        self._terminal = terminal
        self._cast = cast
        self._next_sample_s = 0.0

    def until(self, is_done: Callable[[], bool], what: str, patience_s: float) -> None:
        deadline_s = time.monotonic() + patience_s
        while not is_done():
            self.look()
            if time.monotonic() > deadline_s:
                raise StoryFailed(f"not within {patience_s:.0f} s: {what}")
            time.sleep(STEP_S)

    def look(self) -> None:
        if (failure := self._cast.find_failure()) is not None:
            raise StoryFailed(failure)
        if self._cast.now_s() >= self._next_sample_s:
            self.sample()

    def sample(self) -> None:
        now_s = self._cast.now_s()
        self._next_sample_s = now_s + SAMPLE_S
        progress, done = self.progress(), {name: stand.events for name, stand in self.stands()}
        self._recording.samples.append(Sample(now_s, progress.sent, progress.acknowledged, done))
        events = self._recording.scenario.events
        self._terminal.progress(progress_line(progress.sent, events, done))

    def progress(self) -> Progress:
        return read_progress(self._place.progress)

    def stands(self) -> list[tuple[str, Stand]]:
        return [(name, self.stand(name)) for name in QUERIES]

    def stand(self, query: str) -> Stand:
        return read_stand(self._place.checkpoints / query)

    def until_back(
        self, since_s: float, is_back: Callable[[str, Stand], bool], what: str, patience_s: float
    ) -> dict[str, float]:
        """Wait until each query is back; how long after `since_s` that was."""
        back_s: dict[str, float] = {}

        def note() -> bool:
            for name, stand in self.stands():
                if name not in back_s and is_back(name, stand):
                    back_s[name] = self._cast.now_s() - since_s
            return len(back_s) == len(QUERIES)

        self.until(note, what, patience_s)
        return back_s


def read_progress(path: Path) -> Progress:
    """What the generator noted last."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
            lines = file.read().split(b"\n")
    except FileNotFoundError:
        return Progress()
    # What follows the last line feed may be half a line.
    return Progress(**json.loads(lines[-2])) if len(lines) > 1 else Progress()
