"""A consumer that reads partitions, each up to its end if it has one.

Promises  offsets of a group are committed only after `mark_processed`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from ottla.base.ids import TopicPartition
from ottla.cli.cluster.connection import Connection, confluent_kafka
from ottla.cli.consuming.tail import Ranges
from ottla.cli.errors import CommandFailed
from ottla.cli.records.record import Record

BATCH_RECORDS = 1000
CHECK_TOPICS_S = 5.0  # while no records arrive
WAIT_S = 0.5  # the longest delay of Ctrl-C by a call into librdkafka


class RecordReader:
    """A consumer, the partitions it still reads, and where they end."""

    def __init__(
        self, connection: Connection, consumer: Any, topics: Iterable[str], *, is_group: bool
    ) -> None:
        self._connection = connection
        self._consumer = consumer
        self._topics = set(topics)
        self._topics_checked_s = time.monotonic()
        self._next_offsets: dict[TopicPartition, int] = {}
        self._is_group = is_group
        self.stops_at_end = False
        self._ends: dict[TopicPartition, int] = {}  # one past the last offset to show
        self._open: set[TopicPartition] = set()
        self._has_begun = False  # partitions are known

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._consumer.close()

    def begin(self, starts: dict[TopicPartition, int], ends: dict[TopicPartition, int]) -> None:
        """Read from these offsets on; partitions that are already at their end are left out."""
        library = confluent_kafka()
        self._ends = ends
        self._open = {
            partition
            for partition, offset in starts.items()
            if not 0 <= ends.get(partition, -1) <= offset
        }
        partitions = [
            library.TopicPartition(*partition, starts[partition])
            for partition in sorted(self._open)
        ]
        self._consumer.assign(partitions)
        if self._has_begun:
            # A paused partition stays paused when it is assigned again.
            self._consumer.resume(partitions)
        self._has_begun = True

    def read_ranges(self, ranges: Ranges) -> Iterator[list[Record]]:
        """The records of these ranges, independent of what was read before."""
        starts = {partition: start for partition, (start, _) in ranges.items()}
        ends = {partition: end for partition, (_, end) in ranges.items() if end is not None}
        self.begin(starts, ends)
        return self.batches()

    def follow(self, ends: Mapping[TopicPartition, tuple[int, int]]) -> Iterator[list[Record]]:
        """What comes after the records that were read; `ends` is for partitions without any."""
        self.stops_at_end = False
        starts = {each: self._next_offsets.get(each, end) for each, (_, end) in ends.items()}
        self.begin(starts, {})
        return self.batches()

    def assigned(self, _consumer: Any, partitions: list[Any]) -> None:
        self._open |= {TopicPartition(each.topic, each.partition) for each in partitions}
        self._has_begun = True
        if not self._open:
            print(
                "ottla consume: other members of the group read all partitions; waiting",
                file=sys.stderr,
                flush=True,
            )

    def revoked(self, _consumer: Any, partitions: list[Any]) -> None:
        self._open -= {TopicPartition(each.topic, each.partition) for each in partitions}

    def batches(self) -> Iterator[list[Record]]:
        while self._open or not self._has_begun or not self._can_end:
            first = self._consumer.poll(WAIT_S)
            if first is None:
                self._report_errors()
                self._check_topics()
                continue
            messages = [first, *self._consumer.consume(BATCH_RECORDS - 1, 0)]
            records = [record for each in messages if (record := self._take(each)) is not None]
            if records:
                yield records

    def _report_errors(self) -> None:
        """Say why no records arrive."""
        for line in self._connection.new_errors():
            print(f"ottla consume: {line}; retrying", file=sys.stderr, flush=True)

    def _check_topics(self) -> None:
        """librdkafka waits for a deleted topic to appear again, and does not say so."""
        if time.monotonic() < self._topics_checked_s + CHECK_TOPICS_S:
            return
        self._topics_checked_s = time.monotonic()
        try:
            existing = self._consumer.list_topics(timeout=WAIT_S).topics
        except confluent_kafka().KafkaException:
            return  # no broker responds, which is reported by itself
        deleted = sorted(self._topics - set(existing))
        self._topics &= set(existing)
        if not self._topics:
            raise CommandFailed(f"topic {', '.join(deleted)} was deleted")
        for topic in deleted:
            print(f"ottla consume: topic {topic} was deleted", file=sys.stderr, flush=True)

    @property
    def _can_end(self) -> bool:
        return self.stops_at_end or bool(self._ends)

    def _take(self, message: Any) -> Record | None:
        """The record; None if it is after the end, or an event instead of a record."""
        partition = TopicPartition(message.topic(), message.partition())
        if message.error() is not None:
            self._note_end(message, partition)
            self._event(message.error(), partition)
            return None
        self._note_offset(partition, message.offset() + 1)
        end = self._ends.get(partition)
        if end is not None and message.offset() >= end - 1:
            self._close(partition)
        return None if end is not None and message.offset() >= end else as_record(message)

    def _note_end(self, message: Any, partition: TopicPartition) -> None:
        if message.error().code() == confluent_kafka().KafkaError._PARTITION_EOF:
            self._note_offset(partition, message.offset())

    def _note_offset(self, partition: TopicPartition, next_offset: int) -> None:
        self._next_offsets[partition] = max(self._next_offsets.get(partition, 0), next_offset)

    def _close(self, partition: TopicPartition) -> None:
        self._open.discard(partition)
        if not self._is_group:
            self._consumer.pause([confluent_kafka().TopicPartition(*partition)])

    def _event(self, error: Any, partition: TopicPartition) -> None:
        library = confluent_kafka().KafkaError
        if error.code() == library._PARTITION_EOF:
            if self.stops_at_end:
                self._close(partition)
        elif error.code() == library._AUTO_OFFSET_RESET:
            raise CommandFailed(
                f"partition {partition.partition} of {partition.topic}: {error.str()}",
                f"see: ottla topics describe {partition.topic}",
            )
        elif (
            error.code() == library._MAX_POLL_EXCEEDED
            or error.fatal()
            or error.code()
            in (
                library.TOPIC_AUTHORIZATION_FAILED,
                library.GROUP_AUTHORIZATION_FAILED,
            )
        ):
            raise CommandFailed(error.str())

    def mark_processed(self, records: list[Record]) -> None:
        """Allow the offsets of these records to be committed."""
        if not self._is_group or not records:
            return
        library = confluent_kafka()
        last = {TopicPartition(each.topic, each.partition): each.offset + 1 for each in records}
        self._consumer.store_offsets(
            offsets=[
                library.TopicPartition(*partition, offset) for partition, offset in last.items()
            ]
        )

    def ends(self, record: Record) -> tuple[int, int]:
        """Start and end offset of the record's partition, as of the last fetch."""
        partition = confluent_kafka().TopicPartition(record.topic, record.partition)
        start, end = self._consumer.get_watermark_offsets(partition, cached=True)
        return start, end


def as_record(message: Any) -> Record:
    _kind, timestamp_ms = message.timestamp()
    epoch = message.leader_epoch()
    return Record(
        message.value(),
        message.key(),
        tuple(message.headers() or ()),
        message.topic(),
        message.partition(),
        message.offset(),
        timestamp_ms,
        -1 if epoch is None else epoch,
    )
