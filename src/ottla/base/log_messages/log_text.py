"""Escapes text from clients (client ids, host names, topics) for log messages.

A raw newline would let a client forge a message, an escape sequence would be executed by a
terminal, and bidirectional control characters would change the order of the displayed text.
"""

from __future__ import annotations

CHARS_MAX = 200


def shown(text: str, chars_max: int = CHARS_MAX) -> str:
    """`text` on one line; characters that are not printable become `\\xNN`, `\\uNNNN` or
    `\\UNNNNNNNN`.

    A longer text is truncated to `chars_max` characters, followed by its length.
    """
    if len(text) <= chars_max:
        return _escaped(text)
    return f"{_escaped(text[:chars_max])}... ({len(text)} characters)"


def _escaped(text: str) -> str:
    if text.isprintable() and "\\" not in text:
        return text
    return "".join(map(escaped_char, text))


def escaped_char(char: str) -> str:
    if char == "\\":
        return "\\\\"  # so that escapes are unambiguous
    # Not printable: control and format characters (including bidirectional ones), surrogates,
    # separators other than the space, private and unassigned characters.
    if char.isprintable():
        return char
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
