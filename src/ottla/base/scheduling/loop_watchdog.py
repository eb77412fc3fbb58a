"""Ends a process whose event loop is blocked for longer than a given time.

A ZooKeeper session is kept alive by a thread, even while the event loop is blocked: the cluster
would wait for a broker that serves no request. The timer runs in a thread of the interpreter that
needs no lock of Python, so it works whatever blocks the loop.
"""

from __future__ import annotations

import asyncio
import faulthandler

STDERR = 2  # its descriptor: the object may be replaced, or closed
BEATS = 4  # in the time after which the process ends


async def watch_event_loop(timeout_s: float) -> None:
    """Until cancelled. When the loop is blocked for `timeout_s`, write the stack of every thread
    to standard error, and exit with code 1."""
    try:
        while True:
            faulthandler.dump_traceback_later(timeout_s, exit=True, file=STDERR)
            await asyncio.sleep(timeout_s / BEATS)
    finally:
        faulthandler.cancel_dump_traceback_later()
