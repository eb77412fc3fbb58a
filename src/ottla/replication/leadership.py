"""What the metadata says about a partition, and the checks that follow from it. Pure.

Owns      leader, epochs and replicas of a partition, as the controller has decided them.
Leaves    what a broker does because of it to `leader_role.py` and `follower_role.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ottla.base.ids import NO_LEADER_EPOCH
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.storage.log.leader_epochs import UNDEFINED_EPOCH, UNDEFINED_OFFSET, EpochEndOffset


@dataclass(frozen=True, slots=True)
class Leadership:
    """The state of a partition according to the metadata."""

    leader: int
    leader_epoch: int
    partition_epoch: int
    replicas: Sequence[int]
    in_sync_replicas: Sequence[int]
    is_recovering: bool = False  # elected uncleanly, and not yet recovered
    directories: Sequence[bytes] = ()  # of the replicas

    def moved_since(self, before: Leadership) -> frozenset[int]:
        """Replicas whose directory is another than before."""
        known = dict(zip(before.replicas, before.directories, strict=False))
        now = zip(self.replicas, self.directories, strict=False)
        return frozenset(each for each, directory in now if known.get(each, directory) != directory)

    def check_epoch(self, current_leader_epoch: int) -> None:
        """BrokerError unless the client knows the same leader, or does not say which."""
        if current_leader_epoch != NO_LEADER_EPOCH:
            if current_leader_epoch < self.leader_epoch:
                raise BrokerError(ErrorCode.FENCED_LEADER_EPOCH)
            if current_leader_epoch > self.leader_epoch:
                raise BrokerError(ErrorCode.UNKNOWN_LEADER_EPOCH)

    def check_follower(self, broker_id: int, own_id: int, current_leader_epoch: int) -> None:
        """BrokerError unless the broker is another replica of this partition."""
        if broker_id == own_id or broker_id not in self.replicas:
            # With an epoch: this broker's list of replicas may be out of date.
            is_known = current_leader_epoch < 0
            code = ErrorCode.NOT_LEADER_OR_FOLLOWER if is_known else ErrorCode.UNKNOWN_LEADER_EPOCH
            raise BrokerError(code)

    def needed_in_sync(self, min_in_sync_replicas: int) -> int:
        """`min.insync.replicas`, but never more than there are replicas."""
        return min(min_in_sync_replicas, max(1, len(self.replicas)))


NO_LEADERSHIP = Leadership(-1, NO_LEADER_EPOCH, NO_LEADER_EPOCH, (), ())


def divergence(
    end: EpochEndOffset, last_fetched_epoch: int, offset: int, partition: object
) -> EpochEndOffset | None:
    """Where a client's log diverges from this one; None if it does not (KIP-320).

    `end` is where the last epoch that the client has fetched ends here.
    """
    if end.end_offset == UNDEFINED_OFFSET or end.epoch == UNDEFINED_EPOCH:
        raise BrokerError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"{partition}: nothing is known of leader epoch {last_fetched_epoch}",
        )
    return end if end.epoch < last_fetched_epoch or end.end_offset < offset else None
