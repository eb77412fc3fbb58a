"""New partitions: decided by the cluster, and without files on this broker until their turn comes.

Owns      which partitions still have to be made.
Promises  one that is asked for is made at once, so nobody can tell; the others are made one in a
          turn of the event loop, and the garbage collector does not look at very many again and
          again.
Leaves    making one to whoever is given the decision about it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator
from contextlib import nullcontext

from ottla.base.memory.collector import freeze_new_objects, paused_collector
from ottla.base.scheduling.tasks import next_turn
from ottla.metadata.entities import Partition, Topic

MANY = 500  # partitions
TOO_MANY_TO_LOOK = 2_000  # partitions: to look for garbage among them takes over 20 ms


class NewPartitions:
    def __init__(self, place: Callable[[Topic, int, Partition], None]) -> None:
        self._place = place
        self._making = asyncio.Lock()  # whoever waits for partitions: one is made in a turn
        self._unmade: dict[tuple[str, int], tuple[Topic, Partition]] = {}
        self._seen_count = 0  # of those made, by the garbage collector

    def __contains__(self, name: tuple[str, int]) -> bool:
        return name in self._unmade

    def __len__(self) -> int:
        return len(self._unmade)

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return iter(self._unmade)

    def add(self, topic: Topic, index: int, decided: Partition) -> None:
        self._unmade[topic.name, index] = (topic, decided)

    def forget(self, name: tuple[str, int]) -> None:
        """It was deleted before anybody wanted it."""
        self._unmade.pop(name, None)

    def make(self, name: tuple[str, int]) -> None:
        topic, decided = self._unmade.pop(name)
        self._place(topic, name[1], decided)
        self._seen_count += 1

    async def make_all(self, names: Collection[tuple[str, int]] | None = None) -> None:
        """These, or every one."""
        wanted = list(self._unmade if names is None else names)
        with paused_collector() if len(wanted) > MANY else nullcontext():
            for name in wanted:
                async with self._making:
                    if name in self._unmade:  # and not made meanwhile, because somebody wanted it
                        self.make(name)
                        await next_turn()
            if self._seen_count > MANY:
                freeze_new_objects(collects_first=self._seen_count <= TOO_MANY_TO_LOOK)
                self._seen_count = 0
