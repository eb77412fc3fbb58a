"""How a process of the story learns that it is no longer wanted: its standard input ends.

Whoever started it holds the other end of the pipe, so it ends with its owner however that one ends.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable


def call_when_standard_input_ends(then: Callable[[], None]) -> None:
    def wait() -> None:
        # The plain descriptor: a thread inside `sys.stdin` would hold its lock at the end.
        while os.read(0, 4096):
            pass
        then()

    threading.Thread(target=wait, daemon=True, name="lifeline").start()
