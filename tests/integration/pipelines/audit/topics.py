"""Topics with records of known times, and audits of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ottla.base.ids import TopicPartition
from ottla.client.admin.topics import NewTopic, create_topics
from ottla.client.admin.transactions import end_transaction, init_producer_id
from ottla.client.cluster.cluster import Cluster
from ottla.client.producing.producer import BatchProducer
from ottla.pipelines.audit.report_log import ReportWriter, make_topic_ready
from ottla.pipelines.audit.reports import Tier
from ottla.pipelines.audit.running import Engine, LocalEngine, audit_logs, opened_tier
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record

START_MS = 1_767_225_600_000  # the beginning of a bucket
STEP_MS = 10_000  # sixty records in a bucket


def records(first: int, end: int, late_ms: int = 0) -> list[Record]:
    return [
        Record(n - first, START_MS + STEP_MS * n - late_ms, b"key %d" % (n % 7), b"value %d" % n)
        for n in range(first, end)
    ]


def create(cluster: Cluster, topic: str, partitions: int = 1, **configs: str) -> None:
    dotted = {name.replace("_", "."): value for name, value in configs.items()}
    create_topics(cluster, [NewTopic(topic, partitions, configs=dotted)])


def write(cluster: Cluster, at: TopicPartition, rows: Sequence[Record], size: int = 50) -> None:
    with BatchProducer(cluster, init_producer_id(cluster)) as producer:
        for batch in batches(rows, size):
            producer.send(at, batch)
        producer.flush()


def write_transaction(
    cluster: Cluster, at: TopicPartition, rows: Sequence[Record], *, commit: bool
) -> None:
    name = f"writer of {at}"
    identity = init_producer_id(cluster, name)
    with BatchProducer(cluster, identity, name) as producer:
        for batch in batches(rows, 50, is_transactional=True):
            producer.send(at, batch)
        producer.flush()
    end_transaction(cluster, name, identity, commit=commit)


def batches(
    rows: Sequence[Record], size: int, *, is_transactional: bool = False
) -> Iterable[bytearray]:
    for start in range(0, len(rows), size):
        part = [
            each._replace(offset=number) for number, each in enumerate(rows[start : start + size])
        ]
        yield build_batch(part, is_transactional=is_transactional)


def audit(
    cluster: Cluster,
    topics: Sequence[str],
    *,
    tier: str = "broker",
    report_topic: str = "ottla-audit",
    engine: Engine | None = None,
    step_offsets: int = 1_000_000,
) -> Tier:
    """One pass; the tier as it is reported."""
    make_topic_ready(cluster, report_topic)
    writer = ReportWriter(cluster, tier, report_topic)
    opened = opened_tier(writer.read(), tier)
    audit_logs(
        cluster, writer, opened, topics, engine or LocalEngine(cluster), step_offsets=step_offsets
    )
    found = writer.read()[tier]
    writer.close()
    return found
