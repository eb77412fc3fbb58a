"""Replication in a broker without a cluster: there is none, as partitions have one replica."""

from __future__ import annotations

from ottla.base.ids import TopicId
from ottla.replication.leader_replica import LeaderReplica
from ottla.replication.leadership import Leadership
from ottla.replication.partition import Partition


class SoleReplica:
    """A leader without followers, and a follower without a leader."""

    def records_appended(self, partition: LeaderReplica, size: int) -> None: ...

    def high_watermark_advanced(self, partition: LeaderReplica) -> None: ...

    def log_start_advanced(self, partition: LeaderReplica) -> None: ...

    def low_watermark_changed(self, partition: LeaderReplica) -> None: ...

    def follower_caught_up(self, partition: LeaderReplica) -> None: ...

    def leads_unrecovered(self, partition: LeaderReplica) -> None: ...

    def out_of_room(self, topic_id: TopicId, index: int, state: Leadership) -> None: ...

    def leadership_changed(self, partition: Partition) -> None: ...

    def removed(self, partition: Partition) -> None: ...
