"""Exceptions that are stored and raised later, without their traceback.

A traceback refers to all frames that the exception passed through, and so to their local variables:
tens of megabytes, for an exception about a large compressed batch. If one of these frames also
refers to the owner of the exception, that is a reference cycle, which only a full pass of the
garbage collector frees.
"""

from __future__ import annotations

from typing import NoReturn, TypeVar

E = TypeVar("E", bound=BaseException)


def without_traceback(error: E) -> E:
    """The same error, without the tracebacks of it and of its causes."""
    seen: BaseException | None = error
    while seen is not None:
        seen.__traceback__ = None
        seen = seen.__cause__ or seen.__context__
    return error


def raise_stored(kept: list[E]) -> NoReturn:
    """Raise the only error in a list and remove it, so that the list no longer refers to it."""
    raise kept.pop()
