"""The decisions topic: one compacted partition in which every sink writes what it has decided.

Owns      creating the topic, reading the states of all sinks, writing decisions and their ends.
Promises  a decision is there as a whole or not at all, and only while its driver has not been
          fenced: it is written in a transaction of the driver's id. Reading after fencing
          sees every decision that predecessors ever wrote.
Leaves    what decisions mean to `plan.py`.

A driver that dies while it decides leaves a transaction open in a partition that all sinks share.
Readers therefore do not stop at the last stable offset, but read on and take the markers into
account themselves: another sink's open transaction must not hide what came after it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

from ottla.base.ids import TopicPartition
from ottla.client.admin import NewTopic, create_topics
from ottla.client.cluster import Cluster
from ottla.client.fetching import fetch_range
from ottla.client.offsets import earliest_offsets, latest_offsets
from ottla.client.producing import BatchProducer
from ottla.client.settings import READ_COMMITTED, READ_UNCOMMITTED
from ottla.client.transactions import ProducerIdentity, end_transaction
from ottla.protocol.records.batch import BatchHeader, Buffer, iterate_headers
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.control import read_end_marker
from ottla.protocol.records.reading import iterate_records
from ottla.protocol.records.record import Record
from ottla.spark.sink.decisions import (
    DECISION,
    ENDED,
    Decision,
    DecisionReader,
    encode_decision,
    encode_ended,
    key_of,
)

MIB = 1024 * 1024
CONFIGS = {
    "cleanup.policy": "compact",
    # Small, so that little is read at a start: the last segment is never compacted.
    "segment.bytes": str(4 * MIB),
    "segment.ms": str(24 * 60 * 60 * 1000),
    "min.cleanable.dirty.ratio": "0.1",
    "max.message.bytes": str(16 * MIB),  # thousands of tasks with hundreds of partitions each
}


class Entry(NamedTuple):
    offset: int
    key: bytes | None
    value: bytes | None


class DecisionLog:
    def __init__(self, cluster: Cluster, topic: str) -> None:
        self._cluster = cluster
        self._topic = topic
        self._partition = TopicPartition(topic, 0)

    def create_if_missing(self) -> None:
        if self._cluster.describe_topics([self._topic]):
            return
        new = NewTopic(self._topic, 1, configs=CONFIGS)
        create_topics(self._cluster, [new], may_exist=True)

    def read(self) -> DecisionReader:
        committed = Committed()
        start = earliest_offsets(self._cluster, [self._partition])[self._partition]
        end = latest_offsets(self._cluster, [self._partition], READ_UNCOMMITTED)[self._partition]
        for fetched in fetch_range(
            self._cluster, self._partition, start, end, isolation_level=READ_UNCOMMITTED
        ):
            committed.add(fetched.data)
        stable = latest_offsets(self._cluster, [self._partition], READ_COMMITTED)[self._partition]
        reader = DecisionReader()
        for entry in committed.entries(stable):
            reader.apply(entry.key, entry.value)
        return reader

    def write(self, driver_id: str, driver: ProducerIdentity, decision: Decision) -> None:
        """ProducerFenced if another driver has taken over; nothing is decided then."""
        batch = _batch({key_of(DECISION, decision.sink): encode_decision(decision)}, True)
        with BatchProducer(self._cluster, driver, driver_id) as producer:
            producer.send(self._partition, batch, 1)
            producer.flush()
        end_transaction(self._cluster, driver_id, driver, commit=True)

    def note_ended(self, decision: Decision) -> None:
        """Only spares the next start work. Needs no fence: it names its batch."""
        self._append({key_of(ENDED, decision.sink): encode_ended(decision)})

    def forget(self, sink: str) -> None:
        """Nobody will ask for it again."""
        self._append({key_of(ENDED, sink): None, key_of(DECISION, sink): None})

    def _append(self, entries: dict[bytes, bytes | None]) -> None:
        with BatchProducer(self._cluster) as producer:
            producer.send(self._partition, _batch(entries, False), len(entries))
            producer.flush()


def _batch(entries: dict[bytes, bytes | None], is_transactional: bool) -> bytearray:
    now_ms = time.time_ns() // 1_000_000
    records = [
        Record(number, now_ms, key, value) for number, (key, value) in enumerate(entries.items())
    ]
    return build_batch(records, codec=Codec.GZIP, is_transactional=is_transactional)


class Committed:
    """Records of a log in which transactions are open, ended, or aborted."""

    def __init__(self) -> None:
        self._committed: list[Entry] = []
        self._open: dict[int, list[Entry]] = {}  # by producer id

    def add(self, data: Buffer) -> None:
        for position, header in iterate_headers(data):
            if header.is_control:
                self._end(data, position, header)
            elif header.is_transactional:
                self._open.setdefault(header.producer_id, []).extend(_entries(data, position))
            else:
                self._committed.extend(_entries(data, position))

    def _end(self, data: Buffer, position: int, header: BatchHeader) -> None:
        marker = read_end_marker(data, position)
        ended = self._open.pop(header.producer_id, [])
        if marker is not None and marker.is_commit:
            self._committed.extend(ended)

    def entries(self, stable_offset: int) -> list[Entry]:
        """In the order of the log. What lies before the last stable offset and has no marker any
        more was committed: compaction takes aborted records away before their markers."""
        unmarked = [
            entry for each in self._open.values() for entry in each if entry.offset < stable_offset
        ]
        return sorted([*self._committed, *unmarked], key=lambda entry: entry.offset)


def _entries(data: Buffer, position: int) -> Iterator[Entry]:
    for record in iterate_records(data, position):
        yield Entry(record.offset, record.key, record.value)
