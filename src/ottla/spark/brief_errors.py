"""Errors without the calls that led to them.

Spark puts the traceback of a Python source before its message. Of an error that a user can cause,
such as a misspelt option, the message is all that matters, and twenty lines would hide it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import ParamSpec, TypeVar

from ottla.client.errors import ClientError
from ottla.config.options import InvalidOption
from ottla.spark.errors import SourceError
from ottla.spark.sink.errors import SinkError

P = ParamSpec("P")
R = TypeVar("R")

EXPECTED = (InvalidOption, SourceError, SinkError, ClientError)


def brief(function: Callable[P, R]) -> Callable[P, R]:
    """For functions that Spark calls. Tracebacks of other errors, which are bugs, are kept."""

    @wraps(function)
    def call(*arguments: P.args, **options: P.kwargs) -> R:
        try:
            return function(*arguments, **options)
        except EXPECTED as error:
            raise error.with_traceback(None) from None

    return call


def brief_rows(function: Callable[P, Iterator[R]]) -> Callable[P, Iterator[R]]:
    """The same for functions whose results Spark takes one after the other."""

    @wraps(function)
    def call(*arguments: P.args, **options: P.kwargs) -> Iterator[R]:
        try:
            yield from function(*arguments, **options)
        except EXPECTED as error:
            raise error.with_traceback(None) from None

    return call
