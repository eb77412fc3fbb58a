"""Faults that are planted in the production code, to show that the simulation finds them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any
from unittest.mock import patch

from tests.simulation.partitions import replica as replica_module
from tests.simulation.partitions.replica import Replica

from ottla.base.files.readers import Reader
from ottla.base.ids import NO_LEADER_EPOCH
from ottla.base.scheduling.steps import Steps, run_blocking
from ottla.controller import alter_partition, brokers, elections
from ottla.metadata.entities import PartitionRegistration
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.alter_partition_request import PartitionData
from ottla.protocol.records.batch import BatchHeader
from ottla.replication.following import fetched_records
from ottla.replication.following.replica_session import ReplicaPosition
from ottla.replication.offset_waiters import Done
from ottla.replication.partition import Partition
from ottla.replication.partition_state import LeaderState
from ottla.storage.indexes.offset_index import OffsetIndex, OffsetPosition
from ottla.storage.log.leader_epochs import EpochEndOffset, LeaderEpochs
from ottla.storage.segments import scanning
from ottla.testing.disk_handles import MemoryFile


def acknowledge_at_once(
    _partition: Partition, _end_offset: int, done: Done, _leader_epoch: int = NO_LEADER_EPOCH
) -> None:
    done(None)


def ignore_epoch(partition: Partition, _current_leader_epoch: int = NO_LEADER_EPOCH) -> None:
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


def sync_nothing(_file: MemoryFile) -> None:
    """As if the product had not called fsync."""


def accept_any_epoch(
    alteration: Any, partition: PartitionRegistration, data: PartitionData, in_sync: Any
) -> ErrorCode:
    """Changes of in-sync replicas, whenever and by whomever they were requested."""
    data = copy(data)
    data.leader_epoch, data.partition_epoch = partition.leader_epoch, partition.partition_epoch
    asking, alteration._broker_id = alteration._broker_id, partition.leader
    try:
        return real_fault(alteration, partition, data, in_sync)
    finally:
        alteration._broker_id = asking


real_fault = alter_partition._Alteration._fault


def elect_anyone(partition: Any, wanted: Any, eligible: Any, rules: Any) -> Any:
    wanted.election = elections.Election.UNCLEAN
    return real_elect(partition, wanted, eligible, rules)


real_elect = elections._elect


def announce_nothing(_epochs: LeaderEpochs, _epoch: int, _start_offset: int) -> None:
    """A new leader does not note where its epoch begins."""


def commit_all_that_is_there(partition: Partition, now_ms: int) -> None:
    real_start_leading(partition, now_ms)
    partition.log.update_high_watermark(partition.log.log_end_offset)


real_start_leading = Partition._start_leading


def find_next(index: OffsetIndex, reader: Reader, offset: int) -> OffsetPosition:
    """The entry after the right one."""
    found = real_lookup(index, reader, offset)
    return index.first_from_position(reader, found.position + 1) or found


real_lookup = OffsetIndex.lookup


def believe_checksums(
    file: Any, position: int, header: BatchHeader, _crc: int, next_offset: int
) -> None:
    real_check_batch(file, position, header, header.crc, next_offset)


real_check_batch = scanning.check_batch


def fetched_of_any_process(
    partition: Partition, broker_id: int, broker_epoch: int, *others: Any
) -> None:
    """What an earlier process of the follower had counts for this one."""
    assert partition.leader_state is not None
    progress = partition.leader_state.followers[broker_id]
    before = progress.log_end_offset
    real_fetched(partition, broker_id, max(broker_epoch, progress.broker_epoch), *others)
    progress.log_end_offset = max(before, progress.log_end_offset)


real_fetched = Partition.follower_fetched


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
    "sync skipped": ((MemoryFile, "sync", sync_nothing),),
    "in-sync changes of any epoch": ((alter_partition._Alteration, "_fault", accept_any_epoch),),
    "elections are always unclean": ((elections, "_elect", elect_anyone),),
    "epochs of leaders not noted": ((LeaderEpochs, "announce", announce_nothing),),
    "a new leader commits all it has": ((Partition, "_start_leading", commit_all_that_is_there),),
    "index off by one": ((OffsetIndex, "lookup", find_next),),
    "checksums unchecked": ((scanning, "check_batch", believe_checksums),),
    "progress of earlier processes": ((Partition, "follower_fetched", fetched_of_any_process),),
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
