"""What `ottla consume` reads: the topics of a group member, or partitions without a group.

Owns      converting a range of offsets or times to the offsets of each partition.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ottla.base.ids import TopicPartition
from ottla.cli.arguments.offset_ranges import At, AtTime, End, OffsetRange, Position, Start
from ottla.cli.cluster.connection import Connection, confluent_kafka
from ottla.cli.cluster.partition_offsets import require_offset, within
from ottla.cli.cluster.topics import all_topics, chosen_topics
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
    topics = all_topics(connection, consumer)
    names = chosen_topics(arguments.topics, topics)
    if arguments.offset is not None:
        report_ignored_offset(connection, consumer, arguments, [topics[name] for name in names])
    reader = RecordReader(connection, consumer, names, is_group=True)
    reader.stops_at_end = wanted.end is not None
    consumer.subscribe(names, on_assign=reader.assigned, on_revoke=reader.revoked)
    return reader


def report_ignored_offset(
    connection: Connection, consumer: Any, arguments: argparse.Namespace, topics: list[Any]
) -> None:
    """--offset applies only to partitions for which the group has committed nothing."""
    library = confluent_kafka()
    committed = consumer.committed(
        [
            library.TopicPartition(each.topic, number)
            for each in topics
            for number in each.partitions
        ],
        timeout=connection.timeout_s,
    )
    if any(each.offset >= 0 for each in committed):
        print(
            f"ottla consume: group {arguments.group} continues at its committed offsets; "
            f"--offset {arguments.offset} applies only where there is none\n"
            f"  to move it: ottla groups reset {arguments.group} --to {arguments.offset}",
            file=sys.stderr,
            flush=True,
        )


def partition_reader(
    connection: Connection, arguments: argparse.Namespace, wanted: OffsetRange
) -> RecordReader:
    stops_at_end = arguments.exit or isinstance(wanted.end, End | AtTime)
    consumer = groupless_consumer(connection, arguments, "error", stops_at_end=stops_at_end)
    partitions = chosen_partitions(connection, consumer, arguments)
    reader = RecordReader(connection, consumer, topics_of(partitions), is_group=False)
    reader.stops_at_end = stops_at_end
    starts = positions(connection, consumer, partitions, wanted.start)
    ends = {} if wanted.end is None else end_positions(connection, consumer, partitions, wanted.end)
    reader.begin(starts, {partition: end for partition, end in ends.items() if end >= 0})
    return reader


def tail_reader(
    connection: Connection, arguments: argparse.Namespace
) -> tuple[RecordReader, dict[TopicPartition, tuple[int, int]]]:
    """A reader without an assignment, and the start and end offset of each partition."""
    # If records are deleted meanwhile, the remaining ones are the last.
    stops_at_end = not arguments.follow
    consumer = groupless_consumer(connection, arguments, "earliest", stops_at_end=stops_at_end)
    partitions = chosen_partitions(connection, consumer, arguments)
    reader = RecordReader(connection, consumer, topics_of(partitions), is_group=False)
    reader.stops_at_end = True
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
    topics = all_topics(connection, consumer)
    partitions = []
    for topic in chosen_topics(arguments.topics, topics):
        numbers = sorted(topics[topic].partitions)
        for number in arguments.partition or numbers:
            if number not in numbers:
                raise CommandFailed(f"{topic} has no partition {number}: it has {len(numbers)}")
            partitions.append(TopicPartition(topic, number))
    return partitions


def topics_of(partitions: list[TopicPartition]) -> list[str]:
    return list(dict.fromkeys(each.topic for each in partitions))


def end_positions(
    connection: Connection, consumer: Any, partitions: list[TopicPartition], position: Position
) -> dict[TopicPartition, int]:
    """An end after the last record is valid: records up to it are awaited."""
    if isinstance(position, At):
        return dict.fromkeys(partitions, position.value)
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
        require_offset(position.value, ranges)
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


def offsets_of_time(
    connection: Connection, consumer: Any, partitions: list[TopicPartition], timestamp_ms: int
) -> dict[TopicPartition, int]:
    library = confluent_kafka()
    found = consumer.offsets_for_times(
        [library.TopicPartition(*partition, timestamp_ms) for partition in partitions],
        timeout=connection.timeout_s,
    )
    return {TopicPartition(each.topic, each.partition): each.offset for each in found}
