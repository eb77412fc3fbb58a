"""New partitions: in the metadata, but not yet with files on this broker.

Owns      the partitions that are still to be created.
Promises  a partition that is requested is created immediately; the others one per iteration of the
          event loop. Requests that wait for the same partitions need neither time nor memory for
          each of them.
Leaves    creating one to the function it is given.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from ottla.base.scheduling.tasks import next_iteration
from ottla.metadata.entities import PartitionRegistration, Topic


class NewPartitions:
    def __init__(self, place: Callable[[Topic, int, PartitionRegistration], None]) -> None:
        self._place = place
        self._making = asyncio.Lock()  # one partition is created per iteration of the loop
        self._pending_creations: dict[tuple[str, int], tuple[Topic, PartitionRegistration]] = {}
        self._of_topic: dict[str, dict[int, None]] = {}  # the same, by topic

    def __contains__(self, name: tuple[str, int]) -> bool:
        return name in self._pending_creations

    def __len__(self) -> int:
        return len(self._pending_creations)

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return iter(self._pending_creations)

    def add(self, topic: Topic, index: int, decided: PartitionRegistration) -> None:
        self._pending_creations[topic.name, index] = (topic, decided)
        self._of_topic.setdefault(topic.name, {})[index] = None

    def forget(self, name: tuple[str, int]) -> None:
        """The partition was deleted before it was created."""
        if name in self._pending_creations:
            self._take(name)

    def make(self, name: tuple[str, int]) -> None:
        topic, decided = self._take(name)
        self._place(topic, name[1], decided)

    def first_of(self, topic: str) -> tuple[str, int] | None:
        """A partition of the topic that is still to be created."""
        indexes = self._of_topic.get(topic)
        return None if indexes is None else (topic, next(iter(indexes)))

    async def make_all(self) -> None:
        """Create all that are pending now, the oldest first."""
        for _ in range(len(self._pending_creations)):
            if not self._pending_creations:
                break
            async with self._making:
                if self._pending_creations:
                    self.make(next(iter(self._pending_creations)))
                    await next_iteration()

    async def make_next(self, topic: str) -> None:
        """Create the next partition of a topic, unless others have created all of them."""
        async with self._making:
            name = self.first_of(topic)
            if name is not None:
                self.make(name)
                await next_iteration()

    def _take(self, name: tuple[str, int]) -> tuple[Topic, PartitionRegistration]:
        topic, index = name
        indexes = self._of_topic[topic]
        del indexes[index]
        if not indexes:
            del self._of_topic[topic]
        return self._pending_creations.pop(name)
