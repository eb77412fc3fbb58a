"""Records of ranges of offsets in this process, without Spark: for repairs of a few million.

Promises  the same columns as the data source gives, and committed records only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from ottla.base.ids import TopicPartition
from ottla.base.uuids import uuid_from_text
from ottla.client.cluster.cluster import Cluster
from ottla.client.fetching.fetcher import fetch_range
from ottla.client.settings import READ_COMMITTED
from ottla.pipelines.verbs.missing import Ranges
from ottla.protocol.records.arrow import read_arrow
from ottla.spark.records.columns import Columns
from ottla.spark.records.schema import full_schema
from ottla.spark.records.value_types import arrow_schema

SCHEMA = arrow_schema(full_schema(with_headers=True))
BATCH_BYTES = 8 * 1024 * 1024


def records_of(
    cluster: Cluster, ranges: Ranges, names: Mapping[str, str]
) -> Iterator[pa.RecordBatch]:
    """`names` are those of the topics, by id."""
    for table_partition, spans in ranges.items():
        at = TopicPartition(names[table_partition.topic_id], table_partition.partition)
        columns = Columns(SCHEMA, at)
        for start, end in spans:
            yield from _range(
                cluster, at, uuid_from_text(table_partition.topic_id), start, end, columns
            )


def _range(
    cluster: Cluster, at: TopicPartition, topic_id: bytes, start: int, end: int, columns: Columns
) -> Iterator[pa.RecordBatch]:
    for fetched in fetch_range(
        cluster, at, start, end, topic_id=topic_id, isolation_level=READ_COMMITTED
    ):
        for table in read_arrow(
            fetched.data,
            from_offset=max(start, fetched.start_offset),
            end_offset=min(end, fetched.end_offset),
            with_headers=True,
            is_wanted=fetched.is_wanted,
            bytes_max=BATCH_BYTES,
        ):
            if table.num_rows:
                yield columns.build(table)
