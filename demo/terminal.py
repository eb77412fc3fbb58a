"""The output of a run: messages with the time, and a progress line.

On a terminal the progress line is overwritten; in a log it is printed periodically.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TextIO

LOG_EVERY_S = 5.0
DRAW_EVERY_S = 0.2
BAR = 24


class Terminal:
    def __init__(self, output: TextIO) -> None:
        self._output = output
        self._is_terminal = output.isatty()
        self._started_s = time.monotonic()
        self._next_s = 0.0
        self._has_progress = False

    def say(self, text: str) -> None:
        self._erase()
        self._print(f"{self._now()}  {text}\n")

    def plain(self, text: str) -> None:
        self._erase()
        self._print(text + "\n")

    def progress(self, line: str) -> None:
        if time.monotonic() < self._next_s:
            return
        self._next_s = time.monotonic() + (DRAW_EVERY_S if self._is_terminal else LOG_EVERY_S)
        if self._is_terminal:
            self._print(f"\r\033[K{self._now()}  {line}")
            self._has_progress = True
        else:
            self._print(f"{self._now()}  {line}\n")

    def _now(self) -> str:
        return f"{time.monotonic() - self._started_s:6.1f} s"

    def _erase(self) -> None:
        if self._has_progress:
            self._print("\r\033[K")
            self._has_progress = False

    def _print(self, text: str) -> None:
        self._output.write(text)
        self._output.flush()


def progress_line(sent: int, events: int, done: Mapping[str, int]) -> str:
    filled = BAR * sent // events
    bar = "█" * filled + "░" * (BAR - filled)
    counts = "  ".join(f"{name} {count:,}" for name, count in done.items())
    return f"{bar} sent {sent:,}  {counts}"
