"""Patterns in requests to coordinators: RE2 as in Kafka, matched against whole texts."""

from __future__ import annotations

from collections.abc import Callable

from ottla.base.patterns import PatternError, shortened
from ottla.base.patterns import compile_pattern as compile_bounded
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

Matches = Callable[[str], bool]


def compile_pattern(pattern: str, name: str) -> Matches:
    """A function that matches a whole text; both raise BrokerError INVALID_REGULAR_EXPRESSION."""
    try:
        compiled = compile_bounded(pattern)
    except PatternError as error:
        raise _invalid(pattern, name, error) from error

    def matches(text: str) -> bool:
        try:
            return compiled.matches(text)
        except PatternError as error:
            raise _invalid(pattern, name, error) from error

    return matches


def _invalid(pattern: str, name: str, error: PatternError) -> BrokerError:
    what = f"{name} `{shortened(pattern)}` is not a valid regular expression: {error}."
    return BrokerError(ErrorCode.INVALID_REGULAR_EXPRESSION, what)
