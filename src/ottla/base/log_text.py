"""Text that others chose (client ids, host names, topics), made safe for a line of a log.

A raw newline would let a client forge a line, an escape sequence would be run by the terminal that
shows the log, and characters that change the direction of text would show it in another order.
"""

from __future__ import annotations

CHARS_MAX = 200


def shown(text: str, chars_max: int = CHARS_MAX) -> str:
    """`text` on one line; what is not printable as `\\xNN`, `\\uNNNN` or `\\UNNNNNNNN`.

    Of a longer text the first `chars_max` characters are shown, and how many it has.
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
        return "\\\\"  # so that an escape cannot be imitated
    # Not printable are controls, formats (those of direction among them), surrogates, separators
    # other than the space, private and unassigned characters.
    if char.isprintable():
        return char
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
