"""Java's properties syntax: `key=value` lines with comments, continuation lines and escapes.

Promises  the same result as in Java: bytes are Latin-1, all other characters are escaped.
Raises    ValueError with the line number, for an incomplete escape.
"""

from __future__ import annotations

import string
from collections.abc import Iterator

_SPACE = " \t\f"
_KEY_ENDS = _SPACE + "=:"
_HEX_DIGITS = frozenset(string.hexdigits)
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_TO_ESCAPE = {
    **{character: "\\" + character for character in "\\=:#!"},
    **{character: "\\" + name for name, character in _ESCAPED.items()},
}


def parse_properties(content: bytes) -> dict[str, str]:
    values = {}
    for number, line in _logical_lines(content.decode("latin-1")):
        key, value = _split_line(line)
        values[_unescape(key, number)] = _unescape(value, number)
    return values


def format_properties(values: dict[str, str]) -> bytes:
    lines = [f"{_escape(key, True)}={_escape(value, False)}\n" for key, value in values.items()]
    return "".join(lines).encode("ascii")


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """(number, line) without comments and blank lines; a final backslash continues the line."""
    begun = ""
    number = 0
    for index, raw in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        line = raw.lstrip(_SPACE)
        if not begun:
            number = index
            if not line or line[0] in "#!":
                continue
        begun += line
        if (len(line) - len(line.rstrip("\\"))) % 2:
            begun = begun[:-1]
            continue
        if begun:
            yield number, begun
        begun = ""
    if begun:
        yield number, begun


def _split_line(line: str) -> tuple[str, str]:
    """The key ends at the first unescaped separator; white space around it is skipped."""
    at = 0
    while at < len(line) and line[at] not in _KEY_ENDS:
        at += 2 if line[at] == "\\" else 1
    value = line[at:].lstrip(_SPACE)
    if value[:1] in ("=", ":"):
        value = value[1:].lstrip(_SPACE)
    return line[:at], value


def _unescape(text: str, number: int) -> str:
    if "\\" not in text:
        return text
    parts, at = [], 0
    while (escape := text.find("\\", at)) >= 0:
        parts.append(text[at:escape])
        letter, at = text[escape + 1 : escape + 2], escape + 2
        if letter == "u":
            code, at = text[at : at + 4], at + 4
            if len(code) < 4 or not _HEX_DIGITS.issuperset(code):
                raise ValueError(f"line {number}: malformed \\uxxxx escape")
            parts.append(chr(int(code, 16)))
        else:
            parts.append(_ESCAPED.get(letter, letter))
    plain = "".join((*parts, text[at:]))
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _escape(text: str, is_key: bool) -> str:
    parts = []
    for index, character in enumerate(text):
        if character == " ":
            parts.append("\\ " if is_key or index == 0 else " ")
        elif character in _TO_ESCAPE:
            parts.append(_TO_ESCAPE[character])
        elif " " < character <= "~":
            parts.append(character)
        else:
            units = character.encode("utf-16-be", "surrogatepass")
            parts += [f"\\u{units[i]:02X}{units[i + 1]:02X}" for i in range(0, len(units), 2)]
    return "".join(parts)
