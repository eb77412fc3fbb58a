"""Formatting of log messages: printable, and limited in length and rate.

Text from clients is escaped where it is logged (`log_text.shown`). This is a second safeguard, and
covers messages of other libraries.
"""

from __future__ import annotations

import logging
from types import TracebackType

from ottla.base.log_messages.log_text import escaped_char

LINE_CHARS_MAX = 8192
TRACEBACK_CHARS_MAX = 65536
INDENT = "  "
REPETITIONS_MAX = 100
REPETITION_S = 10.0
MESSAGES_MAX = 10_000


class RepetitionFilter(logging.Filter):
    """Writes at most `lines_max` messages with the same format string in `every_s` seconds. The
    next message states how many were omitted."""

    def __init__(self, lines_max: int = REPETITIONS_MAX, every_s: float = REPETITION_S) -> None:
        super().__init__()
        self._lines_max = lines_max
        self._every_s = every_s
        self._windows: dict[tuple[str, str], Window] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        window = self._window((record.name, str(record.msg)), record.created)
        window.lines += 1
        if window.lines > self._lines_max:
            window.omitted += 1
            return False
        if window.omitted:
            record.msg = f"{record.getMessage()} (and {window.omitted} like it were left out)"
            record.args, window.omitted = (), 0
        return True

    def _window(self, key: tuple[str, str], now_s: float) -> Window:
        """The current window of a message; a new one if it has ended or the clock was set back."""
        if len(self._windows) >= MESSAGES_MAX and key not in self._windows:
            self._windows.clear()  # format strings are constants: this many are a bug
        window = self._windows.setdefault(key, Window(now_s))
        if not 0 <= now_s - window.start_s < self._every_s:
            window.start_s, window.lines = now_s, 0
        return window


class Window:
    __slots__ = ("lines", "omitted", "start_s")

    def __init__(self, start_s: float) -> None:
        self.start_s = start_s
        self.lines = 0
        self.omitted = 0


class LineFormatter(logging.Formatter):
    """Escapes and truncates. Tracebacks are indented, so that none of their lines looks like a
    message."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (its name in logging)
        return printable(super().formatMessage(record), LINE_CHARS_MAX)

    def formatException(  # noqa: N802
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None]
        | tuple[None, None, None],
    ) -> str:
        return indented(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:  # noqa: N802
        return indented(super().formatStack(stack_info))


def printable(text: str, chars_max: int) -> str:
    """Escapes what is not printable. Backslashes are kept: most text is escaped already."""
    if len(text) > chars_max:
        text = f"{text[:chars_max]}... ({len(text)} characters)"
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else escaped_char(char) for char in text)


def indented(text: str) -> str:
    lines = text[:TRACEBACK_CHARS_MAX].split("\n")
    return "\n".join(INDENT + printable(line, LINE_CHARS_MAX) for line in lines)
