"""Exceptions that wait to be raised elsewhere, without the memory of where they were caught.

An exception knows the frames that it went through, and with them what their variables hold: tens
of megabytes, if it is about a batch that opens to so much. If one of these frames also knows who
keeps the exception, all of that stays until the next search for garbage.
"""

from __future__ import annotations

from typing import NoReturn, TypeVar

E = TypeVar("E", bound=BaseException)


def without_frames(error: E) -> E:
    """The same error, to be kept: it and what led to it forget their frames."""
    seen: BaseException | None = error
    while seen is not None:
        seen.__traceback__ = None
        seen = seen.__cause__ or seen.__context__
    return error


def raise_kept(kept: list[E]) -> NoReturn:
    """Raise the one error of a list, which is empty then: nobody keeps it any more."""
    raise kept.pop()
