"""The topic `ottla-audit`: one compacted partition with the reports of all tiers.

    writer = ReportWriter(cluster, topic, "broker")   # fences other writers of the tier
    tiers = writer.read()                             # all that was ever reported
    writer.write(records)                             # all of them, or none

Owns      creating the topic, or checking an existing one; reading and writing it.
Promises  what is written together is there together or not at all, also after kill -9: each write
          is a transaction of the tier. A writer that reads after it was created sees everything
          that writers of its tier before it have reported, and none of them can report any more.
Leaves    what reports say to `reports.py` and `report_format.py`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable

from ottla.base.ids import TopicPartition
from ottla.client.admin.list_offsets import earliest_offsets, latest_offsets
from ottla.client.admin.topics import NewTopic, create_topics, topic_configs
from ottla.client.admin.transactions import end_transaction, init_producer_id
from ottla.client.cluster.cluster import Cluster
from ottla.client.cluster.retries import Retries
from ottla.client.fetching.fetcher import fetch_range
from ottla.client.producing.producer import BatchProducer
from ottla.client.settings import READ_COMMITTED, READ_UNCOMMITTED
from ottla.pipelines.audit.report_format import UnreadableReport, apply_record
from ottla.pipelines.audit.reports import Tier
from ottla.protocol.records.batch import iterate_headers
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.reading import iterate_records
from ottla.protocol.records.record import Record

log = logging.getLogger("ottla.pipelines.audit")

TOPIC = "ottla-audit"
MIB = 1024 * 1024
POLICY, COMPACT = "cleanup.policy", "compact"
CONFIGS = {
    POLICY: COMPACT,
    "segment.bytes": str(16 * MIB),
    "segment.ms": str(24 * 60 * 60 * 1000),
    "min.cleanable.dirty.ratio": "0.1",
}
RECORDS_PER_BATCH = 2000  # some hundred kilobytes
TIMEOUT_MS = 60_000

Entry = tuple[bytes, bytes | None]


class AuditError(Exception):
    """A failure of the audit; the message says what happened, and what to do."""


def make_topic_ready(cluster: Cluster, topic: str = TOPIC) -> None:
    """Create the topic if it does not exist; AuditError if reports would be deleted from it."""
    if not cluster.describe_topics([topic]):
        create_topics(cluster, [NewTopic(topic, 1, configs=CONFIGS)], may_exist=True)
    policy = topic_configs(cluster, [topic])[topic].get(POLICY) or ""
    if policy != COMPACT:
        raise AuditError(
            f"The topic {topic} holds the reports of the audit, and has cleanup.policy={policy}: "
            "reports would be deleted after a while, and everything would be counted again. Set it "
            f"with: ottla topics alter {topic} --config {POLICY}={COMPACT}"
        )


def read_reports(cluster: Cluster, topic: str = TOPIC) -> dict[str, Tier]:
    """All tiers by name; none if the topic does not exist."""
    if not cluster.describe_topics([topic]):
        return {}
    at = TopicPartition(topic, 0)
    start = earliest_offsets(cluster, [at])[at]
    end = latest_offsets(cluster, [at], READ_COMMITTED)[at]
    tiers: dict[str, Tier] = {}
    for fetched in fetch_range(cluster, at, start, end, isolation_level=READ_COMMITTED):
        for position, header in iterate_headers(fetched.data):
            if fetched.is_wanted(header):
                for record in iterate_records(fetched.data, position):
                    _apply(tiers, record, topic)
    return tiers


def _apply(tiers: dict[str, Tier], record: Record, topic: str) -> None:
    try:
        apply_record(tiers, record.key, record.value)
    except UnreadableReport as error:
        log.warning("%s, offset %d is not a report: %s", topic, record.offset, error)


class ReportWriter:
    """The one writer of a tier."""

    def __init__(self, cluster: Cluster, tier: str, topic: str = TOPIC) -> None:
        self._cluster = cluster
        self._topic = topic
        self._id = f"{topic}/{tier}"
        self._identity = init_producer_id(cluster, self._id, TIMEOUT_MS)
        self._producer = BatchProducer(cluster, self._identity, self._id)

    def close(self) -> None:
        self._producer.close()

    def reopen(self) -> None:
        """After a failure. ProducerFenced if another writer has started meanwhile."""
        self._producer.close()
        self._identity = init_producer_id(
            self._cluster, self._id, TIMEOUT_MS, expected=self._identity
        )
        self._producer = BatchProducer(self._cluster, self._identity, self._id)

    def read(self) -> dict[str, Tier]:
        """Waits for open transactions of other tiers: they hide what comes after them."""
        at = TopicPartition(self._topic, 0)
        end = latest_offsets(self._cluster, [at], READ_UNCOMMITTED)[at]
        retries = Retries(f"reading {self._topic}", self._cluster.settings, 2 * TIMEOUT_MS)
        while latest_offsets(self._cluster, [at], READ_COMMITTED)[at] < end:
            retries.pause("a transaction of another tier is open")
        return read_reports(self._cluster, self._topic)

    def write(self, entries: Iterable[Entry]) -> None:
        """ProducerFenced if another writer of the tier has started: then nothing is written."""
        waiting = list(entries)
        if not waiting:
            return
        self._producer.begin_transaction()
        for first in range(0, len(waiting), RECORDS_PER_BATCH):
            part = waiting[first : first + RECORDS_PER_BATCH]
            self._producer.send(TopicPartition(self._topic, 0), _batch(part), len(part))
        self._producer.flush()
        end_transaction(self._cluster, self._id, self._identity, commit=True)


def _batch(entries: list[Entry]) -> bytearray:
    now_ms = time.time_ns() // 1_000_000
    records = [Record(number, now_ms, key, value) for number, (key, value) in enumerate(entries)]
    return build_batch(records, codec=Codec.GZIP, is_transactional=True)
