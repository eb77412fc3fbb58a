"""One partition on this broker: a leader or a follower, as the metadata says.

Owns      changing from one to the other, and what ends with the partition.
Promises  an older state of the metadata changes nothing.
Leaves    the rules of a leader to `leader_replica.py`, those of a follower to
          `follower_replica.py`, what both share to `replica.py`.
"""

from __future__ import annotations

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.follower_replica import FollowerReplica
from ottla.replication.leader_replica import LeaderReplica
from ottla.replication.leadership import Leadership
from ottla.storage.log.group_commit import GroupCommit
from ottla.storage.log.log import Log


class Partition(LeaderReplica, FollowerReplica):
    def lead_or_follow(self, decided: Leadership, now_ms: int) -> None:
        """Apply a state from the metadata; an older one is ignored."""
        if decided.partition_epoch < self.leadership.partition_epoch:
            return
        is_new_epoch = decided.leader_epoch != self.leadership.leader_epoch
        moved = decided.moved_since(self.leadership)
        self.leadership = decided
        if decided.leader != self.broker_id:
            self._stop_leading()
        elif is_new_epoch or self.leader_state is None:
            self._start_leading(now_ms)
        else:
            # What it has in another directory is known when it fetches again.
            self.leader_state.forget_progress(moved)
            self.leader_state.update(decided.replicas, decided.in_sync_replicas, now_ms)
        if decided.is_recovering and self.leader_state is not None:
            self._listener.leads_unrecovered(self)
        self.advance()
        self.announce()
        self.notify_followers(None)
        self._listener.low_watermark_changed(self)

    def replace_log(self, other: Log) -> None:
        """Continue with a copy of the log in another directory."""
        self.log = other
        self._commits = GroupCommit(other, self._start)
        if other.recovery_point < self._flush_owed_to:
            self._commits.wait(self._flush_owed_to, self._flushed)
        self.advance()
        self.announce()

    def end_leadership(self) -> None:
        """The partition is removed from this broker. `close` follows, and notifies consumers."""
        self.leader_state = None

    def close(self) -> None:
        """The partition was removed from this broker: fail all waiters."""
        self._acks.fail(BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
        self.leader_state = None
        self.announce()
        self.notify_followers(None)
        self._listener.low_watermark_changed(self)
