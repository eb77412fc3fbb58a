"""The decisions topic: one compacted partition with the decisions of all sinks.

Owns      creating the topic, or checking an existing one; reading the states of all sinks; writing
          decisions, and that a decision has been carried out.
Promises  a decision is written completely or not at all, and only by a driver that has not been
          fenced: it is written in a transaction of the driver's id. A driver that reads after
          fencing its predecessors sees all their decisions.
Leaves    what follows from a decision to `plan.py`.
"""

from __future__ import annotations

import logging
import threading
import time

from ottla.base.ids import TopicPartition
from ottla.client.admin.list_offsets import earliest_offsets, latest_offsets
from ottla.client.admin.topics import NewTopic, create_topics, topic_configs
from ottla.client.admin.transactions import ProducerIdentity, end_transaction
from ottla.client.cluster.cluster import Cluster
from ottla.client.errors import KafkaError
from ottla.client.fetching.fetcher import fetch_range
from ottla.client.producing.producer import BatchProducer
from ottla.client.settings import READ_COMMITTED, READ_UNCOMMITTED
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.record import Record
from ottla.spark.process_model import process_globals
from ottla.spark.sink.decision_copy import DecisionCopy
from ottla.spark.sink.decisions import (
    DECISION,
    ENDED,
    CommitDecision,
    DecisionReader,
    encode_decision,
    encode_ended,
    key_of,
)
from ottla.spark.sink.errors import SinkError

log = logging.getLogger("ottla.spark.sink")
_reading = threading.Lock()  # queries of one process have threads of their own, and share its copy

MIB = 1024 * 1024
POLICY, COMPACT = "cleanup.policy", "compact"
CONFIGS = {
    POLICY: COMPACT,
    # Small, so that a start reads little: the active segment is never compacted.
    "segment.bytes": str(4 * MIB),
    "segment.ms": str(24 * 60 * 60 * 1000),
    "min.cleanable.dirty.ratio": "0.1",
    "max.message.bytes": str(16 * MIB),  # thousands of tasks with hundreds of partitions each
}


class DecisionLog:
    def __init__(self, cluster: Cluster, topic: str) -> None:
        self._cluster = cluster
        self._topic = topic
        self._partition = TopicPartition(topic, 0)

    def make_ready(self) -> None:
        """Create it if it does not exist; SinkError if decisions would be deleted from it."""
        if self._cluster.describe_topics([self._topic]):
            self._check_policy()
        else:
            new = NewTopic(self._topic, 1, configs=CONFIGS)
            create_topics(self._cluster, [new], may_exist=True)

    def _check_policy(self) -> None:
        try:
            found = topic_configs(self._cluster, [self._topic])[self._topic]
        except KafkaError as error:
            if error.code != ErrorCode.TOPIC_AUTHORIZATION_FAILED:
                raise
            log.warning("cannot check that %s is compacted: %s", self._topic, error)
        else:
            check_policy(self._topic, found.get(POLICY) or "")

    def read(self) -> DecisionReader:
        """The decisions of all sinks. Continues where this process stopped reading before: a stream
        reads twice for each batch."""
        with _reading:
            return self._read()

    def _read(self) -> DecisionReader:
        # In this order: transactions below the last stable offset have their marker before the end.
        stable = latest_offsets(self._cluster, [self._partition], READ_COMMITTED)[self._partition]
        end = latest_offsets(self._cluster, [self._partition], READ_UNCOMMITTED)[self._partition]
        copy = self._copy(end)
        for fetched in fetch_range(
            self._cluster, self._partition, copy.next_offset, end, isolation_level=READ_UNCOMMITTED
        ):
            copy.add(fetched.data)
        copy.settle(stable, end)
        return copy.reader.copy()

    def _copy(self, end_offset: int) -> DecisionCopy:
        """The copy of this process; a new one if the topic was created again or truncated."""
        topic = self._cluster.describe_topics([self._topic])[self._topic]
        key = ("decisions", self._cluster.settings.bootstrap_servers, self._topic)
        start = earliest_offsets(self._cluster, [self._partition])[self._partition]
        copy: DecisionCopy | None = process_globals.get(key)
        is_same = copy is not None and copy.topic_id == topic.topic_id
        if copy is None or not is_same or not start <= copy.next_offset <= end_offset:
            copy = process_globals[key] = DecisionCopy(topic.topic_id, start)
        return copy

    def write(self, driver_id: str, driver: ProducerIdentity, decision: CommitDecision) -> None:
        """ProducerFenced if another driver has taken over; then there is no decision."""
        batch = _batch({key_of(DECISION, decision.sink): encode_decision(decision)}, True)
        with BatchProducer(self._cluster, driver, driver_id) as producer:
            producer.send(self._partition, batch, 1)
            producer.flush()
        end_transaction(self._cluster, driver_id, driver, commit=True)

    def note_ended(self, decision: CommitDecision) -> None:
        """Saves work at the next start. Needs no fencing, because it names its batch."""
        self._append({key_of(ENDED, decision.sink): encode_ended(decision)})

    def forget(self, sink: str) -> None:
        """Delete the decisions of a sink that will not be used again."""
        self._append({key_of(ENDED, sink): None, key_of(DECISION, sink): None})

    def _append(self, entries: dict[bytes, bytes | None]) -> None:
        with BatchProducer(self._cluster) as producer:
            producer.send(self._partition, _batch(entries, False), len(entries))
            producer.flush()


def check_policy(topic: str, policy: str) -> None:
    """A policy that deletes old segments would delete decisions of queries that run rarely."""
    if policy != COMPACT:
        raise SinkError(
            f"The topic {topic} of the option decisionsTopic has cleanup.policy={policy}: "
            f"decisions would be deleted after a while, and rows would then be written twice. If "
            f"it holds decisions of sinks and nothing else, set it to {COMPACT} (ottla topics "
            f"alter {topic} --config {POLICY}={COMPACT}); if not, name another topic, because "
            f"compaction deletes records."
        )


def _batch(entries: dict[bytes, bytes | None], is_transactional: bool) -> bytearray:
    now_ms = time.time_ns() // 1_000_000
    records = [
        Record(number, now_ms, key, value) for number, (key, value) in enumerate(entries.items())
    ]
    return build_batch(records, codec=Codec.GZIP, is_transactional=is_transactional)
