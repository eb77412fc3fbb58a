"""What `ottla consume` reads: the topics of a group member, or partitions without a group.

Owns      converting a range of offsets or times to the offsets of each partition.
"""

from __future__ import annotations

import argparse
from typing import Any

from ottla.base.ids import TopicPartition
from ottla.cli.arguments.offset_ranges import At, AtTime, End, OffsetRange, Position, Start
from ottla.cli.cluster.connection import Connection, confluent_kafka
from ottla.cli.cluster.partition_offsets import within
from ottla.cli.cluster.topics import all_topics, require_topics
from ottla.cli.consuming.reader import RecordReader
from ottla.cli.errors import CommandFailed

NO_GROUP_ID = "ottla-consume"  # librdkafka requires one even if no group is joined
FIRST_END_WAIT_MS = 10  # the end is detected by an empty fetch, which should return soon


def group_reader(
    connection: Connection, arguments: argparse.Namespace, wanted: OffsetRange
) -> RecordReader:
    consumer = connection.consumer(
        group_id=arguments.group,
        auto_offset_reset="latest" if wanted.start == End() else "earliest",
        enable_auto_offset_store=False,
        **common_settings(arguments, stops_at_end=wanted.end is not None),
    )
    known = all_topics(connection, consumer)
    require_topics(arguments.topics, known)
    reader = RecordReader(connection, consumer, is_group=True)
    reader.stops_at_end = wanted.end is not None
    consumer.subscribe(arguments.topics, on_assign=reader.assigned, on_revoke=reader.revoked)
    return reader


def partition_reader(
    connection: Connection, arguments: argparse.Namespace, wanted: OffsetRange
) -> RecordReader:
    stops_at_end = arguments.exit or isinstance(wanted.end, End | AtTime)
    consumer = groupless_consumer(connection, arguments, "error", stops_at_end=stops_at_end)
    reader = RecordReader(connection, consumer, is_group=False)
    reader.stops_at_end = stops_at_end
    partitions = chosen_partitions(connection, consumer, arguments)
    starts = positions(connection, consumer, partitions, wanted.start)
    ends = {} if wanted.end is None else end_positions(connection, consumer, partitions, wanted.end)
    reader.begin(starts, {partition: end for partition, end in ends.items() if end >= 0})
    return reader


def tail_reader(
    connection: Connection, arguments: argparse.Namespace
) -> tuple[RecordReader, dict[TopicPartition, tuple[int, int]]]:
    """A reader without an assignment, and the start and end offset of each partition."""
    # If records are deleted meanwhile, the remaining ones are the last.
    consumer = groupless_consumer(connection, arguments, "earliest", stops_at_end=True)
    reader = RecordReader(connection, consumer, is_group=False)
    reader.stops_at_end = True
    partitions = chosen_partitions(connection, consumer, arguments)
    return reader, watermarks(connection, consumer, partitions)


def groupless_consumer(
    connection: Connection, arguments: argparse.Namespace, out_of_range: str, *, stops_at_end: bool
) -> Any:
    return connection.consumer(
        group_id=NO_GROUP_ID,
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


def chosen_partitions(
    connection: Connection, consumer: Any, arguments: argparse.Namespace
) -> list[TopicPartition]:
    known = all_topics(connection, consumer)
    topics = list(dict.fromkeys(arguments.topics))
    require_topics(topics, known)
    partitions = []
    for topic in topics:
        numbers = sorted(known[topic].partitions)
        for number in arguments.partition or numbers:
            if number not in numbers:
                raise CommandFailed(f"{topic} has no partition {number}: it has {len(numbers)}")
            partitions.append(TopicPartition(topic, number))
    return partitions


def end_positions(
    connection: Connection, consumer: Any, partitions: list[TopicPartition], position: Position
) -> dict[TopicPartition, int]:
    """An end after the last record is valid: records up to it are awaited."""
    if isinstance(position, At):
        return dict.fromkeys(partitions, position.offset)
    return positions(connection, consumer, partitions, position)


def positions(
    connection: Connection, consumer: Any, partitions: list[TopicPartition], position: Position
) -> dict[TopicPartition, int]:
    """Offsets as librdkafka takes them: numbers, or its constants for start and end."""
    library = confluent_kafka()
    match position:
        case Start(0):
            return dict.fromkeys(partitions, library.OFFSET_BEGINNING)
        case End(0):
            return dict.fromkeys(partitions, library.OFFSET_END)
        case AtTime(timestamp_ms):
            return offsets_of_time(connection, consumer, partitions, timestamp_ms)
    ranges = watermarks(connection, consumer, partitions)
    if isinstance(position, At):
        require_existing(position.offset, ranges)
    return {
        partition: within(position, start, end, -1) for partition, (start, end) in ranges.items()
    }


def watermarks(
    connection: Connection, consumer: Any, partitions: list[TopicPartition]
) -> dict[TopicPartition, tuple[int, int]]:
    library = confluent_kafka()
    return {
        partition: consumer.get_watermark_offsets(
            library.TopicPartition(*partition), timeout=connection.timeout_s
        )
        for partition in partitions
    }


def require_existing(offset: int, ranges: dict[TopicPartition, tuple[int, int]]) -> None:
    """CommandFailed if the offset lies beyond every partition."""
    if not any(start <= offset <= end for start, end in ranges.values()):
        raise CommandFailed(
            f"no partition has offset {offset}",
            *(
                f"partition {number} of {topic} has {start} to {end - 1}"
                if end > start
                else f"partition {number} of {topic} is empty; its next offset is {end}"
                for (topic, number), (start, end) in ranges.items()
            ),
        )


def offsets_of_time(
    connection: Connection, consumer: Any, partitions: list[TopicPartition], timestamp_ms: int
) -> dict[TopicPartition, int]:
    library = confluent_kafka()
    found = consumer.offsets_for_times(
        [library.TopicPartition(*partition, timestamp_ms) for partition in partitions],
        timeout=connection.timeout_s,
    )
    return {TopicPartition(each.topic, each.partition): each.offset for each in found}
