"""Regular expressions that clients send: RE2's syntax, matched in time linear in the text.

Python's own `re` would let one pattern stop the broker for hours, so there is no falling back on
it: where google-re2 is not installed, patterns are refused, and the client is told why.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

Matches = Callable[[str], bool]


def compile_pattern(pattern: str) -> Matches:
    """Says whether a whole text matches; BrokerError with INVALID_REGULAR_EXPRESSION."""
    try:
        re2 = import_module("re2")
    except ImportError:
        what = "patterns need the package google-re2, which this broker does not have"
        raise BrokerError(ErrorCode.INVALID_REGULAR_EXPRESSION, what) from None
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        what = f"{pattern!r} is not a valid regular expression: {error}"
        raise BrokerError(ErrorCode.INVALID_REGULAR_EXPRESSION, what) from error
    return lambda text: compiled.fullmatch(text) is not None
