"""The components that keep the replicas of partitions in step with each other.

In a broker without a cluster every partition has one replica, and there is nothing to do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from functools import partial

from ottla.base.clock import Clock
from ottla.base.rates import Windows, windows_of
from ottla.base.scheduling.steps import Driver
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.broker.control.control_plane import ControlPlane
from ottla.config.broker_options import BrokerConfig
from ottla.metadata.current_config import CurrentConfig
from ottla.metadata.image import Image
from ottla.replication.following.leader_fetchers import FollowerSettings, LeaderFetchers
from ottla.replication.following.lost_leaders import LostLeaders
from ottla.replication.following.replica_session import ReplicaFetchLimits
from ottla.replication.in_sync_changes import InSyncChanges
from ottla.replication.leader_events import LeaderEvents
from ottla.replication.leader_role import LeaderListener
from ottla.replication.low_watermarks import LowWatermarks
from ottla.replication.partition import Partition
from ottla.replication.partition_table import PartitionFollower
from ottla.replication.replication_quota import (
    ReplicationQuota,
    fetched_by_followers,
    sent_by_leaders,
    unlimited,
)
from ottla.replication.sole_replica import SoleReplica
from ottla.replication.withdrawals import Withdrawals


class Alone:
    def __init__(self, clock: Clock) -> None:
        self.listener: LeaderListener = SoleReplica()
        self.followers: PartitionFollower = SoleReplica()
        self.lost_leaders = LostLeaders()
        self.low_watermarks = LowWatermarks(lambda _broker_id: True)
        self.leader_quota = unlimited(clock)

    async def run(self, _partitions: Iterable[Partition]) -> None:
        """Nothing to do."""

    def brokers_changed(self, _broker_ids: Collection[int]) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to do."""


class Replication:
    def __init__(
        self,
        changes: InSyncChanges,
        withdrawals: Withdrawals,
        fetchers: LeaderFetchers,
        low_watermarks: LowWatermarks,
        leader_quota: ReplicationQuota,
        lost_leaders: LostLeaders,
    ) -> None:
        self._changes = changes
        self._withdrawals = withdrawals
        self._fetchers = fetchers
        self.lost_leaders = lost_leaders
        self.low_watermarks = low_watermarks
        self.leader_quota = leader_quota
        self.listener: LeaderListener = LeaderEvents(changes, withdrawals, low_watermarks)
        self.followers: PartitionFollower = fetchers

    async def run(self, partitions: Iterable[Partition]) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._changes.run(), name="in-sync replicas")
            tasks.create_task(self._withdrawals.run(), name="replicas without room")
            tasks.create_task(self._changes.watch(lambda: partitions), name="lag of followers")

    def brokers_changed(self, broker_ids: Collection[int]) -> None:
        self.lost_leaders.found(broker_ids)
        self._changes.brokers_changed()
        self.low_watermarks.brokers_changed()

    def close(self) -> None:
        self._fetchers.close()


def build_replication(
    broker_id: int,
    control: ControlPlane,
    image: Image,
    current: CurrentConfig,
    clock: Clock,
    driver: Driver,
    tasks: OwnedTasks,
) -> Replication | Alone:
    if control.channels is None:
        return Alone(clock)
    changes = InSyncChanges(
        image,
        control.alter_partitions,
        lambda: current.broker.replica_lag_time_max_ms,
        clock,
    )
    withdrawals = Withdrawals(broker_id, control.alter_partitions, clock)
    lost_leaders = LostLeaders()
    fetchers = LeaderFetchers(
        broker_id,
        lambda: control.broker_epoch,
        lambda: control.new_channels(receive_buffer_bytes(current.broker)),
        lambda: follower_settings(current.broker),
        follower_quota(broker_id, current, clock),
        driver,
        tasks,
        lost_leaders,
    )
    current.on_broker_change(fetchers.settings_changed)
    low_watermarks = LowWatermarks(partial(is_alive, image))
    quota = leader_quota(broker_id, current, clock)
    return Replication(changes, withdrawals, fetchers, low_watermarks, quota, lost_leaders)


def receive_buffer_bytes(config: BrokerConfig) -> int | None:
    """None if the system chooses. A buffer of Kafka's default size would be smaller than what the
    system chooses, and make copying slower."""
    size = config.replica_socket_receive_buffer_bytes
    return None if size in (-1, BrokerConfig.replica_socket_receive_buffer_bytes) else size


def is_alive(image: Image, broker_id: int) -> bool:
    broker = image.broker(broker_id)
    return broker is not None and not broker.is_fenced


def leader_quota(broker_id: int, current: CurrentConfig, clock: Clock) -> ReplicationQuota:
    def rate() -> int:
        return current.broker.leader_replication_throttled_rate

    return ReplicationQuota(broker_id, sent_by_leaders, rate, quota_windows(current), clock)


def follower_quota(broker_id: int, current: CurrentConfig, clock: Clock) -> ReplicationQuota:
    def rate() -> int:
        return current.broker.follower_replication_throttled_rate

    return ReplicationQuota(broker_id, fetched_by_followers, rate, quota_windows(current), clock)


def quota_windows(current: CurrentConfig) -> Windows:
    config = current.broker
    return windows_of(
        config.replication_quota_window_num, config.replication_quota_window_size_seconds
    )


def follower_settings(config: BrokerConfig) -> FollowerSettings:
    limits = ReplicaFetchLimits(
        config.replica_fetch_max_bytes,
        config.replica_fetch_response_max_bytes,
        config.replica_fetch_min_bytes,
        config.replica_fetch_wait_max_ms,
    )
    return FollowerSettings(
        limits,
        config.replica_socket_timeout_ms / 1000,
        config.replica_fetch_backoff_ms / 1000,
        config.num_replica_fetchers,
    )
