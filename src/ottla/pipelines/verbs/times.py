"""The offsets of a time: from the first record not older than its start to that of its end.

Timestamps of records may be out of order: a record that is older than its neighbours is found with
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ottla.base.ids import TopicPartition
from ottla.client.admin.list_offsets import NO_OFFSET, list_offsets
from ottla.client.cluster.cluster import Cluster
from ottla.pipelines.verbs.missing import Place, Range, Ranges


class Times(NamedTuple):
    """In ms since 1970; None for no bound."""

    from_ms: int | None = None
    to_ms: int | None = None


ALWAYS = Times()


def within(
    cluster: Cluster, ranges: Ranges, names: Mapping[str, str], times: Times
) -> dict[Place, list[Range]]:
    """The parts of the ranges that belong to the time; `names` are those of topics, by id."""
    starts = _offsets_at(cluster, ranges, names, times.from_ms)
    ends = _offsets_at(cluster, ranges, names, times.to_ms)
    found = {
        place: _cut(spans, starts.get(place), ends.get(place), times)
        for place, spans in ranges.items()
    }
    return {place: spans for place, spans in found.items() if spans}


def _offsets_at(
    cluster: Cluster, ranges: Ranges, names: Mapping[str, str], time_ms: int | None
) -> dict[Place, int]:
    """Without partitions that have no record so late."""
    if time_ms is None:
        return {}
    places = {TopicPartition(names[each.topic_id], each.partition): each for each in ranges}
    found = list_offsets(cluster, dict.fromkeys(places, time_ms))
    return {places[at]: each.offset for at, each in found.items() if each.offset != NO_OFFSET}


def _cut(spans: Sequence[Range], start: int | None, end: int | None, times: Times) -> list[Range]:
    if times.from_ms is not None and start is None:
        return []  # all records are older
    cut = [(max(low, start or low), high if end is None else min(high, end)) for low, high in spans]
    return [(low, high) for low, high in cut if low < high]
