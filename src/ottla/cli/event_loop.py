"""The event loop a broker runs on: uvloop where it is installed, for it is faster; or asyncio's."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

NAMES = ("auto", "asyncio", "uvloop")


def run_on(name: str, work: Coroutine[Any, Any, T]) -> T:
    """Run it to its end; `auto` takes what is there, the others insist."""
    with asyncio.Runner(loop_factory=loop_factory(name)) as runner:
        return runner.run(work)


def loop_factory(name: str) -> Any:
    """What makes the loop; None means asyncio's own. ImportError if uvloop is missing."""
    if name == "asyncio":
        return None
    try:
        return importlib.import_module("uvloop").new_event_loop
    except ImportError:
        if name == "uvloop":
            raise
        return None
