"""Reports, while an operation takes long, which members it waits for and what they wrote last.

A broker that waits for ZooKeeper or for the controller says so in its log, which a user who starts
it from another terminal does not see.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

AGAIN_S = 10.0


@contextmanager
def reminders(
    after_s: float, waited_for: Callable[[], Iterable[str]], report: Callable[[str], None]
) -> Iterator[None]:
    """Report each text of `waited_for` after some seconds, and again from time to time, in a thread
    of its own."""
    ended = threading.Event()

    def remind() -> None:
        wait_s = after_s
        while not ended.wait(wait_s):
            for each in waited_for():
                report(f"waiting for {each}")
            wait_s = AGAIN_S

    thread = threading.Thread(target=remind, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
