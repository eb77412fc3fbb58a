"""Lines of the log: one for each message, printable and bounded, whatever a message quotes.

What clients chose is escaped where it is logged (`log_text.shown`); this holds also where that was
forgotten, and for messages of other people's code.
"""

from __future__ import annotations

import logging
from types import TracebackType

from ottla.base.log_text import escaped_char

LINE_CHARS_MAX = 8192
TRACEBACK_CHARS_MAX = 65536
INDENT = "  "


class LineFormatter(logging.Formatter):
    """Escapes and cuts; a traceback is indented, so that no line of it passes for a message."""

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
    """Escapes what is not printable. Backslashes stay: much is escaped already."""
    if len(text) > chars_max:
        text = f"{text[:chars_max]}... ({len(text)} characters)"
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else escaped_char(char) for char in text)


def indented(text: str) -> str:
    lines = text[:TRACEBACK_CHARS_MAX].split("\n")
    return "\n".join(INDENT + printable(line, LINE_CHARS_MAX) for line in lines)
