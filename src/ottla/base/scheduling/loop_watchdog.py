"""Ends a process whose event loop is blocked for longer than a given time.

A ZooKeeper session is kept alive by a thread, even while the event loop is blocked: the cluster
would wait for a broker that serves no request. The watchdog is a thread too. Whatever keeps it from
running, such as the lock of the interpreter, keeps the session from being renewed as well.

Time is counted in short waits of that thread. A process that was stopped (SIGSTOP, or a virtual
machine that was paused) has not counted meanwhile, and continues.
"""

from __future__ import annotations

import asyncio
import faulthandler
import os
import threading
from contextlib import suppress
from functools import partial

from ottla.base.scheduling.threads import Threads

STDERR = 2  # its descriptor: the object may be replaced, or closed
WAITS = 8  # without a beat of the event loop, until the process ends


async def watch_event_loop(timeout_s: float) -> None:
    """Until cancelled. When the loop is blocked for `timeout_s`, write the stack of every thread
    to standard error, and exit with code 1."""
    beat, stopped = threading.Event(), threading.Event()
    threads = Threads.named("event-loop-watchdog", 1)
    watching = threads.run(partial(_watch, beat, stopped, timeout_s / WAITS))
    try:
        while True:
            beat.set()
            await asyncio.sleep(timeout_s / WAITS / 2)
    finally:
        stopped.set()
        watching.cancel()


def _watch(beat: threading.Event, stopped: threading.Event, wait_s: float) -> None:
    waits = 0
    while not stopped.wait(wait_s):
        waits = 0 if beat.is_set() else waits + 1
        beat.clear()
        if waits == WAITS:
            blocked_s = wait_s * WAITS
            text = f"the event loop was blocked for {blocked_s:g} s: this process ends. Threads:\n"
            with suppress(OSError):
                os.write(STDERR, text.encode())
            faulthandler.dump_traceback(STDERR)
            os._exit(1)
