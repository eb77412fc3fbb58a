"""A consumer that reads partitions, each up to its end if it has one.

Promises  offsets of a group are committed only after `mark_processed`;
          a read with an end does not depend on an event that librdkafka may lose (`stalls.py`).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from threading import Thread
from typing import Any, Self

from ottla.base.ids import TopicPartition
from ottla.cli.cluster.connection import ClusterConnection, confluent_kafka
from ottla.cli.cluster.leaders import SEE_STATUS, leaderless, partition_names
from ottla.cli.cluster.partition_offsets import latest_offsets
from ottla.cli.consuming.selection import Selection
from ottla.cli.consuming.stalls import StallTimer
from ottla.cli.consuming.tail import Ranges
from ottla.cli.errors import CommandFailed
from ottla.cli.records.record import TopicRecord

BATCH_RECORDS = 1000
CHECK_TOPICS_S = 5.0
WAIT_S = 0.5  # the longest delay of Ctrl-C by a call into librdkafka


class RecordReader:
    """A consumer, the partitions it still reads, and where they end."""

    def __init__(
        self,
        connection: ClusterConnection,
        consumer: Any,
        selection: Selection,
        topics: Iterable[str],
        *,
        is_group: bool,
    ) -> None:
        self._connection = connection
        self._consumer = consumer
        self._selection = selection
        self._topics = set(topics)
        self._topics_checked_s = time.monotonic()
        self._stall_timer = StallTimer(time.monotonic())
        self._join_report_s = time.monotonic() + connection.timeout_s
        self._is_group = is_group
        self.stops_at_end = False
        self._ends: dict[TopicPartition, int] = {}  # one past the last offset to show
        self._open: set[TopicPartition] = set()
        self._positions: dict[TopicPartition, int] = {}  # the next offsets, of all partitions
        self._has_begun = False  # partitions are known
        self._leaderless: set[TopicPartition] = set()  # and reported

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        # librdkafka waits without a limit to commit and to leave the group. The thread is a daemon,
        # so that the process can end while it waits.
        closing = Thread(target=self._consumer.close, daemon=True)
        closing.start()
        closing.join(self._connection.timeout_s)
        if closing.is_alive() and self._is_group:
            report("no broker responds: the group was not left, and the last records that were "
                   "printed may not be committed")  # fmt: skip

    # What to read

    def subscribe(self) -> None:
        """Join the group for the topics."""
        self._consumer.subscribe(
            sorted(self._topics), on_assign=self.assigned, on_revoke=self.revoked
        )

    def assigned(self, _consumer: Any, partitions: list[Any]) -> None:
        added = {TopicPartition(each.topic, each.partition) for each in partitions}
        self._open |= added
        self._has_begun = True
        if self.stops_at_end:
            self._ends |= self._latest_offsets(added)
        if not self._open:
            report("other members of the group read all partitions; waiting")

    def revoked(self, _consumer: Any, partitions: list[Any]) -> None:
        self._open -= {TopicPartition(each.topic, each.partition) for each in partitions}

    def begin(self, starts: Mapping[TopicPartition, int], ends: dict[TopicPartition, int]) -> None:
        """Read from these offsets on; partitions that are already at their end are left out."""
        self._ends = ends
        self._positions = dict(starts)
        self._open = {
            partition
            for partition, offset in starts.items()
            if not 0 <= ends.get(partition, -1) <= offset
        }
        self._consumer.assign(self._at_positions(self._open))
        self._stall_timer.progressed(time.monotonic())
        self._has_begun = True

    def _at_positions(self, partitions: Iterable[TopicPartition]) -> list[Any]:
        library = confluent_kafka()
        return [
            library.TopicPartition(*each, self._positions.get(each, library.OFFSET_INVALID))
            for each in sorted(partitions)
        ]

    def _close(self, partition: TopicPartition) -> None:
        """Stop fetching it. A group keeps it, because other members would be given it."""
        if partition not in self._open:
            return
        self._open.remove(partition)
        if not self._is_group:
            # A pause would have to be undone by `resume`, and that races with the next `assign`:
            # the partition may then never start. All of an assignment is done by one thread.
            self._consumer.incremental_unassign(self._at_positions([partition]))

    def read_ranges(self, ranges: Ranges) -> Iterator[list[TopicRecord]]:
        """The records of these ranges, independent of what was read before."""
        starts = {partition: start for partition, (start, _) in ranges.items()}
        ends = {partition: end for partition, (_, end) in ranges.items()}
        self.begin(starts, ends)
        return self.batches()

    def follow(self, starts: Mapping[TopicPartition, int]) -> Iterator[list[TopicRecord]]:
        """All records from these offsets on."""
        self.stops_at_end = False
        self.begin(starts, {})
        return self.batches()

    # Reading

    def batches(self) -> Iterator[list[TopicRecord]]:
        """The records that arrive; an empty list about every `WAIT_S` without any, so that the
        caller can stop.
        """
        while self._open or not self._has_begun or not self._can_end:
            first = self._consumer.poll(WAIT_S)
            self._check_topics()
            if first is None:
                self._report_errors()
                self._check_joined()
                self._check_progress()
                yield []
                continue
            self._stall_timer.progressed(time.monotonic())
            messages = [first, *self._consumer.consume(BATCH_RECORDS - 1, 0)]
            records = [record for each in messages if (record := self._take(each)) is not None]
            if records:
                yield records

    @property
    def _can_end(self) -> bool:
        return self.stops_at_end or bool(self._ends)

    def _take(self, message: Any) -> TopicRecord | None:
        """The record; None if it is after the end, or an event instead of a record."""
        partition = TopicPartition(message.topic(), message.partition())
        if message.error() is not None:
            self._event(message, partition)
            return None
        self._positions[partition] = message.offset() + 1
        end = self._ends.get(partition)
        if end is not None and message.offset() >= end - 1:
            self._close(partition)
        return None if end is not None and message.offset() >= end else as_record(message)

    def _event(self, message: Any, partition: TopicPartition) -> None:
        library = confluent_kafka().KafkaError
        error = message.error()
        if error.code() == library._PARTITION_EOF:
            self._positions[partition] = message.offset()
            if self.stops_at_end:
                self._close(partition)
        elif error.code() == library._AUTO_OFFSET_RESET:
            raise self._out_of_range(partition)
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

    def _out_of_range(self, partition: TopicPartition) -> CommandFailed:
        offset = self._positions.get(partition, -1)
        next_record = f"offset {offset}" if offset >= 0 else "the next offset"
        return CommandFailed(
            f"partition {partition.partition} of {partition.topic} no longer has {next_record}: "
            "its records were deleted, or the topic was deleted and created again",
            f"see: ottla topics describe {partition.topic}",
        )

    # Checks while nothing arrives, and from time to time

    def _report_errors(self) -> None:
        """Say why no records arrive."""
        for line in self._connection.new_errors():
            report(f"{line}; retrying")

    def _check_joined(self) -> None:
        """librdkafka does not say that it waits for the coordinator, or for other members."""
        if self._has_begun or time.monotonic() < self._join_report_s:
            return
        self._join_report_s = float("inf")
        report(
            f"the group was not joined within {self._connection.timeout_s:g} s; waiting for its "
            "coordinator\n  see: ottla status, and the log of the broker"
        )

    def _check_progress(self) -> None:
        """Read partitions again from which nothing arrives although they have more offsets."""
        if self._is_group or not self._stall_timer.is_due(time.monotonic()):
            return
        stalled = {
            partition: end
            for partition, latest in self._latest_offsets(self._open).items()
            if self._positions[partition] < (end := min(latest, self._ends.get(partition, latest)))
        }
        for (topic, number), end in sorted(stalled.items()):
            report(f"no records arrive from partition {number} of {topic}, "
                   f"which has offsets up to {end - 1}; reading it again")  # fmt: skip
        if stalled:
            again = self._at_positions(stalled)
            self._consumer.incremental_unassign(again)
            self._consumer.incremental_assign(again)

    def _latest_offsets(self, partitions: set[TopicPartition]) -> dict[TopicPartition, int]:
        """Nothing if a leader does not respond within a second."""
        try:
            return latest_offsets(self._consumer, partitions, timeout_s=2 * WAIT_S)
        except (confluent_kafka().KafkaException, CommandFailed):
            return {}

    def _check_topics(self) -> None:
        """librdkafka waits for a deleted topic to appear again, without an error."""
        if time.monotonic() < self._topics_checked_s + CHECK_TOPICS_S:
            return
        try:
            existing = self._consumer.list_topics(timeout=WAIT_S).topics
        except confluent_kafka().KafkaException:
            existing = None  # no broker responds, which is reported by itself
        self._topics_checked_s = time.monotonic()
        if existing is None:
            return
        deleted = sorted(self._topics - set(existing))
        self._topics -= set(deleted)
        if not self._topics:
            raise CommandFailed(f"topic {', '.join(deleted)} was deleted")
        for topic in deleted:
            report(f"topic {topic} was deleted")
        self._forget(deleted)
        self.report_leaderless(existing)
        if not self._can_end:
            self._add_new(existing)

    def report_leaderless(self, existing: Mapping[str, Any]) -> None:
        """Report each partition without a leader, once."""
        found = leaderless(self._selection.current_partitions(existing), existing)
        if new := [each for each in found if each not in self._leaderless]:
            report(f"waiting for a leader of {partition_names(new)}; {SEE_STATUS}")
        self._leaderless = set(found)

    def _forget(self, topics: list[str]) -> None:
        for partition in [each for each in self._positions if each.topic in topics]:
            self._close(partition)
            del self._positions[partition]

    def _add_new(self, existing: Mapping[str, Any]) -> None:
        """Also read topics and partitions that were created meanwhile."""
        topics = set(self._selection.current_topics(existing)) - self._topics
        self._topics |= topics
        if self._is_group:
            if topics:
                self.subscribe()
            return
        added = set(self._selection.current_partitions(existing)) - self._positions.keys()
        if not added:
            return
        for topic, number in sorted(added):
            report(f"also reading partition {number} of {topic}, which is new")
        # All of its records were written after the command was started.
        self._positions |= dict.fromkeys(added, confluent_kafka().OFFSET_BEGINNING)
        self._open |= added
        self._consumer.incremental_assign(self._at_positions(added))

    # Results

    def mark_processed(self, records: list[TopicRecord]) -> None:
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

    def ends(self, record: TopicRecord) -> tuple[int, int]:
        """Start and end offset of the record's partition, as of the last fetch."""
        partition = confluent_kafka().TopicPartition(record.topic, record.partition)
        start, end = self._consumer.get_watermark_offsets(partition, cached=True)
        return start, end


def as_record(message: Any) -> TopicRecord:
    _kind, timestamp_ms = message.timestamp()
    epoch = message.leader_epoch()
    return TopicRecord(
        message.value(),
        message.key(),
        tuple(message.headers() or ()),
        message.topic(),
        message.partition(),
        message.offset(),
        timestamp_ms,
        -1 if epoch is None else epoch,
    )


def report(text: str) -> None:
    print(f"ottla consume: {text}", file=sys.stderr, flush=True)
