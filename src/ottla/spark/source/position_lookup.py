"""Positions made into offsets, by asking the cluster.

Owns      what earliest, latest, a time or a given offset is in the logs of these partitions.
Promises  every partition gets an offset that its log has, or an error that names the partition,
          what was asked for and what is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ottla.base.ids import TopicPartition
from ottla.client.cluster import Cluster
from ottla.client.offsets import EARLIEST, LATEST, NO_OFFSET, list_offsets
from ottla.client.settings import READ_UNCOMMITTED
from ottla.config.options import InvalidOption
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
from ottla.spark.source.data_loss import report_loss

Places = Sequence[TopicPartition]
Offsets = dict[TopicPartition, int]


class Logs:
    """Where the logs of a cluster begin and end."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def earliest(self, places: Places) -> Offsets:
        return self.at(dict.fromkeys(places, EARLIEST))

    def latest(self, places: Places) -> Offsets:
        """The end; with read_committed, the last stable offset."""
        return self.at(dict.fromkeys(places, LATEST))

    def high_watermarks(self, places: Places) -> Offsets:
        """The end, whatever transactions are open."""
        found = list_offsets(self._cluster, dict.fromkeys(places, LATEST), READ_UNCOMMITTED)
        return {place: each.offset for place, each in found.items()}

    def at(self, wanted: Mapping[TopicPartition, int]) -> Offsets:
        """For each partition EARLIEST, LATEST, or a time in ms; NO_OFFSET if none is that young."""
        if not wanted:
            return {}
        found = list_offsets(self._cluster, wanted)
        return {place: each.offset for place, each in found.items()}


def resolve_start(
    logs: Logs, position: Position, places: Places, options: SourceOptions
) -> Offsets:
    """Where to begin: the options are those of the query, for what to do in doubt."""
    match position:
        case Earliest():
            return logs.earliest(places)
        case Latest():
            return logs.latest(places)
        case AtOffsets(offsets):
            _demand_same(places, offsets, "startingOffsets")
            ends = logs.high_watermarks(places)  # one may begin behind an open transaction
            return _given(logs, offsets, ends, "startingOffsets", options.fail_on_data_loss)
        case AtTimestamp(timestamp_ms):
            return _first_since(logs, dict.fromkeys(places, timestamp_ms), options)
        case AtTimestamps(timestamps_ms):
            _demand_same(places, timestamps_ms, "startingOffsetsByTimestamp")
            return _first_since(logs, timestamps_ms, options)


def resolve_end(logs: Logs, position: Position, places: Places, options: SourceOptions) -> Offsets:
    """Where to stop; where no record is young enough, that is the end of the log."""
    match position:
        case Earliest():
            return logs.earliest(places)
        case Latest():
            return logs.latest(places)
        case AtOffsets(offsets):
            _demand_same(places, offsets, "endingOffsets")
            ends = logs.latest(places)  # but not read what is not decided
            return _given(logs, offsets, ends, "endingOffsets", options.fail_on_data_loss)
        case AtTimestamp(timestamp_ms):
            return _first_or_latest(logs, dict.fromkeys(places, timestamp_ms))
        case AtTimestamps(timestamps_ms):
            _demand_same(places, timestamps_ms, "endingOffsetsByTimestamp")
            return _first_or_latest(logs, timestamps_ms)


def _demand_same(places: Places, given: Mapping[TopicPartition, int], option: str) -> None:
    """Leaving a partition out would be a silent skip, so Spark's `kafka` format refuses it."""
    forgotten = [place for place in places if place not in given]
    read = set(places)
    unknown = [place for place in given if place not in read]
    told = [f"{named(forgotten)} missing"] if forgotten else []
    told += [f"{named(unknown)} not among the partitions read"] if unknown else []
    if told:
        raise InvalidOption(
            f"Option {option} must name exactly the partitions that are read: {'; '.join(told)}. "
            "Use -2 for the earliest offset and -1 for the latest."
        )


def _given(
    logs: Logs, offsets: Mapping[TopicPartition, int], ends: Offsets, option: str, is_strict: bool
) -> Offsets:
    """The offsets themselves, once seen to lie in the logs; -2 and -1 looked up."""
    starts = logs.earliest(list(offsets))
    latest = logs.latest([place for place, offset in offsets.items() if offset == LATEST])
    found = {}
    for place, offset in offsets.items():
        wanted = starts[place] if offset == EARLIEST else latest.get(place, offset)
        found[place] = min(max(wanted, starts[place]), ends[place])
        if found[place] != wanted:
            told = (
                f"Option {option}: {place} has no offset {wanted}, "
                f"its log reaches from {starts[place]} to {ends[place]}."
            )
            report_loss(told, is_strict)
    return found


def _first_since(
    logs: Logs, times: Mapping[TopicPartition, int], options: SourceOptions
) -> Offsets:
    found = logs.at(times)
    missing = [place for place, offset in found.items() if offset == NO_OFFSET]
    if missing and options.starting_offsets_by_timestamp_strategy == "error":
        raise SourceError(
            f"No record is as young as the starting time asks for in {named(missing)} "
            f"(time {times[missing[0]]} ms). Give an earlier time, or set "
            "startingOffsetsByTimestampStrategy to latest to begin at the end there."
        )
    return found | logs.latest(missing)


def _first_or_latest(logs: Logs, times: Mapping[TopicPartition, int]) -> Offsets:
    found = logs.at(times)
    return found | logs.latest([place for place, offset in found.items() if offset == NO_OFFSET])


def find_start_by_time(
    logs: Logs, ranges: Mapping[TopicPartition, tuple[int, int]], search_ms: int
) -> dict[TopicPartition, tuple[int, int]]:
    """Ranges without what lies before the first record that is young enough.

    The ends were found before: what is younger and came since then lies beyond them.
    """
    found = logs.at(dict.fromkeys(ranges, search_ms))
    narrowed = {}
    for place, (start, end) in ranges.items():
        first = end if found[place] == NO_OFFSET else found[place]
        narrowed[place] = (max(start, min(first, end)), end)
    return narrowed
