"""The throttle of replicas that catch up: bytes a second that a broker sends, or fetches, for them.

`leader.replication.throttled.*` limits what leaders send, `follower.replication.throttled.*` what
followers fetch; each broker has one of either kind. `kafka-reassign-partitions --throttle` sets
them. A rate of 0 stops these replicas.

Promises  only listed replicas are throttled, and only while they are not in sync: what they cost
          counts in any case, as in Kafka. A changed rate counts at once.
Leaves    holding a replica back to `handlers/fetching/partition_read.py` and `leader_fetcher.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import inf

from ottla.base.clock import Clock, monotonic_ms
from ottla.base.rates import RateMeter, Windows
from ottla.config.topic_options import TopicConfig
from ottla.replication.partition import Partition

ALL = "*"
LOOK_AGAIN_MS = 1000  # the rate may have changed

Listed = Callable[[TopicConfig], tuple[str, ...]]


def sent_by_leaders(config: TopicConfig) -> tuple[str, ...]:
    return config.leader_replication_throttled_replicas


def fetched_by_followers(config: TopicConfig) -> tuple[str, ...]:
    return config.follower_replication_throttled_replicas


class ReplicationQuota:
    def __init__(
        self,
        broker_id: int,
        listed: Listed,
        bytes_per_second: Callable[[], float],
        windows: Windows,
        clock: Clock,
    ) -> None:
        self._broker_id = broker_id
        self._listed = listed
        self._bytes_per_second = bytes_per_second
        self._windows = windows
        self._clock = clock
        self._meter = RateMeter()

    def is_throttled(self, partition: Partition) -> bool:
        """Whether the replica on this broker is listed."""
        listed = self._listed(partition.log.config)
        if not listed:
            return False
        partitions = partitions_of(listed, self._broker_id)
        return partitions is None or partition.name.partition in partitions

    def record(self, partition: Partition, size: int) -> None:
        """Count bytes that were sent, or fetched."""
        if size and self.is_throttled(partition):
            self._meter.record(size, monotonic_ms(self._clock), self._windows)

    @property
    def is_exceeded(self) -> bool:
        limit = self._bytes_per_second()
        if limit <= 0:
            return True
        return self._meter.per_second(monotonic_ms(self._clock), self._windows) > limit

    def holds_back(self, partition: Partition) -> bool:
        """Whether a replica that is not in sync has to wait."""
        return self.is_throttled(partition) and self.is_exceeded

    @property
    def wait_ms(self) -> int:
        """An upper bound: call it again afterwards."""
        limit, now_ms = self._bytes_per_second(), monotonic_ms(self._clock)
        if limit <= 0:
            return LOOK_AGAIN_MS
        return max(1, min(LOOK_AGAIN_MS, self._meter.wait_ms(limit, now_ms, self._windows)))


def unlimited(clock: Clock) -> ReplicationQuota:
    return ReplicationQuota(-1, sent_by_leaders, lambda: inf, Windows(1, 1000), clock)


@lru_cache(maxsize=1000)
def partitions_of(listed: tuple[str, ...], broker_id: int) -> frozenset[int] | None:
    """The partitions whose replica on this broker is listed, `partition:broker`; None for all."""
    if "".join(listed) == ALL:
        return None
    pairs = (each.partition(":") for each in listed if each)
    return frozenset(int(partition) for partition, _, broker in pairs if int(broker) == broker_id)
