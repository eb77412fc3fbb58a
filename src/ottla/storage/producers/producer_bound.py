"""Limits of the number of producers in memory: of one partition, and of a broker.

Owns      the two limits, and when the least recently used producers are evicted.
Promises  a new producer costs constant time. Above the limit of the broker, the partition with most
          producers evicts some, not the one that gets a new producer.
Leaves    which to evict to the partition: never a producer with an open transaction.
"""

from __future__ import annotations

from typing import Protocol
from weakref import WeakSet

EVICTED_AT_ONCE = 64  # considered, by a partition above its limit
NO_LIMIT = 2**63
COUNTED_EACH = 256  # new producers: then all partitions are counted


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
        self._partitions: WeakSet[Producers] = WeakSet()  # with producers
        self._added = 0

    def producer_added(self, producers: Producers) -> None:
        """One will be, to these."""
        if producers.count >= self.partition_max:
            producers.evict(EVICTED_AT_ONCE)
        self._partitions.add(producers)
        self._added += 1
        if self._added % COUNTED_EACH == 0:
            self._limit_total()

    def producers_read(self, producers: Producers) -> None:
        """A log has read these from its files."""
        producers.evict(max(0, producers.count - self.partition_max))
        if producers.count:
            self._partitions.add(producers)

    def of_one_partition(self) -> ProducerBound:
        """While the producers of a log are being read, in any thread."""
        return ProducerBound(self.partition_max, NO_LIMIT)

    def _limit_total(self) -> None:
        counts = {each: each.count for each in self._partitions}
        if counts and sum(counts.values()) > self.total_max:
            max(counts, key=counts.__getitem__).evict(2 * COUNTED_EACH)


UNBOUNDED = ProducerBound(NO_LIMIT, NO_LIMIT)
