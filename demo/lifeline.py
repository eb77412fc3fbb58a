"""How a process of the story hears from its owner: through its standard input.

Whoever started it holds the other end of the pipe. A line is a signal, the end means that the
process is no longer wanted; so it ends with its owner, however that one ends.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable


def listen(on_end: Callable[[], None], on_line: Callable[[], None] = lambda: None) -> None:
    def hear() -> None:
        # The plain descriptor: a thread inside `sys.stdin` would hold its lock at the end.
        while heard := os.read(0, 4096):
            for _ in range(heard.count(b"\n")):
                on_line()
        on_end()

    threading.Thread(target=hear, daemon=True, name="lifeline").start()
