"""Positions (earliest, latest, a time, given offsets) looked up in the logs of the cluster.

Promises  every partition gets an offset that its log has, or an error that names the partition,
          the requested offset and the range of the log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ottla.base.ids import NO_OFFSET, TopicPartition
from ottla.client.admin.list_offsets import EARLIEST, LATEST, FoundOffset, list_offsets
from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import READ_UNCOMMITTED
from ottla.config.options import InvalidOption
from ottla.spark.data_loss import LossPolicy
from ottla.spark.errors import SourceError, named
from ottla.spark.options.positions import (
    AtOffsets,
    AtTimestamp,
    AtTimestamps,
    Earliest,
    Latest,
    Position,
)
from ottla.spark.options.source_options import SourceOptions
from ottla.spark.source.query import Query

Partitions = Sequence[TopicPartition]
Offsets = dict[TopicPartition, int]


class Logs:
    """Where the logs of a cluster begin and end. `end_epochs` are the epochs of the leaders that
    returned the ends, each with the end that was looked up last."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.end_epochs: dict[TopicPartition, int] = {}

    def earliest(self, partitions: Partitions) -> Offsets:
        return self.at(dict.fromkeys(partitions, EARLIEST))

    def latest(self, partitions: Partitions) -> Offsets:
        """The end; with read_committed, the last stable offset."""
        if not partitions:
            return {}
        found = list_offsets(self._cluster, dict.fromkeys(partitions, LATEST))
        self.end_epochs |= {
            partition: self._epoch(partition, each) for partition, each in found.items()
        }
        return {partition: each.offset for partition, each in found.items()}

    def _epoch(self, partition: TopicPartition, found: FoundOffset) -> int:
        """The epoch, at most that of the metadata, which names the leaders of later requests."""
        leader = self._cluster.leader_of(partition)
        return found.leader_epoch if leader is None else min(found.leader_epoch, leader.epoch)

    def high_watermarks(self, partitions: Partitions) -> Offsets:
        """The end, regardless of open transactions."""
        found = list_offsets(self._cluster, dict.fromkeys(partitions, LATEST), READ_UNCOMMITTED)
        return {partition: each.offset for partition, each in found.items()}

    def at(self, wanted: Mapping[TopicPartition, int]) -> Offsets:
        """For each partition EARLIEST, LATEST, or a time in ms; NO_OFFSET if no record has that
        timestamp or a later one."""
        if not wanted:
            return {}
        found = list_offsets(self._cluster, wanted)
        return {partition: each.offset for partition, each in found.items()}


def resolve_start(logs: Logs, position: Position, partitions: Partitions, query: Query) -> Offsets:
    """Where the query begins in each partition."""
    match position:
        case Earliest():
            return logs.earliest(partitions)
        case Latest():
            return logs.latest(partitions)
        case AtOffsets(offsets):
            _demand_same(partitions, offsets, "startingOffsets", OFFSET_ADVICE)
            ends = logs.high_watermarks(partitions)  # a start may be after an open transaction
            return _given(logs, offsets, ends, "startingOffsets", query.loss_policy)
        case AtTimestamp(timestamp_ms):
            return _first_since(logs, dict.fromkeys(partitions, timestamp_ms), query.options)
        case AtTimestamps(timestamps_ms):
            _demand_same(partitions, timestamps_ms, "startingOffsetsByTimestamp", TIMESTAMP_ADVICE)
            return _first_since(logs, timestamps_ms, query.options)


def resolve_end(logs: Logs, position: Position, partitions: Partitions, query: Query) -> Offsets:
    """Where the query ends: the end of the log if no record has the given time or a later one."""
    match position:
        case Earliest():
            return logs.earliest(partitions)
        case Latest():
            return logs.latest(partitions)
        case AtOffsets(offsets):
            _demand_same(partitions, offsets, "endingOffsets", OFFSET_ADVICE)
            ends = logs.latest(partitions)  # but records of open transactions are not read
            return _given(logs, offsets, ends, "endingOffsets", query.loss_policy)
        case AtTimestamp(timestamp_ms):
            return _first_or_latest(logs, dict.fromkeys(partitions, timestamp_ms))
        case AtTimestamps(timestamps_ms):
            _demand_same(
                partitions, timestamps_ms, "endingOffsetsByTimestamp", END_TIMESTAMP_ADVICE
            )
            return _first_or_latest(logs, timestamps_ms)


OFFSET_ADVICE = "Use -2 for the earliest offset and -1 for the latest."
TIMESTAMP_ADVICE = "Use 0 to begin with the first record of a partition."
END_TIMESTAMP_ADVICE = "Use a time in the future to read a partition to its end."


def _demand_same(
    partitions: Partitions, given: Mapping[TopicPartition, int], option: str, advice: str
) -> None:
    """As Spark's `kafka` format: a partition that is not named would be skipped silently."""
    forgotten = [partition for partition in partitions if partition not in given]
    read = set(partitions)
    unknown = [partition for partition in given if partition not in read]
    problems = [f"{named(forgotten)} missing"] if forgotten else []
    problems += [f"{named(unknown)} not among the partitions read"] if unknown else []
    if problems:
        raise InvalidOption(
            f"Option {option} must name exactly the partitions that are read: "
            f"{'; '.join(problems)}. {advice}"
        )


def _given(
    logs: Logs,
    offsets: Mapping[TopicPartition, int],
    ends: Offsets,
    option: str,
    policy: LossPolicy,
) -> Offsets:
    """The given offsets, checked against the logs; -2 and -1 are looked up."""
    starts = logs.earliest(list(offsets))
    latest = logs.latest([partition for partition, offset in offsets.items() if offset == LATEST])
    found = {}
    for partition, offset in offsets.items():
        wanted = starts[partition] if offset == EARLIEST else latest.get(partition, offset)
        found[partition] = min(max(wanted, starts[partition]), ends[partition])
        if found[partition] != wanted:
            message = (
                f"Option {option}: {partition} has no offset {wanted}, "
                f"its log reaches from {starts[partition]} to {ends[partition]}."
            )
            policy.report(message)
    return found


def _first_since(
    logs: Logs, times: Mapping[TopicPartition, int], options: SourceOptions
) -> Offsets:
    found = logs.at(times)
    missing = [partition for partition, offset in found.items() if offset == NO_OFFSET]
    if missing and options.starting_offsets_by_timestamp_strategy == "error":
        raise SourceError(
            f"{named(missing)}: no record has the starting time ({times[missing[0]]} ms) or a "
            "later one. Give an earlier time, or set startingOffsetsByTimestampStrategy to latest "
            "to begin at the end of these partitions."
        )
    return found | logs.latest(missing)


def _first_or_latest(logs: Logs, times: Mapping[TopicPartition, int]) -> Offsets:
    found = logs.at(times)
    return found | logs.latest(
        [partition for partition, offset in found.items() if offset == NO_OFFSET]
    )


def find_start_by_time(
    logs: Logs, ranges: Mapping[TopicPartition, tuple[int, int]], search_ms: int
) -> dict[TopicPartition, tuple[int, int]]:
    """The ranges without the records before the first one of this time or later. The ends were
    looked up earlier: a record that was found beyond them leaves an empty range."""
    found = logs.at(dict.fromkeys(ranges, search_ms))
    narrowed = {}
    for partition, (start, end) in ranges.items():
        first = end if found[partition] == NO_OFFSET else found[partition]
        narrowed[partition] = (max(start, min(first, end)), end)
    return narrowed
