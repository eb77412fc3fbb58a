"""Standard input as the control channel of a process of the demo.

The parent process holds the other end of the pipe. A line is a signal; the end of input means that
the process has to stop, so it ends with its parent, however that one ends.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable


def listen(on_end: Callable[[], None], on_line: Callable[[], None] = lambda: None) -> None:
    def read_lines() -> None:
        # The descriptor itself: a thread inside `sys.stdin` would hold its lock at exit.
        while received := os.read(0, 4096):
            for _ in range(received.count(b"\n")):
                on_line()
        on_end()

    threading.Thread(target=read_lines, daemon=True, name="lifeline").start()
