"""Time that runs, and can be moved ahead: the clocks and the event loop of a controlled broker.

Promises  `advance` moves wall-clock time, deadlines and timers together. It returns when
          everything that has become due is done, and what it led to.
Leaves    the clocks of clients alone: they are in other processes.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

SETTLE_S = 10.0  # of real time: work that takes longer is not waited for


class MovedClock:
    """The machine's clocks, some seconds ahead."""

    def __init__(self, ahead_s: float = 0.0) -> None:
        self.ahead_s = ahead_s

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000 + round(self.ahead_s * 1000)

    def monotonic_s(self) -> float:
        return time.monotonic() + self.ahead_s

    cpu_s = staticmethod(time.thread_time)


class WatchedSelector(selectors.DefaultSelector):
    """Notices when the event loop has nothing to run: then it waits for longer than no time."""

    def __init__(self) -> None:
        super().__init__()
        self.idle: Callable[[], bool] = lambda: False  # whether there is something to run again

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if (timeout is None or timeout > 0) and self.idle():
            timeout = 0
        return super().select(timeout)


class MovedLoop(asyncio.SelectorEventLoop):
    """An event loop whose timers follow a clock that can be moved."""

    def __init__(self, clock: MovedClock) -> None:
        self._clock = clock
        self._threads_at_work = 0
        self._settled: list[asyncio.Future[None]] = []
        selector = WatchedSelector()
        super().__init__(selector)
        selector.idle = self._note_idle

    def time(self) -> float:
        return self._clock.monotonic_s()

    def run_in_executor(  # type: ignore[override]  # of any function
        self, executor: Any, func: Any, *args: Any
    ) -> Any:
        future = super().run_in_executor(executor, func, *args)
        self._threads_at_work += 1
        future.add_done_callback(self._thread_ended)
        return future

    def _thread_ended(self, _future: object) -> None:
        self._threads_at_work -= 1

    def _note_idle(self) -> bool:
        if self._threads_at_work or not self._settled:
            return False
        for future in self._settled:
            if not future.done():
                future.set_result(None)
        self._settled.clear()
        return True

    async def advance(self, seconds: float) -> None:
        """Move time ahead, and wait until what was due is done."""
        self._clock.ahead_s += seconds
        settled = self.create_future()
        # Behind the timers that are due now: these are run in the loop's next turn.
        self.call_soon(self._settled.append, settled)
        with suppress(TimeoutError):
            async with asyncio.timeout(SETTLE_S):
                await settled
