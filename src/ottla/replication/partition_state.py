"""A leader's view of its followers: in-sync replicas and high watermark. Pure.

Owns      the rules: the high watermark is the smallest end offset of the in-sync replicas and never
          decreases; it does not advance while fewer than `min.insync.replicas` are in sync; a
          follower that lags for too long leaves the in-sync replicas.
Promises  no clock, no I/O.
Leaves    requesting a change of the in-sync replicas from the controller to the replica manager.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

UNKNOWN_OFFSET = -1


@dataclass(slots=True)
class FollowerProgress:
    """How far a follower has replicated, according to its last fetch."""

    log_end_offset: int = UNKNOWN_OFFSET
    log_start_offset: int = UNKNOWN_OFFSET
    fetched_ms: int = 0
    leader_end_at_fetch: int = 0
    caught_up_ms: int = 0

    def fetched(self, offset: int, log_start_offset: int, leader_end: int, now_ms: int) -> None:
        """A fetch from `offset` proves that the follower has everything below it."""
        if offset >= leader_end:
            self.caught_up_ms = max(self.caught_up_ms, now_ms)
        elif offset >= self.leader_end_at_fetch:
            # It has reached the leader's end offset at the time of its previous fetch, so it was
            # caught up then.
            self.caught_up_ms = max(self.caught_up_ms, self.fetched_ms)
        self.log_end_offset = offset
        self.log_start_offset = log_start_offset
        self.leader_end_at_fetch = leader_end
        self.fetched_ms = now_ms


class LeaderState:
    """The leader's view of one partition during one leader epoch."""

    __slots__ = ("broker_id", "epoch_start_offset", "followers", "in_sync_replicas", "replicas")

    def __init__(
        self,
        broker_id: int,
        replicas: Sequence[int],
        in_sync_replicas: Collection[int],
        epoch_start_offset: int,
        now_ms: int,
    ) -> None:
        self.broker_id = broker_id
        self.replicas = tuple(replicas)
        self.in_sync_replicas = frozenset(in_sync_replicas)
        self.epoch_start_offset = epoch_start_offset
        # A new leader assumes that all followers are caught up: the lag counts from now.
        self.followers = {
            each: FollowerProgress(caught_up_ms=now_ms if each in in_sync_replicas else 0)
            for each in replicas
            if each != broker_id
        }

    def set_in_sync_replicas(self, in_sync_replicas: Collection[int]) -> None:
        self.in_sync_replicas = frozenset(in_sync_replicas)

    def high_watermark(self, current: int, own_end: int, min_in_sync_replicas: int) -> int:
        """The high watermark, given the offset up to which the leader's own log is durable."""
        if not self.followers:
            return max(current, own_end)  # the only replica
        needed = min(min_in_sync_replicas, len(self.replicas))
        if len(self.in_sync_replicas) < needed:
            return current
        ends = [
            progress.log_end_offset
            for each, progress in self.followers.items()
            if each in self.in_sync_replicas
        ]
        return max(current, min([own_end, *ends]))

    def lagging(self, own_end: int, now_ms: int, lag_ms_max: int) -> frozenset[int]:
        """In-sync followers that have not been caught up for too long."""
        return frozenset(
            each
            for each, progress in self.followers.items()
            if each in self.in_sync_replicas
            and progress.log_end_offset != own_end
            and now_ms - progress.caught_up_ms > lag_ms_max
        )

    def may_rejoin(self, broker_id: int, high_watermark: int) -> bool:
        """Whether a follower has everything below the high watermark and has fetched in this
        epoch."""
        progress = self.followers.get(broker_id)
        if progress is None or broker_id in self.in_sync_replicas:
            return False
        return progress.log_end_offset >= max(high_watermark, self.epoch_start_offset)
