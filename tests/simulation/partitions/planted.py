"""Faults that are planted in the production code, to show that the simulation finds them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from tests.simulation.partitions import replica as replica_module
from tests.simulation.partitions.replica import Replica

from ottla.base.files.readers import Reader
from ottla.base.scheduling.steps import Steps, run_blocking
from ottla.controller import alter_partition, brokers
from ottla.replication.following import fetched_records
from ottla.replication.following.replica_session import ReplicaPosition
from ottla.replication.leadership import NO_EPOCH
from ottla.replication.partition import Partition
from ottla.replication.partition_state import LeaderState
from ottla.replication.waiting import Done
from ottla.storage.log.leader_epochs import EpochEndOffset


def acknowledge_at_once(
    _partition: Partition, _end_offset: int, done: Done, _leader_epoch: int = NO_EPOCH
) -> None:
    done(None)


def ignore_epoch(partition: Partition, _current_leader_epoch: int = NO_EPOCH) -> None:
    real_check_leader(partition)


real_check_leader = Partition.check_leader


def count_requested_only(state: LeaderState, in_sync_replicas: Collection[int]) -> None:
    state.requested = state.counted = frozenset(in_sync_replicas)


def rejoin_early(state: LeaderState, broker_id: int, _high_watermark: int) -> bool:
    progress = state.followers.get(broker_id)
    return progress is not None and broker_id not in state.counted and progress.log_end_offset >= 0


def commit_below_minimum(state: LeaderState, _min_in_sync_replicas: int) -> int:
    return min(1, len(state.replicas))


real_after_stop = brokers._after_stop


def keep_in_sync(state: Any, broker: Any, *, is_clean: bool) -> Any:
    return [] if not is_clean else real_after_stop(state, broker, is_clean=is_clean)


def any_incarnation(_self: Any, _claimed: Any) -> bool:
    return True


def locating_without_epoch(partition: Partition) -> Steps[ReplicaPosition]:
    return (yield from fetched_records.locating(partition))._replace(last_fetched_epoch=-1)


real_place = Replica._place


def truncate_to_high_watermark(replica: Replica) -> None:
    """As before KIP-101: a new follower removes what it does not know to be committed."""
    before = None if replica.partition is None else replica.partition.leader_epoch
    real_place(replica)
    partition = replica.leading
    if partition.leader_epoch != before and not partition.is_leader:
        run_blocking(partition.log.truncating_to(partition.log.high_watermark))


def no_divergence(
    _partition: Partition, _reader: Reader, _last_fetched_epoch: int, _offset: int
) -> EpochEndOffset | None:
    return None


PLANTED: dict[str, tuple[tuple[Any, str, Any], ...]] = {
    "ack before the high watermark": ((Partition, "when_replicated", acknowledge_at_once),),
    "truncate to the high watermark": (
        (Replica, "_place", truncate_to_high_watermark),
        (replica_module, "locating", locating_without_epoch),
    ),
    "no epoch checks in Fetch": (
        (Partition, "check_leader", ignore_epoch),
        (Partition, "divergence", no_divergence),
    ),
    "rejoin before the log end": ((LeaderState, "may_rejoin", rejoin_early),),
    "count only the requested replicas": ((LeaderState, "request", count_requested_only),),
    "commit below the minimum": ((LeaderState, "needed", commit_below_minimum),),
    "unclean registration kept in sync": ((brokers, "_after_stop", keep_in_sync),),
    "any incarnation may be in sync": (
        (alter_partition._Alteration, "_is_eligible", any_incarnation),
    ),
}


@contextmanager
def planted(name: str) -> Iterator[None]:
    patches = [patch.object(*each) for each in PLANTED[name]]
    for each in patches:
        each.start()
    try:
        yield
    finally:
        for each in patches:
            each.stop()
