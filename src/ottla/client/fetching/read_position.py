"""The position of a reader in a partition, and the replica that it is read from (KIP-392).

Owns      the offset, what is known of the log there, how long a reader stays with a follower, and
          with the leader after a follower has failed.
Promises  the request after an error or a timeout of a follower is sent to the leader.
Leaves    the choice of a follower to the leader: it knows what its followers have.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from ottla.base.ids import NO_LEADER_EPOCH, TopicPartition
from ottla.client.cluster.topology import Leader

LEADER = -1  # instead of a follower
EMPTY_ANSWERS_MAX = 3  # this many in a row, before the end of the log, look like a gap
STALL_S = 3.0  # how long a follower may lack what its leader has committed
LEADER_ONLY_S = 10.0  # after a follower has failed: its leader names it until it notices, too


class FetchSource(NamedTuple):
    """A broker to fetch from. With a rack it is a leader, which may name a follower there."""

    broker_id: int
    rack: str = ""


class KnownEnd(NamedTuple):
    """The records before `offset` are known from a leader of this epoch."""

    offset: int
    epoch: int


@dataclass
class ReadPosition:
    """The position of a reader in one partition."""

    partition: TopicPartition
    topic_id: bytes
    offset: int
    end_offset: int | None  # None: without an end
    leader_epoch: int = NO_LEADER_EPOCH  # of the leader in the next request
    end_epoch: int = NO_LEADER_EPOCH  # of the leader that returned the end of the range
    read_epoch: int = NO_LEADER_EPOCH  # of the last batch that was read
    checked_epoch: int = NO_LEADER_EPOCH  # of the last leader that was found to have what is known
    replica: int = LEADER  # the follower to read from
    stalled_since_s: float | None = None  # when a follower lacked the rest of the range first
    review_s: float = inf  # when the choice between leader and follower is made again
    readable_offset: int = -1  # the end of the readable log in the last response
    empty_answers: int = 0
    silent_since_s: float | None = None  # when a gap was first suspected here

    @property
    def is_done(self) -> bool:
        return self.end_offset is not None and self.offset >= self.end_offset

    @property
    def known(self) -> KnownEnd | None:
        """What a new leader must have. If the end of the range came with an epoch, a leader that
        has the records up to there has everything before it."""
        if self.end_offset is not None and self.end_epoch != NO_LEADER_EPOCH:
            return KnownEnd(self.end_offset, self.end_epoch)
        return (
            None if self.read_epoch == NO_LEADER_EPOCH else KnownEnd(self.offset, self.read_epoch)
        )

    def must_check(self, leader_epoch: int) -> bool:
        """Whether a leader of this epoch may lack what is known. Leaders of the same epoch are one
        and the same, whose log only grows."""
        known = self.known
        return known is not None and leader_epoch > max(known.epoch, self.checked_epoch)

    # What responses and leaders say

    def records_read(self, end_offset: int, epoch: int) -> None:
        """Records up to `end_offset` were returned, the last ones of this epoch. The log of their
        leader has what is known."""
        self.offset, self.read_epoch = end_offset, epoch
        self.checked_epoch = self.leader_epoch
        self.empty_answers, self.silent_since_s, self.stalled_since_s = 0, None, None

    def log_ends(self, readable_offset: int) -> None:
        """Readable records end here, according to the last response."""
        self.readable_offset = readable_offset

    def led_by(self, leader_epoch: int) -> None:
        """The leader in the next request."""
        self.leader_epoch = leader_epoch

    def history_checked(self, leader_epoch: int) -> None:
        """The leader of this epoch has what is known."""
        self.checked_epoch = leader_epoch

    def of_topic(self, topic_id: bytes) -> None:
        self.topic_id = topic_id

    # Gaps: no records, although the log extends beyond the range

    def note_no_gap(self) -> None:
        self.empty_answers = 0

    def note_empty(self) -> bool:
        """One more response without records; whether there were so many in a row that it looks
        like a gap."""
        self.empty_answers += 1
        if self.empty_answers < EMPTY_ANSWERS_MAX:
            return False
        self.empty_answers = 0
        return True

    def silent_s(self, now_s: float) -> float:
        """The time since a gap was first suspected here, which is now if it never was."""
        if self.silent_since_s is None:
            self.silent_since_s = now_s
        return now_s - self.silent_since_s

    # The replica

    @property
    def is_at_follower(self) -> bool:
        return self.replica != LEADER

    def refer_to(self, replica: int) -> None:
        """The leader has named a follower."""
        self.replica = replica

    def move(self, now_s: float, follower_s: float) -> None:
        """Go to the follower that was named, for a time; after that time, or after the time with
        the leader only, ask the leader again."""
        if self.review_s == inf:
            self.review_s = now_s + follower_s
        else:
            self.replica, self.review_s = LEADER, inf

    def has_stalled(self, now_s: float) -> bool:
        """Whether a follower has lacked the rest of a range for too long. The range was planned
        with the leader, so that the records exist: the follower may be cut off from its leader."""
        end_offset = self.end_offset
        is_behind = end_offset is not None and self.readable_offset < end_offset
        if not self.is_at_follower or not is_behind:
            self.stalled_since_s = None
            return False
        if self.stalled_since_s is None:
            self.stalled_since_s = now_s
        return now_s - self.stalled_since_s >= STALL_S

    def leave_follower(self, now_s: float) -> bool:
        """After an error: whether it was read from a follower. The leader is read next."""
        if not self.is_at_follower:
            return False
        self.replica, self.review_s = LEADER, now_s + LEADER_ONLY_S
        self.stalled_since_s = None
        return True

    def source(self, leader: Leader, rack: str) -> FetchSource:
        """The broker that the next request is sent to."""
        if self.is_at_follower:
            return FetchSource(self.replica)
        is_open = self.review_s == inf
        return FetchSource(leader.broker_id, rack if is_open else "")
