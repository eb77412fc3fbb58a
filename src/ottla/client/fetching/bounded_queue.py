"""A bounded queue between threads, which can be closed while `put` waits for room."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class BoundedQueue(Generic[T]):
    """Holds at most `items_max` items. Threads: any, at both ends."""

    def __init__(self, items_max: int) -> None:
        self._items: deque[T] = deque()
        self._items_max = items_max
        self._changed = threading.Condition()
        self._is_closed = False

    def put(self, item: T) -> bool:
        """Wait for room. False if the queue was closed."""
        with self._changed:
            while len(self._items) >= self._items_max and not self._is_closed:
                self._changed.wait()
            if self._is_closed:
                return False
            self._items.append(item)
            self._changed.notify_all()
            return True

    def get(self, timeout_s: float) -> T | None:
        """The next item; None if there is none within the timeout."""
        deadline_s = time.monotonic() + timeout_s
        with self._changed:
            while not self._items:
                left_s = deadline_s - time.monotonic()
                if left_s <= 0 or not self._changed.wait(left_s):
                    return None
            item = self._items.popleft()
            self._changed.notify_all()
            return item

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._items.clear()
            self._changed.notify_all()
