"""Which replicas are throttled, and when."""

from __future__ import annotations

import pytest
from tests.support.steps_by_hand import JobsLater
from tests.unit.storage.log_making import Place

from ottla.base.ids import TopicId, TopicPartition
from ottla.base.rates import Windows
from ottla.config.topic_options import TopicConfig
from ottla.replication.partition import Partition
from ottla.replication.replication_quota import (
    LOOK_AGAIN_MS,
    ReplicationQuota,
    fetched_by_followers,
    sent_by_leaders,
    unlimited,
)
from ottla.replication.sole_replica import SoleReplica
from ottla.testing.clock import ManualClock

ME = 1
TOPIC_ID = TopicId(b"sixteen bytes ID")
WINDOWS = Windows(2, 1000)


def partition_with(listed: tuple[str, ...], index: int = 3) -> Partition:
    log = Place(config=TopicConfig(leader_replication_throttled_replicas=listed)).open()
    return Partition(TopicPartition("t", index), TOPIC_ID, ME, log, JobsLater(), SoleReplica())


@pytest.mark.parametrize(
    ("listed", "is_throttled"),
    [
        ((), False),
        (("*",), True),
        (("3:1",), True),
        (("03:01",), True),
        (("2:1", "", "3:1"), True),
        (("3:2", "2:1", "13:1"), False),
    ],
)
def test_replicas_are_listed_by_partition_and_broker(
    listed: tuple[str, ...], is_throttled: bool
) -> None:
    partition, clock = partition_with(listed), ManualClock()
    quota = ReplicationQuota(ME, sent_by_leaders, lambda: 0.1, WINDOWS, clock)
    assert quota.is_throttled(partition) is is_throttled
    other = ReplicationQuota(ME, fetched_by_followers, lambda: 0, WINDOWS, clock)
    assert not other.is_throttled(partition)
    quota.record(partition, 1)
    assert quota.is_exceeded is is_throttled
    assert quota.holds_back(partition) is is_throttled


def test_the_rate_is_over_all_windows_and_may_change() -> None:
    partition, clock, rates = partition_with(("*",)), ManualClock(), [1000]
    quota = ReplicationQuota(ME, sent_by_leaders, lambda: rates[0], WINDOWS, clock)
    assert not quota.is_exceeded
    quota.record(partition, 4000)
    assert quota.is_exceeded
    assert quota.wait_ms == LOOK_AGAIN_MS
    clock.advance_ms(3900)
    assert not quota.is_exceeded
    rates[0] = 0
    quota.record(partition, 1)
    assert quota.is_exceeded
    assert quota.wait_ms == LOOK_AGAIN_MS
    rates[0] = 1_000_000
    assert not quota.holds_back(partition)


def test_a_broker_without_a_cluster_has_no_limit() -> None:
    partition, quota = partition_with(("*",)), unlimited(ManualClock())
    quota.record(partition, 2**40)
    assert not quota.holds_back(partition)
