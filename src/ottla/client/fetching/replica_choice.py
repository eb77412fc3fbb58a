"""Which replica a position is read from: the leader, or a follower that the leader named (KIP-392).

Owns      how long a reader stays with a follower, and with the leader after a follower has failed.
Promises  the request after an error or a timeout of a follower is sent to the leader.
Leaves    the choice of a follower to the leader: it knows what its followers have.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from ottla.client.cluster.topology import Leader
from ottla.client.fetching.fetched_records import LEADER, ReadPosition

STALL_S = 3.0  # how long a follower may lack what its leader has committed
LEADER_ONLY_S = 10.0  # after a follower has failed: its leader names it until it notices, too


class FetchSource(NamedTuple):
    """A broker to fetch from. With a rack it is a leader, which may name a follower there."""

    broker_id: int
    rack: str = ""


def source_of(position: ReadPosition, leader: Leader, rack: str) -> FetchSource:
    if position.replica != LEADER:
        return FetchSource(position.replica)
    is_open = position.review_s == inf
    return FetchSource(leader.broker_id, rack if is_open else "")


def move(position: ReadPosition, now_s: float, follower_s: float) -> None:
    """Go to the follower that was named, for a time; after that time, or after the time with the
    leader only, ask the leader again."""
    if position.review_s == inf:
        position.review_s = now_s + follower_s
    else:
        position.replica, position.review_s = LEADER, inf


def has_stalled(position: ReadPosition, now_s: float) -> bool:
    """Whether a follower has lacked the rest of a range for too long. The range was planned with
    the leader, so that the records exist: the follower may be cut off from its leader."""
    end_offset = position.end_offset
    is_behind = end_offset is not None and position.readable_offset < end_offset
    if position.replica == LEADER or not is_behind:
        position.stalled_since_s = None
        return False
    if position.stalled_since_s is None:
        position.stalled_since_s = now_s
    return now_s - position.stalled_since_s >= STALL_S


def leave_follower(position: ReadPosition, now_s: float) -> bool:
    """After an error: whether it was read from a follower. The leader is read next."""
    if position.replica == LEADER:
        return False
    position.replica, position.review_s = LEADER, now_s + LEADER_ONLY_S
    position.stalled_since_s = None
    return True
