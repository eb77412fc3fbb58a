"""A producer of confluent-kafka that counts what was acknowledged: the first tier of an audit.

    with AuditedProducer({"bootstrap.servers": "localhost:9092"}, "checkout") as producer:
        producer.produce("orders", value=b"...", key=b"7")

Owns      counting delivery reports, and reporting the sums to `ottla-audit` as the tier
          `producer.<application>`.
Promises  what is reported was acknowledged by the broker, once each. The sums continue after a
          restart. A report that fails is logged and repeated with the next one: `poll`, `flush` and
          the callbacks of the application are as without the audit.
Limit     a crash undercounts: what was acknowledged since the last report is in no sum, so that
          the log then has more records than the producer counted. An application that writes
          from several processes needs a name for each.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self

import pyarrow as pa

from ottla.base.uuids import uuid_to_text
from ottla.client.cluster.cluster import Cluster
from ottla.client.errors import ProducerFenced
from ottla.client.settings import ClientSettings
from ottla.pipelines.audit.passes import replacing
from ottla.pipelines.audit.report_log import TOPIC, AuditError, ReportWriter, make_topic_ready
from ottla.pipelines.audit.reports import (
    PRODUCER,
    BucketReport,
    Coverage,
    PartitionId,
    Tier,
    with_added,
)
from ottla.pipelines.sums.record_sums import Book, add_to, fold_arrow

log = logging.getLogger("ottla.pipelines.audit")

FOLD_AFTER = 10_000  # delivery reports
REPORT_EVERY_S = 60.0
HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
SCHEMA = pa.schema(
    [
        ("offset", pa.int64()),
        ("timestamp", pa.int64()),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", HEADERS),
    ]
)

Delivered = Callable[[Any, Any], None]


class AuditedProducer:
    """Has `produce`, `poll`, `flush` and `close`; other methods are those of the producer."""

    def __init__(
        self, config: Mapping[str, Any], application: str, *, report_topic: str = TOPIC
    ) -> None:
        from confluent_kafka import Producer

        if config.get("transactional.id"):
            raise AuditError(
                "a transactional producer cannot be audited: its acknowledged records may still be "
                "aborted. Compare with the tier broker instead, which counts committed ones"
            )
        self._producer = Producer(dict(config))
        self._cluster = Cluster(ClientSettings(str(config["bootstrap.servers"])))
        make_topic_ready(self._cluster, report_topic)
        name = f"{PRODUCER}.{application}"
        self._writer = ReportWriter(self._cluster, name, report_topic)
        self._tier = self._writer.read().get(name) or Tier(name, PRODUCER, application)
        self._tier.kind, self._tier.source = PRODUCER, application
        self._waiting: dict[tuple[str, int], list[dict[str, Any]]] = {}
        self._count = 0
        self._ids: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._book: Book = {}
        self._report_at_s = time.monotonic() + REPORT_EVERY_S
        self._is_broken = False  # a report failed: the writer has to be opened again
        self._is_fenced = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._producer, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def produce(self, topic: str, *arguments: Any, **named: Any) -> None:
        """As that of confluent-kafka."""
        then = named.pop("on_delivery", None) or named.pop("callback", None)
        counting = self._counting(then, header_rows(named.get("headers")))
        self._producer.produce(topic, *arguments, **named, on_delivery=counting)

    def poll(self, timeout: float = 0) -> int:
        served = int(self._producer.poll(timeout))
        if time.monotonic() >= self._report_at_s:
            self._try_report()
        return served

    def flush(self, timeout: float = -1) -> int:
        """As that of confluent-kafka. Also writes a report."""
        left = int(self._producer.flush(timeout))
        self._try_report()
        return left

    def close(self) -> None:
        self.flush()
        self._writer.close()
        self._cluster.close()

    def _counting(self, then: Delivered | None, headers: list[dict[str, Any]]) -> Delivered:
        def delivered(error: Any, message: Any) -> None:
            try:
                if error is None:
                    self._note(message, headers)
            except Exception:
                log.exception("an acknowledged record could not be counted for the audit")
            finally:
                if then is not None:
                    then(error, message)

        return delivered

    def _note(self, message: Any, headers: list[dict[str, Any]]) -> None:
        row = {
            "offset": message.offset(),
            "timestamp": message.timestamp()[1],
            "key": message.key(),
            "value": message.value(),
            "headers": headers,
        }
        self._waiting.setdefault((message.topic(), message.partition()), []).append(row)
        self._count += 1
        if self._count >= FOLD_AFTER:
            self._fold()

    def _fold(self) -> None:
        """What was added up waits no longer, so that a fold that fails in the middle may be
        repeated, after as many records again."""
        self._count = 0
        for topic, partition in list(self._waiting):
            batch = pa.RecordBatch.from_pylist(self._waiting[topic, partition], schema=SCHEMA)
            found = fold_arrow(batch, topic_id=self._id_of(topic), partition=partition)
            add_to(self._book, found)
            del self._waiting[topic, partition]

    def _id_of(self, topic: str) -> str:
        if topic not in self._ids:
            described = self._cluster.describe_topics([topic])[topic]
            self._ids[topic] = uuid_to_text(described.topic_id)
            self._names[self._ids[topic]] = topic
        return self._ids[topic]

    def report(self) -> None:
        """Write what was acknowledged so far. A report is one transaction."""
        self._report_at_s = time.monotonic() + REPORT_EVERY_S
        self._fold()
        if self._is_broken:
            self._writer.reopen()
            self._is_broken = False
        after = with_book(self._tier, self._book, self._names, time.time_ns() // 1_000_000)
        try:
            self._writer.write(replacing(self._tier, after))
        except Exception:
            self._is_broken = True
            raise
        self._tier, self._book = after, {}

    def _try_report(self) -> None:
        """The totals are kept, and the next report has them."""
        if self._is_fenced:
            return
        try:
            self.report()
        except ProducerFenced:
            self._is_fenced = True
            log.error(
                "%s: another process reports under this name, and this one no longer does: give "
                "each a name of its own", self._tier.name,
            )  # fmt: skip
        except Exception as error:
            log.warning("%s: a report failed, and is repeated: %s", self._tier.name, error)


def header_rows(given: Any) -> list[dict[str, Any]]:
    """As `produce` takes them: delivery reports have none."""
    pairs = given.items() if isinstance(given, Mapping) else given or ()
    return [
        {"key": key, "value": value.encode() if isinstance(value, str) else value}
        for key, value in pairs
    ]


def with_book(tier: Tier, book: Book, names: Mapping[str, str], now_ms: int) -> Tier:
    """The tier after these records."""
    buckets = dict(tier.buckets)
    coverage = dict(tier.coverage)
    for key, sums in book.items():
        known = buckets.get(key)
        total = sums if known is None or known.sums is None else known.sums.merged(sums)
        buckets[key] = BucketReport(total, changed_ms=now_ms)
        partition_id = PartitionId(key.topic_id, key.partition)
        before = coverage.get(partition_id) or Coverage(
            names[key.topic_id], sums.first_offset, sums.first_offset, now_ms
        )
        coverage[partition_id] = replace(
            before,
            start=min(before.start, sums.first_offset),
            covers=max(before.covers, sums.last_offset + 1),
        )
    coverage = {
        partition_id: replace(each, at_ms=now_ms, caught_up_ms=now_ms)
        for partition_id, each in coverage.items()
    }
    return Tier(tier.name, tier.kind, tier.source, with_added(coverage, book), buckets, tier.counts)
