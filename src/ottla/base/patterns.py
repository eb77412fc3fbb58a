"""Regular expressions from clients: compiled and matched by RE2, within limits.

Promises  compiling takes about ten milliseconds at most, and a match is linear in the length of the
          text. Python's `re` backtracks: its time can double with each character, and would block
          the event loop.
Raises    PatternError with the reason, for patterns that cannot be compiled or are too expensive.
          Callers map it to an error code of their API.

RE2 has no back references and no look-around. A pattern must match the whole text, as everywhere in
Kafka.
"""
# The limits were measured with random patterns (2.5 GHz): the slowest compilation took 14 ms.
# Character properties and counted repetitions are expanded before RE2 counts its memory. If the
# states of a pattern do not fit in its memory, RE2 falls back from its DFA to simulating the NFA,
# which is linear as well: at most 8 ns per instruction and byte.

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

PATTERN_CHARS_MAX = 4096
PROPERTIES_MAX = 16  # `\pL`, `\P{Greek}`
REPETITIONS_MAX = 64  # `{2,5}`
MEMORY_BYTES_MAX = 64 * 1024  # for one pattern: about 5,000 instructions
STEPS_MAX = 4 * 1024 * 1024  # instructions times bytes of the text
SHOWN_CHARS_MAX = 200

UNBALANCED = ("missing ", "trailing ", "unexpected ")  # RE2 has no other sign of these errors


class PatternError(ValueError):
    """A pattern that cannot be used; the message is the reason.

    `is_unbalanced`: something in it is not closed, or not opened; Java rejects it as well.
    """

    def __init__(self, reason: str, *, is_unbalanced: bool = False) -> None:
        super().__init__(reason)
        self.is_unbalanced = is_unbalanced


class Pattern:
    """A compiled pattern."""

    __slots__ = ("_regexp", "_text_bytes_max", "text")

    def __init__(self, text: str, regexp: Any) -> None:
        self.text = text
        self._regexp = regexp
        self._text_bytes_max = STEPS_MAX // max(1, regexp.programsize)

    def matches(self, text: str) -> bool:
        """Whether the whole text matches; PatternError if it is too long for this pattern."""
        data = text.encode("utf-8", "replace")
        self.check_text_bytes(len(data))
        return self._regexp.fullmatch(data) is not None

    def check_text_bytes(self, size: int) -> None:
        """PatternError if texts of this size are too long for this pattern."""
        if size > self._text_bytes_max:
            raise PatternError(
                f"it is too large to be compared with {size} bytes; the most for it are "
                f"{self._text_bytes_max}"
            )


def compile_pattern(text: str) -> Pattern:
    check_costs((text,))
    re2, options = _re2()
    try:
        return Pattern(text, re2.compile(text.encode(), options))
    except UnicodeEncodeError:
        raise PatternError("it is not valid Unicode") from None
    except re2.error as error:
        reason = _reason(error)
        raise PatternError(reason, is_unbalanced=reason.startswith(UNBALANCED)) from None


def check_costs(texts: Iterable[str]) -> None:
    """PatternError if these patterns together exceed the limits for one pattern."""
    chars = properties = repetitions = 0
    for text in texts:
        chars += len(text)
        if chars > PATTERN_CHARS_MAX:
            raise PatternError(f"it is longer than {PATTERN_CHARS_MAX} characters")
        properties += text.count("\\p") + text.count("\\P")
        repetitions += text.count("{")
    if properties > PROPERTIES_MAX:
        raise PatternError(f"it has more than {PROPERTIES_MAX} properties such as \\pL")
    if repetitions > REPETITIONS_MAX:
        raise PatternError(f"it has more than {REPETITIONS_MAX} repetitions such as {{2,5}}")


def _reason(error: Exception) -> str:
    reason = error.args[0] if error.args else "it cannot be compiled"
    text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
    return shortened(text)


def shortened(text: str) -> str:
    """A pattern, or a part of it, inside an error message."""
    return text if len(text) <= SHOWN_CHARS_MAX else f"{text[:SHOWN_CHARS_MAX]}..."


@cache
def _re2() -> tuple[Any, Any]:
    """Imported when the first pattern is compiled."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MEMORY_BYTES_MAX
    options.never_capture = True
    return re2, options
