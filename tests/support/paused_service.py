"""ZooKeeper as in `zookeeper_model.py`, with an event at one pause of the code under test.

A pause is a moment at which other work may run: before a request is sent, and after its response
has arrived. `at_every_pause` runs a story once for each of them, so that no order is left out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterator
from random import Random
from typing import Any, TypeVar

from tests.support.virtual_time import run_in_virtual_time
from tests.support.zookeeper_model import Ensemble, ModelService

T = TypeVar("T")
Event = Callable[[], Awaitable[None]]
PAUSES_MAX = 2000  # more: the story does not end


class PausedService(ModelService):
    """Calls `event` once, at the pause with this number; pauses are counted from `arm` on."""

    def __init__(self, ensemble: Ensemble, *, delay_max_s: float = 0.02) -> None:
        super().__init__(ensemble, delay_max_s=delay_max_s)
        self._event: Event | None = None
        self._left = 0

    def arm(self, pause: int, event: Event) -> None:
        self._left, self._event = pause, event

    @property
    def has_happened(self) -> bool:
        return self._event is None

    async def _request(self, serve: Callable[[], T]) -> T:
        await self._pause()
        result = await super()._request(serve)
        await self._pause()
        return result

    async def _pause(self) -> None:
        event = self._event
        if event is not None:
            if self._left == 0:
                self._event = None
                await event()
            self._left -= 1


def at_every_pause(
    story: Callable[[Ensemble, int], Coroutine[Any, Any, bool]], *, seeds: int = 3
) -> None:
    """Run the story with an event at its first pause, at its second, ...; it returns whether there
    were that many. A story without a pause shows nothing, and fails."""
    for seed in range(seeds):
        for pause in _numbers(seed):
            try:
                if not run_in_virtual_time(story(Ensemble(Random(1000 * seed + pause)), pause)):
                    assert pause > 0, "nothing was asked of ZooKeeper"
                    break
            except BaseException as error:
                error.add_note(f"seed {seed}, pause {pause}")
                raise


def _numbers(seed: int) -> Iterator[int]:
    yield from range(PAUSES_MAX)
    raise AssertionError(f"the story of seed {seed} does not end")
