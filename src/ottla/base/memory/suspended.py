"""What unfinished generators refer to, so that it can be freed a few objects at a time.

A generator that is closed, or the traceback of an exception that ended it, frees all of its local
variables in one call: for a response of a million items that takes a tenth of a second.
"""

from __future__ import annotations

from inspect import CO_COROUTINE, CO_GENERATOR
from itertools import islice
from traceback import walk_tb
from types import FrameType, GeneratorType
from typing import Any


def values_in_generator(generator: GeneratorType[Any, Any, Any]) -> list[object]:
    """The local variables of a suspended generator, and of those that it runs."""
    values: list[object] = []
    frame, delegated = generator.gi_frame, generator.gi_yieldfrom
    if frame is not None and not generator.gi_running:
        values += _values_in_frame(frame)
    if isinstance(delegated, GeneratorType):
        values += values_in_generator(delegated)
    return values


def values_in_traceback(error: BaseException) -> list[object]:
    """The local variables of the generators and coroutines that an error has ended. The first frame
    is that of the caller, which has caught it."""
    values: list[object] = []
    for frame, _ in islice(walk_tb(error.__traceback__), 1, None):
        if frame.f_code.co_flags & (CO_GENERATOR | CO_COROUTINE):
            values += _values_in_frame(frame)
    return values


def _values_in_frame(frame: FrameType) -> list[object]:
    values: list[object] = []
    for value in frame.f_locals.values():
        if isinstance(value, GeneratorType):  # run by a loop, not by `yield from`
            values += values_in_generator(value)
        else:
            values.append(value)
    return values
