"""Checks of what tests give to the fixtures: mistakes are reported at once, with the argument."""

from __future__ import annotations

import math
from typing import Any


def require_name(name: Any, what: str) -> None:
    """TypeError or ValueError. librdkafka aborts the process for a group without a name."""
    __tracebackhide__ = True
    if not isinstance(name, str):
        raise TypeError(f"{name!r} is not the name of a {what}")
    if not name:
        raise ValueError(f"the name of a {what} is empty")


def require_count(name: str, count: Any, least: int) -> None:
    __tracebackhide__ = True
    if not is_number(count) or not isinstance(count, int):
        raise TypeError(f"{name}={count!r} is not a whole number")
    if count < least:
        raise ValueError(f"{name}={count}: at least {least}")


def require_seconds(name: str, seconds: Any) -> None:
    __tracebackhide__ = True
    if not is_number(seconds):
        raise TypeError(f"{name}={seconds!r} is not a number of seconds")
    if not (math.isfinite(seconds) and seconds >= 0):
        raise ValueError(f"{name}={seconds!r} is not a time to wait")


def is_number(given: Any) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool)
