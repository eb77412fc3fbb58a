"""Reading records for `ottla consume`, until every partition has reached its end.

Promises  reading ends when every partition has reached its end, if it has one. What a group has
          read is committed only after it was `done_with`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Self

from ottla.cli.connection import Connection, confluent_kafka
from ottla.cli.offsets import Place
from ottla.cli.problems import CommandFailed
from ottla.cli.records import Record
from ottla.cli.tail import Ranges

BATCH_RECORDS = 1000
WAIT_S = 0.5  # how long a call into librdkafka may keep Ctrl-C waiting


class Reading:
    """A consumer, the partitions it still reads, and where they end."""

    def __init__(self, connection: Connection, consumer: Any, *, is_group: bool) -> None:
        self._connection = connection
        self._consumer = consumer
        self._is_group = is_group
        self.stops_at_end = False
        self._ends: dict[Place, int] = {}  # one past the last offset to show
        self._open: set[Place] = set()
        self._has_begun = False  # partitions are known

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._consumer.close()

    def begin(self, starts: dict[Place, int], ends: dict[Place, int]) -> None:
        """Read these from these offsets on; an end that is reached already closes its partition."""
        library = confluent_kafka()
        self._ends = ends
        self._open = {
            place for place, offset in starts.items() if not 0 <= ends.get(place, -1) <= offset
        }
        partitions = [library.TopicPartition(*place, starts[place]) for place in sorted(self._open)]
        self._consumer.assign(partitions)
        if self._has_begun:
            self._consumer.resume(partitions)  # what was closed stays paused, even if given anew
        self._has_begun = True

    def stretches(self, ranges: Ranges) -> Iterator[list[Record]]:
        """The records of these ranges, whatever was read before."""
        starts = {place: start for place, (start, _) in ranges.items()}
        ends = {place: end for place, (_, end) in ranges.items() if end is not None}
        self.begin(starts, ends)
        return self.batches()

    def joined(self, _consumer: Any, partitions: list[Any]) -> None:
        self._open |= {(each.topic, each.partition) for each in partitions}
        self._has_begun = True

    def left(self, _consumer: Any, partitions: list[Any]) -> None:
        self._open -= {(each.topic, each.partition) for each in partitions}

    def batches(self) -> Iterator[list[Record]]:
        while self._open or not self._has_begun or not self._can_end:
            first = self._consumer.poll(WAIT_S)
            if first is None:
                self._tell()
                continue
            messages = [first, *self._consumer.consume(BATCH_RECORDS - 1, 0)]
            records = [record for each in messages if (record := self._take(each)) is not None]
            if records:
                yield records

    def _tell(self) -> None:
        """Whoever waits should know if there is nobody to wait for."""
        for line in self._connection.news():
            print(f"ottla consume: {line}; trying again", file=sys.stderr, flush=True)

    @property
    def _can_end(self) -> bool:
        return self.stops_at_end or bool(self._ends)

    def _take(self, message: Any) -> Record | None:
        """The record; None if it is beyond the end, or no record but an event."""
        place = (message.topic(), message.partition())
        if message.error() is not None:
            self._event(message.error(), place)
            return None
        end = self._ends.get(place)
        if end is not None and message.offset() >= end - 1:
            self._close(place)
        return None if end is not None and message.offset() >= end else as_record(message)

    def _close(self, place: Place) -> None:
        self._open.discard(place)
        if not self._is_group:
            self._consumer.pause([confluent_kafka().TopicPartition(*place)])

    def _event(self, error: Any, place: Place) -> None:
        library = confluent_kafka().KafkaError
        if error.code() == library._PARTITION_EOF:
            if self.stops_at_end:
                self._close(place)
        elif error.code() == library._AUTO_OFFSET_RESET:
            raise CommandFailed(
                f"partition {place[1]} of {place[0]}: {error.str()}",
                f"ottla topics describe {place[0]} shows its offsets",
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

    def done_with(self, records: list[Record]) -> None:
        """These may be committed now."""
        if not self._is_group or not records:
            return
        library = confluent_kafka()
        last = {(each.topic, each.partition): each.offset + 1 for each in records}
        self._consumer.store_offsets(
            offsets=[library.TopicPartition(*place, offset) for place, offset in last.items()]
        )

    def ends(self, record: Record) -> tuple[int, int]:
        """Where the record's partition starts and ends, as far as is known here."""
        place = confluent_kafka().TopicPartition(record.topic, record.partition)
        start, end = self._consumer.get_watermark_offsets(place, cached=True)
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
