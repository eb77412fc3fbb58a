"""The committed records of a range of offsets, read in this process.

Promises  every committed record of the range that is in the log, once; a topic that was deleted and
          created again is an error.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from ottla.base.ids import TopicPartition
from ottla.client.cluster.cluster import Cluster
from ottla.client.fetching.fetcher import fetch_range
from ottla.client.settings import READ_COMMITTED
from ottla.protocol.records.arrow import read_arrow

BATCH_BYTES = 8 * 1024 * 1024


def committed_records(
    cluster: Cluster,
    partition: TopicPartition,
    topic_id: bytes,
    start: int,
    end: int,
    *,
    with_headers: bool = False,
) -> Iterator[pa.RecordBatch]:
    """Some batches may be empty."""
    for fetched in fetch_range(
        cluster, partition, start, end, topic_id=topic_id, isolation_level=READ_COMMITTED
    ):
        yield from read_arrow(
            fetched.data,
            from_offset=max(start, fetched.start_offset),
            end_offset=min(end, fetched.end_offset),
            with_headers=with_headers,
            is_wanted=fetched.is_wanted,
            bytes_max=BATCH_BYTES,
        )
