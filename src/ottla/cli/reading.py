"""Reading records for `ottla consume`: given partitions by themselves, or as a group member.

Promises  reading ends when every partition has reached its end, if it has one. What a group has
          read is committed only after it was `done_with`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

from ottla.cli.connection import Connection, confluent_kafka
from ottla.cli.offset_ranges import At, AtTime, End, OffsetRange, Position, Start
from ottla.cli.offsets import Place
from ottla.cli.problems import CommandFailed
from ottla.cli.records import Record
from ottla.cli.topics.known import known_topics, require_topics

BATCH_RECORDS = 1000
WAIT_S = 0.5  # how long a call into librdkafka may keep Ctrl-C waiting
WITHOUT_GROUP = "ottla-consume"  # librdkafka wants a name even if no group is joined
FIRST_END_WAIT_MS = 10  # an empty fetch is answered that soon: the end is known only by one


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

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._consumer.close()

    def begin(self, places: dict[Place, int], ends: dict[Place, int]) -> None:
        """Read these from these offsets on; an end that is reached already closes its partition."""
        library = confluent_kafka()
        self._ends = ends
        self._open = {
            place for place, offset in places.items() if not 0 <= ends.get(place, -1) <= offset
        }
        self._consumer.assign(
            [library.TopicPartition(*place, places[place]) for place in sorted(self._open)]
        )
        self._has_begun = True

    def joined(self, _consumer: Any, partitions: list[Any]) -> None:
        self._open |= {(each.topic, each.partition) for each in partitions}
        self._has_begun = True

    def left(self, _consumer: Any, partitions: list[Any]) -> None:
        self._open -= {(each.topic, each.partition) for each in partitions}

    def batches(self) -> Iterator[list[Record]]:
        while self._open or not self._has_begun or not self._can_end:
            first = self._consumer.poll(WAIT_S)
            if first is None:
                continue
            messages = [first, *self._consumer.consume(BATCH_RECORDS - 1, 0)]
            records = [record for each in messages if (record := self._take(each)) is not None]
            if records:
                yield records

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


def group_reading(
    connection: Connection, arguments: argparse.Namespace, wanted: OffsetRange
) -> Reading:
    consumer = connection.consumer(
        group_id=arguments.group,
        auto_offset_reset="latest" if wanted.start == End() else "earliest",
        enable_auto_offset_store=False,
        **common_settings(arguments, stops_at_end=wanted.end is not None),
    )
    known = known_topics(connection, consumer)
    require_topics(arguments.topics, known)
    reading = Reading(connection, consumer, is_group=True)
    reading.stops_at_end = wanted.end is not None
    consumer.subscribe(arguments.topics, on_assign=reading.joined, on_revoke=reading.left)
    return reading


def partition_reading(
    connection: Connection, arguments: argparse.Namespace, wanted: OffsetRange
) -> Reading:
    stops_at_end = arguments.exit or isinstance(wanted.end, End | AtTime)
    consumer = connection.consumer(
        group_id=WITHOUT_GROUP,
        enable_auto_commit=False,
        auto_offset_reset="error",
        **common_settings(arguments, stops_at_end=stops_at_end),
    )
    reading = Reading(connection, consumer, is_group=False)
    reading.stops_at_end = stops_at_end
    places = chosen_places(connection, consumer, arguments)
    starts = positions(connection, consumer, places, wanted.start)
    ends = {} if wanted.end is None else positions(connection, consumer, places, wanted.end)
    reading.begin(starts, {place: end for place, end in ends.items() if end >= 0})
    return reading


def common_settings(arguments: argparse.Namespace, *, stops_at_end: bool) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "isolation_level": arguments.isolation,
        "enable_partition_eof": True,
    }
    return settings | ({"fetch_wait_max_ms": FIRST_END_WAIT_MS} if stops_at_end else {})


def chosen_places(
    connection: Connection, consumer: Any, arguments: argparse.Namespace
) -> list[Place]:
    known = known_topics(connection, consumer)
    topics = list(dict.fromkeys(arguments.topics))
    require_topics(topics, known)
    places = []
    for topic in topics:
        numbers = sorted(known[topic].partitions)
        for number in arguments.partition or numbers:
            if number not in numbers:
                raise CommandFailed(f"{topic} has no partition {number}: it has {len(numbers)}")
            places.append((topic, number))
    return places


def positions(
    connection: Connection, consumer: Any, places: list[Place], position: Position
) -> dict[Place, int]:
    """Offsets as librdkafka takes them: numbers, or its signs for start, end, and so far before."""
    library = confluent_kafka()
    match position:
        case At(offset):
            return dict.fromkeys(places, offset)
        case Start(0):
            return dict.fromkeys(places, library.OFFSET_BEGINNING)
        case End(0):
            return dict.fromkeys(places, library.OFFSET_END)
        case AtTime(timestamp_ms):
            return offsets_of_time(connection, consumer, places, timestamp_ms)
    offsets = {}
    for place in places:
        start, end = consumer.get_watermark_offsets(
            library.TopicPartition(*place), timeout=connection.timeout_s
        )
        match position:
            case Start(count):
                offsets[place] = min(start + count, end)
            case End(count):
                offsets[place] = max(end - count, start)
    return offsets


def offsets_of_time(
    connection: Connection, consumer: Any, places: list[Place], timestamp_ms: int
) -> dict[Place, int]:
    library = confluent_kafka()
    found = consumer.offsets_for_times(
        [library.TopicPartition(*place, timestamp_ms) for place in places],
        timeout=connection.timeout_s,
    )
    return {(each.topic, each.partition): each.offset for each in found}


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
