"""Waiting for what another process does in its own time: asked again and again, with a deadline.

Only for foreign programs, whose clock cannot be replaced; our own parts take the time as an
argument.
"""

from __future__ import annotations

import time
from collections.abc import Callable

STEP_S = 0.02
STEP_S_MAX = 0.5
STEP_SHARE = 0.1  # of the time waited so far: questions take CPU time from what is waited for
PATIENCE_S = 120.0  # reached only by what never happens: machines may be busy


def wait_until(is_done: Callable[[], bool], what: str, deadline_s: float = PATIENCE_S) -> None:
    began_s = time.monotonic()
    while not is_done():
        if time.monotonic() - began_s > deadline_s:
            raise TimeoutError(f"not within {deadline_s} s: {what}")
        pause(began_s)


def pause(began_s: float) -> None:
    """Between two questions, for those who wait since then."""
    waited_s = time.monotonic() - began_s
    time.sleep(min(max(STEP_S, STEP_SHARE * waited_s), STEP_S_MAX))
