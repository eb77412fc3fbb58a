"""Offsets that a table should have and has not.

Owns      ranges of offsets: parsing, differences, and which batch read them. Pure.
Promises  gaps that the log itself has (markers, compacted records) are among the missing: reading
          them gives no record.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ottla.pipelines.errors import PipelineError
from ottla.pipelines.lake.manifest import BATCH, Manifest

Range = tuple[int, int]  # the end is one after the last
_SPAN = re.compile(r"(\d+)(?:-(\d+))?")


class TablePartition(NamedTuple):
    topic_id: str
    partition: int


Ranges = Mapping[TablePartition, Sequence[Range]]


def parse_offsets(
    words: Iterable[str], topics: Mapping[str, str]
) -> dict[TablePartition, list[Range]]:
    """`orders:0:100-199,300` is offsets 100 to 199 and 300 of partition 0. Sorted, and without
    overlaps, however they are written."""
    found: dict[TablePartition, list[Range]] = {}
    for word in words:
        topic, _, rest = word.partition(":")
        partition, _, spans = rest.partition(":")
        if topic not in topics:
            raise PipelineError(f"{word}: the table has no records of the topic {topic}")
        if not partition.isdigit() or not spans:
            raise PipelineError(
                f"{word}: write TOPIC:PARTITION:FIRST-LAST, such as orders:0:100-199"
            )
        for span in spans.split(","):
            numbers = _SPAN.fullmatch(span)
            if numbers is None:
                raise PipelineError(f"{word}: {span} is no range of offsets, such as 100-199")
            first = int(numbers[1])
            last = int(numbers[2] or first)
            if last < first:
                raise PipelineError(f"{word}: {span} ends before it begins")
            table_partition = TablePartition(topics[topic], int(partition))
            found.setdefault(table_partition, []).append((first, last + 1))
    return merged([found])


def covered(chain: Iterable[Manifest]) -> dict[TablePartition, list[Range]]:
    """What the batches of a table have read, from the first start to the last end."""
    starts: dict[TablePartition, int] = {}
    ends: dict[TablePartition, int] = {}
    for manifest in chain:
        if manifest.kind != BATCH:
            continue
        for topic_id, partitions in manifest.starts.items():
            for partition, start in partitions.items():
                table_partition = TablePartition(topic_id, int(partition))
                starts[table_partition] = min(start, starts.get(table_partition, start))
        for topic_id, partitions in manifest.ends.items():
            for partition, end in partitions.items():
                table_partition = TablePartition(topic_id, int(partition))
                ends[table_partition] = max(end, ends.get(table_partition, end))
    return {
        table_partition: [(start, ends[table_partition])]
        for table_partition, start in starts.items()
    }


def missing_ranges(
    wanted: Ranges, present: Mapping[TablePartition, npt.NDArray[np.int64]]
) -> Ranges:
    nothing = np.empty(0, np.int64)
    found = {
        table_partition: [
            gap for each in ranges for gap in gaps(each, present.get(table_partition, nothing))
        ]
        for table_partition, ranges in wanted.items()
    }
    return {table_partition: ranges for table_partition, ranges in found.items() if ranges}


def gaps(wanted: Range, present: npt.NDArray[np.int64]) -> list[Range]:
    """The parts of the range that are not among the offsets, which are sorted."""
    start, end = wanted
    inside = present[np.searchsorted(present, start) : np.searchsorted(present, end)]
    edges = np.concatenate(([start - 1], inside, [end]))
    found = np.flatnonzero(np.diff(edges) > 1)
    return [(int(edges[each]) + 1, int(edges[each + 1])) for each in found]


def merged(parts: Iterable[Ranges]) -> dict[TablePartition, list[Range]]:
    """All of them, without overlaps, sorted."""
    found: dict[TablePartition, list[Range]] = {}
    for table_partition, span in sorted(
        (table_partition, span)
        for part in parts
        for table_partition, spans in part.items()
        for span in spans
    ):
        known = found.setdefault(table_partition, [])
        if known and span[0] <= known[-1][1]:
            known[-1] = (known[-1][0], max(known[-1][1], span[1]))
        else:
            known.append(span)
    return found


def joined_ranges(ranges: Sequence[Range], count_max: int) -> list[Range]:
    """At most so many ranges, with the smallest gaps between them included; `ranges` are sorted."""
    gaps_between = sorted(after[0] - before[1] for before, after in pairwise(ranges))
    width = gaps_between[-count_max] if len(gaps_between) >= count_max else -1
    found: list[Range] = []
    for start, end in ranges:
        if found and start - found[-1][1] <= width:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


def intersection(one: Ranges, other: Ranges) -> dict[TablePartition, list[Range]]:
    found = {
        table_partition: [
            (max(low, first), min(high, end))
            for low, high in spans
            for first, end in other.get(table_partition, ())
            if max(low, first) < min(high, end)
        ]
        for table_partition, spans in one.items()
    }
    return {table_partition: spans for table_partition, spans in found.items() if spans}


def difference(one: Ranges, other: Ranges) -> dict[TablePartition, list[Range]]:
    """What is in `one` and not in `other`."""
    found: dict[TablePartition, list[Range]] = {}
    for table_partition, spans in one.items():
        for low, high in spans:
            for first, end in sorted(other.get(table_partition, ())):
                if low < first < high:
                    found.setdefault(table_partition, []).append((low, first))
                low = max(low, min(end, high))
            if low < high:
                found.setdefault(table_partition, []).append((low, high))
    return found


def by_batch(ranges: Ranges, chain: Sequence[Manifest]) -> list[tuple[Manifest | None, Ranges]]:
    """The ranges by the commit that came before the batch that read them, which decides what was
    late in it; `chain` is the oldest first."""
    found: list[tuple[Manifest | None, Ranges]] = []
    before: Manifest | None = None
    for manifest in chain:
        if manifest.kind != BATCH:
            continue
        share = {
            table_partition: _within(manifest, table_partition, spans)
            for table_partition, spans in ranges.items()
        }
        share = {table_partition: spans for table_partition, spans in share.items() if spans}
        if share:
            found.append((before, share))
        before = manifest
    return found


def _within(
    manifest: Manifest, table_partition: TablePartition, spans: Sequence[Range]
) -> list[Range]:
    partition = str(table_partition.partition)
    start = manifest.starts.get(table_partition.topic_id, {}).get(partition)
    end = manifest.ends.get(table_partition.topic_id, {}).get(partition)
    if start is None or end is None:
        return []
    cut = [(max(start, low), min(end, high)) for low, high in spans]
    return [(low, high) for low, high in cut if low < high]


def size(ranges: Ranges) -> int:
    return sum(end - start for spans in ranges.values() for start, end in spans)
