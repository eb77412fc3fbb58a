"""Periodic background work, and its pauses: as configured, with a lower bound.

Kafka accepts intervals of 0 and 1 ms. Here background work shares the event loop with clients.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

log = logging.getLogger(__name__)

PAUSE_MIN_S = 0.02
REST_MAX_S = 1.0


def pause_s(interval_ms: float, took_s: float = 0.0) -> float:
    """The pause before the next round: at least as long as the last one took, up to
    `REST_MAX_S`."""
    return max(interval_ms / 1000, PAUSE_MIN_S, min(took_s, REST_MAX_S))


async def repeat(work: Callable[[], Awaitable[None]], interval_ms: Callable[[], float]) -> None:
    """Call `work` repeatedly until cancelled. A failure is logged, and the next round runs as
    usual."""
    loop = asyncio.get_running_loop()
    took_s = 0.0
    while True:
        await asyncio.sleep(pause_s(interval_ms(), took_s))
        began_s = loop.time()
        try:
            await work()
        except Exception:
            log.exception("%s has failed", getattr(work, "__name__", work))
        took_s = loop.time() - began_s
