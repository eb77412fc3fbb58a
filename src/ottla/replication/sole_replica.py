"""Replication in a broker without a cluster: there is none, as partitions have one replica."""

from __future__ import annotations

from ottla.replication.partition import Partition


class SoleReplica:
    """A leader without followers, and a follower without a leader."""

    def records_appended(self, partition: Partition, size: int) -> None: ...

    def high_watermark_advanced(self, partition: Partition) -> None: ...

    def follower_caught_up(self, partition: Partition) -> None: ...

    def leads_unrecovered(self, partition: Partition) -> None: ...

    def leadership_changed(self, partition: Partition) -> None: ...

    def removed(self, partition: Partition) -> None: ...
