"""What `ottla consume` reads: as a group member, or given partitions by themselves.

Owns      turning a range of offsets or times into offsets of each partition.
"""

from __future__ import annotations

import argparse
from typing import Any

from ottla.cli.connection import Connection, confluent_kafka
from ottla.cli.offset_ranges import At, AtTime, End, OffsetRange, Position, Start
from ottla.cli.offsets import Place, within
from ottla.cli.problems import CommandFailed
from ottla.cli.reading import Reading
from ottla.cli.topics.known import known_topics, require_topics

WITHOUT_GROUP = "ottla-consume"  # librdkafka wants a name even if no group is joined
FIRST_END_WAIT_MS = 10  # an empty fetch is answered that soon: the end is known only by one


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
    consumer = lone_consumer(connection, arguments, "error", stops_at_end=stops_at_end)
    reading = Reading(connection, consumer, is_group=False)
    reading.stops_at_end = stops_at_end
    places = chosen_places(connection, consumer, arguments)
    starts = positions(connection, consumer, places, wanted.start)
    ends = {} if wanted.end is None else end_positions(connection, consumer, places, wanted.end)
    reading.begin(starts, {place: end for place, end in ends.items() if end >= 0})
    return reading


def tail_reading(
    connection: Connection, arguments: argparse.Namespace
) -> tuple[Reading, dict[Place, tuple[int, int]]]:
    """A reading that has not begun, and the first and the end offset of each partition."""
    # Where records were deleted meanwhile, those that are left are the last.
    consumer = lone_consumer(connection, arguments, "earliest", stops_at_end=True)
    reading = Reading(connection, consumer, is_group=False)
    reading.stops_at_end = True
    places = chosen_places(connection, consumer, arguments)
    return reading, watermarks(connection, consumer, places)


def lone_consumer(
    connection: Connection, arguments: argparse.Namespace, out_of_range: str, *, stops_at_end: bool
) -> Any:
    return connection.consumer(
        group_id=WITHOUT_GROUP,
        enable_auto_commit=False,
        auto_offset_reset=out_of_range,
        **common_settings(arguments, stops_at_end=stops_at_end),
    )


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


def end_positions(
    connection: Connection, consumer: Any, places: list[Place], position: Position
) -> dict[Place, int]:
    """An end may lie where there is nothing yet: it is waited for."""
    if isinstance(position, At):
        return dict.fromkeys(places, position.offset)
    return positions(connection, consumer, places, position)


def positions(
    connection: Connection, consumer: Any, places: list[Place], position: Position
) -> dict[Place, int]:
    """Offsets as librdkafka takes them: numbers, or its signs for start, end, and so far before."""
    library = confluent_kafka()
    match position:
        case Start(0):
            return dict.fromkeys(places, library.OFFSET_BEGINNING)
        case End(0):
            return dict.fromkeys(places, library.OFFSET_END)
        case AtTime(timestamp_ms):
            return offsets_of_time(connection, consumer, places, timestamp_ms)
    ranges = watermarks(connection, consumer, places)
    if isinstance(position, At):
        require_somewhere(position.offset, ranges)
    return {place: within(position, start, end, -1) for place, (start, end) in ranges.items()}


def watermarks(
    connection: Connection, consumer: Any, places: list[Place]
) -> dict[Place, tuple[int, int]]:
    library = confluent_kafka()
    return {
        place: consumer.get_watermark_offsets(
            library.TopicPartition(*place), timeout=connection.timeout_s
        )
        for place in places
    }


def require_somewhere(offset: int, ranges: dict[Place, tuple[int, int]]) -> None:
    """An offset that no partition has, nor will have next, is a mistake."""
    if not any(start <= offset <= end for start, end in ranges.values()):
        raise CommandFailed(
            f"no partition has offset {offset}",
            *(
                f"partition {number} of {topic} has {start} to {end - 1}"
                if end > start
                else f"partition {number} of {topic} is empty, and goes on at {end}"
                for (topic, number), (start, end) in ranges.items()
            ),
        )


def offsets_of_time(
    connection: Connection, consumer: Any, places: list[Place], timestamp_ms: int
) -> dict[Place, int]:
    library = confluent_kafka()
    found = consumer.offsets_for_times(
        [library.TopicPartition(*place, timestamp_ms) for place in places],
        timeout=connection.timeout_s,
    )
    return {(each.topic, each.partition): each.offset for each in found}
