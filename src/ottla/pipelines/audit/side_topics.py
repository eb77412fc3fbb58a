"""Bad and late records, in the topics that a pipeline wrote them to.

They are in no table, and are not missing there.

Owns      reading the topics for bad and late records, and whose records they are by their headers.
Promises  a record that is in its side topic is found there itself; the numbers of the pipeline are
          not used. One that was replayed into the table does not count as excluded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ottla.client.admin.list_offsets import earliest_offsets, latest_offsets
from ottla.client.cluster.cluster import Cluster
from ottla.client.fetching.fetcher import PartitionRange, fetch_ranges
from ottla.client.settings import READ_COMMITTED
from ottla.pipelines.audit.reports import PartitionId
from ottla.pipelines.sums.record_sums import Book, add_to, fold_arrow
from ottla.protocol.records.arrow import read_arrow

PREFIX = "ottla-"

# The timestamp (ms) of each excluded offset.
Excluded = dict[PartitionId, dict[int, int]]


def read_excluded(
    cluster: Cluster, side_topics: Iterable[str], pipeline: str, topic_ids: Mapping[str, str]
) -> Excluded:
    """The records of these topics that the pipeline put there; `topic_ids` by name."""
    found: Excluded = {}
    for described in cluster.describe_topics(sorted(set(side_topics))).values():
        partition_ids = described.topic_partitions
        starts = earliest_offsets(cluster, partition_ids)
        ends = latest_offsets(cluster, partition_ids, READ_COMMITTED)
        ranges = [PartitionRange(at, starts[at], ends[at]) for at in partition_ids]
        for fetched in fetch_ranges(cluster, ranges, isolation_level=READ_COMMITTED):
            for batch in read_arrow(
                fetched.data,
                from_offset=fetched.start_offset,
                end_offset=fetched.end_offset,
                with_headers=True,
                is_wanted=fetched.is_wanted,
            ):
                origins = map(origin_of, batch.column("headers").to_pylist())
                for partition_id, offsets in excluded_in(origins, pipeline, topic_ids).items():
                    found.setdefault(partition_id, {}).update(offsets)
    return found


def excluded_in(
    origins: Iterable[Mapping[str, str]], pipeline: str, topic_ids: Mapping[str, str]
) -> Excluded:
    """Those of the pipeline and its topics."""
    found: Excluded = {}
    for origin in origins:
        _add(found, origin, pipeline, topic_ids)
    return found


def origin_of(headers: Sequence[Mapping[str, Any]] | None) -> dict[str, str]:
    """Where a record was read, by its headers; the last of each name counts."""
    return {
        str(each["key"]).removeprefix(PREFIX): each["value"].decode("utf-8", "replace")
        for each in headers or ()
        if str(each["key"]).startswith(PREFIX) and each["value"] is not None
    }


def _add(
    found: Excluded, origin: Mapping[str, str], pipeline: str, topic_ids: Mapping[str, str]
) -> None:
    """Records of other pipelines, and of topics that were created again, are not ours."""
    try:
        if origin["pipeline"] != pipeline or origin["topic"] not in topic_ids:
            return
        topic_id = topic_ids[origin["topic"]]
        if origin.get("topic-id", topic_id) != topic_id:  # older releases wrote none
            return
        partition_id = PartitionId(topic_id, int(origin["partition"]))
        offset, timestamp = int(origin["offset"]), int(origin["timestamp"])
    except (KeyError, ValueError):
        return
    found.setdefault(partition_id, {})[offset] = timestamp


def book_of_excluded(excluded: Excluded) -> Book:
    book: Book = {}
    for partition_id, offsets in excluded.items():
        if offsets:
            batch = pa.record_batch(
                {
                    "offset": pa.array(list(offsets), pa.int64()),
                    "timestamp": pa.array(list(offsets.values()), pa.int64()),
                }
            )
            add_to(
                book,
                fold_arrow(batch, topic_id=partition_id.topic_id, partition=partition_id.partition),
            )
    return book


def without_present(excluded: Excluded, present: Mapping[PartitionId, set[int]]) -> Excluded:
    """The excluded records without a row in the table."""
    return {
        partition_id: {
            at: time for at, time in offsets.items() if at not in present.get(partition_id, ())
        }
        for partition_id, offsets in excluded.items()
    }
