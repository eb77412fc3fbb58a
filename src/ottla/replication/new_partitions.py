"""New partitions: in the metadata, but not yet with files on this broker.

Owns      the partitions that are still to be created.
Promises  a partition that is requested is created immediately; the others one per iteration of the
          event loop.
Leaves    creating one to the function it is given.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator

from ottla.base.scheduling.tasks import next_iteration
from ottla.metadata.entities import PartitionRegistration, Topic


class NewPartitions:
    def __init__(self, place: Callable[[Topic, int, PartitionRegistration], None]) -> None:
        self._place = place
        self._making = asyncio.Lock()  # one partition is created per iteration of the loop
        self._pending_creations: dict[tuple[str, int], tuple[Topic, PartitionRegistration]] = {}

    def __contains__(self, name: tuple[str, int]) -> bool:
        return name in self._pending_creations

    def __len__(self) -> int:
        return len(self._pending_creations)

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return iter(self._pending_creations)

    def add(self, topic: Topic, index: int, decided: PartitionRegistration) -> None:
        self._pending_creations[topic.name, index] = (topic, decided)

    def forget(self, name: tuple[str, int]) -> None:
        """The partition was deleted before it was created."""
        self._pending_creations.pop(name, None)

    def make(self, name: tuple[str, int]) -> None:
        topic, decided = self._pending_creations.pop(name)
        self._place(topic, name[1], decided)

    async def make_all(self, names: Collection[tuple[str, int]] | None = None) -> None:
        """Create these partitions, or all."""
        wanted = list(self._pending_creations if names is None else names)
        for name in wanted:
            async with self._making:
                if name in self._pending_creations:  # unless a request has created it meanwhile
                    self.make(name)
                    await next_iteration()
