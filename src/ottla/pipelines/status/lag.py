"""How far a pipeline is behind, in records and in time, from its report and the cluster.

Promises  nothing of Spark is needed. Offsets count, so transaction markers are among the records.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from ottla.base.ids import TopicPartition
from ottla.base.uuids import uuid_to_text
from ottla.client.admin.list_offsets import latest_offsets
from ottla.client.cluster.cluster import Cluster
from ottla.client.errors import OffsetOutOfRange
from ottla.client.fetching.fetcher import fetch_range
from ottla.pipelines.batch_report import BatchReport
from ottla.protocol.records.batch import iterate_headers

READ_COMMITTED = "read_committed"


@dataclass(frozen=True)
class Lag:
    records: int
    seconds: float | None  # the age of the oldest record that was not read; None if there is none


def lag_of(cluster: Cluster, report: BatchReport) -> Lag | None:
    """None if a topic of the report no longer exists, or was created again."""
    topics = cluster.describe_topics(list(report.topics))
    if any(
        name not in topics or uuid_to_text(topics[name].topic_id) != topic_id
        for name, topic_id in report.topics.items()
    ):
        return None
    partitions = [partition for topic in topics.values() for partition in topic.topic_partitions]
    ends = latest_offsets(cluster, partitions, READ_COMMITTED)
    read = {partition: _read(report, partition) for partition in partitions}
    behind = {
        partition: read[partition] for partition in partitions if ends[partition] > read[partition]
    }
    records = sum(ends[partition] - offset for partition, offset in behind.items())
    oldest = [_timestamp_at(cluster, partition, offset) for partition, offset in behind.items()]
    known = [each for each in oldest if each is not None]
    now_ms = time.time_ns() // 1_000_000
    return Lag(records, max(0.0, (now_ms - min(known)) / 1000) if known else None)


def _read(report: BatchReport, partition: TopicPartition) -> int:
    ends: Mapping[str, int] = report.ends.get(report.topics[partition.topic], {})
    return ends.get(str(partition.partition), 0)


def _timestamp_at(cluster: Cluster, partition: TopicPartition, offset: int) -> int | None:
    """None if the record was deleted meanwhile, or has none."""
    with suppress(OffsetOutOfRange):
        for fetched in fetch_range(cluster, partition, offset, offset + 1):
            for _, header in iterate_headers(fetched.data):
                return header.base_timestamp
    return None
