"""Escapes text from records, group names and client ids for output on a terminal.

Escape sequences would be executed by the terminal, and characters that change the direction of text
would show it in another order.
"""

from __future__ import annotations

from ottla.base.log_messages.log_text import escaped_char

KEPT = "\t"


def printable(text: str, kept: str = KEPT) -> str:
    """The text with its control characters escaped, except those in `kept`.

    Unlike in logs a backslash stays as it is: values are often JSON, and people copy them.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in kept else escaped_char(char) for char in text
    )


def printable_bytes(content: bytes, kept: str = KEPT + "\n") -> bytes:
    """The same for UTF-8; other bytes become `\\xNN`."""
    text = content.decode("utf-8", "backslashreplace")
    return printable(text, kept).encode("utf-8", "backslashreplace")


def display_width(text: str) -> int:
    """How many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(
        0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text
    )
