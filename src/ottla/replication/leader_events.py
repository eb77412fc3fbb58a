"""What a leader does for its followers: waking their fetches, and changing the in-sync replicas.

Owns      the partitions whose followers are still to be woken.
Promises  all that is appended in one iteration of the event loop wakes a follower once. A new high
          watermark or log start is sent with the next records; if none follow within a few
          milliseconds, it is sent by itself: otherwise each append would cost two responses for
          every follower.
Leaves    requests to the controller to `in_sync_changes.py` and `withdrawals.py`.
"""

from __future__ import annotations

import asyncio

from ottla.base.ids import TopicId
from ottla.replication.in_sync_changes import InSyncChanges
from ottla.replication.leader_role import DamageListener
from ottla.replication.leadership import Leadership
from ottla.replication.low_watermarks import LowWatermarks
from ottla.replication.partition import Partition
from ottla.replication.withdrawals import Withdrawals
from ottla.storage.errors import CorruptLogError

OFFSETS_DELAY_S = 0.01


class LeaderEvents:
    def __init__(
        self, changes: InSyncChanges, withdrawals: Withdrawals, low_watermarks: LowWatermarks
    ) -> None:
        self._changes = changes
        self._withdrawals = withdrawals
        self._low_watermarks = low_watermarks
        self._appended: dict[Partition, int] = {}
        self._unnotified: dict[Partition, None] = {}
        self._damage_listeners: list[DamageListener] = []

    def records_appended(self, partition: Partition, size: int) -> None:
        if not self._appended:
            asyncio.get_running_loop().call_soon(self._wake_followers)
        self._appended[partition] = self._appended.get(partition, 0) + size

    def _wake_followers(self) -> None:
        appended, self._appended = self._appended, {}
        for partition, size in appended.items():
            partition.fetches.notify_followers(size)

    def high_watermark_advanced(self, partition: Partition) -> None:
        self._notify_later(partition)

    def log_start_advanced(self, partition: Partition) -> None:
        self._notify_later(partition)

    def _notify_later(self, partition: Partition) -> None:
        if not self._unnotified:
            asyncio.get_running_loop().call_later(OFFSETS_DELAY_S, self._notify)
        self._unnotified[partition] = None

    def _notify(self) -> None:
        unnotified, self._unnotified = self._unnotified, {}
        for partition in unnotified:
            partition.send_followers_offsets()

    def low_watermark_changed(self, partition: Partition) -> None:
        self._low_watermarks.changed(partition)

    def follower_caught_up(self, partition: Partition) -> None:
        self._changes.check(partition)

    def leads_unrecovered(self, partition: Partition) -> None:
        self._changes.check(partition)

    def damage_found(self, partition: Partition, error: CorruptLogError) -> None:
        for listener in self._damage_listeners:
            listener(partition, error)

    def on_damage(self, listener: DamageListener) -> None:
        self._damage_listeners.append(listener)

    def out_of_resources(self, topic_id: TopicId, index: int, state: Leadership) -> None:
        self._withdrawals.out_of_resources(topic_id, index, state)
