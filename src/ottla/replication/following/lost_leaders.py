"""Leaders whose connection to this follower was lost a moment ago.

When a broker is killed, its clients ask another one for the leader at once, which is before the
controller has elected one. If the response has the old leader, librdkafka does not ask again for
one or two seconds; if it has none, after a tenth of a second.

Owns      the brokers that are taken for lost: until they are reached again, the metadata says
          something new of them, or a second has passed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

LOST_S = 1.0


class LostLeaders:
    def __init__(self) -> None:
        self._lost: dict[int, asyncio.TimerHandle] = {}
        self._listeners: list[Callable[[], None]] = []

    def __contains__(self, broker_id: int) -> bool:
        return broker_id in self._lost

    def __bool__(self) -> bool:
        return bool(self._lost)

    def subscribe(self, changed: Callable[[], None]) -> None:
        self._listeners.append(changed)

    def lost(self, broker_id: int) -> None:
        """A connection that has worked was closed."""
        self._forget(broker_id)
        loop = asyncio.get_running_loop()
        self._lost[broker_id] = loop.call_later(LOST_S, self.found, [broker_id])
        self._notify()

    def found(self, broker_ids: Iterable[int]) -> None:
        """These brokers were reached, or their metadata has changed."""
        known = [each for each in broker_ids if self._forget(each)]
        if known:
            self._notify()

    def _forget(self, broker_id: int) -> bool:
        timer = self._lost.pop(broker_id, None)
        if timer is not None:
            timer.cancel()
        return timer is not None

    def _notify(self) -> None:
        for listener in self._listeners:
            listener()
