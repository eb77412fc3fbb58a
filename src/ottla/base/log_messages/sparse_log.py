"""Rate-limited log messages for events that may occur at every request."""

from __future__ import annotations

import logging


class SparseLog:
    """Writes the first message at once, then at most one in `every_s` seconds, with a count."""

    def __init__(self, log: logging.Logger, level: int, every_s: float = 10.0) -> None:
        self._log = log
        self._level = level
        self._every_s = every_s
        self._next_s = float("-inf")
        self._omitted = 0

    def write(self, now_s: float, message: str, *arguments: object) -> None:
        if now_s < self._next_s:
            self._omitted += 1
            return
        if self._omitted:
            message, arguments = message + " (and %d more since)", (*arguments, self._omitted)
        self._next_s, self._omitted = now_s + self._every_s, 0
        self._log.log(self._level, message, *arguments)
