"""The event loop of a broker: uvloop if it is installed, because it is faster, or asyncio's."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

NAMES = ("auto", "asyncio", "uvloop")


def run_on(name: str, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run to completion. ImportError if uvloop is asked for and missing, before `work` begins."""
    with asyncio.Runner(loop_factory=loop_factory(name)) as runner:
        return runner.run(work())


def loop_factory(name: str) -> Any:
    """The loop factory; None is asyncio's own. ImportError if uvloop is missing."""
    if name == "asyncio":
        return None
    try:
        return importlib.import_module("uvloop").new_event_loop
    except ImportError:
        if name == "uvloop":
            raise
        return None
