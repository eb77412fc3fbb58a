"""The partitions on this broker: by name, by topic id, and those that are offline.

Owns      looking up partitions, the listeners for leadership changes, and removed partitions whose
          consumers are still to be notified.
Promises  a removed partition cannot be looked up, and its producers fail at once. Notifying the
          consumers of many partitions is spread over iterations of the event loop.
Leaves    adding and removing partitions to `replica_manager.py`.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

from ottla.base.ids import TopicPartition
from ottla.base.scheduling.tasks import next_iteration
from ottla.replication.follower_role import FollowerRole
from ottla.replication.leader_role import LeaderRole
from ottla.replication.partition import Partition

CLOSED_AT_ONCE = 100


class LeadershipListener(Protocol):
    """A component whose state is stored in partitions that this broker may lead."""

    def leads(self, partition: Partition) -> None: ...

    def resigned(self, name: TopicPartition) -> None: ...


class PartitionFollower(Protocol):
    """Copies the records of partitions that other brokers lead."""

    def leadership_changed(self, partition: Partition) -> None: ...

    def removed(self, partition: Partition) -> None:
        """The partition is not on this broker any more, or its log cannot be used."""


class PartitionTable:
    def __init__(self, followers: PartitionFollower) -> None:
        self.followers = followers
        self.by_name: dict[tuple[str, int], Partition] = {}
        self.by_id: dict[tuple[bytes, int], Partition] = {}
        # without a log: the directory failed, or is full
        self.offline: set[tuple[str, int]] = set()
        self.listeners: list[LeadershipListener] = []
        self._leaving: deque[tuple[Partition, LeaderRole | FollowerRole]] = deque()

    def add(self, partition: Partition) -> None:
        self.offline.discard(partition.name)
        self.by_name[partition.name] = partition
        self.by_id[partition.topic_id, partition.name.partition] = partition

    def remove(self, name: TopicPartition) -> None:
        """The partition was deleted, or moved to other brokers."""
        self.offline.discard(name)
        partition = self._take(name)
        if partition is not None:
            partition.log.health.end_use()
            role = partition.role
            if partition.has_pending_acks:
                partition.close()
            else:  # consumers may wait, and freeing the state takes time
                partition.end_leadership()
                self._leaving.append((partition, role))
            if role.is_leader:
                self.notify_resigned(name)

    def take_offline(self, name: TopicPartition) -> None:
        """Requests for the partition fail with KAFKA_STORAGE_ERROR until the broker restarts."""
        self.offline.add(name)
        partition = self._take(name)
        if partition is not None:
            was_leader = partition.is_leader
            partition.close()
            if was_leader:
                self.notify_resigned(name)

    def _take(self, name: TopicPartition) -> Partition | None:
        partition = self.by_name.pop(name, None)
        if partition is not None:
            self.by_id.pop((partition.topic_id, name.partition), None)
            self.followers.removed(partition)
        return partition

    def notify_leading(self, partition: Partition) -> None:
        for listener in self.listeners:
            listener.leads(partition)

    def notify_resigned(self, name: TopicPartition) -> None:
        for listener in self.listeners:
            listener.resigned(name)

    # Removed partitions

    @property
    def has_leaving(self) -> bool:
        return bool(self._leaving)

    def close_some(self) -> None:
        for _ in range(min(CLOSED_AT_ONCE, len(self._leaving))):
            partition, _ = self._leaving.popleft()
            partition.close()

    async def close_leaving(self) -> None:
        while self._leaving:
            self.close_some()
            await next_iteration()

    def close_all_leaving(self) -> None:
        while self._leaving:
            self.close_some()
