"""Exceptions that are stored and raised later, without their traceback.

A traceback refers to all frames that the exception passed through, and so to their local variables:
tens of megabytes, for an exception about a large compressed batch. If one of these frames also
refers to the owner of the exception, that is a reference cycle, which only a full pass of the
garbage collector frees.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from traceback import walk_tb
from typing import Any, NoReturn, TypeVar

E = TypeVar("E", bound=BaseException)
FREED_AT_ONCE = 500


def without_traceback(error: E) -> E:
    """The same error, without the tracebacks of it and of its causes."""
    seen: BaseException | None = error
    while seen is not None:
        seen.__traceback__ = None
        seen = seen.__cause__ or seen.__context__
    return error


def drop_cancellation(task: asyncio.Future[Any]) -> None:
    """Drop the CancelledError that a cancelled task has stored, with its traceback.

    The frames in it may refer to the task, as through `asyncio.current_task()` or a future that
    wakes it, and they have the local variables of the work that was cancelled.
    """
    with suppress(asyncio.CancelledError):
        task.exception()  # raises the stored error, and forgets it


def empty_lists(error: BaseException) -> None:
    """Empty the lists in all frames that an error has passed through, a few items at a time.

    With a traceback, they are freed where the error is dropped, in one call: for a message of half
    a million items that takes tens of milliseconds. For frames whose lists have no other users;
    except the caller's, whose local variables include the error: read here, they would be kept
    with the frame, in a reference cycle.
    """
    caller = sys._getframe(1)
    seen: BaseException | None = error
    while seen is not None:
        for frame, _ in walk_tb(seen.__traceback__):
            for value in list(frame.f_locals.values()) if frame is not caller else ():
                while isinstance(value, list) and value:
                    del value[-FREED_AT_ONCE:]
        seen = seen.__cause__ or seen.__context__


def raise_stored(kept: list[E]) -> NoReturn:
    """Raise the only error in a list and remove it, so that the list no longer refers to it."""
    raise kept.pop()
