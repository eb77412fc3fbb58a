"""Records of ranges of offsets in this process, without Spark: for repairs of a few million.

Promises  the same columns as the data source gives, and committed records only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from ottla.base.ids import TopicPartition
from ottla.base.uuids import uuid_from_text
from ottla.client.cluster.cluster import Cluster
from ottla.pipelines.committed_records import committed_records
from ottla.pipelines.verbs.missing import Ranges
from ottla.spark.records.columns import Columns
from ottla.spark.records.schema import full_schema
from ottla.spark.records.value_types import arrow_schema

SCHEMA = arrow_schema(full_schema(with_headers=True))


def records_of(
    cluster: Cluster, ranges: Ranges, names: Mapping[str, str]
) -> Iterator[pa.RecordBatch]:
    """`names` are those of the topics, by id."""
    for table_partition, spans in ranges.items():
        at = TopicPartition(names[table_partition.topic_id], table_partition.partition)
        columns = Columns(SCHEMA, at)
        topic_id = uuid_from_text(table_partition.topic_id)
        for start, end in spans:
            for records in committed_records(cluster, at, topic_id, start, end, with_headers=True):
                if records.num_rows:
                    yield columns.build(records)
