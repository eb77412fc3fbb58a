"""The end of a test that would never end: it fails, and the others run.

No test asserts a time: the limit is many times what the longest one takes on a busy machine.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from tests.support.long_run import VARIABLE as LONG_RUN

LIMIT_S = 900
LONG_LIMIT_S = 3600


class TestNeverEnds(Exception):
    """Raised wherever the test is, in the main thread."""

    __test__ = False


def limit_s() -> int:
    return LONG_LIMIT_S if os.environ.get(LONG_RUN) else LIMIT_S


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    def end(_number: int, _frame: FrameType | None) -> None:
        raise TestNeverEnds(f"the test has not ended in {seconds:g} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
