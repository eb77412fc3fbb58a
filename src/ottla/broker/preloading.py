"""Loads, some seconds after the start, what is otherwise loaded with the first request for it.

A start stays quick, and a process that is soon over loads only what it needs. One that stays does
not depend on its files any more: they may be replaced by those of another version while it runs.

Promises  each piece is small, and loaded in a thread: clients are served meanwhile. A piece that
          cannot be loaded is reported, and stops nothing.
Leaves    helper processes, which begin with the files that are there.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from functools import partial

from ottla.base.scheduling.threads import RunJob
from ottla.handlers.serving.registry import handler_of
from ottla.handlers.serving.served import SERVED
from ottla.protocol.messages import request_class, response_class

log = logging.getLogger(__name__)

DELAY_S = 10.0
PAUSE_S = 0.02  # between two pieces


async def preload(in_thread: RunJob, delay_s: float = DELAY_S, pause_s: float = PAUSE_S) -> None:
    await asyncio.sleep(delay_s)
    for load in pieces():
        try:
            await in_thread(load)
        except Exception:
            log.exception("part of the broker could not be loaded: were its files replaced?")
            return
        await asyncio.sleep(pause_s)
    log.info("all that serves requests is loaded")


def pieces() -> Iterator[Callable[[], object]]:
    """Messages before the handlers that need them, so that each is a step of its own."""
    for key in SERVED:
        yield partial(request_class, key)
        yield partial(response_class, key)
        yield partial(handler_of, key)
