"""What `ottla consume` reads: the topics of a group member, or partitions without a group.

Owns      converting a range of offsets or times to the offsets of each partition.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ottla.base.ids import TopicPartition
from ottla.cli.arguments.offset_ranges import At, AtTime, End, OffsetRange, Position, Start
from ottla.cli.cluster.connection import ClusterConnection, confluent_kafka
from ottla.cli.cluster.leaders import require_leaders
from ottla.cli.cluster.partition_offsets import (
    earliest_offsets,
    latest_offsets,
    query_offsets,
    require_offset,
    within,
)
from ottla.cli.cluster.topics import all_topics
from ottla.cli.consuming.reader import RecordReader, report
from ottla.cli.consuming.selection import Selection

NO_GROUP_ID = "ottla-consume"  # librdkafka requires one even if no group is joined
FIRST_END_WAIT_MS = 10  # the end is detected by an empty fetch, which should return soon


def group_reader(
    connection: ClusterConnection, arguments: argparse.Namespace, wanted: OffsetRange
) -> RecordReader:
    consumer = connection.consumer(
        group_id=arguments.group,
        auto_offset_reset="latest" if wanted.start == End() else "earliest",
        enable_auto_offset_store=False,
        **common_settings(arguments, stops_at_end=wanted.end is not None),
    )
    topics = all_topics(connection, consumer)
    selection = Selection(arguments.topics)
    names = selection.topics(topics)
    if arguments.offset is not None:
        report_ignored_offset(connection, consumer, arguments, [topics[name] for name in names])
    reader = RecordReader(connection, consumer, selection, names, is_group=True)
    reader.stops_at_end = wanted.end is not None
    reader.report_leaderless(topics)
    reader.subscribe()
    return reader


def report_ignored_offset(
    connection: ClusterConnection, consumer: Any, arguments: argparse.Namespace, topics: list[Any]
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
    connection: ClusterConnection, arguments: argparse.Namespace, wanted: OffsetRange
) -> RecordReader:
    stops_at_end = arguments.exit or isinstance(wanted.end, End | AtTime)
    consumer = groupless_consumer(connection, arguments, "error", stops_at_end=stops_at_end)
    # A read from the start without an end needs no offsets: a leader may return meanwhile.
    waits = wanted == OffsetRange(Start())
    reader, partitions = groupless_reader(connection, consumer, arguments, waits_for_leaders=waits)
    reader.stops_at_end = stops_at_end
    starts = start_offsets(connection, consumer, partitions, wanted.start)
    reader.begin(starts, end_offsets(connection, consumer, partitions, wanted.end, arguments.exit))
    return reader


def tail_reader(
    connection: ClusterConnection, arguments: argparse.Namespace
) -> tuple[RecordReader, dict[TopicPartition, tuple[int, int]]]:
    """A reader without an assignment, and the start and end offset of each partition."""
    # If records are deleted meanwhile, the remaining ones are the last.
    stops_at_end = not arguments.follow
    consumer = groupless_consumer(connection, arguments, "earliest", stops_at_end=stops_at_end)
    reader, partitions = groupless_reader(connection, consumer, arguments, waits_for_leaders=False)
    reader.stops_at_end = True
    return reader, offset_ranges(connection, consumer, partitions)


def groupless_reader(
    connection: ClusterConnection,
    consumer: Any,
    arguments: argparse.Namespace,
    *,
    waits_for_leaders: bool,
) -> tuple[RecordReader, list[TopicPartition]]:
    """A reader without an assignment, and the partitions it is to read."""
    topics = all_topics(connection, consumer)
    selection = Selection(arguments.topics, arguments.partition)
    partitions = selection.partitions(topics)
    reader = RecordReader(connection, consumer, selection, selection.topics(topics), is_group=False)
    if waits_for_leaders:
        reader.report_leaderless(topics)
    else:
        require_leaders(partitions, topics)
    return reader, partitions


def groupless_consumer(
    connection: ClusterConnection,
    arguments: argparse.Namespace,
    out_of_range: str,
    *,
    stops_at_end: bool,
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


def start_offsets(
    connection: ClusterConnection,
    consumer: Any,
    partitions: list[TopicPartition],
    position: Position,
) -> dict[TopicPartition, int]:
    if position == Start():
        # librdkafka looks it up when it begins, so that retention may delete records until then.
        return dict.fromkeys(partitions, confluent_kafka().OFFSET_BEGINNING)
    ranges = offset_ranges(connection, consumer, partitions)
    if isinstance(position, At):
        require_offset(position.value, ranges)
    return positions(connection, consumer, ranges, position)


def end_offsets(
    connection: ClusterConnection,
    consumer: Any,
    partitions: list[TopicPartition],
    position: Position | None,
    is_now_enough: bool,
) -> dict[TopicPartition, int]:
    """One past the last offset to show. Offsets that do not exist yet are awaited, unless the
    command is to end at the current end.
    """
    if position is None:
        return {}
    if isinstance(position, At) and not is_now_enough:
        report_awaited(position.value, latest_offsets(consumer, partitions, connection.timeout_s))
        return dict.fromkeys(partitions, position.value)
    return positions(
        connection, consumer, offset_ranges(connection, consumer, partitions), position
    )


def report_awaited(end: int, current: dict[TopicPartition, int]) -> None:
    """The range of some partitions ends later than they do."""
    shorter = {each: offset for each, offset in current.items() if offset < end}
    if shorter:
        first, offset = min(shorter.items())
        several = f" in {len(shorter)} partitions" if len(shorter) > 1 else ""
        report(
            f"waiting for offset {end - 1}{several}: partition {first.partition} of {first.topic} "
            f"ends at {offset}; --exit would stop there"
        )


def positions(
    connection: ClusterConnection,
    consumer: Any,
    ranges: dict[TopicPartition, tuple[int, int]],
    position: Position,
) -> dict[TopicPartition, int]:
    found: dict[TopicPartition, int] = {}
    if isinstance(position, AtTime):
        wanted = dict.fromkeys(ranges, position.value)
        found = query_offsets(consumer, wanted, connection.timeout_s)
    return {
        partition: within(position, start, end, found.get(partition, -1))
        for partition, (start, end) in ranges.items()
    }


def offset_ranges(
    connection: ClusterConnection, consumer: Any, partitions: list[TopicPartition]
) -> dict[TopicPartition, tuple[int, int]]:
    """Start and end offset of each partition."""
    starts = earliest_offsets(consumer, partitions, connection.timeout_s)
    ends = latest_offsets(consumer, partitions, connection.timeout_s)
    return {each: (starts[each], ends[each]) for each in partitions}
