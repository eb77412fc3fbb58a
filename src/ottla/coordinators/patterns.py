"""Regular expressions that clients send: RE2's, as Kafka takes them.

Its time grows with the length of the text and never explodes, and its memory is bounded: Python's
own `re` would let one pattern stop the broker for hours.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

PATTERN_BYTES_MAX = 1024 * 1024  # of memory for one pattern

Matches = Callable[[str], bool]


def compile_pattern(pattern: str, name: str) -> Matches:
    """Says whether a whole text matches; BrokerError with INVALID_REGULAR_EXPRESSION."""
    re2, options = _re2()
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        what = f"{name} `{pattern}` is not a valid regular expression: {text}."
        raise BrokerError(ErrorCode.INVALID_REGULAR_EXPRESSION, what) from error
    return lambda text: compiled.fullmatch(text) is not None


@cache
def _re2() -> tuple[Any, Any]:
    """Loaded when the first pattern comes."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = PATTERN_BYTES_MAX
    options.never_capture = True
    return re2, options
