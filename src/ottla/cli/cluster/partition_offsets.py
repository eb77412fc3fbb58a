"""Offsets of partitions: where they start and end, and the first record of a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ottla.base.ids import TopicPartition
from ottla.cli.arguments.offset_ranges import At, AtTime, End, Position, Start
from ottla.cli.cluster.connection import ClusterConnection, confluent_kafka
from ottla.cli.cluster.leaders import require_leaders
from ottla.cli.errors import CommandFailed

EARLIEST, LATEST = -2, -1  # as times in ListOffsets


def partition_ends(
    connection: ClusterConnection, admin: Any, partitions: Iterable[TopicPartition]
) -> tuple[dict[TopicPartition, int], dict[TopicPartition, int]]:
    """The start offsets and the end offsets."""
    wanted = list(partitions)
    require_leaders(wanted, connection.metadata(admin).topics)
    starts, ends = request_both_ends(connection, admin, wanted)
    return receive(connection, starts), receive(connection, ends)


def existing_offsets(
    connection: ClusterConnection, admin: Any, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, tuple[int, int]]:
    """Start and end offset of those partitions that exist and have a leader."""
    wanted = list(partitions)
    futures = request_both_ends(connection, admin, wanted)
    starts, ends = (receive_existing(connection, each) for each in futures)
    return {each: (starts[each], ends[each]) for each in wanted if each in starts and each in ends}


def request_both_ends(
    connection: ClusterConnection, admin: Any, partitions: list[TopicPartition]
) -> tuple[dict[TopicPartition, Any], dict[TopicPartition, Any]]:
    """Futures of the start and the end offsets, requested at the same time."""
    from confluent_kafka.admin import OffsetSpec

    if not partitions:
        return {}, {}
    return (
        request_offsets(connection, admin, dict.fromkeys(partitions, OffsetSpec.earliest())),
        request_offsets(connection, admin, dict.fromkeys(partitions, OffsetSpec.latest())),
    )


def receive_existing(
    connection: ClusterConnection, futures: dict[TopicPartition, Any]
) -> dict[TopicPartition, int]:
    offsets = {}
    for partition, future in futures.items():
        try:
            offsets[partition] = connection.wait(future).offset
        except confluent_kafka().KafkaException:
            continue
    return offsets


def earliest_offsets(
    consumer: Any, partitions: Iterable[TopicPartition], timeout_s: float
) -> dict[TopicPartition, int]:
    return query_offsets(consumer, dict.fromkeys(partitions, EARLIEST), timeout_s)


def latest_offsets(
    consumer: Any, partitions: Iterable[TopicPartition], timeout_s: float
) -> dict[TopicPartition, int]:
    """The end offsets; for a consumer that reads committed records, the last stable offsets."""
    return query_offsets(consumer, dict.fromkeys(partitions, LATEST), timeout_s)


def query_offsets(
    consumer: Any, timestamps_ms: Mapping[TopicPartition, int], timeout_s: float
) -> dict[TopicPartition, int]:
    """The first offset of each time, -1 if there is none; one request for each broker."""
    if not timestamps_ms:
        return {}
    library = confluent_kafka()
    found = consumer.offsets_for_times(
        [library.TopicPartition(*each, time_ms) for each, time_ms in timestamps_ms.items()],
        timeout=timeout_s,
    )
    for each in found:
        if each.error is not None:
            raise CommandFailed(f"partition {each.partition} of {each.topic}: {each.error.str()}")
    return {TopicPartition(each.topic, each.partition): each.offset for each in found}


def request_offsets(
    connection: ClusterConnection, admin: Any, wanted: dict[TopicPartition, Any]
) -> dict[TopicPartition, Any]:
    library = confluent_kafka()
    futures = admin.list_offsets(
        {library.TopicPartition(*partition): spec for partition, spec in wanted.items()},
        request_timeout=connection.timeout_s,
    )
    return {TopicPartition(each.topic, each.partition): future for each, future in futures.items()}


def receive(
    connection: ClusterConnection, futures: dict[TopicPartition, Any]
) -> dict[TopicPartition, int]:
    return {partition: connection.wait(future).offset for partition, future in futures.items()}


def resolve(
    connection: ClusterConnection,
    admin: Any,
    partitions: Iterable[TopicPartition],
    position: Position,
) -> dict[TopicPartition, int]:
    """The offset of a position in each partition, between its start and its end."""
    wanted = list(partitions)
    starts, ends = partition_ends(connection, admin, wanted)
    found: dict[TopicPartition, int] = {}
    if isinstance(position, AtTime) and wanted:
        from confluent_kafka.admin import OffsetSpec

        spec = OffsetSpec.for_timestamp(position.value)
        found = receive(connection, request_offsets(connection, admin, dict.fromkeys(wanted, spec)))
    return {
        partition: within(position, starts[partition], ends[partition], found.get(partition, -1))
        for partition in wanted
    }


def within(position: Position, start: int, end: int, found: int) -> int:
    """`found` is the offset of the requested time; -1 if no record is that late."""
    match position:
        case Start(count):
            offset = start + count
        case End(count):
            offset = end - count
        case At(offset):
            pass
        case AtTime():
            offset = found if found >= 0 else end
    return max(start, min(offset, end))


def require_offset(offset: int, ranges: dict[TopicPartition, tuple[int, int]]) -> None:
    """CommandFailed if no partition has the offset."""
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
