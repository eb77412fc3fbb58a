"""The offsets of the records with timestamps in a period.

Timestamps of records may be out of order: a log is read to its end, because older records may come
after newer ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ottla.base.ids import NO_OFFSET, TopicPartition
from ottla.base.uuids import uuid_from_text
from ottla.client.admin.list_offsets import list_offsets
from ottla.client.cluster.cluster import Cluster
from ottla.pipelines.committed_records import committed_records
from ottla.pipelines.verbs.missing import Range, Ranges, TablePartition, merged

Numbers = npt.NDArray[np.int64]


class Times(NamedTuple):
    """In ms since 1970; None for no bound."""

    from_ms: int | None = None
    to_ms: int | None = None

    def are_inside(self, timestamps: Numbers) -> npt.NDArray[np.bool_]:
        low = -(2**63) if self.from_ms is None else self.from_ms
        inside = timestamps >= low
        return inside if self.to_ms is None else inside & (timestamps < self.to_ms)


ALWAYS = Times()


def after_start(
    cluster: Cluster, ranges: Ranges, names: Mapping[str, str], times: Times
) -> dict[TablePartition, list[Range]]:
    """Without the offsets before the first record that is not older than the time. `names` are
    those of topics, by id."""
    if times.from_ms is None:
        return {table_partition: list(spans) for table_partition, spans in ranges.items()}
    table_partitions = {
        TopicPartition(names[each.topic_id], each.partition): each for each in ranges
    }
    listed = list_offsets(cluster, dict.fromkeys(table_partitions, times.from_ms))
    starts = {
        table_partitions[at]: each.offset for at, each in listed.items() if each.offset != NO_OFFSET
    }
    found = {
        table_partition: _cut(spans, starts[table_partition])
        for table_partition, spans in ranges.items()
        if table_partition in starts
    }
    return {table_partition: spans for table_partition, spans in found.items() if spans}


def _cut(spans: Sequence[Range], start: int) -> list[Range]:
    return [(max(low, start), high) for low, high in spans if start < high]


def within(
    cluster: Cluster, ranges: Ranges, names: Mapping[str, str], times: Times
) -> dict[TablePartition, list[Range]]:
    """The offsets of the ranges whose records are of the time: all of them are read."""
    found = {
        table_partition: [
            run
            for span in spans
            for run in runs(
                _records(cluster, table_partition, names[table_partition.topic_id], span), times
            )
        ]
        for table_partition, spans in ranges.items()
    }
    return merged([found])


def _records(
    cluster: Cluster, table_partition: TablePartition, topic: str, span: Range
) -> Iterator[tuple[Numbers, Numbers]]:
    """Offsets and timestamps of the committed records."""
    at, (start, end) = TopicPartition(topic, table_partition.partition), span
    topic_id = uuid_from_text(table_partition.topic_id)
    for batch in committed_records(cluster, at, topic_id, start, end):
        timestamps = batch.column("timestamp").cast("int64")
        yield batch.column("offset").to_numpy(), timestamps.to_numpy()


def runs(records: Iterable[tuple[Numbers, Numbers]], times: Times) -> list[Range]:
    """Records of the time that follow each other, as ranges of their offsets."""
    found: list[Range] = []
    for offsets, timestamps in records:
        inside = np.concatenate(([False], times.are_inside(timestamps), [False])).astype(np.int8)
        edges = np.diff(inside)
        firsts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
        found += [
            (int(offsets[first]), int(offsets[end - 1]) + 1)
            for first, end in zip(firsts, ends, strict=True)
        ]
    return found
