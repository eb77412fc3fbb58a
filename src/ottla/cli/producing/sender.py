"""Sends records with librdkafka's producer, and knows which of them were acknowledged.

Promises  after every end, the ordinary one, a failure or an interruption, `summary` says how many
          records were acknowledged and which were not.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

from ottla.base.ids import NO_OFFSET, TopicPartition
from ottla.cli.cluster.connection import ClusterConnection, confluent_kafka
from ottla.cli.errors import CommandFailed
from ottla.cli.interruptions import interruptions
from ottla.cli.output.tables import count_text
from ottla.cli.producing.failures import explain
from ottla.cli.producing.input import Numbered
from ottla.cli.records.record import TopicRecord

NEW_TOPIC_MS = 5_000  # how long an automatically created topic may take to appear
MESSAGE_BYTES_MAX = 100_000_000  # of a request to a broker by default; topics have smaller limits
BATCH_BYTES = 1_000_000
POLL_S = 0.2  # how long Ctrl-C waits for a call into librdkafka
DRAIN_S = 5.0  # after an interruption: how long to wait for records in flight
FAILED_SHOWN_MAX = 10
FAILED_KEPT_MAX = 100_000


class Failure(NamedTuple):
    """A record that was not acknowledged."""

    number: int
    topic: str
    partition: int
    size: int
    has_key: bool
    error: Any  # of librdkafka


class RecordSender:
    """A producer, and the outcome of each record that was given to it."""

    def __init__(
        self,
        connection: ClusterConnection,
        *,
        unit: str,
        acks: str,
        compression: str,
        is_short: bool,
        batch_bytes: int | None,
    ) -> None:
        self._connection = connection
        self._unit = unit
        self._acks = acks
        self.producer = connection.producer(
            acks=acks,
            # librdkafka needs half a second to become idempotent: too much for a few records.
            enable_idempotence=acks == "all" and not is_short,
            max_in_flight_requests_per_connection=1 if is_short else 5,  # keeps the order
            compression_type=compression,
            partitioner="murmur2_random",  # as Kafka's own producer: one key, one partition
            message_timeout_ms=max(1, round(connection.timeout_s * 1000)),
            message_max_bytes=MESSAGE_BYTES_MAX,
            # librdkafka would fail every record of a batch that is too large.
            batch_size=max(1, min(BATCH_BYTES, batch_bytes or BATCH_BYTES)),
            topic_metadata_propagation_max_ms=NEW_TOPIC_MS,
            linger_ms=1,
        )
        self.acknowledged: dict[TopicPartition, list[int]] = {}  # count, first and last offset
        self.restarted: set[TopicPartition] = set()  # an offset was not higher than the one before
        self._failures: list[Failure] = []
        self._failed_count = 0
        self._last_sent = 0
        self._sent_count = 0
        self._is_complete = False  # the whole input was sent

    def send_all(self, records: Iterable[Numbered]) -> None:
        """CommandFailed at the first record that is not acknowledged."""
        for number, record in records:
            self._send(number, record)
            if self._failures:
                break
        else:
            self._is_complete = True
        self._drain(self._connection.timeout_s + 5)
        if self._failures:
            raise self._first_failure()
        if self._unknown_count:
            raise self._connection.no_response()

    def stop(self) -> None:
        """Deliver what was sent, as far as that takes little time."""
        self._drain(DRAIN_S)

    def summary(self) -> list[str]:
        """How many records were acknowledged, and which were not."""
        count = self._acknowledged_count
        verb = "sent" if self._acks == "0" else "acknowledged"
        lines = [f"{count_text(count, 'record')} {'was' if count == 1 else 'were'} {verb}"]
        if self._failed_count:
            numbers = sorted(each.number for each in self._failures)
            shown = ", ".join(map(str, numbers[:FAILED_SHOWN_MAX]))
            more = self._failed_count - len(numbers[:FAILED_SHOWN_MAX])
            lines[0] += f"; not {verb}: {self._unit} {shown}" + (
                f" and {more} more" if more else ""
            )
        if unknown := self._unknown_count:
            were = "was" if unknown == 1 else "were"
            lines.append(f"{count_text(unknown, 'record')} {were} sent, but not acknowledged yet")
        return lines

    @property
    def _acknowledged_count(self) -> int:
        return sum(each[0] for each in self.acknowledged.values())

    @property
    def _unknown_count(self) -> int:
        """Records without an answer so far. `len(producer)` also counts other events, such as
        errors."""
        return self._sent_count - self._acknowledged_count - self._failed_count

    def _send(self, number: int, record: TopicRecord) -> None:
        timestamp = {"timestamp": record.timestamp_ms} if record.timestamp_ms >= 0 else {}
        while not self._is_taken(number, record, timestamp):
            self._report_errors()
            if self._failures:
                return

    def _is_taken(self, number: int, record: TopicRecord, timestamp: dict[str, int]) -> bool:
        """Whether librdkafka has taken the record; its queue may be full."""
        # An interruption between a call and its count, or in a callback, would miscount records.
        with interruptions.deferred:
            try:
                self.producer.produce(
                    record.topic,
                    record.value,
                    record.key,
                    record.partition,
                    partial(self._delivered, number),
                    headers=list(record.headers),
                    **timestamp,
                )
            except BufferError:
                self.producer.poll(POLL_S)
                return False
            except confluent_kafka().KafkaException as error:
                self._sent_count += 1
                self._fail(number, record, error.args[0])
                return True
            self._sent_count += 1
            self._last_sent = number
            self.producer.poll(0)
            return True

    def _drain(self, timeout_s: float) -> None:
        deadline_s = time.monotonic() + timeout_s
        while self._flush() and time.monotonic() < deadline_s:
            self._report_errors()

    def _flush(self) -> int:
        """How many records have no answer yet, after waiting for some."""
        with interruptions.deferred:
            return int(self.producer.flush(POLL_S))

    def _report_errors(self) -> None:
        for line in self._connection.new_errors():
            print(f"ottla produce: {line}; retrying", file=sys.stderr, flush=True)

    def _delivered(self, number: int, error: Any, message: Any) -> None:
        if error is not None:
            record = TopicRecord(
                message.value(), message.key(), (), message.topic(), message.partition()
            )
            self._fail(number, record, error)
            return
        partition = TopicPartition(message.topic(), message.partition())
        offset = message.offset() if message.offset() is not None else NO_OFFSET
        seen = self.acknowledged.setdefault(partition, [0, offset, offset])
        if seen[0] and 0 <= offset <= seen[2]:
            self.restarted.add(partition)
        seen[0] += 1
        seen[1] = min(seen[1], offset)
        seen[2] = max(seen[2], offset)

    def _fail(self, number: int, record: TopicRecord, error: Any) -> None:
        self._failed_count += 1
        if len(self._failures) < FAILED_KEPT_MAX:
            size = len(record.value or b"") + len(record.key or b"")
            has_key = record.key is not None
            self._failures.append(
                Failure(number, record.topic, record.partition, size, has_key, error)
            )

    def _first_failure(self) -> CommandFailed:
        # A batch is refused for one of its records: on a compacted topic for one without a key.
        invalid = confluent_kafka().KafkaError.INVALID_RECORD
        failure = min(
            self._failures,
            key=lambda each: (each.has_key and each.error.code() == invalid, each.number),
        )
        message, *advice = explain(self._connection, self.producer, failure)
        where = f"{self._unit} {failure.number}: "
        after = [
            f"the input after {self._unit} {max(self._last_sent, failure.number)} was not sent"
        ]
        return CommandFailed(
            where + message, *self.summary(), *([] if self._is_complete else after), *advice
        )
