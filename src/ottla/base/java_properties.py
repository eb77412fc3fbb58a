"""Java's properties syntax: `key=value` lines with comments, continued lines and escapes.

Promises  what Java reads from the same bytes: they are Latin-1, everything else is escaped.
Raises    ValueError with the line number, for an escape that is cut off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_SPACE = " \t\f"
_LINE_END = re.compile(r"\r\n|\r|\n")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|u|.)", re.DOTALL)
# The key ends at the first separator that is not escaped; spaces around one separator are skipped.
_KEY = re.compile(r"((?:[^\\ \t\f=:]|\\.)*)[ \t\f]*[=:]?[ \t\f]*", re.DOTALL)
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_TO_ESCAPE = {
    **{character: "\\" + character for character in "\\=:#!"},
    **{character: "\\" + name for name, character in _ESCAPED.items()},
}


def parse_properties(content: bytes) -> dict[str, str]:
    values = {}
    for number, line in _logical_lines(content.decode("latin-1")):
        match = _KEY.match(line)
        assert match is not None, "the pattern matches the empty string"
        values[_unescape(match[1], number)] = _unescape(line[match.end() :], number)
    return values


def format_properties(values: dict[str, str]) -> bytes:
    lines = [f"{_escape(key, True)}={_escape(value, False)}\n" for key, value in values.items()]
    return "".join(lines).encode("ascii")


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """(number, line) without comments and blank lines; a backslash at the end joins the next."""
    begun = ""
    number = 0
    for index, raw in enumerate(_LINE_END.split(text), 1):
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


def _unescape(text: str, number: int) -> str:
    def replacement(match: re.Match[str]) -> str:
        escape = match[1]
        if escape == "u":
            raise ValueError(f"line {number}: malformed \\uxxxx escape")
        if len(escape) == 5:
            return chr(int(escape[1:], 16))
        return _ESCAPED.get(escape, escape)

    if "\\" not in text:
        return text
    plain = _ESCAPE.sub(replacement, text)
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
