"""Imports, some seconds after the start, modules that are otherwise imported on first use.

The start stays fast, and a short-lived process imports only what it needs. A long-lived process
must not depend on its source files: they may be replaced by another version while it runs.

Promises  each module is imported in a thread while clients are served. A failed import is logged
          and has no other effect.
Leaves    helper processes, which import the files that exist at their start.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from functools import partial

from ottla.base.scheduling.threads import RunJob
from ottla.handlers.serving.registry import handler_of
from ottla.handlers.serving.served_apis import INTER_BROKER, SERVED
from ottla.protocol.messages import request_class, response_class

log = logging.getLogger(__name__)

DELAY_S = 10.0
PAUSE_S = 0.02  # between two modules


async def preload(in_thread: RunJob, delay_s: float = DELAY_S, pause_s: float = PAUSE_S) -> None:
    await asyncio.sleep(delay_s)
    for load in pieces():
        try:
            await in_thread(load)
        except Exception:
            log.exception("a module of the broker could not be imported: were its files replaced?")
            return
        await asyncio.sleep(pause_s)
    log.info("all modules for serving requests are imported")


def pieces() -> Iterator[Callable[[], object]]:
    """Messages before the handlers that import them, so that each import is short."""
    for key in (*SERVED, *INTER_BROKER):
        yield partial(request_class, key)
        yield partial(response_class, key)
        yield partial(handler_of, key)
