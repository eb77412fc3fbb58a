"""How many of the available offsets a micro-batch contains.

Promises  while anything is available, a limit admits at least one offset, however many partitions
          share it: a query with AvailableNow would never end otherwise. The sum does not exceed the
          limit, except for shares below 1, which are rounded up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ottla.base.ids import TopicPartition

Offsets = Mapping[TopicPartition, int]


def waiting(starts: Offsets, ends: Offsets) -> int:
    """The number of offsets between the two; 0 if the end is before the start."""
    return sum(max(0, end - starts[partition]) for partition, end in ends.items())


def share_out(limit: int, starts: Offsets, ends: Offsets) -> dict[TopicPartition, int]:
    """Ends within the limit, which partitions share in proportion to their available offsets."""
    total = waiting(starts, ends)
    if total <= limit:
        return dict(ends)
    sizes = {partition: max(0, end - starts[partition]) for partition, end in ends.items()}
    # Whole numbers: offsets exceed a float's precision.
    shares = {
        partition: min(size, max(1, limit * size // total)) for partition, size in sizes.items()
    }
    left = limit - sum(shares.values())
    for partition in sorted(sizes, key=lambda each: -(limit * sizes[each] % total))[: max(0, left)]:
        shares[partition] = min(sizes[partition], shares[partition] + 1)
    return {
        partition: starts[partition] + shares[partition] if sizes[partition] else ends[partition]
        for partition in ends
    }


@dataclass(frozen=True)
class Holding:
    """minOffsetsPerTrigger: wait for more, up to maxTriggerDelay."""

    min_offsets: int
    max_delay_ms: int

    def must_wait(self, offsets_waiting: int, since_last_batch_ms: float | None) -> bool:
        """`since_last_batch_ms` is None before the first batch, which is never delayed."""
        if since_last_batch_ms is None or since_last_batch_ms >= self.max_delay_ms:
            return False
        return offsets_waiting < self.min_offsets


def not_beyond(ends: Offsets, target: Offsets) -> dict[TopicPartition, int]:
    """The ends, none beyond the target; partitions that the target does not have are omitted."""
    return {
        partition: min(end, target[partition])
        for partition, end in ends.items()
        if partition in target
    }
