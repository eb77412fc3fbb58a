"""One task attempt: writes its rows in a transaction of its own, and leaves it open.

Owns      the attempt's transactional id, its producer, and the offsets of what it wrote.
Promises  when `write` returns, all in-sync replicas have every row and readers of committed records
          see none; when it raises, its transaction was aborted if a broker could be reached. An
          attempt never ends the transaction of another attempt that has written, and an attempt
          that begins after its write has ended leaves no transaction open.
Leaves    committing to the driver, partitions of rows to `row_partitioning.py`.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from ottla.base.fault_points import SinkPoint, reach
from ottla.base.ids import TopicPartition
from ottla.client.admin.transactions import (
    ProducerIdentity,
    describe_transactions,
    end_transaction,
    init_producer_id,
)
from ottla.client.cluster.cluster import Cluster
from ottla.client.cluster.retries import Retries
from ottla.client.errors import ClientError, GaveUp
from ottla.client.producing.partition_window import Acknowledged
from ottla.client.producing.producer import BatchProducer
from ottla.protocol.records.arrow_building import build_arrow_batches
from ottla.protocol.records.column_building import ColumnBatchSettings
from ottla.spark.options.sink_options import DECISIONS_ONLY
from ottla.spark.sink.broker_errors import explained
from ottla.spark.sink.decisions import TaskTransaction, Written
from ottla.spark.sink.errors import InvalidRows, SinkError, SinkTakenOver
from ottla.spark.sink.messages import Started
from ottla.spark.sink.names import driver_id, task_id
from ottla.spark.sink.row_partitioning import PartitionRows, Splitter, gather
from ottla.spark.sink.setup import SinkSetup

ROUNDS_MAX = 100
NEW_TOPIC_MS = 2000
ONGOING = "Ongoing"


@dataclass(frozen=True)
class TaskAttempt:
    """One attempt of one task of Spark; `partition` is the number of the task."""

    partition: int
    attempt: int


class TaskWriter:
    """Writes the rows of one attempt. `started` is None with at-least-once."""

    def __init__(self, setup: SinkSetup, started: Started | None, attempt: TaskAttempt) -> None:
        self._setup = setup
        self._started = started
        self._attempt = attempt
        self._cluster = Cluster(setup.settings)
        self._splitter = Splitter(
            setup.columns,
            self._partitions_of,
            run_bytes=setup.producer.batch_bytes * 9 // 10,  # records are larger than rows
            first_turn=attempt.partition,
        )
        self._counts: dict[str, int] = {}
        self._id: str | None = None
        self._identity: ProducerIdentity | None = None
        self._producer: BatchProducer | None = None
        self._is_in_time = started is None
        self.rows = 0

    def write(self, batches: Iterable[pa.RecordBatch]) -> TaskTransaction | None:
        """None if there were no rows, or with at-least-once."""
        try:
            with self._cluster:
                return self._write(batches)
        except ClientError as error:
            raise explained(error) from error

    def _write(self, batches: Iterable[pa.RecordBatch]) -> TaskTransaction | None:
        try:
            for chunk in gather(batches, self._setup.options.chunk_bytes):
                self._write_chunk(chunk)
            if self._producer is None:
                return None
            acknowledged = self._producer.flush()
            self._check_in_time(self._producer)
            self._producer.close()
        except BaseException:
            self._give_up()
            raise
        reach(SinkPoint.WRITTEN)
        return self._transaction(acknowledged)

    def _write_chunk(self, chunk: pa.RecordBatch) -> None:
        parts = list(self._splitter.split(chunk))
        producer = self._begin()
        for part in parts:
            self._send(producer, part)
            self._check_in_time(producer)
        self.rows += chunk.num_rows
        reach(SinkPoint.WRITING)

    def _send(self, producer: BatchProducer, part: PartitionRows) -> None:
        now_ms = time.time_ns() // 1_000_000
        try:
            settings = self._batch_settings(producer.next_sequence(part.partition))
            for built in build_arrow_batches(part.rows, settings, now_ms=now_ms):
                producer.send(part.partition, built.batch, built.end_row - built.first_row)
        except ValueError as error:
            raise InvalidRows(
                f"A row for {part.partition} cannot become a record: {error}. Headers need keys, "
                f"and a record must stay below 2 GiB."
            ) from error

    def _batch_settings(self, sequence: int) -> ColumnBatchSettings:
        producer = self._setup.producer
        assert self._identity is not None
        return ColumnBatchSettings(
            bytes_max=producer.batch_bytes,
            codec=producer.codec,
            level=producer.level,
            producer_id=self._identity.producer_id,
            producer_epoch=self._identity.epoch,
            base_sequence=sequence,
            is_transactional=self._id is not None,
        )

    # The transaction

    def _begin(self) -> BatchProducer:
        if self._producer is None:
            timeout_ms = self._setup.producer.transaction_timeout_ms
            if self._started is not None:
                self._id = self._free_id(self._started.sink)
                # a late attempt would take over the id of a valid one
                self._check_driver(self._started)
            self._identity = init_producer_id(self._cluster, self._id, timeout_ms)
            self._producer = BatchProducer(self._cluster, self._identity, self._id)
        return self._producer

    def _free_id(self, sink: str) -> str:
        """Spark restarts the attempt numbers when a stage is retried, without passing that to
        Python: an id with an open transaction belongs to another attempt, whose rows may be
        committed."""
        for round_number in range(ROUNDS_MAX):
            found = task_id(sink, self._attempt.partition, round_number, self._attempt.attempt)
            described = describe_transactions(self._cluster, [found]).get(found)
            if described is None or described.state != ONGOING:
                return found
        raise SinkError(f"All {ROUNDS_MAX} transactional ids like {found} are in use.")

    def _check_in_time(self, producer: BatchProducer) -> None:
        """Once, as soon as the transaction is open. Spark may have given up the whole write since
        this attempt began. The driver ends a write by initialising its id again, and then aborts
        open transactions: so either it finds this transaction, or this finds its id changed."""
        if self._is_in_time or self._started is None or not producer.has_begun:
            return
        self._check_driver(self._started)
        self._is_in_time = True

    def _check_driver(self, started: Started) -> None:
        own_id = driver_id(started.sink)
        described = describe_transactions(self._cluster, [own_id]).get(own_id)
        if described is None or described.identity != started.driver:
            raise SinkTakenOver(
                f"The write of this attempt has ended, or another driver now writes under the sink "
                f"name {started.sink}: the rows of this attempt are discarded."
            )

    def _give_up(self) -> None:
        """An open transaction would hold back readers of the topic until its timeout."""
        if self._producer is not None:
            with contextlib.suppress(ClientError, OSError):
                self._producer.close()
        if self._id is not None and self._identity is not None:
            with contextlib.suppress(ClientError, OSError):
                end_transaction(self._cluster, self._id, self._identity, commit=False)

    def _transaction(
        self, acknowledged: Mapping[TopicPartition, Acknowledged]
    ) -> TaskTransaction | None:
        if self._id is None:
            return None
        assert self._identity is not None
        written = tuple(_written(*each) for each in acknowledged.items())
        return TaskTransaction(self._id, *self._identity, written)

    # The topics

    def _partitions_of(self, topic: str) -> int:
        if topic not in self._counts:
            if self._setup.options.holds_decisions(topic):
                raise InvalidRows(f"A row names the topic {topic}: {DECISIONS_ONLY}")
            self._counts[topic] = self._count_partitions(topic)
        return self._counts[topic]

    def _count_partitions(self, topic: str) -> int:
        """A topic that was created a moment ago may not be known to every broker yet.

        Brokers that create topics for producers create them here too.
        """
        missing = SinkError(
            f"The topic {topic} does not exist: create it, or change the option or the column "
            f"topic."
        )
        retries = Retries(f"looking for {topic}", self._setup.settings, NEW_TOPIC_MS)
        while True:
            found = self._cluster.describe_topics([topic], may_create=True).get(topic)
            if found is not None:
                return len(found.partitions)
            try:
                retries.pause(str(missing))
            except GaveUp:
                raise missing from None


def _written(partition: TopicPartition, acknowledged: Acknowledged) -> Written:
    return Written.of(*partition, acknowledged.records, acknowledged.ranges)
