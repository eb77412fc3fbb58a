"""The compacted topic with the last report of each pipeline.

Owns      creating it, writing a report, reading the newest of each pipeline.
Leaves    what a report is to `batch_report.py`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from ottla.base.ids import TopicPartition
from ottla.client.admin.list_offsets import earliest_offsets, latest_offsets
from ottla.client.admin.topics import NewTopic, create_topics
from ottla.client.cluster.cluster import Cluster
from ottla.client.fetching.fetcher import fetch_range
from ottla.client.producing.producer import BatchProducer
from ottla.pipelines.batch_report import TOPIC, BatchReport, decode_report, encode_report
from ottla.protocol.records.batch import iterate_headers
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.reading import iterate_records
from ottla.protocol.records.record import Record

PARTITION = TopicPartition(TOPIC, 0)
CONFIGS = {"cleanup.policy": "compact", "segment.ms": str(24 * 60 * 60 * 1000)}
READ_COMMITTED = "read_committed"


def make_ready(cluster: Cluster) -> None:
    if not cluster.describe_topics([TOPIC]):
        create_topics(cluster, [NewTopic(TOPIC, 1, configs=CONFIGS)], may_exist=True)


def write_report(cluster: Cluster, report: BatchReport) -> None:
    now_ms = time.time_ns() // 1_000_000
    record = Record(0, now_ms, report.pipeline.encode(), encode_report(report))
    with BatchProducer(cluster) as producer:
        producer.send(PARTITION, build_batch([record], codec=Codec.GZIP), 1)
        producer.flush()


def read_reports(cluster: Cluster) -> Mapping[str, BatchReport]:
    """The newest report of each pipeline; none if no pipeline has run on this cluster."""
    if not cluster.describe_topics([TOPIC]):
        return {}
    start = earliest_offsets(cluster, [PARTITION])[PARTITION]
    end = latest_offsets(cluster, [PARTITION], READ_COMMITTED)[PARTITION]
    newest: dict[bytes, bytes | None] = {}
    for fetched in fetch_range(cluster, PARTITION, start, end):
        for position, header in iterate_headers(fetched.data):
            if header.is_control:
                continue
            for record in iterate_records(fetched.data, position):
                value = None if record.value is None else bytes(record.value)
                newest[bytes(record.key or b"")] = value
    reports = [decode_report(value) for value in newest.values() if value is not None]
    return {each.pipeline: each for each in reports}
