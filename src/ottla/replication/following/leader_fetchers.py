"""Which partitions this broker copies, and from which leader.

Owns      the fetchers, one or more for each broker that leads partitions of which this broker has a
          replica.
Promises  a partition is copied by one fetcher at a time, from the leader in the metadata.
Leaves    copying to `leader_fetcher.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, NamedTuple

from ottla.base.scheduling.steps import Driver
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.network.channel.channel import Channels
from ottla.protocol.message import Message
from ottla.replication.following.leader_fetcher import LeaderFetcher
from ottla.replication.following.lost_leaders import LostLeaders
from ottla.replication.following.replica_session import ReplicaFetchLimits
from ottla.replication.partition import Partition
from ottla.replication.replication_quota import ReplicationQuota


class FollowerSettings(NamedTuple):
    limits: ReplicaFetchLimits
    timeout_s: float  # in which a leader must answer, beside the time that it holds a fetch back
    backoff_s: float
    fetchers: int  # for each leader's broker


class _Running(NamedTuple):
    fetcher: LeaderFetcher
    task: asyncio.Task[None]
    channels: Channels


class LeaderFetchers:
    def __init__(
        self,
        broker_id: int,
        broker_epoch: Callable[[], int],
        new_channels: Callable[[], Channels],
        settings: Callable[[], FollowerSettings],
        quota: ReplicationQuota,
        driver: Driver,
        tasks: OwnedTasks,
        lost_leaders: LostLeaders,
    ) -> None:
        self._lost_leaders = lost_leaders
        self._broker_id = broker_id
        self._broker_epoch = broker_epoch
        self._new_channels = new_channels
        self._settings = settings
        self._quota = quota
        self._driver = driver
        self._tasks = tasks
        self._running: dict[tuple[int, int], _Running] = {}
        self._followed: dict[Partition, tuple[tuple[int, int], int]] = {}  # with the leader epoch

    def leadership_changed(self, partition: Partition) -> None:
        leader, epoch = partition.leadership.leader, partition.leader_epoch
        if partition.is_leader or leader < 0:
            self.removed(partition)
            return
        number = hash((partition.topic_id, partition.name.partition)) % self._settings().fetchers
        wanted = ((leader, number), epoch)
        if self._followed.get(partition) != wanted:
            self.removed(partition)
            self._followed[partition] = wanted
            self._fetcher(*wanted[0]).follow(partition)

    def settings_changed(self) -> None:
        """With another number of fetchers, partitions are distributed among them again."""
        for partition in list(self._followed):
            if partition.is_truncating:  # by its present fetcher
                partition.when_truncated(partial(self._distribute, partition))
            else:
                self._distribute(partition)

    def _distribute(self, partition: Partition) -> None:
        if partition in self._followed:
            self.leadership_changed(partition)

    def removed(self, partition: Partition) -> None:
        known = self._followed.pop(partition, None)
        if known is None:
            return
        running = self._running[known[0]]
        running.fetcher.unfollow(partition)
        if not running.fetcher:
            asyncio.get_running_loop().call_soon(self._stop_if_idle, known[0])

    def _stop_if_idle(self, key: tuple[int, int]) -> None:
        """Most changes of leadership are followed by others for the same broker."""
        running = self._running.get(key)
        if running is not None and not running.fetcher:
            del self._running[key]
            running.task.cancel()
            running.channels.close()

    def _fetcher(self, leader_id: int, number: int) -> LeaderFetcher:
        running = self._running.get((leader_id, number))
        if running is None:
            running = self._running[leader_id, number] = self._start(leader_id, number)
        return running.fetcher

    def _start(self, leader_id: int, number: int) -> _Running:
        # Connections of its own: a leader holds a fetch back, and answers in order.
        settings, channels = self._settings(), self._new_channels()
        timeout_s = settings.timeout_s + settings.limits.wait_ms_max / 1000

        def request(message: Message) -> Awaitable[Any]:
            return channels.request(leader_id, message, timeout_s)

        fetcher = LeaderFetcher(
            leader_id,
            self._broker_id,
            self._broker_epoch,
            request,
            settings.limits,
            settings.backoff_s,
            self._quota,
            self._driver,
            self._lost_leaders,
        )
        name = f"copy from broker {leader_id}, {number}"
        return _Running(fetcher, self._tasks.start(fetcher.run(), name=name), channels)

    def close(self) -> None:
        for running in self._running.values():
            running.task.cancel()
            running.channels.close()
        self._running.clear()
        self._followed.clear()
