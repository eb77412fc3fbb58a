"""Limits of the number of producers in memory: of one partition, and of a broker.

Owns      the two limits, and when the least recently used producers are evicted.
Promises  a new producer costs constant time, also if there are very many partitions: they are
          counted, and producers evicted, some at a time. Above the limit of the broker, partitions
          that have more than an equal share evict some, not the one that gets a new producer.
Leaves    which to evict to the partition: never a producer with an open transaction.
"""

from __future__ import annotations

from typing import Protocol
from weakref import ref

EVICTED_AT_ONCE = 64  # considered, by a partition above its limit
NO_LIMIT = 2**63
COUNTED_EACH = 256  # new producers: then all partitions are counted again
# With each new producer:
VISITED_AT_ONCE = 100  # partitions
EVICTED_EACH = 256  # producers, of all partitions together


class Producers(Protocol):
    """The producers of one partition."""

    @property
    def count(self) -> int: ...

    def evict(self, count: int) -> None: ...


class ProducerBound:
    """Used from one event loop."""

    def __init__(self, partition_max: int, total_max: int) -> None:
        self.partition_max = partition_max
        self.total_max = total_max
        self._partitions: set[ref[Producers]] = set()  # with producers
        self._added = 0
        # A pass over all partitions counts them, and the next one evicts the excess.
        self._unvisited: list[ref[Producers]] = []
        self._total = 0  # of those that were visited
        self._share = 0  # of each partition, in a pass that evicts
        self._excess = 0  # still to be evicted

    def producer_added(self, producers: Producers) -> None:
        """A producer is about to be added to these."""
        if producers.count >= self.partition_max:
            producers.evict(EVICTED_AT_ONCE)
        self._note(producers)
        self._added += 1
        if self._unvisited:
            self._visit_some()
        elif self._added >= COUNTED_EACH:
            self._added = 0
            self._begin_pass()

    def producers_read(self, producers: Producers) -> None:
        """A log has read these from its files."""
        producers.evict(max(0, producers.count - self.partition_max))
        if producers.count:
            self._note(producers)

    def _note(self, producers: Producers) -> None:
        self._partitions.add(ref(producers, self._partitions.discard))

    def of_one_partition(self) -> ProducerBound:
        """The bound while producers of a log are read, in any thread: that of one partition."""
        return ProducerBound(self.partition_max, NO_LIMIT)

    def _begin_pass(self) -> None:
        self._unvisited, self._total = list(self._partitions), 0
        self._visit_some()

    def _visit_some(self) -> None:
        left = EVICTED_EACH
        for _ in range(min(VISITED_AT_ONCE, len(self._unvisited))):
            each = self._unvisited.pop()
            if (producers := each()) is not None:
                count = producers.count
                self._total += count
                if (excess := min(count - self._share, self._excess)) > 0:
                    evicted = min(excess, left)
                    self._excess -= evicted
                    left -= evicted
                    producers.evict(evicted)
                    if evicted < excess:
                        self._unvisited.append(each)  # the rest with the next new producer
                        break
        if not self._unvisited:
            self._end_pass()

    def _end_pass(self) -> None:
        """The shares of all together are the limit, so those that have more have the excess."""
        was_evicting, self._share = self._share > 0, 0
        self._excess = 0 if was_evicting else max(0, self._total - self.total_max)
        if self._excess:
            self._share = max(1, self.total_max // len(self._partitions))
            self._begin_pass()


UNBOUNDED = ProducerBound(NO_LIMIT, NO_LIMIT)
