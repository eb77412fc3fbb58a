"""The event loop of a broker: uvloop if it is installed, because it is faster, or asyncio's.

libuv bounds what it handles in an iteration of the loop; asyncio's selector is bounded here.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from ottla.base.scheduling.bounded_selector import new_selector

T = TypeVar("T")

NAMES = ("auto", "asyncio", "uvloop")


def run_on(name: str, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run to completion. ImportError if uvloop is asked for and missing, before `work` begins."""
    with asyncio.Runner(loop_factory=loop_factory(name)) as runner:
        return runner.run(work())


def loop_factory(name: str) -> Any:
    """ImportError if uvloop is missing."""
    if name == "asyncio":
        return new_asyncio_loop
    try:
        return importlib.import_module("uvloop").new_event_loop
    except ImportError:
        if name == "uvloop":
            raise
        return new_asyncio_loop


def new_asyncio_loop() -> asyncio.AbstractEventLoop:
    return asyncio.SelectorEventLoop(new_selector())
