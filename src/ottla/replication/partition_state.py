"""A leader's view of its followers: in-sync replicas and high watermark. Pure.

Owns      the rules: the high watermark is the smallest end offset of the in-sync replicas and never
          decreases; it does not advance while fewer than `min.insync.replicas` are in sync; a
          follower that lags for too long leaves the in-sync replicas.
Promises  no clock, no I/O. While a change of the in-sync replicas is requested, and its outcome not
          known, a record is committed only if both the old and the requested ones have it: the
          controller may elect from either.
Leaves    requesting a change of the in-sync replicas from the controller to `in_sync_changes.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from ottla.base.ids import NO_BROKER_EPOCH, NO_OFFSET


@dataclass(slots=True)
class FollowerProgress:
    """How far a follower has replicated, according to its last fetch."""

    log_end_offset: int = NO_OFFSET
    log_start_offset: int = NO_OFFSET
    fetched_ms: int = 0
    leader_end_at_fetch: int = 0
    caught_up_ms: int = 0
    broker_epoch: int = NO_BROKER_EPOCH  # of the process that has fetched
    sent_high_watermark: int = NO_OFFSET

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
    """The leader's view of one partition during one leader epoch. All times are monotonic."""

    __slots__ = (
        "broker_id",
        "counted",
        "epoch_start_offset",
        "followers",
        "in_sync_replicas",
        "replicas",
        "requested",
    )

    def __init__(
        self,
        broker_id: int,
        replicas: Sequence[int],
        in_sync_replicas: Collection[int],
        epoch_start_offset: int,
        now_ms: int,
    ) -> None:
        self.broker_id = broker_id
        self.epoch_start_offset = epoch_start_offset
        self.followers: dict[int, FollowerProgress] = {}
        self.requested: frozenset[int] | None = None  # of the controller, without an answer yet
        self.in_sync_replicas: frozenset[int] = frozenset()
        self.update(replicas, in_sync_replicas, now_ms)

    def update(
        self, replicas: Sequence[int], in_sync_replicas: Collection[int], now_ms: int
    ) -> None:
        """As the controller has decided: whatever was requested before is done or refused. The lag
        of replicas that are in sync from now on, or have to fetch again, counts from now."""
        known, before = self.followers, self.in_sync_replicas
        self.replicas = tuple(replicas)
        self.in_sync_replicas = self.counted = frozenset(in_sync_replicas)
        self.requested = None
        self.followers = {
            each: known.get(each) or FollowerProgress()
            for each in replicas
            if each != self.broker_id
        }
        for each, progress in self.followers.items():
            is_new = each not in before or each not in known
            if each in self.in_sync_replicas and is_new:
                progress.caught_up_ms = max(progress.caught_up_ms, now_ms)

    def forget_progress(self, broker_ids: Collection[int]) -> None:
        """These may have fewer records than before."""
        for each in broker_ids:
            self.followers.pop(each, None)  # added again by `update`

    def request(self, in_sync_replicas: Collection[int]) -> None:
        """A change is requested. Until its outcome is known, old and new replicas count."""
        self.requested = frozenset(in_sync_replicas)
        self.counted = self.in_sync_replicas | self.requested

    def refused(self) -> None:
        """The controller has not made the change, and will not."""
        self.requested = None
        self.counted = self.in_sync_replicas

    @property
    def needs_others(self) -> bool:
        """Whether other replicas must have a record before it is committed."""
        return len(self.counted) > 1

    def high_watermark(self, current: int, own_end: int, min_in_sync_replicas: int) -> int:
        """The high watermark, given the offset up to which the leader's own log is durable."""
        if not self.followers:
            return max(current, own_end)  # the only replica
        if len(self.in_sync_replicas) < self.needed(min_in_sync_replicas):
            return current
        wanted = own_end
        for each in self.counted:
            progress = self.followers.get(each)
            if progress is not None and progress.log_end_offset < wanted:
                wanted = progress.log_end_offset
        return max(current, wanted)

    def low_watermark(self, own_start: int, is_alive: Callable[[int], bool]) -> int:
        """The least log start of the replicas that are alive; -1 while one of them is unknown."""
        starts = [
            progress.log_start_offset
            for each, progress in self.followers.items()
            if progress.log_start_offset < own_start and is_alive(each)
        ]
        return min(starts, default=own_start)

    def can_serve(self, broker_id: int, offset: int) -> bool:
        """Whether a consumer can fetch from this offset at a follower: it is in sync, and knows
        that everything before is committed."""
        progress = self.followers[broker_id]
        return (
            broker_id in self.in_sync_replicas
            and 0 <= progress.log_start_offset <= offset <= progress.sent_high_watermark
        )

    def needed(self, min_in_sync_replicas: int) -> int:
        """How many must be in sync before anything is committed."""
        return min(min_in_sync_replicas, len(self.replicas))

    def note_caught_up(self, own_end: int, now_ms: int) -> None:
        """Followers that have everything are caught up without fetching more."""
        for progress in self.followers.values():
            if progress.log_end_offset == own_end:
                progress.caught_up_ms = max(progress.caught_up_ms, now_ms)

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
        if progress is None or broker_id in self.counted:
            return False
        return progress.log_end_offset >= max(high_watermark, self.epoch_start_offset)
