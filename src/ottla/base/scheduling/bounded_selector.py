"""A selector that reports a bounded number of ready files in one iteration of the event loop.

asyncio handles all that are ready before anything else: ten thousand connections that send at the
same moment would block the loop for a tenth of a second. The kernel reports the others first the
next time.
"""

from __future__ import annotations

import selectors
from typing import Any

READY_MAX = 256


def new_selector(ready_max: int = READY_MAX) -> selectors.BaseSelector:
    """The default selector, bounded where it is based on epoll."""
    selector = selectors.DefaultSelector()
    epoll = getattr(selector, "_selector", None)
    if isinstance(selector, getattr(selectors, "EpollSelector", ())) and epoll is not None:
        selector._selector = BoundedEpoll(epoll, ready_max)  # type: ignore[attr-defined]
    return selector


class BoundedEpoll:
    """The epoll object of a selector."""

    def __init__(self, epoll: Any, ready_max: int) -> None:
        self._poll = epoll.poll
        self._ready_max = ready_max
        self.register, self.unregister, self.modify = epoll.register, epoll.unregister, epoll.modify
        self.close, self.fileno = epoll.close, epoll.fileno

    def poll(self, timeout: float, events_max: int) -> Any:
        return self._poll(timeout, min(events_max, self._ready_max))
